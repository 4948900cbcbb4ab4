"""What TensorFlow programs rely on beyond docs/semantics.md; found by running some."""

import copy
import pickle
from collections import defaultdict, deque
from uuid import uuid4

import numpy as np
import pytest

from .helpers import grad, in_threads, same


@pytest.mark.parametrize(
    "value, text",
    [(1.5, "1.5"), (3, "3"), ([1.0, 2.0], "[1. 2.]"), (True, "True"), ([[1, 2]], "[[1 2]]")],
)
def test_a_tensor_in_an_f_string_is_its_bare_value(tf, value, text):
    assert f"{tf.constant(value)}" == text
    assert "{}".format(tf.constant(value)) == text  # noqa: UP032
    assert str(tf.constant(value)).startswith("tf.Tensor(")


@pytest.mark.parametrize(
    "old, new, expected",
    [
        ((0, 3), [0, -1], (0, 3)),
        ((0, 3), [-1, 0], (3, 0)),
        ((0,), [0, -1, 3], (0, 0, 3)),
        ((2, 0, 5), [-1, 0], (10, 0)),
        ((0, 3), [-1, 3], (0, 3)),
    ],
)
def test_the_free_dimension_of_an_empty_tensor(tf, old, new, expected):
    x = tf.zeros(old)
    assert tf.reshape(x, new).shape == expected
    assert grad(tf, lambda x: tf.reshape(x, new), x).shape == old


@pytest.mark.parametrize("axis", [-1, np.int64(-1)])
def test_gather_along_a_negative_axis_has_a_dense_gradient(tf, axis):
    v = tf.Variable([1.0, 2.0, 3.0])
    g = grad(tf, lambda v: tf.gather(v, [[2], [0], [2]], axis=axis), v)
    assert isinstance(g, tf.Tensor)
    same(g * 2.0, [2.0, 0.0, 4.0])
    rows = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    assert isinstance(grad(tf, lambda v: tf.gather(v, 1, axis=-2), rows), tf.Tensor)
    assert isinstance(grad(tf, lambda v: tf.gather(v, 1, axis=0), rows), tf.IndexedSlices)


def test_sources_may_be_the_view_of_a_dict(tf):
    p = {"b": tf.Variable(1.0), "a": tf.Variable(2.0)}
    with tf.GradientTape(persistent=True) as tape:
        y = p["a"] ** 2 * p["b"]
    g = tape.gradient(y, p.values())
    assert isinstance(g, list)
    same(g[0], 4.0)
    same(g[1], 4.0)
    queue = tape.gradient(y, deque(p.values()))
    assert isinstance(queue, deque)
    same(queue[0], 4.0)


def test_sources_may_be_a_defaultdict(tf):
    p = defaultdict(list, {"b": tf.Variable(1.0), "a": tf.Variable(2.0)})
    with tf.GradientTape() as tape:
        y = p["a"] ** 2 * p["b"]
    g = tape.gradient(y, p)
    assert isinstance(g, defaultdict) and g["missing"] == []
    same(g["b"], 4.0)


@pytest.mark.parametrize("name", ["zeta", "polygamma"])
def test_the_argument_without_a_gradient_may_be_watched(tf, name):
    f = getattr(tf.math, name)
    a, x = tf.constant([2.0]), tf.constant([1.5])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, x])
        y = f(a, x)
        only = f(a, 1.5)
    by_a, by_x = tape.gradient(y, [a, x])
    assert by_a is None and by_x is not None
    assert tape.gradient(only, a) is None


def test_a_variable_of_unknown_shape_takes_any(tf):
    v = tf.Variable([1.0], shape=tf.TensorShape(None))
    v.assign([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)
    same(tape.gradient(y, v), [[2.0, 4.0], [6.0, 8.0]])


def test_single_strings_are_tensors(tf):
    words = tf.constant(["a", "bb"])
    for first in (words[0], next(iter(words)), tf.unstack(words)[0], tf.gather(words, 0)):
        assert first.shape == () and first.dtype == tf.string
        assert first.numpy() == b"a"
        assert str(first) == "tf.Tensor(b'a', shape=(), dtype=string)"
    assert tf.stack(["a", "bb"]).shape == (2,)


def test_a_range_is_a_list_of_ints(tf):
    assert tf.constant(range(3)).dtype == tf.int32


def test_a_size_in_a_list_may_be_a_floating_tensor(tf):
    # Keras computes the sizes of blurring kernels in the dtype of the images.
    two, three = tf.constant(2.0), tf.constant(3.0)
    assert tf.reshape(tf.range(6), [three, two, 1]).shape == (3, 2, 1)
    assert tf.zeros([two, 1]).shape == (2, 1)
    assert tf.tile([[1.0]], [three, 1]).shape == (3, 1)
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError)):
        tf.reshape(tf.range(6), tf.stack([three, two]))


