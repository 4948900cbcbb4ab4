"""Which calls of a function share a trace, and what arrives inside."""

import collections
import functools
import gc
import logging
import weakref

import numpy as np
import pytest
from semantics.helpers import grad, same

pytestmark = pytest.mark.gradtape_only

Pair = collections.namedtuple("Pair", "first second")


def traced(tf, f, **options):
    """`f` as a function, and the list of the arguments of its traces."""
    seen = []

    def recording(*args, **kwargs):
        seen.append((args, kwargs))
        return f(*args, **kwargs)

    functools.update_wrapper(recording, f)  # with the parameters of f
    return tf.function(recording, **options), seen


# Which values are told apart


def test_numbers_of_different_types_are_different(tf):
    f, seen = traced(tf, lambda x, n: x)
    x = tf.constant(1.0)
    values = [1, 1.0, True, 0, 0.0, -0.0, False, 1j, "1", b"1", None, ..., slice(1), slice(1.0)]
    for _ in range(2):
        for n in values:
            f(x, n)
    assert [args[1] for args, _ in seen] == values


@pytest.mark.parametrize(
    "value", [np.float32, np.dtype("int32"), range(3), frozenset({1}), (1, "a"), [2.0, None]]
)
def test_equal_values_share_a_trace(tf, value):
    f, seen = traced(tf, lambda x, n: x)
    x = tf.constant(1.0)
    for _ in range(3):
        f(x, value)
        f(x, type(value)(value) if isinstance(value, (list, tuple)) else value)
    assert len(seen) == 1


def test_objects_count_by_identity(tf):
    class Settings:
        def __init__(self, factor):
            self.factor = factor

        def __eq__(self, other):
            return True

        __hash__ = object.__hash__

    f, seen = traced(tf, lambda x, settings: x * settings.factor)
    two, three = Settings(2.0), Settings(3.0)
    x = tf.constant(1.0)
    for _ in range(2):
        same(f(x, two), 2.0)
        same(f(x, three), 3.0)
    assert len(seen) == 2


def test_an_object_that_is_gone_is_not_mistaken_for_another(tf):
    class Settings:
        pass

    def call(factor):
        settings = Settings()
        settings.factor = factor
        same(f(tf.constant(1.0), settings), factor)
        return weakref.ref(settings)

    f = tf.function(lambda x, settings: x * settings.factor)
    for factor in (2.0, 3.0, 4.0):
        gone = call(factor)
        gc.collect()
        assert gone() is None


def test_tensors_count_by_dtype_and_shape(tf):
    f, seen = traced(tf, lambda x: x)
    for value in (1.0, 2.0, [1.0], [2.0], [[1.0]], 1, 2, True, False, 1j, 2j):
        same(f(tf.constant(value)), value)
    assert len(seen) == 6


def test_arrays_and_numpy_scalars_are_tensors(tf):
    f, seen = traced(tf, lambda x: 2 * x)
    for array in (np.arange(3.0), np.ones(3), np.float32(1.0), np.float32(2.0)):
        result = f(array)
        assert result.dtype == array.dtype
        same(result, 2 * array)
    assert len(seen) == 2
    f(tf.constant([1.0, 2.0, 3.0], tf.float64))
    assert len(seen) == 2


@pytest.mark.parametrize(
    "kind", [np.float64, np.float32, np.complex128, np.int64, np.int32, np.bool_]
)
def test_numbers_of_numpy_share_a_trace(tf, kind):
    """Also those that are numbers of Python: np.float64 is a float."""
    f, seen = traced(tf, lambda x, n: tf.cast(n, tf.complex128) * x)
    x = tf.constant(2.0, tf.complex128)
    for n in (0, 1, 3):
        same(f(x, kind(n)), 2.0 * complex(kind(n)))
    assert len(seen) == 1
    assert seen[0][0][1].dtype == tf.as_dtype(kind)


def test_a_trace_for_nan(tf):
    f, seen = traced(tf, lambda x, n: x * n)
    for _ in range(3):
        assert np.isnan(f(tf.constant(1.0), float("nan")).numpy())
    assert len(seen) == 1


def test_zeros_of_different_sign(tf):
    f = tf.function(lambda x, n: x / tf.constant(n))
    assert f(tf.constant(1.0), 0.0).numpy() == np.inf
    assert f(tf.constant(1.0), -0.0).numpy() == -np.inf


