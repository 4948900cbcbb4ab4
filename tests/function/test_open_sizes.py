"""Sizes that a signature leaves open: None inside the function, one function for all of them."""

import numpy as np
import pytest
from semantics.helpers import grad, same, second

X = np.arange(12, dtype=np.float32).reshape(4, 3) + 1.0


def by_signature(tf, python, *specs):
    return tf.function(python, input_signature=list(specs))


def by_concrete(tf, python, *specs):
    return tf.function(python).get_concrete_function(*specs)


@pytest.fixture(params=[by_signature, by_concrete])
def made(tf, request):
    """Both ways to leave sizes open."""
    return lambda python, *specs: request.param(tf, python, *specs)


@pytest.fixture
def rows(tf):
    return tf.TensorSpec([None, 3])


# What is seen inside


def test_an_open_size_is_none(tf, made, rows):
    seen = []

    def f(x):
        shape = x.shape
        first, second = shape
        seen.append((shape[0], first, second, shape.as_list(), shape.rank, shape.num_elements()))
        assert not shape.is_fully_defined()
        assert shape.is_compatible_with([5, 3])
        assert not shape.is_compatible_with([5, 4])
        assert str(shape) == "(None, 3)" and repr(shape) == "TensorShape([None, 3])"
        assert shape[:1].as_list() == [None] and shape[1:].as_list() == [3]
        assert x[:, 0].shape.as_list() == [None]
        assert tf.transpose(x).shape.as_list() == [3, None]
        assert tf.concat([x, x], 0).shape.as_list() == [None, 3]
        assert tf.reduce_sum(x, 1).shape.as_list() == [None]
        assert tf.shape(x).shape.as_list() == [2]
        assert "shape=(None, 3)" in repr(x)
        return x * 2.0

    g = made(f, rows)
    same(g(tf.constant(X)), 2.0 * X)
    same(g(tf.constant(X[:2])), 2.0 * X[:2])
    assert set(map(repr, seen)) == {"(None, None, 3, [None, 3], 2, None)"}


def test_the_shape_is_that_of_the_call(tf, made, rows):
    f = made(lambda x: (tf.shape(x), tf.size(x), tf.shape(x)[0] * 2 + 1), rows)
    for n in (4, 1, 2):
        shape, size, more = f(tf.constant(X[:n]))
        same(shape, [n, 3])
        same(size, 3 * n)
        same(more, 2 * n + 1)


def test_decisions_by_an_open_size(tf, made, rows):
    def f(x):
        if tf.shape(x)[0] > 2:
            y = tf.reduce_sum(x)
        else:
            y = tf.reduce_max(x)
        return y

    g = made(f, rows)
    same(g(tf.constant(X)), X.sum())
    same(g(tf.constant(X[:2])), 6.0)


# What works with them


def summed(tf, x):
    total = tf.zeros([3])
    for i in tf.range(tf.shape(x)[0]):
        total += x[i] * x[i]
    return total


def summed_rows(tf, x):
    total = tf.zeros([3])
    for row in x:
        total += row * row
    return total


def summed_until(tf, x):
    total = tf.zeros([3])
    for row in x:
        if row[0] > 6.0:
            break
        total += row * row
    return total


def written(tf, x):
    n = tf.shape(x)[0]
    array = tf.TensorArray(tf.float32, size=n)
    for i in tf.range(n):
        array = array.write(i, x[i] * 2.0)
    return array.stack()


def unstacked(tf, x):
    array = tf.TensorArray(tf.float32, size=tf.shape(x)[0], clear_after_read=False).unstack(x)
    return array.stack() * array.read(0)


def reduced(tf, x):
    return tf.while_loop(
        lambda i, s: i < tf.shape(x)[0], lambda i, s: (i + 1, s + x[i]), [0, tf.zeros([3])]
    )[1]


