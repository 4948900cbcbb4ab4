"""docs/semantics.md, section F: gradient(): targets, sources, structures."""

from collections import OrderedDict, namedtuple

import numpy as np
import pytest

from .helpers import grad, raises, same

Pair = namedtuple("Pair", "p q")


def products(tf):
    """A persistent tape over a = 2, b = 3, c = 5 and their product."""
    a, b, c = tf.constant(2.0), tf.constant(3.0), tf.constant(5.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, b, c])
        y = a * b * c
    return tape, y, a, b, c


def test_F1_the_result_mirrors_the_sources(tf):
    tape, y, a, b, _ = products(tf)
    same(tape.gradient(y, a), 15.0)
    as_list = tape.gradient(y, [a, b])
    assert type(as_list) is list
    same(as_list, [15.0, 10.0])
    as_tuple = tape.gradient(y, (a, b))
    assert type(as_tuple) is tuple
    same(as_tuple, [15.0, 10.0])
    as_dict = tape.gradient(y, {"b": b, "a": a})
    assert type(as_dict) is dict and set(as_dict) == {"a", "b"}
    same(as_dict["a"], 15.0)
    same(as_dict["b"], 10.0)


def test_F1_nested_sources(tf):
    tape, y, a, b, c = products(tf)
    result = tape.gradient(y, [a, (b, {"c": [c]}), []])
    assert type(result) is list and type(result[1]) is tuple and type(result[1][1]) is dict
    same(result[0], 15.0)
    same(result[1][0], 10.0)
    same(result[1][1]["c"], [6.0])
    assert result[2] == []


def test_F2_namedtuples_and_ordered_dicts_keep_their_type(tf):
    tape, y, a, b, c = products(tf)
    pair = tape.gradient(y, Pair(p=b, q=a))
    assert type(pair) is Pair
    same(pair.p, 10.0)
    same(pair.q, 15.0)
    ordered = tape.gradient(y, OrderedDict([("z", c), ("a", a), ("m", b)]))
    assert type(ordered) is OrderedDict
    assert list(ordered) == ["z", "a", "m"]
    same([ordered["z"], ordered["a"], ordered["m"]], [6.0, 15.0, 10.0])


def test_F3_no_sources(tf):
    tape, y, *_ = products(tf)
    assert tape.gradient(y, []) == []


def test_F4_no_targets(tf):
    tape, _, a, b, _ = products(tf)
    assert tape.gradient([], a) is None
    assert tape.gradient([], [a, b]) == [None, None]


@pytest.mark.parametrize("shape", [(1,), (3,), (2, 3), (2, 1, 3)])
def test_F5_a_target_that_is_not_a_scalar_is_summed(tf, shape):
    x = tf.constant(2.0)
    weights = np.arange(np.prod(shape), dtype="float32").reshape(shape)
    same(grad(tf, lambda x: x * weights, x), weights.sum())
    v = tf.constant(weights)
    same(grad(tf, lambda v: v * v, v), 2 * weights)


@pytest.mark.parametrize(
    "pack",
    [
        lambda y, z: [y, z],
        lambda y, z: (y, z),
        lambda y, z: {"y": y, "z": z},
        lambda y, z: [[y], ({"z": z},)],
        lambda y, z: Pair(y, z),
    ],
    ids=["list", "tuple", "dict", "nested", "namedtuple"],
)
def test_F6_several_targets_are_summed(tf, pack):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, z = x * x, 10.0 * tf.reduce_sum(x)
    same(tape.gradient(pack(y, z), x), [12.0, 14.0])


def test_F7_a_target_listed_twice_counts_twice(tf):
    tape, y, a, *_ = products(tf)
    same(tape.gradient([y, y], a), 30.0)


def test_F7_a_source_that_is_a_target_adds_one(tf):
    tape, y, a, b, _ = products(tf)
    ga, gb = tape.gradient([y, a], [a, b])
    same(ga, 16.0)
    same(gb, 10.0)
    same(tape.gradient([a, y, a], a), 17.0)


def test_F8_a_source_listed_twice_gets_the_gradient_twice(tf):
    tape, y, a, *_ = products(tf)
    same(tape.gradient(y, [a, a, a]), [15.0, 15.0, 15.0])


def test_F9_the_gradient_of_a_tensor_by_itself_is_ones(tf):
    tape, y, a, *_ = products(tf)
    unknown = tf.constant([[1.0, 2.0]])
    same(tape.gradient(y, y), 1.0)
    same(tape.gradient(a, a), 1.0)
    same(tape.gradient(unknown, unknown), [[1.0, 1.0]])


def test_F10_an_unconnected_source_has_none(tf):
    tape, y, a, *_ = products(tf)
    other = tf.constant(1.0)
    assert tape.gradient(y, other) is None
    ga, gother = tape.gradient(y, (a, other))
    same(ga, 15.0)
    assert gother is None
    assert tape.gradient(a, y) is None


