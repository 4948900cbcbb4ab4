"""Many tangents at once give what a loop over accumulators gives."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.autodiff import BatchForwardAccumulator, ForwardAccumulator

RNG = np.random.default_rng(0)
X, W = tf.constant(RNG.normal(size=(2, 3))), tf.constant(RNG.normal(size=(3, 2)))
TANGENTS = RNG.normal(size=(4, 2, 3)), RNG.normal(size=(4, 3, 2))


def program(x, w):
    h = tf.tanh(tf.matmul(x, w))
    return {"loss": tf.reduce_sum(tf.nn.softmax(h) * h), "h": h}


def test_as_a_loop_over_accumulators():
    with BatchForwardAccumulator([X, W], [tf.constant(t) for t in TANGENTS]) as batch:
        result = program(X, W)
        inside = batch.jvp(result)
    found = batch.jvp(result)
    for i in range(4):
        with ForwardAccumulator([X, W], [tf.constant(t[i]) for t in TANGENTS]) as one:
            expected = one.jvp(program(X, W))
        for name in result:
            np.testing.assert_allclose(found[name][i], expected[name], rtol=1e-12)
            np.testing.assert_allclose(inside[name][i], expected[name], rtol=1e-12)


def test_unconnected_results():
    with BatchForwardAccumulator(X, tf.constant(TANGENTS[0])) as batch:
        other = W * 2.0
    assert batch.jvp(other) is None
    assert batch.jvp(other, unconnected_gradients="zero").shape == (4, 3, 2)


def test_random_draws_are_the_same_for_all_tangents():
    with BatchForwardAccumulator(X, tf.constant(TANGENTS[0])) as batch:
        y = X * tf.random.normal([2, 3], dtype=tf.float64)
    assert y.shape == (2, 3)
    np.testing.assert_allclose(batch.jvp(y), TANGENTS[0] * (y / X).numpy())


@pytest.mark.parametrize("tangents", [tf.constant(1.0), [tf.ones([2, 3]), tf.ones([3, 2])]])
def test_tangents_without_a_common_axis_are_refused(tangents):
    with pytest.raises(ValueError, match="one axis more"):
        BatchForwardAccumulator([X] if isinstance(tangents, list) else X, tangents)


def test_an_error_on_entering_leaves_nothing_active():
    with pytest.raises(ValueError, match="dtype and shape"):
        BatchForwardAccumulator(X, tf.ones([4, 5, 5], tf.float64)).__enter__()
