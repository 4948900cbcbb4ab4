"""tf.__internal__ and what libraries know TensorFlow's inside by; the same on TensorFlow."""

import gc
import importlib

import numpy as np
import pytest


@pytest.fixture
def tracking(tf):
    return tf.__internal__.tracking


# What things are


def test_what_counts_as_a_tensor(tf):
    kind = tf.__internal__.types.Tensor
    for value in (tf.constant(1.0), tf.Variable(1.0)):
        assert isinstance(value, kind) and tf.is_tensor(value)
    assert not isinstance(np.ones(2), kind) and not isinstance(1.0, kind)

    class Mine(kind):
        def __tf_tensor__(self, dtype=None, name=None):
            return tf.constant([1.0, 2.0], dtype)

    assert tf.is_tensor(Mine()) and isinstance(Mine(), kind) and not isinstance(Mine(), tf.Tensor)
    assert tf.reduce_sum(Mine()).numpy() == 3.0


def test_eager_tensors(tf):
    eager = tf.__internal__.EagerTensor
    assert isinstance(tf.constant(1.0), eager) and not isinstance(tf.Variable(1.0), eager)
    seen = []
    tf.function(lambda x: seen.append(isinstance(x, eager)) or x)(tf.constant(1.0))
    assert seen == [False]


def test_functions_by_kind(tf):
    types = tf.types.experimental
    f = tf.function(lambda x: x)
    concrete = f.get_concrete_function(tf.TensorSpec([]))
    assert isinstance(f, types.GenericFunction) and isinstance(f, types.PolymorphicFunction)
    assert isinstance(concrete, types.ConcreteFunction)
    assert not isinstance(concrete, types.GenericFunction)
    assert isinstance(f, types.Callable) and isinstance(concrete, types.Callable)
    assert not isinstance(len, types.Callable)


def test_smart_cond(tf):
    smart_cond = tf.__internal__.smart_cond.smart_cond
    assert smart_cond(True, lambda: 1, lambda: 2) == 1
    assert smart_cond(0, lambda: 1, lambda: 2) == 2
    assert smart_cond(tf.constant(False), lambda: 1, lambda: 2) == 2
    compiled = tf.function(lambda p: smart_cond(p, lambda: tf.constant(1), lambda: tf.constant(2)))
    assert compiled(tf.constant(True)).numpy() == 1 and compiled(tf.constant(False)).numpy() == 2
    with pytest.raises(TypeError):
        smart_cond("maybe", lambda: 1, lambda: 2)
    with pytest.raises(TypeError):
        smart_cond(True, 1, 2)


def test_eager_mode(tf):
    seen = []

    @tf.function
    def f(x):
        with tf.__internal__.eager_context.eager_mode():
            seen.append((tf.executing_eagerly(), float(tf.constant(2.0) * 3.0)))
        return x

    f(tf.constant(1.0))
    assert seen == [(True, 6.0)] and tf.__internal__.tf2.enabled()


# Tracking


def test_attributes_are_tracked(tf, tracking):
    class Holder(tracking.AutoTrackable):
        pass

    holder, v, inner = Holder(), tf.Variable(1.0), Holder()
    holder.v, holder.number, holder.inner = v, 3, inner
    holder.listed = [tf.Variable(2.0)]
    children = holder._trackable_children()
    assert children["v"] is v and children["inner"] is inner and "number" not in children
    assert children["listed"][0] is holder.listed[0]
    del holder.v
    assert "v" not in holder._trackable_children()


def test_functions_belong_to_a_saved_model_only(tf, tracking):
    class Holder(tracking.AutoTrackable):
        @tf.function
        def method(self, x):
            return x

    holder = Holder()
    holder.f = tf.function(lambda x: x)
    assert {"f", "method"} <= set(holder._trackable_children("savedmodel"))
    assert "method" not in holder._trackable_children()


def test_tracking_can_be_switched_off(tf, tracking):
    class Holder(tracking.AutoTrackable):
        @tracking.no_automatic_dependency_tracking
        def keep(self, value):
            self.kept = value
            return self.kept

    holder, v = Holder(), tf.Variable(1.0)
    assert holder.keep(v) is v and "kept" not in holder._trackable_children()
    holder.seen = v
    assert "seen" in holder._trackable_children()


