"""SPEC J: Python control flow and tf.where. J4 to J7 wait for their functions."""

import numpy as np
import pytest

from .helpers import grad, same


@pytest.mark.parametrize("value, expected", [(3.0, 6.0), (-3.0, 5.0)])
def test_J1_only_the_branch_that_ran(tf, value, expected):
    def f(x):
        if x > 0.0:
            return x * x
        return 5.0 * x

    same(grad(tf, f, tf.constant(value)), expected)


def test_J1_neither_the_other_branch_nor_the_condition(tf):
    x, taken, other = tf.Variable(3.0), tf.Variable(1.0), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = taken * 2.0 if x > 0.0 else other * 3.0
    gx, gtaken, gother = tape.gradient(y, [x, taken, other])
    assert gx is None and gother is None
    same(gtaken, 2.0)


def test_J2_loops_record_each_step(tf):
    x = tf.constant(2.0)

    def power(x):
        y = x
        for _ in range(4):
            y = y * x
        return y

    same(grad(tf, power, x), 5 * 16.0)


def test_J2_rows_of_an_iterated_tensor_are_differentiable(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def f(x):
        rows = list(x)
        assert len(rows) == 3 and all(tuple(row.shape) == (2,) for row in rows)
        return sum((i + 1.0) * tf.reduce_sum(row * row) for i, row in enumerate(rows))

    same(grad(tf, f, x), [[2.0, 4.0], [12.0, 16.0], [30.0, 36.0]])
    v = tf.Variable([1.0, 2.0])
    same(grad(tf, lambda v: sum(a * a for a in v), v), [2.0, 4.0])


def test_J3_scalars_are_conditions(tf):
    assert bool(tf.constant(1.0)) is True and bool(tf.constant(0.0)) is False
    assert (1 if tf.constant(True) else 2) == 1
    x, steps = tf.constant(1.0), 0
    while x < 100.0:
        x, steps = x * 2.0, steps + 1
    assert steps == 7
    assert bool(tf.constant([[3.0]])) is True


def test_J3_several_elements_are_not_a_condition(tf):
    for values in [1.0, 2.0], [True, True], [[0.0], [0.0]]:
        with pytest.raises(ValueError):
            bool(tf.constant(values))


def test_J8_where_splits_the_gradient(tf):
    c = tf.constant([True, False, True])
    a, b = tf.constant([1.0, 2.0, 3.0]), tf.constant([10.0, 20.0, 30.0])
    ga, gb = grad(tf, lambda a, b: tf.where(c, a * a, b * b), a, b)
    same(ga, [2.0, 0.0, 6.0])
    same(gb, [0.0, 40.0, 0.0])


def test_J8_the_condition_gets_none(tf):
    x, c = tf.constant([1.0, -1.0]), tf.constant([True, False])
    gc, gx = grad(tf, lambda c, x: tf.where(c, x, 2.0 * x), c, x)
    assert gc is None
    same(gx, [1.0, 2.0])
    assert grad(tf, lambda x: tf.where(x > 0.0, 1.0, 2.0), x) is None
    same(grad(tf, lambda x: tf.where(x > 0.0, x, 0.0), x), [1.0, 0.0])


@pytest.mark.parametrize(
    "c, a, b",
    [
        ((2, 3), (), ()),
        ((2, 3), (3,), (2, 1)),
        ((2, 1), (1, 3), ()),
        ((), (2, 3), (3,)),
        ((3,), (2, 3), (2, 3)),
        ((1, 3), (2, 1), (4, 1, 1)),
    ],
    ids=str,
)
def test_J9_where_broadcasts(tf, c, a, b):
    c = np.arange(np.prod(c, dtype=int)).reshape(c) % 2 == 0
    a, b = np.ones(a, "float32"), 2 * np.ones(b, "float32")
    expected = np.where(c, a, b)
    weights = np.arange(1.0, expected.size + 1).reshape(expected.shape).astype("float32")
    x, y = tf.constant(a), tf.constant(b)
    same(tf.where(c, x, y), expected)
    gx, gy = grad(tf, lambda x, y: tf.where(c, x, y) * weights, x, y)
    same(gx, summed_to(weights * c, a.shape))
    same(gy, summed_to(weights * ~c, b.shape))


def summed_to(g, shape):
    """g summed over the axes along which `shape` was broadcast."""
    padded = (1,) * (g.ndim - len(shape)) + shape
    axes = tuple(i for i, n in enumerate(padded) if n != g.shape[i])
    return g.sum(axis=axes, keepdims=True).reshape(shape)
