"""The normal distribution in float32 steps, beside SciPy's in float64, over the whole range."""

import numpy as np
import pytest
import scipy.special

import gradtape as tf
from gradtape._src.core.engine import LARGE
from gradtape._src.engines.numpy.normal import normal

EPS = np.finfo(np.float32).eps


@pytest.fixture(scope="module")
def points():
    small = np.logspace(-44, 1.1, 50_000)
    return np.concatenate([np.linspace(-13, 16, 400_001), small, -small]).astype(np.float32)


def test_it_is_relatively_exact(points):
    below, density = normal(points)
    x = points.astype(np.float64)
    for found, expected in (
        (below, scipy.special.ndtr(x)),
        (density, np.exp(-x * x / 2) / np.sqrt(2 * np.pi)),
    ):
        usual = expected > 1e-37  # the others have fewer digits
        error = np.abs(found[usual] / expected[usual] - 1)
        assert (error / np.maximum(8, x[usual] ** 2)).max() < 0.7 * EPS
        assert found[~usual].max() < 1e-37


def test_at_the_ends():
    below, density = normal(np.array([-np.inf, np.inf, np.nan, 0, -0.0], np.float32))
    np.testing.assert_allclose(below, [0, 1, np.nan, 0.5, 0.5], rtol=1e-6, atol=1e-38)
    np.testing.assert_allclose(density[2:], [np.nan, *[np.sqrt(0.5 / np.pi)] * 2], rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_gelu_of_large_arrays_is_that_of_small_ones(dtype):
    """With its first three derivatives, at zero too."""
    values = np.linspace(-4, 4, 101).astype(dtype)
    g = np.linspace(1, 2, 101).astype(dtype)

    def derivatives(x, g, count):
        if not count:
            return [tf.nn.gelu(x)]
        with tf.GradientTape() as tape:
            tape.watch(x)
            *rest, y = derivatives(x, g, count - 1)
        return [*rest, y, tape.gradient(y, x, g)]

    large = derivatives(*(tf.constant(np.resize(v, LARGE)) for v in (values, g)), 3)
    small = derivatives(tf.constant(values), tf.constant(g), 3)
    eps = np.finfo(dtype).eps
    for a, b in zip(large, small, strict=True):
        np.testing.assert_allclose(a.numpy()[:101], b.numpy(), rtol=10 * eps, atol=40 * eps)