def test_tracking_by_name(tf, tracking):
    class Holder(tracking.Trackable):
        pass

    holder, v = Holder(), tf.Variable(1.0)
    assert holder._track_trackable(v, "first") is v
    assert list(vars(holder)["_self_unconditional_dependency_names"]) == ["first"]  # Keras knows it
    assert holder._trackable_children() == {"first": v} or holder._lookup_dependency("first") is v
    with pytest.raises(ValueError):
        holder._track_trackable(tf.Variable(2.0), "first")
    other = holder._track_trackable(tf.Variable(3.0), "first", overwrite=True)
    assert holder._trackable_children()["first"] is other
    with pytest.raises(TypeError):
        holder._track_trackable([], "second")


def test_checkpoints_follow_what_is_tracked(tf, tracking, tmp_path):
    class Holder(tracking.AutoTrackable):
        @tracking.no_automatic_dependency_tracking
        def hide(self, value):
            self.hidden = value

    def make(value):
        holder = Holder()
        holder.v = tf.Variable(value)
        holder.inner = Holder()
        holder.inner.listed = [tf.Variable(value + 1.0)]
        holder.hide(tf.Variable(value))
        return holder

    first, second = make(1.0), make(5.0)
    path = tf.train.Checkpoint(holder=first).write(str(tmp_path / "c"))
    names = [name.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE")
             for name, _ in tf.train.list_variables(path)]  # fmt: skip
    assert {"holder/v", "holder/inner/listed/0"} <= set(names)
    assert not any("hidden" in name for name in names)
    tf.train.Checkpoint(holder=second).read(path).assert_consumed()
    assert float(second.v) == 1.0 and float(second.inner.listed[0]) == 2.0
    assert float(second.hidden) == 5.0


def test_a_checkpoint_saves_what_says_its_tensors(tf, tracking, tmp_path):
    class Counter(tracking.Trackable):
        def __init__(self, n):
            self.n = n

        def _serialize_to_tensors(self):
            return {"VARIABLE_VALUE": tf.constant(self.n)}

        def _restore_from_tensors(self, restored_tensors):
            self.n = int(restored_tensors["VARIABLE_VALUE"])

    module = tf.Module()
    module.counter = Counter(7)
    path = tf.train.Checkpoint(m=module).write(str(tmp_path / "c"))
    module.counter.n = 0
    tf.train.Checkpoint(m=module).read(path)
    assert module.counter.n == 7


def test_what_is_trackable(tf, tracking):
    things = [
        tf.Variable(1.0), tf.Module(), tf.train.Checkpoint(), iter(tf.data.Dataset.range(1)),
        tf.random.Generator.from_seed(1),
    ]  # fmt: skip
    assert all(isinstance(thing, tracking.Trackable) for thing in things)
    assert isinstance(tf.Module(), tracking.AutoTrackable)
    assert not isinstance(tf.constant(1.0), tracking.Trackable)


def test_all_that_an_object_leads_to(tf):
    module = tf.Module()
    module.inner = tf.Module()
    module.inner.v = tf.Variable(1.0)
    module.listed = [tf.Variable(2.0)]
    found = tf.train.TrackableView(module).descendants()
    assert found[0] is module and any(x is module.inner.v for x in found)
    assert any(x is module.listed[0] for x in found)


# Graphs that are entered by hand


def shape_of(tf, function, *shapes, dtype="float32"):
    with tf.__internal__.FuncGraph("scratch").as_default():
        placeholder = tf.compat.v1.placeholder
        results = function(*[placeholder(dtype=dtype, shape=shape) for shape in shapes])
        return tf.nest.map_structure(lambda x: tuple(x.shape), results)


