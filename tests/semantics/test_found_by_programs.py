"""What TensorFlow programs rely on beyond the statements of SPEC; found by running some."""

import copy
import pickle
from collections import defaultdict, deque

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


@pytest.mark.parametrize("method", ["assign_add", "scatter_add", "scatter_nd_add"])
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
