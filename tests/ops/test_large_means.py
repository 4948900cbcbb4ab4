"""Moments of numbers that are large beside their spread: as exact as the dtype, in all derivatives.

Expected are the numbers of the same program in float64.
"""

import numpy as np
import pytest

import gradtape as tf

WEIGHTS = [1.0, -2.0, 0.5, 3.0, 0.7, -0.3]
STEPS = np.array([0.0, 1.0, 2.0, 5.0, 3.0, 1.0])
INPUTS = {"float32": 1e8 + 8 * STEPS, "float16": 1024 + STEPS, "bfloat16": 256 + 2 * STEPS}
ROUNDINGS = {"float32": 6e-7, "float16": 2e-3, "bfloat16": 2e-2}


def weighted_variance(x):
    return tf.nn.weighted_moments(x, [0], tf.constant([1, 2, 3, 1, 1, 2]))[1]


def batch_normalized(x):
    mean, variance = tf.nn.moments(x, [0])
    scale = tf.ones_like(mean) * 2
    return tf.nn.batch_normalization(x, mean, variance, scale, scale, 1e-3)


def standardized(x):
    image = tf.reshape(x, [1, 6, 1])
    if x.dtype != tf.float64:
        return tf.image.per_image_standardization(image)
    return (image - tf.reduce_mean(image)) / tf.math.reduce_std(image)  # of float64 it is float32


FUNCTIONS = {
    "reduce_variance": tf.math.reduce_variance,
    "reduce_variance keepdims": lambda x: tf.math.reduce_variance(x, 0, keepdims=True),
    "reduce_std": tf.math.reduce_std,
    "moments": lambda x: tf.nn.moments(x, [0])[1],
    "moments keepdims": lambda x: tf.nn.moments(x, [0], keepdims=True)[1],
    "weighted_moments": weighted_variance,
    "batch_normalization": batch_normalized,
    "per_image_standardization": standardized,
}


def derivatives(f, x):
    """Value, gradient, derivative of the gradient, and the tangent, in float64."""
    weights = tf.cast(WEIGHTS, x.dtype)

    def weigh(y):
        flat = tf.reshape(tf.cast(y, x.dtype), [-1])
        return tf.reduce_sum(flat * weights[: flat.shape[0]])

    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
            loss = weigh(y)
        gradient = tape.gradient(loss, x)
        slope = weigh(gradient)
    with tf.autodiff.ForwardAccumulator(x, weights) as accumulator:
        tangent = accumulator.jvp(f(x))
    results = y, gradient, outer.gradient(slope, x), tangent
    return [np.asarray(result.numpy(), np.float64) for result in results]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("dtype", INPUTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_in_float64(name, dtype, compiled):
    f = FUNCTIONS[name]
    x = tf.cast(INPUTS[dtype], dtype)
    expected = derivatives(f, tf.cast(x, tf.float64))
    actual = derivatives(tf.function(f) if compiled else f, x)
    for found, right in zip(actual, expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=0, atol=ROUNDINGS[dtype] * abs(right).max())


def test_the_gradient_of_a_variance():
    x = tf.constant([1e8, 1e8 + 8, 1e8 + 16])
    with tf.GradientTape() as tape:
        tape.watch(x)
        variance = tf.math.reduce_variance(x)
    np.testing.assert_allclose(variance, 128 / 3, rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(variance, x), [-16 / 3, 0, 16 / 3], rtol=1e-6)


def test_the_mean_of_moments_is_rounded_once():
    numbers = np.float32(1e8) + 8 * np.arange(1000, dtype=np.float32)
    mean, _ = tf.nn.moments(numbers, [0])
    assert mean.numpy() == np.float32(numbers.astype(np.float64).mean())


@pytest.mark.parametrize("compiled", [False, True])
def test_numbers_near_the_end_of_the_range(compiled):
    """No overflow that the plain sum would not have; an infinite mean is infinite."""

    def moments(x):
        return tf.nn.moments(x, [0])

    if compiled:
        moments = tf.function(moments)
    mean, variance = moments(tf.constant([3e38, -3e38]))
    assert abs(mean.numpy()) < 3e38 * 1e-7 and variance.numpy() == np.inf
    for first in ([np.inf, 1.0], [1.0, np.inf]):
        mean, variance = moments(tf.constant(first))
        assert mean.numpy() == np.inf and np.isnan(variance)


def test_squares_that_overflow_in_float16_where_the_result_does_not():
    x = tf.constant([-600.0, 600.0], tf.float16)
    assert tf.math.reduce_std(x).numpy() == 600.0
    np.testing.assert_allclose(tf.nn.l2_normalize(x), [-(0.5**0.5), 0.5**0.5], rtol=1e-3)