PROGRAMS = {
    "reshape": lambda tf, x: tf.reshape(x, [tf.shape(x)[0], 3, 1]),
    "reshape, one free": lambda tf, x: tf.reshape(x, [-1, 3]),
    "reshape flat": lambda tf, x: tf.reshape(x, [-1]),
    "reshape by a product": lambda tf, x: tf.reshape(x, [tf.reduce_prod(tf.shape(x))]),
    "reshape by a list": lambda tf, x: tf.reshape(x, tf.concat([tf.shape(x)[:1], [3, 1]], 0)),
    "zeros": lambda tf, x: x + tf.zeros(tf.shape(x)),
    "zeros_like": lambda tf, x: x + tf.zeros_like(x) + tf.ones_like(x),
    "ones": lambda tf, x: x + tf.ones([tf.shape(x)[0], 1]),
    "fill": lambda tf, x: x * tf.fill(tf.shape(x), 2.0),
    "random.uniform": lambda tf, x: x + 0.0 * tf.random.uniform(tf.shape(x)),
    "random.normal": lambda tf, x: x[:, :1] + 0.0 * tf.random.normal([tf.shape(x)[0], 4]),
    "eye": lambda tf, x: tf.eye(tf.shape(x)[0]) @ x,
    "range": lambda tf, x: x * tf.cast(tf.range(tf.shape(x)[0]), tf.float32)[:, tf.newaxis],
    "dropout": lambda tf, x: tf.nn.dropout(x, 0.0),
    "broadcast_to": lambda tf, x: tf.broadcast_to(x[0], [tf.shape(x)[0], 3]) * x,
    "tile": lambda tf, x: tf.tile(x[:1], [tf.shape(x)[0], 1]),
    "one_hot": lambda tf, x: tf.one_hot(tf.cast(x[:, 0], tf.int32), 5) * x[:, :1],
    "slice": lambda tf, x: x[: tf.shape(x)[0] - 1] * 2.0,
    "differences": lambda tf, x: x[1:] - x[:-1],
    "half": lambda tf, x: x[: tf.shape(x)[0] // 2],
    "split": lambda tf, x: tf.split(x, 3, axis=1)[1],
    "concat": lambda tf, x: tf.concat([x, 2.0 * x], 0),
    "stack": lambda tf, x: tf.stack([x, x], 1),
    "unstack": lambda tf, x: tf.unstack(x, axis=1)[2],
    "pad": lambda tf, x: tf.pad(x, [[1, 1], [0, 0]]),
    "gather": lambda tf, x: tf.gather(x, [0, 0]),
    "matmul": lambda tf, x: tf.matmul(x, x, transpose_b=True),
    "einsum": lambda tf, x: tf.einsum("ij,kj->ik", x, x),
    "reduce_sum": lambda tf, x: tf.reduce_sum(x * x, 0),
    "reduce_mean": lambda tf, x: tf.reduce_mean(x * x),
    "mean by hand": lambda tf, x: tf.reduce_sum(x * x) / tf.cast(tf.shape(x)[0], tf.float32),
    "moments": lambda tf, x: tf.nn.moments(x, [0])[1],
    "softmax": lambda tf, x: tf.nn.softmax(x),
    "cumsum": lambda tf, x: tf.cumsum(x),
    "sort": lambda tf, x: tf.sort(x * x, 0),
    "top_k": lambda tf, x: tf.math.top_k(x, 2)[0],
    "cross entropy": lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(
        tf.zeros([tf.shape(x)[0]], tf.int32), x
    ),
    "segment sum": lambda tf, x: tf.math.unsorted_segment_sum(
        x, tf.zeros([tf.shape(x)[0]], tf.int32), 2
    ),
    "cond": lambda tf, x: tf.cond(tf.reduce_sum(x) > 20.0, lambda: x * x, lambda: x),
    "map_fn": lambda tf, x: tf.map_fn(lambda row: row * row, x),
    "scan": lambda tf, x: tf.scan(lambda a, row: a + row * row, x),
    "for of a range": summed,
    "for of a tensor": summed_rows,
    "for with break": summed_until,
    "array": written,
    "array of rows": unstacked,
    "minimum of sizes": lambda tf, x: x[: tf.minimum(tf.shape(x)[0], 2)] * x[:1],
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_value_and_gradient(tf, made, rows, program):
    def f(x):
        return PROGRAMS[program](tf, x)

    g = made(f, rows)
    for n in (4, 2, 4):
        x = tf.constant(X[:n])
        same(g(x), f(x))
        same(tf.convert_to_tensor(grad(tf, g, x)), tf.convert_to_tensor(grad(tf, f, x)))


IMAGES = {
    "conv2d": lambda tf, x: tf.nn.conv2d(x, tf.ones([2, 2, 1, 2]), 1, "SAME"),
    "max_pool2d": lambda tf, x: tf.nn.max_pool2d(x, 2, 2, "VALID"),
    "avg_pool2d": lambda tf, x: tf.nn.avg_pool2d(x, 2, 2, "VALID"),
    "global mean": lambda tf, x: tf.reduce_mean(x * x, [1, 2]),
    "flatten": lambda tf, x: tf.reshape(x, [tf.shape(x)[0], -1]),
}


@pytest.mark.parametrize("program", IMAGES)
@pytest.mark.parametrize("shape", [[None, 4, 4, 1], [None, None, None, 1]], ids=["batch", "all"])
def test_images(tf, made, program, shape):
    def f(x):
        return IMAGES[program](tf, x)

    g = made(f, tf.TensorSpec(shape))
    for n in (2, 3):
        x = tf.constant(np.random.normal(size=(n, 4, 4, 1)).astype(np.float32))
        same(g(x), f(x))
        same(grad(tf, g, x), grad(tf, f, x))


def test_a_step_of_training(tf, rows):
    w = tf.Variable([[0.5], [1.0], [-1.0]])

    @tf.function(input_signature=[rows, tf.TensorSpec([None])])
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.squeeze(x @ w, 1) - y) ** 2)
        w.assign_sub(0.01 * tape.gradient(loss, w))
        return loss

    expected = np.array([[0.5], [1.0], [-1.0]])
    for n in (4, 2, 3):
        x, y = X[:n], np.arange(n, dtype=np.float32)
        error = x @ expected - y[:, None]
        same(step(x, y), np.mean(error**2), 1e-4)
        expected = expected - 0.02 * x.T @ error / n
        same(w, expected, 1e-4)
    assert step.experimental_get_tracing_count() == 1


