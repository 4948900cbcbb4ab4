"""What TensorFlow programs rely on beyond the statements of SPEC; found by running some."""

from collections import defaultdict, deque

import numpy as np
import pytest

from .helpers import grad, same


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