def test_linspace_of_no_points(tf):
    assert tf.linspace(0.0, 1.0, 0).shape == (0,)
    assert tf.linspace([0.0, 1.0], [2.0, 3.0], 0, axis=1).shape == (2, 0)


def test_linspace_between_complex_numbers(tf):
    start, stop = tf.constant(1.0 + 2.0j), tf.constant(3.0 - 1.0j)
    points = tf.linspace(start, stop, 3)
    same(points, [1.0 + 2.0j, 2.0 + 0.5j, 3.0 - 1.0j])
    same(grad(tf, lambda x: tf.math.imag(tf.linspace(x, stop, 3)), start), 1.5j)


@pytest.mark.parametrize("ends, dtype", [("int16", "float32"), ("int32", "float64")])
def test_linspace_between_integers_is_as_their_quotient(tf, ends, dtype):
    points = tf.linspace(tf.constant(1, ends), tf.constant(2, ends), 3)
    assert points.dtype.name == dtype
    same(points, [1.0, 1.5, 2.0])


# (TensorFlow locks `assign_add` alone: of 20 runs of the others it lost updates in one.)
@pytest.mark.parametrize(
    "method",
    [
        "assign_add",
        pytest.param("scatter_add", marks=pytest.mark.gradtape_only),
        pytest.param("scatter_nd_add", marks=pytest.mark.gradtape_only),
    ],
)
def test_no_update_is_lost_between_threads(tf, method):
    v = tf.Variable([0.0, 0.0])
    delta = {
        "assign_add": ([1.0, 0.0],),
        "scatter_add": (tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])),),
        "scatter_nd_add": ([[0]], [1.0]),
    }[method]

    def work():
        for _ in range(1000):
            getattr(v, method)(*delta)

    in_threads([work] * 6)
    same(v.numpy(), [6000.0, 0.0])


def test_a_pickled_variable_comes_back_as_another_one(tf):
    v = tf.Variable([1.0, 2.0], name="w", trainable=False)
    back = pickle.loads(pickle.dumps(v))
    same(back.numpy(), [1.0, 2.0])
    assert back.name == "w:0" and not back.trainable
    with tf.GradientTape() as tape:
        tape.watch([v, back])
        y = v * 3.0
    by_v, by_back = tape.gradient(y, [v, back])
    same(by_v, [3.0, 3.0])
    assert by_back is None


def test_a_shallow_copy_of_a_variable_shares_its_value(tf):
    v = tf.Variable([1.0, 2.0])
    twin = copy.copy(v)
    v.assign([5.0, 6.0])
    same(twin.numpy(), [5.0, 6.0])


@pytest.mark.parametrize(
    "method, args",
    [
        ("scatter_sub", ([1.0, 1.0], [-1, 0])),
        ("scatter_update", ([1.0], [3])),
        ("scatter_add", ([1.0], [0, 1])),
        ("scatter_nd_update", ([[-1]], [1.0])),
        ("scatter_nd_add", ([[0], [1]], [1.0])),
        ("scatter_nd_sub", ([[0, 0]], [1.0])),
    ],
)
def test_updates_outside_of_a_variable_or_of_another_shape(tf, method, args):
    v = tf.Variable([1.0, 2.0, 3.0])
    if "nd" not in method:
        args = (tf.IndexedSlices(tf.constant(args[0]), tf.constant(args[1])),)
    with pytest.raises(tf.errors.InvalidArgumentError):
        getattr(v, method)(*args)
    same(v.numpy(), [1.0, 2.0, 3.0])