def test_rows_as_a_result(tf, rows):
    @tf.function(input_signature=[rows])
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.gather(x, [0, 1, 0]) ** 2)
        return tape.gradient(y, x)

    for n in (4, 2):
        expected = np.zeros([n, 3])
        expected[:2] = [[4.0], [2.0]] * X[:2]
        same(tf.convert_to_tensor(f(tf.constant(X[:n]))), expected)


def test_higher_derivatives(tf, made, rows):
    f = made(lambda x: tf.reduce_sum(tf.reshape(x, [-1]) ** 3), rows)
    for n in (4, 2):
        same(second(tf, f, tf.constant(X[:n])), 6.0 * X[:n])


@pytest.mark.parametrize("product", ["reduce_prod", "cumprod", "cumprod backwards"])
@pytest.mark.parametrize("axis", [0, 1])
def test_higher_derivatives_of_products(tf, axis, product):
    """The rule of the rule asks for a recurrence along an axis: the first one is traced by then."""

    def total(x):
        if product == "reduce_prod":
            return tf.reduce_sum(tf.reduce_prod(x + 1.5, axis=axis) ** 2)
        backwards = product != "cumprod"
        return tf.reduce_sum(tf.math.cumprod(x + 1.5, axis=axis, reverse=backwards) ** 2)

    def derivatives(function, x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = function(x)
            slope = inner.gradient(y, x)
            bend = tf.reduce_sum(tf.sin(slope))
        return slope, outer.gradient(bend, x)

    x = tf.constant(X / 10, tf.float64)
    spec = tf.TensorSpec([None, None], tf.float64)
    found = derivatives(tf.function(total, input_signature=[spec]), x)
    for got, wanted in zip(found, derivatives(total, x), strict=True):
        np.testing.assert_allclose(got, wanted, 1e-9)


def test_no_rows(tf, made, rows):
    f = made(lambda x: tf.reduce_sum(x * x, 0), rows)
    for n in (2, 0, 3):
        same(f(tf.constant(X[:n])), (X[:n] ** 2).sum(0))


def test_with_reduce_retracing(tf):
    f = tf.function(lambda x: tf.reduce_sum(x * x, 0), reduce_retracing=True)
    for n in (2, 3, 4, 0, 1, 3):
        same(f(tf.constant(X[:n])), (X[:n] ** 2).sum(0))
        same(grad(tf, f, tf.constant(X[:n])), 2.0 * X[:n])


@pytest.mark.gradtape_only
def test_a_call_that_does_not_fit_is_an_exception(tf, rows):
    f = tf.function(lambda x: tf.reduce_sum(x * x, 0), input_signature=[rows])
    for n in (2, 0, 3, 0, 4, 1):
        f(tf.constant(X[:n]))
    assert f.experimental_get_tracing_count() == 2


def test_sizes_that_differ_between_arguments(tf, made, rows):
    f = made(lambda x, y: tf.reduce_sum(x) + tf.reduce_sum(y, 0), rows, rows)
    for n, m in ((2, 2), (3, 2), (1, 4)):
        same(f(tf.constant(X[:n]), tf.constant(X[:m])), X[:n].sum() + X[:m].sum(0))


def test_sizes_that_broadcast(tf, made, rows):
    f = made(lambda x, y: x * y, rows, rows)
    for n, m in ((2, 2), (3, 1), (1, 4)):
        same(f(tf.constant(X[:n]), tf.constant(X[:m])), X[:n] * X[:m])


def test_an_unknown_rank(tf, made):
    f = made(lambda x: tf.reduce_sum(x * x), tf.TensorSpec(None))
    for x in (X, X[0], X[0, 0], X[None]):
        same(f(tf.constant(x)), np.sum(x * x))
        same(grad(tf, f, tf.constant(x)), 2.0 * x)


def test_nested_specs(tf):
    f = tf.function(lambda d: d["x"] * d["n"][0])
    spec = {"x": tf.TensorSpec([None, 3]), "n": [tf.TensorSpec([])]}
    concrete = f.get_concrete_function(spec)
    for n in (4, 2):
        same(concrete({"x": tf.constant(X[:n]), "n": [tf.constant(2.0)]}), 2.0 * X[:n])


def test_what_does_not_fit(tf, rows):
    concrete = tf.function(lambda x: x @ tf.ones([3, 3])).get_concrete_function(rows)
    for wrong in (tf.ones([2, 4]), tf.ones([3]), tf.ones([2, 3], tf.int32)):
        with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
            concrete(wrong)


def test_what_is_wrong_for_every_size_is_refused_at_once(tf, rows):
    f = tf.function(lambda x: tf.matmul(x, tf.ones([4, 4])))
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        f.get_concrete_function(rows)


@pytest.mark.parametrize("program", ["reshape", "for of a range", "array", "matmul", "dropout"])
def test_one_trace(tf, rows, program):
    traces = []

    def f(x):
        traces.append(x.shape[0])
        return PROGRAMS[program](tf, x)

    g = tf.function(f, input_signature=[rows])
    for n in (4, 2, 3):
        grad(tf, g, tf.constant(X[:n]))
    assert traces == [None]


# What can be known of it


def test_what_a_concrete_function_says(tf):
    w, c = tf.Variable([1.0, 2.0, 3.0]), tf.constant([1.0, 1.0, 1.0])

    def f(x, n=2):
        y = x * w + c
        return {"y": y, "s": tf.reduce_sum(y, 0), "t": (tf.concat([y, y], 0), tf.shape(x))}

    concrete = tf.function(f).get_concrete_function(tf.TensorSpec([None, 3]))
    (x, n), rest = concrete.structured_input_signature
    assert (x, n, rest) == (tf.TensorSpec([None, 3], name="x"), 2, {})
    shapes = concrete.output_shapes
    assert shapes["y"].as_list() == [None, 3] and shapes["s"].as_list() == [3]
    assert [s.as_list() for s in shapes["t"]] == [[None, 3], [2]]
    assert concrete.output_dtypes == {
        "y": tf.float32, "s": tf.float32, "t": (tf.float32, tf.int32)
    }  # fmt: skip
    assert concrete.structured_outputs["y"].shape.as_list() == [None, 3]
    assert [y.shape.as_list() for y in concrete.outputs] == [[3], [None, 3], [2], [None, 3]]
    assert concrete.inputs[0].shape.as_list() == [None, 3]
    assert len(concrete.inputs) == 3 and len(concrete.captured_inputs) == 2
    operations = concrete.graph.get_operations()
    assert len({op.name for op in operations}) == len(operations)
    (product,) = [op for op in operations if op.type in ("mul", "Mul")]
    assert product.outputs[0].shape.as_list() == [None, 3]
    assert len(product.inputs) == 2 and product.inputs[0].op in operations
    nodes = concrete.graph.as_graph_def().node
    assert [(n.name, n.op) for n in nodes] == [(op.name, op.type) for op in operations]


@pytest.mark.gradtape_only
def test_what_one_by_need_says(tf, rows):
    f = tf.function(lambda x: (x[: tf.minimum(tf.shape(x)[0], 2)], tf.reduce_sum(x, 1)))
    concrete = f.get_concrete_function(rows)
    assert [s.as_list() for s in concrete.output_shapes] == [[None, 3], [None]]
    assert repr(concrete) == "<ConcreteFunction <lambda>(float32[None, 3])>"


def test_decorate(tf):
    f = tf.function(lambda x: x + 1.0)
    f._decorate(lambda python: lambda x: 2.0 * python(x))
    same(f(tf.constant(1.0)), 4.0)
    with pytest.raises(ValueError, match="traced"):
        f._decorate(lambda python: python)


# What an op refuses eagerly is refused for the size that came

OUT_OF_RANGE = {
    "gather": lambda tf, x: tf.gather(x, [3]),
    "gradient": lambda tf, x: tf.convert_to_tensor(grad(tf, lambda x: tf.gather(x, [3]), x)),
    "gather_nd": lambda tf, x: tf.gather_nd(x, [[3, 0]]),
    "indices of sizes": lambda tf, x: tf.gather(x, tf.range(4)),
    "write": lambda tf, x: tf.tensor_scatter_nd_add(x, [[3, 0]], [1.0]),
    "slice": lambda tf, x: tf.slice(x, [tf.cast(x[0, 0], tf.int32) + 1, 0], [2, 3]),
    "one less": lambda tf, x: tf.slice(x, [tf.cast(x[0, 0], tf.int32), 0], [tf.shape(x)[0] - 1, 3]),
    "segments": lambda tf, x: tf.math.unsorted_segment_sum([1.0], [3], tf.shape(x)[0]),
    "ensure_shape": lambda tf, x: tf.ensure_shape(x, [4, 3]),
}


@pytest.mark.parametrize("program", OUT_OF_RANGE)
def test_a_size_that_an_op_refuses(tf, made, rows, program):
    f = made(lambda x: OUT_OF_RANGE[program](tf, x), rows)
    same(f(tf.constant(X)), OUT_OF_RANGE[program](tf, tf.constant(X)))
    if program != "one less":  # that is right for each size
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(tf.constant(X[:2]))
    same(f(tf.constant(X)), OUT_OF_RANGE[program](tf, tf.constant(X)))


def test_a_function_for_one_size_only(tf, rows):
    kernel = tf.Variable(tf.ones([4, 3]))
    concrete = tf.function(lambda x: kernel.assign_add(x)).get_concrete_function(rows)
    with pytest.raises(tf.errors.InvalidArgumentError):
        concrete(tf.constant(X[:2]))
    concrete(tf.constant(X))
    same(kernel, X + 1.0)
