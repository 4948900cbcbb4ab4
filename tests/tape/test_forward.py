"""Forward mode: tangents of one op by three ways, and many tangents at once as in a loop."""

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.op import registry
from gradtape._src.core.recorder import recorders
from gradtape._src.tape.forward import jvp_of_op
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


def jvp(name, inputs, tangents, **params):
    """The tangent of an op's output by its declaration."""
    op = registry[name]
    return jvp_of_op(op, inputs, op.call(*inputs, **params), params, tangents)


def test_a_linear_op_is_applied_to_the_tangent():
    t = tf.constant(TANGENTS[0][0])
    assert "x" in registry["transpose"].linear
    np.testing.assert_allclose(jvp("transpose", [X], {0: t}, perm=(1, 0)), TANGENTS[0][0].T)


def test_an_elementwise_op_multiplies_by_its_partial_and_broadcasts():
    row, t = tf.constant([1.0, 2.0, 3.0], tf.float64), tf.constant([1.0, 10.0, 100.0], tf.float64)
    found = jvp("multiply", [X, row], {1: t})
    np.testing.assert_allclose(found, X.numpy() * t.numpy())
    both = jvp("multiply", [X, row], {0: X, 1: t})
    np.testing.assert_allclose(both, X.numpy() * row.numpy() + X.numpy() * t.numpy())


def test_any_other_op_transposes_its_rule():
    a = tf.constant([[2.0, 0.5], [0.5, 1.0]], tf.float64)
    t = tf.constant([[0.1, 0.2], [0.3, 0.4]], tf.float64)
    step = 1e-6
    expected = (
        (np.linalg.inv(a.numpy() + step * t) - np.linalg.inv(a.numpy() - step * t)) / 2 / step
    )
    with ForwardAccumulator(a, t) as acc:
        y = tf.linalg.inv(a)
    np.testing.assert_allclose(acc.jvp(y), expected, rtol=1e-8)


def test_an_additive_op_gets_zeros_where_there_is_no_tangent():
    with ForwardAccumulator(X, tf.constant(TANGENTS[0][0])) as acc:
        y = tf.concat([X, X * 2.0, tf.ones_like(X)], 0)
    t = TANGENTS[0][0]
    np.testing.assert_allclose(acc.jvp(y), np.concatenate([t, 2 * t, 0 * t]))


def test_what_is_not_differentiable_has_no_tangent():
    with ForwardAccumulator(X, tf.constant(TANGENTS[0][0])) as acc:
        y = tf.gather(X, tf.argmax(X, 0))
        indices = tf.argmax(X, 0)
        stopped = tf.stop_gradient(X)
    assert acc.jvp(y) is not None
    assert acc.jvp([indices, stopped]) == [None, None]
    assert acc.jvp(indices, unconnected_gradients="zero").numpy().tolist() == [0, 0, 0]


def test_several_outputs_of_which_one_has_no_tangent():
    with ForwardAccumulator(X, tf.constant(TANGENTS[0][0])) as acc:
        values, indices = tf.math.top_k(X, 1)
    t = np.take_along_axis(TANGENTS[0][0], indices.numpy(), 1)
    np.testing.assert_allclose(acc.jvp(values), t)
    assert acc.jvp(indices) is None


def test_a_variable_as_a_primal():
    v = tf.Variable([1.0, 2.0])
    with ForwardAccumulator(v, tf.constant([1.0, 0.0])) as acc:
        y = v * v
    assert acc.jvp(y).numpy().tolist() == [2, 0]


def test_an_accumulator_inside_does_not_see_what_the_one_outside_computes():
    x = tf.constant(2.0)
    with (
        ForwardAccumulator(x, tf.constant(1.0)) as outer,
        ForwardAccumulator(x, tf.constant(1.0)) as inner,
    ):
        y = x**3
        first = inner.jvp(y)
    assert (float(first), float(outer.jvp(first))) == (12, 12)


def test_it_can_be_entered_again_and_leaves_nothing_active():
    acc = ForwardAccumulator(X, X)
    for _ in range(2):
        with acc:
            y = 2.0 * X
        assert list(recorders()) == []
    np.testing.assert_allclose(acc.jvp(y), 2 * X.numpy())
    assert repr(acc).startswith("<ForwardAccumulator: ")
