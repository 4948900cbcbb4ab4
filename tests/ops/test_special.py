"""Special functions beyond what check_op and the comparison with TensorFlow cover."""

import numpy as np
import pytest
from scipy import special

pytestmark = pytest.mark.gradtape_only


def derivatives(tf, f, x, order):
    """f and its derivatives at the scalar x."""
    x = tf.constant(x, tf.float64)
    values = []

    def nth(n):
        if n == 0:
            return f(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = nth(n - 1)
        return tape.gradient(y, x)

    for n in range(order + 1):
        values.append(float(nth(n)))
    return values


@pytest.mark.parametrize(
    ("name", "series"),
    [
        ("bessel_j0", [1, 0, -1 / 2, 0, 3 / 8, 0, -5 / 16]),
        ("bessel_j1", [0, 1 / 2, 0, -3 / 8, 0, 5 / 16]),
        ("bessel_i0", [1, 0, 1 / 2, 0, 3 / 8, 0, 5 / 16]),
        ("bessel_i1", [0, 1 / 2, 0, 3 / 8, 0, 5 / 16]),
    ],
)
def test_all_derivatives_of_bessel_functions_at_zero(tf, name, series):
    found = derivatives(tf, getattr(tf.math.special, name), 0.0, len(series) - 1)
    np.testing.assert_allclose(found, series, atol=1e-14)


def test_all_derivatives_of_spence_at_one(tf):
    found = derivatives(tf, tf.math.special.spence, 1.0, 5)
    np.testing.assert_allclose(found, [0, -1, 1 / 2, -2 / 3, 3 / 2, -24 / 5], atol=1e-12)


@pytest.mark.parametrize("name", ["bessel_j1", "bessel_i1", "bessel_i1e"])
def test_the_series_meets_the_formula(tf, name):
    edge = 0.1
    below, above = (
        derivatives(tf, getattr(tf.math.special, name), edge + s, 3) for s in (-1e-9, 1e-9)
    )
    np.testing.assert_allclose(below, above, atol=1e-8)


def test_expint_of_negative_numbers(tf):
    x = np.array([-5.0, -1.0, -0.1])
    np.testing.assert_allclose(tf.math.special.expint(x), special.expi(x), rtol=1e-14)


X = np.concatenate([np.logspace(-6, 0, 60), np.linspace(0.1, 30, 400), np.linspace(30, 600, 100)])


@pytest.mark.parametrize("name", ["j0", "j1", "y0", "y1", "k0", "k0e", "k1", "k1e"])
def test_bessel_functions_on_xla_are_those_of_scipy(name):
    jax = pytest.importorskip("jax")
    from gradtape._src.engines.xla.bessel import bessel

    with jax.enable_x64(True):
        found = np.asarray(jax.jit(bessel(name))(X))
    expected = getattr(special, name)(X)
    order = int(name[1])
    envelope = {
        "j": np.minimum(1, 1 / np.sqrt(X)),
        "y": np.hypot(special.jv(order, X), special.yv(order, X)),
        "k": expected,
    }[name[0]]
    assert np.max(np.abs(found - expected) / envelope) < 3e-14


def slope_by_quadrature(a, x):
    """The integral of the derivative of the density (SciPy's quadrature), by the density."""
    from scipy.integrate import quad

    def integrand(t):
        relative = (a - 1) * np.log(t / x) - (t - x)
        return np.exp(relative) * (np.log(t) - special.digamma(a))

    # On the side on which the integrand does not change its sign.
    if np.log(x) < special.digamma(a):
        return quad(integrand, 0, x, epsabs=0, epsrel=1e-12, limit=500)[0]
    far = x + 60 + 12 * np.sqrt(a)
    return -quad(integrand, x, far, epsabs=0, epsrel=1e-12, limit=500)[0]


@pytest.mark.parametrize("a", [0.05, 0.5, 1.0, 3.0, 40.0, 2000.0])
@pytest.mark.parametrize("deviations", [-4.0, -1.0, 0.0, 1.0, 6.0])
def test_the_derivative_of_igamma_by_a_is_exact_in_the_tails(tf, a, deviations):
    from gradtape._src.ops.math.gamma import _igamma_per_density

    x = a + deviations * np.sqrt(a)
    x = x if x > 0 else a * np.exp(deviations)
    found = float(
        _igamma_per_density(tf.constant(a, tf.float64), tf.constant(x, tf.float64), order=1)
    )
    np.testing.assert_allclose(found, slope_by_quadrature(a, x), rtol=2e-9)


def test_igamma_and_igammac_are_complements(tf):
    a, x = tf.constant([0.5, 4.0], tf.float64), tf.constant([3.0, 0.5], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch([a, x])
        y = tf.math.igamma(a, x) + tf.math.igammac(a, x)
    for g in tape.gradient(y, [a, x]):
        np.testing.assert_allclose(g, 0, atol=1e-16)
    np.testing.assert_allclose(y, 1)


def test_igamma_at_zero(tf):
    a, x = tf.constant([0.5, 1.0, 2.0], tf.float64), tf.zeros(3, tf.float64)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, x])
        y = tf.math.igamma(a, x)
    assert y.numpy().tolist() == [0, 0, 0]
    assert tape.gradient(y, a).numpy().tolist() == [0, 0, 0]
    assert tape.gradient(y, x).numpy().tolist() == [np.inf, 1, 0]


def test_third_derivative_of_igamma(tf):
    a, step = 1.7, 1e-3
    found = derivatives(tf, lambda a: tf.math.igamma(a, tf.constant(2.3, tf.float64)), a, 3)[3]
    grid = special.gammainc(a + step * np.arange(-2, 3), 2.3)
    np.testing.assert_allclose(found, grid @ [-1, 2, 0, -2, 1] / (2 * step**3), rtol=1e-4)