def test_text_of_python_is_a_value(tf):
    f, seen = traced(tf, lambda x, text: (x, text))
    for text in ("a", "a", "b"):
        assert f(tf.constant(1.0), text)[1].numpy() == text.encode()
    assert len(seen) == 2


def test_a_tensor_of_text_makes_it_plain_python(tf, caplog):
    f, seen = traced(tf, lambda x, text: (x, text))
    for text in ("a", "a", "b"):
        assert f(tf.constant(1.0), tf.constant(text))[1].numpy() == text.encode()
    assert len(seen) == 3
    assert f.experimental_get_tracing_count() == 0
    (message,) = caplog.messages  # once, though it ran three times
    assert "runs as plain Python, not compiled. An argument is text" in message
    assert "tf.data.Dataset.map" in message
    f(tf.constant(1.0), 2.0)
    f(tf.constant(2.0), 2.0)
    assert f.experimental_get_tracing_count() == 1  # other signatures are compiled


def test_text_among_the_arguments_of_a_compiled_function_is_an_error(tf):
    f = tf.function(lambda text: tf.strings.length(text), jit_compile=True)
    with pytest.raises(tf.errors.TextError, match="A compiled program has no text, and <lambda>"):
        f(tf.constant("a"))


def test_text_by_signature(tf):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec([], tf.float32)])
    def f(text, x):
        return tf.cast(tf.strings.length(text), tf.float32) * x

    assert f(["a", "bc"], 2.0).numpy().tolist() == [2.0, 4.0]
    assert f(tf.constant(["abc"]), 3.0).numpy().tolist() == [9.0]
    with pytest.raises(TypeError):
        f([1.0], 2.0)
    g = tf.function(lambda text: tf.strings.upper(text))
    concrete = g.get_concrete_function(tf.TensorSpec([None], tf.string))
    assert concrete(tf.constant(["a", "b"])).numpy().tolist() == [b"A", b"B"]
    assert concrete(tf.constant(["c"])).numpy().tolist() == [b"C"]


def test_text_in_a_function_inside_another(tf):
    inner = tf.function(lambda x, text: x * tf.cast(tf.strings.length(text), tf.float32))
    outer = tf.function(lambda x: inner(x, tf.constant("abc")) + 1.0)
    for x in (1.0, 2.0):
        assert outer(tf.constant(x)).numpy() == 3.0 * x + 1.0
    assert outer.experimental_get_tracing_count() == 1  # what it knows is compiled


def test_numbers_as_text_make_it_plain_python(tf):
    f = tf.function(lambda x: tf.strings.join([tf.strings.as_string(x), "!"]))
    assert f(tf.constant(1)).numpy() == b"1!"
    assert f(tf.constant(2)).numpy() == b"2!"


def test_gradients_flow_beside_text(tf):
    @tf.function
    def f(x, text):
        return x * x * tf.cast(tf.strings.length(text), tf.float32)

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, tf.constant("ab"))
    assert tape.gradient(y, x).numpy() == 12.0


def test_variables_count_by_identity(tf):
    f, seen = traced(tf, lambda v, w: v * w)
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    for _ in range(2):
        same(f(a, b), 6.0)
        same(f(a, a), 4.0)
        same(f(b, b), 9.0)
        a.assign(2.0)
    assert len(seen) == 3


def test_a_variable_as_argument_and_by_closure(tf):
    v, w = tf.Variable(2.0), tf.Variable(10.0)

    @tf.function
    def f(a):
        a.assign_add(1.0)
        return v * a

    same(f(v), 9.0)
    same(f(w), 33.0)
    same(f(v), 16.0)
    assert (float(v), float(w)) == (4.0, 11.0)


# Nested structures


def test_nested_arguments(tf):
    f, seen = traced(tf, lambda p: p.first["x"][0] * p.second[1])
    for x in (2.0, 3.0):
        p = Pair({"x": [tf.constant(x)]}, (None, tf.constant(10.0)))
        same(f(p), 10.0 * x)
    assert len(seen) == 1
    assert type(seen[0][0][0]) is Pair
    f(Pair({"x": (tf.constant(1.0),)}, (None, tf.constant(10.0))))
    assert len(seen) == 2


def test_gradients_by_nested_arguments(tf):
    x, y = tf.constant(2.0), tf.constant(5.0)
    f = tf.function(lambda p: p.first["x"][0] ** 2 * p.second)
    gx, gy = grad(tf, lambda x, y: f(Pair({"x": [x]}, y)), x, y)
    same(gx, 20.0)
    same(gy, 4.0)