@pytest.mark.parametrize(
    "f", [lambda x: x * 0.0, lambda x: x - x, lambda x: x**2 * 0.0], ids=["times", "minus", "power"]
)
def test_F11_a_zero_derivative_is_a_zero_tensor(tf, f):
    x = tf.constant([1.0, 2.0])
    g = grad(tf, f, x)
    assert isinstance(g, tf.Tensor)
    same(g, [0.0, 0.0])


def test_F12_target_none_raises(tf):
    tape, _, a, *_ = products(tf)
    with pytest.raises(TypeError, match="target"):
        tape.gradient(None, a)


def test_F13_none_elsewhere_raises(tf):
    tape, y, a, *_ = products(tf)
    for target, sources in [([y, None], a), (y, None), (y, [a, None]), (y, {"a": None})]:
        with pytest.raises(TypeError):
            tape.gradient(target, sources)


@pytest.mark.parametrize(
    "value", [1.0, 1, np.ones(2), np.float32(1.0)], ids=lambda v: type(v).__name__
)
def test_F14_numbers_and_arrays_are_refused(tf, value):
    tape, y, a, *_ = products(tf)
    for target, sources in [(value, a), ([y, value], a), (y, value), (y, [a, value])]:
        with raises(tf, TypeError):
            tape.gradient(target, sources)


def test_F15_a_string_target_has_no_gradient(tf):
    x, text = tf.constant(3.0), tf.constant("text")
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(text, x) is None
    assert tape.gradient([text], [x]) == [None]
    same(tape.gradient([text, y], x), 6.0)
    same(tape.gradient([y, text], x), 6.0)


def test_F16_an_integer_target_has_no_gradient(tf):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        n = tf.cast(y, tf.int32)
    assert tape.gradient(n, x) is None
    assert tape.gradient(tf.constant(1), x) is None
    same(tape.gradient([n, y], x), 6.0)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "bool"])
def test_F17_a_cast_through_integers_cuts(tf, dtype):
    x = tf.constant([1.0, 2.0])
    assert grad(tf, lambda x: tf.cast(tf.cast(x, dtype), tf.float32), x) is None
    n = tf.constant([1, 2])
    assert grad(tf, lambda n: tf.cast(n, tf.float32) * 2.0, n) is None


@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("other", ["float16", "bfloat16", "float32", "float64"])
def test_F18_a_cast_between_floats_passes(tf, source, other):
    x = tf.cast(tf.constant([1.0, 2.0]), source)
    g = grad(tf, lambda x: tf.cast(x, other) * 2.0, x)
    assert g.dtype == tf.as_dtype(source)
    same(tf.cast(g, tf.float32), [2.0, 2.0])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_F19_half_precision_throughout(tf, dtype):
    x = tf.cast(tf.constant([[1.0, 2.0], [3.0, 4.0]]), dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        h = tf.tanh(tf.matmul(x, x) * 0.125)
        y = tf.reduce_mean(tf.exp(h) / 2.0 + x**2)
    gy, gh, gx = tape.gradient(y, [y, h, x])
    assert y.dtype == h.dtype == tf.as_dtype(dtype)
    assert gy.dtype == gh.dtype == gx.dtype == tf.as_dtype(dtype)


def test_F20_paths_are_summed(tf):
    x = tf.constant(3.0)

    def f(x):
        a = x * x
        b = a * x
        return a + b + a * b + x

    same(grad(tf, f, x), 6.0 + 27.0 + 5 * 81.0 + 1.0)
    same(grad(tf, lambda x: x + x + x, x), 3.0)


def test_F21_gradients_are_ordinary_tensors(tf):
    x = tf.constant([1.0, 2.0])
    g = grad(tf, lambda x: x**3, x)
    assert isinstance(g, tf.Tensor)
    assert isinstance(g.numpy(), np.ndarray)
    assert tuple(g.shape) == (2,) and g.dtype == tf.float32
    same(x - 0.1 * g, [0.7, 0.8])
    same(tf.reduce_sum(g * g), 9.0 + 144.0)


def test_F22_a_long_chain(tf):
    x = tf.constant(1.0)
    n = 10_000
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(n):
            y = y + x
    same(tape.gradient(y, x), n + 1.0)


@pytest.mark.parametrize(
    "f, expected",
    [
        (lambda tf, x: tf.split(x, 2)[0], [1.0, 1.0, 0.0, 0.0]),
        (lambda tf, x: tf.unstack(x)[3] * 5.0, [0.0, 0.0, 0.0, 5.0]),
        (lambda tf, x: tf.nn.moments(x, [0])[0], [0.25] * 4),
        (lambda tf, x: tf.math.top_k(x, 2)[0][1], [0.0, 0.0, 1.0, 0.0]),
    ],
    ids=["split", "unstack", "moments", "top_k"],
)
def test_F23_unused_outputs_count_as_zero(tf, f, expected):
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    same(grad(tf, lambda x: f(tf, x), x), expected)
