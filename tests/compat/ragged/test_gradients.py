"""Gradients through ragged tensors, of first and second order, eager and in functions."""

import numpy as np
import pytest

X = [0.5, 1.5, 2.0, -1.0, 0.25, 3.0]
SPLITS = [0, 2, 2, 3, 6]
COLUMN = [[1.0], [2.0], [3.0], [4.0]]

CASES = {
    "values": lambda tf, rt: rt.values**3,
    "map_flat_values": lambda tf, rt: tf.ragged.map_flat_values(tf.exp, rt).flat_values,
    "with_values": lambda tf, rt: rt.with_values(rt.values**2).flat_values,
    "row": lambda tf, rt: rt[3] ** 2 * rt[0][0],
    "slice": lambda tf, rt: (rt[:, :1] ** 2).flat_values,
    "reverse": lambda tf, rt: (tf.reverse(rt, [1]) * rt).flat_values,
    "to_tensor": lambda tf, rt: tf.tanh((rt * rt).to_tensor(default_value=0.5)),
    "to_tensor cut": lambda tf, rt: tf.tanh((rt * rt).to_tensor(shape=[4, 2])),
    "sum of rows": lambda tf, rt: tf.reduce_sum(rt**2, 1) ** 2,
    "sum of columns": lambda tf, rt: tf.reduce_sum(rt**2, 0) ** 2,
    "mean": lambda tf, rt: tf.reduce_mean(rt[2:] ** 2, 1) ** 2,
    "max": lambda tf, rt: tf.reduce_max(rt**2, 1)[::3],
    "prod": lambda tf, rt: tf.reduce_prod(rt, 1),
    "variance": lambda tf, rt: tf.math.reduce_variance(rt, 1)[3],
    "softmax": lambda tf, rt: tf.nn.softmax(rt).flat_values ** 2,
    "cumsum": lambda tf, rt: tf.cumsum(rt * rt, axis=1).flat_values ** 2,
    "broadcast": lambda tf, rt: (rt * tf.constant(COLUMN) * rt).flat_values,
    "where": lambda tf, rt: tf.where(rt > 1.0, rt * rt, rt * 3.0).flat_values,
    "concat": lambda tf, rt: tf.reduce_sum(tf.concat([rt, rt * rt], 1) ** 2, 1),
    "stack": lambda tf, rt: tf.stack([rt, rt * rt]).flat_values ** 2,
    "tile": lambda tf, rt: tf.tile(rt, [1, 2]).flat_values ** 3,
    "gather": lambda tf, rt: tf.gather(rt**3, [2, 0, 2]).flat_values,
    "gather_nd": lambda tf, rt: tf.gather_nd(rt, [[3, 1], [0, 1]]) ** 2,
    "expand_dims": lambda tf, rt: tf.expand_dims(rt, 1).merge_dims(0, 1).flat_values ** 2,
    "clip": lambda tf, rt: tf.clip_by_value(rt * rt, 0.5, 5.0).flat_values,
}
"""Functions of a ragged tensor; the sum of what each gives is differentiated."""


def derivatives(tf, function, x):
    """The value, the gradient, and the gradient of its square sum."""
    x = tf.constant(x)
    splits = tf.constant(SPLITS, tf.int64)

    def run(x, splits):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                rt = tf.RaggedTensor.from_row_splits(x, splits)
                y = tf.reduce_sum(function(tf, rt))
            gradient = tf.convert_to_tensor(tape.gradient(y, x))
            square_sum = tf.reduce_sum(gradient**2)
        second = outer.gradient(square_sum, x)
        return y, gradient, tf.zeros_like(x) if second is None else tf.convert_to_tensor(second)

    return run, (x, splits)


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_first_and_second_order(tf, name):
    run, arguments = derivatives(tf, CASES[name], X)
    eager = [part.numpy() for part in run(*arguments)]
    compiled = [part.numpy() for part in tf.function(run)(*arguments)]
    for a, b in zip(eager, compiled, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    wide = np.asarray(X, np.float64)
    value, gradient, second = eager
    for order, expected in ((0, gradient), (1, second)):
        found = [_difference(tf, CASES[name], wide, i, order) for i in range(len(X))]
        np.testing.assert_allclose(expected, found, rtol=2e-2, atol=2e-3, err_msg=f"order {order}")
    assert np.isfinite(value)


def _difference(tf, function, x, i, order):
    step = 1e-5
    ends = []
    for sign in (1, -1):
        moved = x.copy()
        moved[i] += sign * step
        run, arguments = derivatives(tf, lambda tf, rt: _wide(tf, function, rt), moved)
        value, gradient, _ = run(*arguments)
        ends.append(value.numpy() if order == 0 else np.sum(gradient.numpy() ** 2))
    return (ends[0] - ends[1]) / (2 * step)


def _wide(tf, function, rt):
    return function(_InFloat64(tf), rt)


class _InFloat64:
    """tf, whose constants are float64."""

    def __init__(self, tf):
        self._tf = tf

    def __getattr__(self, name):
        return getattr(self._tf, name)

    def constant(self, value):
        return self._tf.constant(value, self._tf.float64)


def test_a_ragged_tensor_is_source_and_target(tf):
    rt = tf.RaggedTensor.from_row_lengths(tf.constant([1.0, 2.0, 3.0]), [1, 2])
    with tf.GradientTape() as tape:
        tape.watch(rt.flat_values)
        y = rt * rt
    gradient = tape.gradient(y, rt)
    assert isinstance(gradient, tf.RaggedTensor)
    assert gradient.to_list() == [[2.0], [4.0, 6.0]]


def test_the_rows_of_a_table(tf):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    ids = tf.ragged.constant([[0, 2], [0]])

    def loss(ids):
        rows = tf.nn.embedding_lookup(table, ids)
        return tf.reduce_sum(tf.reduce_sum(rows, 1) ** 2)

    for call in (loss, tf.function(loss)):
        with tf.GradientTape() as tape:
            y = call(ids)
        gradient = tf.convert_to_tensor(tape.gradient(y, table))
        assert y.numpy() == 6.0**2 + 8.0**2 + 1 + 4
        np.testing.assert_allclose(gradient, [[14.0, 20.0], [0.0, 0.0], [12.0, 16.0]])


def test_the_filling_has_a_gradient_too(tf):
    filling = tf.Variable(7.0)
    rt = tf.RaggedTensor.from_row_lengths(tf.constant([1.0, 2.0, 3.0]), [1, 2])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(rt.to_tensor(default_value=filling) ** 2)
    assert tape.gradient(y, filling).numpy() == 14.0


def test_variables_behind_a_function_of_a_ragged_tensor(tf):
    v = tf.Variable([1.0, 2.0, 3.0])
    squares = tf.function(lambda rt: tf.reduce_sum(rt * rt, 1))
    with tf.GradientTape() as tape:
        y = squares(tf.RaggedTensor.from_row_lengths(v, [1, 2]))
    np.testing.assert_allclose(tape.gradient(y, v), [2.0, 4.0, 6.0])