def test_the_gradient_of_a_part_of_a_variable(tf):
    v = tf.Variable([2.0, 3.0])
    f = tf.function(lambda x: x * x)
    with tf.GradientTape() as tape:
        y = f(v[1])
    same(tf.convert_to_tensor(tape.gradient(y, v)), [0.0, 6.0])


def test_the_same_tensor_twice(tf):
    f = tf.function(lambda x, y: x * y)
    x = tf.constant(3.0)
    same(grad(tf, lambda x: f(x, x), x), 6.0)


def test_an_ordered_dict_and_a_defaultdict(tf):
    f = tf.function(lambda d: d["b"] - d["a"])
    for kind in (dict, collections.OrderedDict):
        d = kind([("b", tf.constant(5.0)), ("a", tf.constant(3.0))])
        same(f(d), 2.0)
    d = collections.defaultdict(list)
    d.update(b=tf.constant(5.0), a=tf.constant(3.0))
    same(f(d), 2.0)


def test_indexed_slices_as_argument(tf):
    f = tf.function(lambda slices: tf.convert_to_tensor(slices) * 2.0)
    slices = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([2, 0]), tf.constant([3, 1]))
    same(f(slices), [[4.0], [0.0], [2.0]])


def test_views_of_dicts_and_deques(tf):
    f, seen = traced(tf, lambda xs: sum(xs))
    for x in (1.0, 2.0):
        same(f({"a": tf.constant(x), "b": tf.constant(3.0)}.values()), x + 3.0)
        same(f(collections.deque([tf.constant(x)], maxlen=3)), x)
    assert len(seen) == 2


# Ways to pass arguments


def test_the_way_of_passing_does_not_matter(tf):
    def f(x, y=2.0, *, z=3.0):
        return x + 10.0 * y + 100.0 * z

    f, seen = traced(tf, f)
    x = tf.constant(1.0)
    for result in (f(x), f(x, 2.0), f(x=x, y=2.0), f(x, z=3.0), f(z=3.0, x=x)):
        same(result, 321.0)
    assert len(seen) == 1
    same(f(y=x, z=x, x=x), 111.0)


def test_any_number_of_arguments(tf):
    def f(x, *more, **named):
        return x + sum(more) + sum(10.0 * v for v in named.values())

    f, seen = traced(tf, f)
    x = tf.constant(1.0)
    same(f(x), 1.0)
    same(f(x, x, x), 3.0)
    same(f(x, x, a=x), 12.0)
    same(f(x, x, a=tf.constant(2.0)), 22.0)
    same(f(x, x, b=x), 12.0)
    assert len(seen) == 4


def test_a_wrong_call_is_refused_as_in_python(tf):
    f = tf.function(lambda x, y: x + y)
    with pytest.raises(TypeError, match="missing a required argument"):
        f(tf.constant(1.0))
    with pytest.raises(TypeError, match="too many positional arguments"):
        f(1.0, 2.0, 3.0)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        f(1.0, 2.0, z=3.0)


def test_a_default_that_is_a_tensor(tf):
    three = tf.constant(3.0)

    @tf.function
    def f(x, y=three):
        return x * y

    x = tf.constant(2.0)
    same(f(x), 6.0)
    same(grad(tf, lambda x, y: f(x), x, three)[1], 2.0)


# What can be a function


def test_lambdas_partials_and_callables(tf):
    class Scale:
        def __init__(self, factor):
            self.factor = tf.Variable(factor)

        def __call__(self, x):
            return self.factor * x

        def twice(self, x):
            return self(self(x))

    x, scale = tf.constant(2.0), Scale(3.0)
    same(tf.function(lambda x: 3.0 * x)(x), 6.0)
    same(tf.function(functools.partial(lambda a, x, b: a * x + b, 3.0, b=1.0))(x), 7.0)
    same(tf.function(scale)(x), 6.0)
    same(tf.function(scale.twice)(x), 18.0)
    same(tf.function(tf.square)(x), 4.0)
    with tf.GradientTape() as tape:
        y = tf.function(scale.twice)(x)
    same(tape.gradient(y, scale.factor), 12.0)


def test_functions_inside_of_functions(tf):
    def power(n):
        @tf.function
        def f(x):
            return x**n

        return f

    square, cube = power(2), power(3)
    x = tf.constant(2.0)
    same(square(x), 4.0)
    same(cube(x), 8.0)