def test_one_number_for_all_rows(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    v.scatter_update(tf.IndexedSlices(tf.constant(7.0), tf.constant([0, 2])))
    same(v.numpy(), [[7.0, 7.0], [3.0, 4.0], [7.0, 7.0]])


@pytest.mark.parametrize("name", ["zeros", "ones"])
def test_a_negative_dimension(tf, name):
    with pytest.raises(tf.errors.InvalidArgumentError, match="imension"):
        getattr(tf, name)([2, -3])


def test_zeros_of_strings_are_empty(tf):
    assert tf.zeros([2], tf.string).numpy().tolist() == [b"", b""]
    assert tf.zeros_like(["a"]).numpy().tolist() == [b""]
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        tf.ones([2], tf.string)


def test_a_list_as_key_is_a_tuple(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    same(x[[1, 0]], 3.0)
    same(x[[slice(None), 1]], [2.0, 4.0])


def test_strings_are_joined_by_plus(tf):
    a = tf.constant("a")
    for joined in (a + "b", a + b"b", tf.add("a", "b"), tf.Variable("a") + "b"):
        assert joined.dtype == tf.string and joined.shape == [] and joined.numpy() == b"ab"
    assert ("b" + a).numpy() == b"ba"
    table = tf.constant(["a", "b"]) + tf.constant([["x"], ["y"]])
    assert table.numpy().tolist() == [[b"ax", b"bx"], [b"ay", b"by"]]
    assert (tf.constant([], tf.string) + "a").shape == [0]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant(["a", "b"]) + tf.constant(["a", "b", "c"])
    for wrong in (lambda: a + 1, lambda: a - "a", lambda: tf.constant(1) + "a"):
        with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
            wrong()


def test_strings_have_no_gradient(tf):
    x = tf.constant("a")
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x + "b"
    assert tape.gradient(y, x) is None


@pytest.mark.parametrize("values", [[], ()])
def test_a_stack_of_nothing(tf, values):
    x = tf.stack(values)
    assert x.shape == [0] and x.dtype == tf.float32
    with pytest.raises((IndexError, ValueError)):
        tf.stack(values, axis=1)


def test_a_stack_of_what_is_one_tensor(tf):
    assert tf.stack(np.zeros((0, 3))).shape == [0, 3]
    assert tf.stack(tf.zeros((0, 3))).shape == [0, 3]
    assert tf.stack(tf.constant(3)).shape == []
    same(tf.stack(tf.constant([[1, 2], [3, 4]]), axis=1), [[1, 3], [2, 4]])


def test_the_numbers_of_dtypes(tf):
    numbers = {1: "float32", 2: "float64", 3: "int32", 7: "string", 10: "bool", 14: "bfloat16"}
    for number, name in numbers.items():
        assert tf.as_dtype(number).name == name
        assert tf.as_dtype(name).as_datatype_enum == number
    assert tf.constant([1, 2], dtype=1).dtype == tf.float32
    with pytest.raises(TypeError):
        tf.as_dtype(0)


def test_a_seed_that_is_a_float(tf):
    def drawn(seed):
        tf.random.set_seed(1)
        return tf.random.uniform([3], seed=seed).numpy().tolist()

    assert drawn(124.0) == drawn(124.7) == drawn(124) != drawn(125)
    assert tf.random.Generator.from_seed(1.0).uniform([1]).shape == [1]


def test_python_functions_by_decorators(tf):
    @tf.py_function(Tout=tf.float32)
    def product(x, y):
        return x * y

    @tf.numpy_function(Tout=[tf.float32, tf.int64])
    def both(x, y):
        return x * np.float32(2), y

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = product(x, 2.0)
    same(y, 6.0)
    same(tape.gradient(y, x), 2.0)
    assert product.__name__ == "product"
    first, second = both(x, tf.constant(4, tf.int64))
    same(first, 6.0)
    assert int(second) == 4
    with pytest.raises(TypeError, match="Tout"):
        tf.py_function(lambda x: x)
    with pytest.raises(TypeError):
        tf.py_function(inp=[1.0], Tout=tf.float32)


def test_a_type_of_op_without_a_gradient(tf):
    name = f"UsersOwnOp{uuid4().hex}"
    assert tf.no_gradient(name) is None
    with pytest.raises(KeyError):
        tf.no_gradient(name)
    with pytest.raises(TypeError):
        tf.no_gradient(3)


def test_arrays_through_protocol_buffers(tf):
    for value in ([[1, 2], [3, 4]], 1.5, [True], 2j):
        array = tf.make_ndarray(tf.make_tensor_proto(value))
        assert array.tolist() == value and array.dtype == tf.constant(value).dtype.as_numpy_dtype
    assert tf.make_ndarray(tf.make_tensor_proto([1, 2], dtype=tf.float16)).dtype == np.float16


def test_sufficient_statistics(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    count, total, squares, shift = tf.nn.sufficient_statistics(x, [0])
    assert shift is None and count.dtype == tf.float32
    same(count, 2.0)
    same(total, [4.0, 7.0])
    same(squares, [10.0, 29.0])
    count, total, squares, shift = tf.nn.sufficient_statistics(x, [0, 1], 1.0, keepdims=True)
    same(total, [[7.0]])
    same(squares, [[21.0]])
    mean, variance = tf.nn.normalize_moments(count, total, squares, shift)
    same(mean, [[2.75]])
    same(variance, [[2.1875]])


@pytest.mark.parametrize(
    "options, offsets, expected",
    [
        ({}, [[0.0, 0.0], [0.3, -0.4]], [[5, 6, 9, 10, 13, 14], [24, 25, 28, 29, 32, 33]]),
        ({}, [[-1.5, 0.0], [9.0, 9.0]], [[0, 0, 0, 0, 1, 2], [0] * 6]),
        (
            {"centered": False},
            [[0.0, 0.0], [0.3, -0.4]],
            [[0, 1, 4, 5, 8, 9], [0, 24, 0, 28, 0, 32]],
        ),
        ({"normalized": False}, [[1.0, 1.0], [2.2, 3.6]], [[15, 0, 19, 0, 0, 0], [0] * 6]),
        (
            {"centered": False, "normalized": False},
            [[-1.5, 0.0], [2.2, 3.6]],
            [[0, 0, 0, 1, 4, 5], [31, 0, 35, 0, 39, 0]],
        ),
    ],
)
def test_glimpses(tf, options, offsets, expected):
    images = np.arange(40, dtype=np.float32).reshape(2, 5, 4, 1)
    glimpses = tf.image.extract_glimpse(images, [3, 2], offsets, noise="zero", **options)
    assert glimpses.shape == [2, 3, 2, 1]
    same(tf.reshape(glimpses, [2, 6]), expected)


@pytest.mark.parametrize("noise", ["uniform", "gaussian"])
def test_glimpses_with_noise_outside(tf, noise):
    images = np.random.default_rng(0).normal(size=(1, 3, 3, 1)) + 50
    glimpse = tf.image.extract_glimpse(images.astype(np.float32), [9, 9], [[0.0, 0.0]], noise=noise)
    same(glimpse[:, 3:6, 3:6], images)
    outside = np.concatenate([glimpse[0, :3].numpy().ravel(), glimpse[0, 6:].numpy().ravel()])
    assert len(set(outside.tolist())) > 40 and abs(outside - 50).max() < 9


def test_glimpses_of_wrong_arguments(tf):
    images = np.zeros((2, 5, 4, 1), np.float32)
    for x, size, offsets, noise in (
        (images, [3, 2], [[0.0, 0.0]], "zero"),
        (images, [3], [[0.0, 0.0]] * 2, "zero"),
        (images[0], [3, 2], [[0.0, 0.0]] * 2, "zero"),
        (images, [3, 2], [[0.0, 0.0]] * 2, "loud"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.image.extract_glimpse(x, size, offsets, noise=noise)


@pytest.mark.parametrize(
    "name, value",
    [
        ("reduce_sum", 0.0),
        ("reduce_mean", np.nan),
        ("reduce_max", -np.inf),
        ("reduce_min", np.inf),
        ("math.reduce_euclidean_norm", 0.0),
        ("math.reduce_variance", np.nan),
    ],
)
def test_reductions_of_nothing_do_not_move(tf, name, value):
    reduce = tf
    for part in name.split("."):
        reduce = getattr(reduce, part)
    for shape, axis in (((0,), None), ((2, 0), 1)):
        x = tf.zeros(shape)
        with tf.autodiff.ForwardAccumulator(x, tf.ones(shape)) as accumulator:
            y = reduce(x, axis)
        same(y, np.full(shape[:-1], value))
        same(accumulator.jvp(y), np.zeros(shape[:-1]))
        assert grad(tf, lambda x, axis=axis: reduce(x, axis), x).shape == shape


@pytest.mark.parametrize("shape, axes", [((0,), [0]), ((2, 0), [1]), ((0, 3), [0])])
@pytest.mark.parametrize("keepdims", [False, True])
def test_moments_of_nothing(tf, shape, axes, keepdims):
    x = tf.zeros(shape)
    mean, variance = tf.nn.moments(x, axes, keepdims=keepdims)
    expected = np.zeros(shape).sum(axes[0], keepdims=keepdims) + np.nan
    same(mean, expected)
    same(variance, expected)
    assert grad(tf, lambda x: tf.nn.moments(x, axes)[1], x).shape == shape


def test_infinities_stay_where_they_are_in_cumulative_logsumexp(tf):
    x = tf.constant([-np.inf, 0.0, 3.0], tf.float64)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.math.cumulative_logsumexp(x)
        first = tape.gradient(y, x)
    same(first[1:], [1.0474258731775667, 0.9525741268224333])
    same(outer.gradient(first, x)[1:], [0.0, 0.0])
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        y = tf.math.cumulative_logsumexp(x)
    same(accumulator.jvp(y)[1:], [1.0, 1.0])