@pytest.mark.parametrize(
    "function, shapes, wanted",
    [
        (lambda tf, x: x * 2.0, [(None, 3)], (None, 3)),
        (lambda tf, x, y: x + y, [(None, 3), (None, 3)], (None, 3)),
        (lambda tf, x, y: x + y, [(None, 3), (1, 3)], (None, 3)),
        (lambda tf, x, y: tf.concat([x, y], 1), [(None, 4), (None, 3)], (None, 7)),
        (lambda tf, x: tf.reshape(x, (-1, 2)), [(None, 4)], (None, 2)),
        (lambda tf, x: tf.reshape(x, (-1,)), [(None, None, 4)], (None,)),
        (lambda tf, x, y: tf.matmul(x, y), [(None, None, 3), (None, 3, None)], (None,) * 3),
        (lambda tf, x: tf.reduce_mean(x, 1), [(None, None, 3)], (None, 3)),
        (lambda tf, x: x[:, 1:], [(None, None)], (None, None)),
        (lambda tf, x: tf.pad(x, [[0, 0], [1, 2]]), [(None, 4)], (None, 7)),
        (lambda tf, x: tf.nn.conv2d(x, tf.ones((3, 3, 2, 5)), 2, "SAME"), [(None, 8, 8, 2)],
         (None, 4, 4, 5)),
        (lambda tf, x: tf.zeros((tf.shape(x)[0], 3)), [(None, None)], (None, 3)),
        (lambda tf, x: tf.random.normal(tf.shape(x)), [(None, 2)], (None, 2)),
        (lambda tf, x: tf.scan(lambda a, b: a + b, x), [(None, 3)], (None, 3)),
        (lambda tf, x: tf.nn.dropout(x, 0.5), [(None, 3)], (None, 3)),
        (lambda tf, x: tf.unstack(x, axis=1), [(None, 2)], [(None,), (None,)]),
        (lambda tf, x, y: x + y, [(None, 4), (2, 4)], (2, 4)),
        (lambda tf, x, y: x + y, [(None, None), (None,)], (None, None)),
        (lambda tf, x, y: tf.matmul(x, y), [(None, 4, None), (None, None, 5)], (None, 4, 5)),
        (lambda tf, x: tf.nn.conv2d(x, tf.ones((3, 3, 2, 5)), 2, "SAME"), [(None, None, None, 2)],
         (None, None, None, 5)),
        (lambda tf, x: tf.nn.conv2d(x, tf.ones((3, 3, 2, 5)), 1, "VALID"), [(None, None, None, 2)],
         (None, None, None, 5)),
        (lambda tf, x: tf.math.top_k(x, 2).values, [(None, None)], (None, 2)),
        (lambda tf, x: tf.signal.frame(x, 4, 2), [(None, None)], (None, None, 4)),
    ],
)  # fmt: skip
def test_shapes_by_placeholders(tf, function, shapes, wanted):
    assert shape_of(tf, lambda *xs: function(tf, *xs), *shapes) == wanted


def test_a_graph_leaves_nothing_behind(tf):
    v = tf.Variable(1.0)
    with tf.__internal__.FuncGraph("scratch").as_default():
        x = tf.compat.v1.placeholder(tf.float32, (None,))
        assert not tf.executing_eagerly() and tf.is_symbolic_tensor(x)
        with tf.init_scope():
            assert float(tf.constant(2.0) * v) == 2.0
    assert tf.executing_eagerly() and float(v) == 1.0


def test_placeholders_need_a_graph(tf):
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        tf.compat.v1.placeholder(tf.float32, [None])


# Places


def imported(tf, name):
    return importlib.import_module(f"tensorflow.{name}")


@pytest.fixture
def alias(tf):
    """The name `tensorflow`, whichever system it is."""
    if tf.__name__ == "tensorflow":
        yield tf
    else:
        with tf.install_as_tensorflow():
            yield importlib.import_module("tensorflow")


@pytest.mark.parametrize(
    "public, place",
    [
        ("Tensor", "framework.tensor.Tensor"),
        ("Variable", "ops.variables.Variable"),
        ("IndexedSlices", "framework.indexed_slices.IndexedSlices"),
        ("TensorShape", "framework.tensor_shape.TensorShape"),
        ("TensorSpec", "framework.tensor.TensorSpec"),
        ("Module", "module.module.Module"),
        ("DType", "framework.dtypes.DType"),
        ("data.Dataset", "data.ops.dataset_ops.DatasetV2"),
        ("data.Iterator", "data.ops.iterator_ops.IteratorBase"),
        ("random.Generator", "ops.stateful_random_ops.Generator"),
        ("__internal__.types.Tensor", "types.core.Tensor"),
        ("__internal__.tracking.Trackable", "trackable.base.Trackable"),
        (
            "__internal__.function.Function",
            "eager.polymorphic_function.polymorphic_function.Function",
        ),
        ("distribute.Strategy", "distribute.distribute_lib.Strategy"),
        ("VariableAggregation", "ops.variables.VariableAggregationV2"),
    ],
)
def test_classes_show_where_tensorflow_has_them(alias, public, place):
    kind = alias
    for part in public.split("."):
        kind = getattr(kind, part)
    assert f"{kind.__module__}.{kind.__qualname__}" == f"tensorflow.python.{place}"
    module, _, name = place.rpartition(".")
    assert getattr(importlib.import_module(f"tensorflow.python.{module}"), name) is kind


def test_all_private_places_are_those_of_tensorflow(alias, tf):
    from_gradtape = pytest.importorskip("gradtape._src.names.private_places")
    for public, place in from_gradtape.PRIVATE_PLACES.items():
        kind = alias
        try:
            for part in public.split("."):
                kind = getattr(kind, part)
        except AttributeError:
            continue  # of a family that is not there yet
        module, _, name = place.rpartition(".")
        there = getattr(importlib.import_module(module), name)
        assert f"{there.__module__}.{there.__qualname__}" == place
        assert issubclass(there, kind)  # TensorFlow makes interfaces public, too