def test_a_function_made_of_a_function(tf):
    def f(x):
        return x

    assert tf.function(tf.function(f)).python_function is f


def test_what_cannot_be_a_function(tf):
    with pytest.raises(TypeError, match="expected a function to compile, not 3"):
        tf.function(3)


def test_methods_of_classes(tf):
    class Model:
        scale = 5.0

        @staticmethod
        @tf.function
        def double(x):
            return 2.0 * x

        @classmethod
        @tf.function
        def scaled(cls, x):
            return cls.scale * x

        @property
        @tf.function
        def one(self):
            return tf.ones([])

    x = tf.constant(3.0)
    same(Model.double(x), 6.0)
    same(Model().double(x), 6.0)
    same(Model.scaled(x), 15.0)
    same(Model().one, 1.0)


def test_each_instance_has_its_own_traces(tf):
    class Model:
        def __init__(self, factor):
            self.factor = factor
            self.traces = 0

        @tf.function
        def scaled(self, x, by=1.0):
            self.traces += 1
            return self.factor * x * by

    one, two = Model(2.0), Model(3.0)
    x = tf.constant(10.0)
    for _ in range(2):
        same(one.scaled(x), 20.0)
        same(two.scaled(x), 30.0)
        same(one.scaled(x, by=tf.constant(2.0)), 40.0)
    assert (one.traces, two.traces) == (2, 1)
    assert one.scaled.experimental_get_tracing_count() == 2
    same(Model.scaled(one, x), 20.0)
    concrete = two.scaled.get_concrete_function(tf.TensorSpec([]))
    same(concrete(x), 30.0)


def test_the_options_of_a_method(tf):
    class Model:
        @tf.function(input_signature=[tf.TensorSpec([None])])
        def double(self, x):
            return 2.0 * x

        @tf.function(reduce_retracing=True)
        def triple(self, x):
            return 3.0 * x

    model = Model()
    for n in range(1, 6):
        same(model.double([1.0] * n), [2.0] * n)
        same(model.triple(tf.ones([n])), [3.0] * n)
    assert model.double.experimental_get_tracing_count() == 1
    assert model.triple.experimental_get_tracing_count() == 2


def test_a_subclass_overrides_a_method(tf):
    class Base:
        @tf.function
        def f(self, x):
            return 2.0 * x

    class Derived(Base):
        @tf.function
        def f(self, x):
            return super().f(x) + 1.0

    same(Derived().f(tf.constant(3.0)), 7.0)


# input_signature


def test_input_signature_converts(tf):
    f, seen = traced(
        tf, lambda x, n: x * n, input_signature=[tf.TensorSpec([2]), tf.TensorSpec([], tf.float32)]
    )
    same(f([1.0, 2.0], 3), [3.0, 6.0])
    same(f(np.array([1.0, 2.0]), tf.constant(4.0)), [4.0, 8.0])
    assert len(seen) == 1


def test_nested_input_signature(tf):
    spec = {"x": tf.TensorSpec([None]), "y": [tf.TensorSpec([])]}
    f, seen = traced(tf, lambda d: d["x"] * d["y"][0], input_signature=[spec])
    same(f({"x": tf.ones([2]), "y": [tf.constant(3.0)]}), [3.0, 3.0])
    same(f({"x": tf.ones([1]), "y": [tf.constant(3.0)]}), [3.0])
    assert len(seen) == 1


def test_arguments_beyond_the_input_signature(tf):
    f, seen = traced(tf, lambda x, n=2.0: x * n, input_signature=[tf.TensorSpec([])])
    same(f(tf.constant(3.0)), 6.0)
    assert len(seen) == 1


@pytest.mark.parametrize(
    "args, words",
    [
        (lambda tf: [tf.ones([3])], r"argument 0 must be a TensorSpec\(shape=\(2,\).*shape \(3,\)"),
        (lambda tf: [tf.constant([1, 2])], "argument 0 must be .* by its `input_signature`.*int32"),
        (lambda tf: [["a", "b"]], "argument 0 must be a TensorSpec"),
        (lambda tf: [], "missing a required argument"),
    ],
)
def test_what_does_not_fit_an_input_signature(tf, args, words):
    f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([2], tf.float32)])
    with pytest.raises(TypeError, match=words):
        f(*args(tf))


