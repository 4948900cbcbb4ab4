"""LossScaleOptimizer: steps that are left out, and the scale."""

import numpy as np

from .examples import gradtape_only, not_finite, slices


def test_an_optimizer_that_made_steps_can_be_given_a_dynamic_scale(tf):
    v = tf.Variable(1.0)
    inner = tf.optimizers.SGD(0.5, loss_scale_factor=2.0)
    inner.apply_gradients([(tf.constant(2.0), v)])
    optimizer = tf.optimizers.LossScaleOptimizer(inner, 4.0)
    optimizer.apply_gradients([(tf.constant(4.0), v)])
    assert v.numpy() == 0.0


def test_a_step_with_gradients_that_are_not_finite_is_left_out(tf):
    v = tf.Variable([1.0, 2.0])
    inner = tf.optimizers.SGD(0.5)
    optimizer = tf.optimizers.LossScaleOptimizer(inner, initial_scale=8.0, dynamic_growth_steps=2)
    assert optimizer.scale_loss(tf.constant(2.0)).numpy() == 16.0
    scales = []
    for g in [8.0, np.inf, np.nan, 2.0, 2.0, 4.0]:
        optimizer.apply_gradients([(tf.constant([0.0, g], tf.float32), v)])
        scales.append(float(optimizer.dynamic_scale.numpy()))
    assert scales == [8.0, 4.0, 2.0, 2.0, 4.0, 4.0]
    np.testing.assert_array_equal(v.numpy(), [1.0, 0.0])
    assert int(optimizer.iterations.numpy()) == 4
    assert optimizer.learning_rate.numpy() == 0.5
    optimizer.learning_rate = 0.25
    assert inner.learning_rate.numpy() == 0.25


@not_finite
@gradtape_only
def test_very_large_gradients_are_finite(tf):
    optimizer = tf.optimizers.LossScaleOptimizer(tf.optimizers.SGD(1.0), 1.0)
    assert optimizer.check_finite([tf.constant([3e38, 3e38])]).numpy()
    assert not optimizer.check_finite([tf.constant([3e38, np.inf], tf.float32)]).numpy()


@gradtape_only
def test_scaled_rows(tf):
    table = tf.Variable(np.zeros((3, 2), "float32"))
    optimizer = tf.optimizers.LossScaleOptimizer(tf.optimizers.SGD(1.0), 4.0)
    optimizer.apply_gradients([(slices(tf, [[4.0, 8.0]], [1], 3), table)])
    np.testing.assert_array_equal(table.numpy(), [[0, 0], [-1, -2], [0, 0]])


def test_a_loss_scale_as_plain_values(tf):
    optimizer = tf.optimizers.LossScaleOptimizer(tf.optimizers.Adam(0.5), 4.0, 7)
    again = tf.optimizers.deserialize(tf.optimizers.serialize(optimizer))
    assert again.initial_scale == 4.0 and again.dynamic_growth_steps == 7
    assert again.inner_optimizer.get_config() == optimizer.inner_optimizer.get_config()