def test_a_dataset_of_a_strategy_shows_where_tensorflow_has_its_class(alias):
    """Keras knows it by this place."""
    strategy = alias.distribute.MirroredStrategy(["CPU:0"])
    made = strategy.experimental_distribute_dataset(alias.data.Dataset.range(2))
    for value, name in [(made, "DistributedDataset"), (iter(made), "DistributedIterator")]:
        places = [f"{kind.__module__}.{kind.__qualname__}" for kind in type(value).__mro__]
        assert f"tensorflow.python.distribute.input_lib.{name}" in places


def test_clearing_the_kernel_cache_collects_no_garbage(alias):
    """Keras clears it between any two of its tests: a collection takes longer than most of them."""
    context = importlib.import_module("tensorflow.python.eager.context").context()
    phases = []
    note = lambda phase, info: phases.append(phase)  # noqa: E731
    gc.disable()
    gc.callbacks.append(note)
    try:
        context.clear_kernel_cache()
    finally:
        gc.callbacks.remove(note)
        gc.enable()
    assert phases == []


def test_functions_by_their_private_place(alias):
    from_module = importlib.import_module
    context = from_module("tensorflow.python.eager.context")
    assert context.executing_eagerly() and context.context().executing_eagerly()
    context.async_wait()
    context.context().clear_kernel_cache()
    config = from_module("tensorflow.python.framework.config")
    assert not config.is_op_determinism_enabled()
    config.enable_op_determinism()
    assert config.is_op_determinism_enabled()
    config.disable_op_determinism()
    math_ops = from_module("tensorflow.python.ops.math_ops")
    assert bool(math_ops.is_nan(alias.constant(float("nan"))))
    tensor_util = from_module("tensorflow.python.framework.tensor_util")
    assert tensor_util.is_tf_type(alias.constant(1.0)) and not tensor_util.is_tf_type(1.0)
    structures = from_module("tensorflow.python.trackable.data_structures")
    assert structures.ListWrapper([1, 2]) == [1, 2]
    assert structures._DictWrapper({"a": 1}) == {"a": 1}
    assert isinstance(structures._DictWrapper({}), dict)


def test_a_part_that_is_replaced(alias):
    xla = importlib.import_module("tensorflow.compiler.tf2xla.python.xla")
    x = alias.zeros([4, 4])
    part = alias.constant([[1.0, 2.0]])
    with alias.GradientTape() as tape:
        tape.watch([x, part])
        y = xla.dynamic_update_slice(x, part, alias.constant([1, 3]))  # moved back to fit
    assert np.asarray(y)[1].tolist() == [0.0, 0.0, 1.0, 2.0]
    if hasattr(tape, "_tape"):
        return  # TensorFlow has no gradient of it on all versions
    gradients = tape.gradient(y, [x, part])
    assert np.asarray(gradients[1]).tolist() == [[1.0, 1.0]]
    assert np.asarray(gradients[0])[1].tolist() == [1.0, 1.0, 0.0, 0.0]


def test_sparse_placeholders(tf):
    with tf.__internal__.FuncGraph("scratch").as_default():
        x = tf.compat.v1.sparse_placeholder(tf.float32, (None, 3))
        assert isinstance(x, tf.SparseTensor) and x.dtype == tf.float32
        assert tuple(x.shape) == (None, 3) and tuple(x.values.shape) == (None,)
        y = tf.sparse.sparse_dense_matmul(x, tf.ones([3, 2]))
        assert tuple(y.shape) == (None, 2)


def test_type_specs_by_name(alias):
    registry = importlib.import_module("tensorflow.python.framework.type_spec_registry")
    for kind in (alias.TensorSpec, alias.SparseTensorSpec, alias.RaggedTensorSpec):
        name = registry.get_name(kind)
        assert name == f"tf.{kind.__name__}" and registry.lookup(name) is kind
    with pytest.raises(ValueError, match="No TypeSpec has been registered"):
        registry.lookup("nobody.Spec")
    with pytest.raises(ValueError):
        registry.register("no dot")


def test_what_a_mask_chooses_has_an_open_size(tf):
    with tf.__internal__.FuncGraph("scratch").as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, 3])
        assert tf.boolean_mask(x, x[:, 0] > 0.0).shape.as_list() == [None, 3]
        assert tf.boolean_mask(x, x > 0.0).shape.as_list() == [None]
        rows = tf.boolean_mask(x, x[:, 0] > 0.0)
        assert tf.reduce_sum(rows, 0).shape.as_list() == [3]