def test_what_needs_the_sizes_is_traced_for_each(tf):
    f = tf.function(lambda x: tf.zeros([len(x)]) + x, input_signature=[tf.TensorSpec([None])])
    for n in (2, 3, 2):
        same(f(tf.ones([n])), np.ones(n))
        same(grad(tf, f, tf.ones([n])), np.ones(n))


def test_reduce_retracing_leaves_sizes_open(tf):
    f, seen = traced(tf, lambda x: tf.reduce_sum(x * x), reduce_retracing=True)
    for n in range(1, 8):
        same(f(tf.ones([n, 2])), 2.0 * n)
        same(grad(tf, f, tf.ones([n, 2])), 2.0 * np.ones([n, 2]))
    assert len(seen) <= 2


def test_reduce_retracing_where_a_size_is_needed(tf):
    f, _ = traced(tf, lambda x: x * float(x.shape[0]), reduce_retracing=True)
    for n in (2, 3, 2):
        same(f(tf.ones([n])), n * np.ones(n))


# What a function says of itself


def test_the_parameters_of_a_function(tf):
    specs = [tf.TensorSpec([2]), tf.TensorSpec([])]
    spec = tf.function(lambda x, y=1.0: x * y, input_signature=specs).function_spec
    assert spec.arg_names == ["x", "y"]
    assert spec.default_values == {"y": 1.0}
    assert spec.fullargspec.args == ["x", "y"]
    assert spec.input_signature == spec.flat_input_signature == tuple(specs)
    assert spec.jit_compile is None


def test_the_text_of_a_program(tf):
    f = tf.function(lambda x, n: tf.sin(x) * n)
    text = f.experimental_get_compiler_ir(tf.constant([1.0, 2.0]), 3.0)
    assert "stablehlo.sine" in text("stablehlo")
    assert "sine(" in text() and "f32[2]" in text(stage="hlo")
    assert "f32[2]" in text(stage="optimized_hlo")
    with pytest.raises(ValueError, match="must be 'stablehlo', 'hlo' or 'optimized_hlo'"):
        text(stage="soup")
    same(f(tf.constant([0.0]), 3.0), [0.0])


def test_a_function_is_decorated_before_it_is_traced(tf):
    f = tf.function(lambda x: x * 2.0)

    def plus(python):
        return lambda x, y=1.0: python(x) + y

    f._decorate(plus)
    same(f(tf.constant(3.0)), 7.0)
    same(f(tf.constant(3.0), 2.0), 8.0)
    with pytest.raises(ValueError, match="cannot be decorated after it has been traced"):
        f._decorate(plus)


# How many are kept


def test_traces_that_are_not_used_for_long_are_forgotten(tf):
    f, seen = traced(tf, lambda x, n: x * n)
    x = tf.constant(2.0)
    first = weakref.ref(f.get_concrete_function(x, 0).graph)
    for n in range(1, 600):
        f.get_concrete_function(x, n)
        f.get_concrete_function(x, -1)  # used all the time
    assert len(seen) == 601
    gc.collect()
    assert first() is None
    assert len(f.pretty_printed_concrete_signatures().split("\n\n")) <= 256
    same(f(x, 599), 1198.0)
    same(f(x, -1), -2.0)
    assert len(seen) == 601
    same(f(x, 0), 0.0)
    assert len(seen) == 602


def test_relaxed_traces_are_forgotten_too(tf):
    f, seen = traced(tf, lambda x, n: x * n, reduce_retracing=True)
    first = weakref.ref(f.get_concrete_function(tf.ones([2]), 0).graph)
    for n in range(1, 300):
        f.get_concrete_function(tf.ones([2]), n)
    gc.collect()
    assert first() is None
    same(f(tf.ones([2]), 299), [299.0, 299.0])
    assert len(seen) == 300


def test_what_is_recent(tf):
    from gradtape._src.function.signature import Recent

    recent = Recent(4)
    for key in "abc":
        recent.keep(key, key.upper())
    assert [recent.recall(key) for key in "abcd"] == ["A", "B", "C", None]
    assert len(recent) == 3 and sorted(recent) == ["A", "B", "C"]
    recent.keep("d", "D")
    recent.keep("d", "E")
    assert len(recent) <= 4 and recent.recall("d") == "E"


# Concrete functions


def test_a_concrete_function_of_python_values(tf):
    f, seen = traced(tf, lambda x, n=2, *, power=1: (n * x) ** power)
    concrete = f.get_concrete_function(tf.TensorSpec([]), n=3, power=2)
    same(concrete(tf.constant(2.0)), 36.0)
    same(concrete(x=tf.constant(2.0)), 36.0)
    same(concrete(tf.constant(2.0), 3), 36.0)
    with pytest.raises(TypeError, match="this trace is for `n` = 3, and got 4"):
        concrete(tf.constant(2.0), 4)
    with pytest.raises(TypeError, match="the argument `x` is missing"):
        concrete()
    with pytest.raises(TypeError, match=r"this trace takes x, n, power"):
        concrete(tf.constant(2.0), q=1)
    assert len(seen) == 1


def test_a_concrete_function_of_any_number_of_arguments(tf):
    f = tf.function(lambda *xs, **named: sum(xs) * named["by"])
    concrete = f.get_concrete_function(tf.TensorSpec([]), tf.TensorSpec([]), by=tf.TensorSpec([]))
    one = tf.constant(1.0)
    same(concrete(one, one, by=tf.constant(3.0)), 6.0)
    same(grad(tf, lambda x: concrete(x, one, by=x), tf.constant(3.0)), 7.0)


def test_a_concrete_function_inside_another_function(tf):
    w = tf.Variable(5.0)
    cube = tf.function(lambda x, n: w * x**n).get_concrete_function(tf.TensorSpec([]), 3)

    @tf.function
    def slopes(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = cube(x)
        return tape.gradient(y, [x, w])

    gx, gw = slopes(tf.constant(2.0))
    same(gx, 60.0)
    same(gw, 8.0)


def test_what_a_concrete_function_says_of_itself(tf):
    w, b = tf.Variable(5.0), tf.Variable(1.0, trainable=False)
    f = tf.function(lambda x: {"y": w * x + b, "n": (tf.size(x), None)}, name="affine")
    concrete = f.get_concrete_function(tf.TensorSpec([2]))
    assert [v.ref() for v in concrete.variables] == [w.ref(), b.ref()]
    assert [v.ref() for v in concrete.trainable_variables] == [w.ref()]
    outputs = concrete.structured_outputs
    assert outputs["y"] == tf.TensorSpec([2], tf.float32)
    assert outputs["n"] == (tf.TensorSpec([], tf.int32), None)
    assert repr(concrete) == "<ConcreteFunction affine(float32[2])>"
    f(tf.constant(1.0))
    assert f.pretty_printed_concrete_signatures().split("\n\n") == [
        "<ConcreteFunction affine(float32[2])>",
        "<ConcreteFunction affine(float32[])>",
    ]


# Too many traces


def storm(tf, caplog, f, calls):
    caplog.set_level(logging.WARNING, logger=tf.get_logger().name)
    caplog.clear()
    tf.get_logger().propagate = True
    for args in calls:
        f(*args)
    return [record.getMessage() for record in caplog.records]


def test_a_storm_of_traces_names_the_argument(tf, caplog):
    f = tf.function(lambda x, factor: x * factor)
    x = tf.constant(1.0)
    (message,) = storm(tf, caplog, f, [(x, float(n)) for n in range(5)])
    assert "traced 5 times" in message and "`factor` differs from call to call" in message
    assert "Pass numbers as tensors" in message


def test_a_recursion_is_not_warned_about(tf, caplog):
    @tf.function
    def factorial(x, n):
        return x if n <= 1 else factorial(x * n, n - 1)

    assert storm(tf, caplog, factorial, [(tf.constant(1), 9), (tf.constant(1), 9)]) == []


def test_a_storm_of_shapes_names_the_argument(tf, caplog):
    f = tf.function(lambda x: tf.reduce_sum(x))
    (message,) = storm(tf, caplog, f, [(tf.ones([n]),) for n in range(5)])
    assert "`x` differs from call to call: float32[0], float32[1], float32[2]" in message


def test_no_warning_for_few_traces(tf, caplog):
    f = tf.function(lambda x: x + 1.0)
    assert storm(tf, caplog, f, [(tf.ones([n % 3]),) for n in range(20)]) == []


def test_a_function_shows_its_name_and_the_number_of_its_traces(tf):
    f = tf.function(lambda x: x, name="same")
    shown = [repr(f)]
    for x in [tf.constant(1.0), tf.constant(1)]:
        f(x)
        shown.append(repr(f))
    assert shown == [
        "<function same, traced for 0 signatures>",
        "<function same, traced for 1 signature>",
        "<function same, traced for 2 signatures>",
    ]
