"""Special functions: Bessel functions, integrals, the incomplete gamma and beta functions."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any

import numpy as np

from ..core import dtypes as dt
from ..core.errors import DTypeError, InvalidArgumentError, ShapeError
from ..core.tensor import Tensor
from ._family import elementwise
from ._static import static_int, to_tensor
from .arithmetic import abs, multiply_no_nan, sign
from .exponential import (
    _derivative_of_digamma,
    _polygamma,
    _wide,
    digamma,
    exp,
    lgamma,
    log,
    xlog1py,
    xlogy,
)
from .logic import less, select
from .reduction import reduce_sum
from .trigonometric import cos, sin

_POSITIVE = (0.5, 3.0)


def _number(x: Tensor, value: float) -> Tensor:
    return Tensor(np.asarray(value, x._array.dtype))


def _around(
    x: Tensor, centre: float, radius: float, coefficients: list[float], formula: Any
) -> Any:
    """`formula(x)`, near `centre`, where it is 0 / 0, by its power series, lowest power first.

    A series, and not the value alone: so higher derivatives are right there, too.
    """
    away = x - centre
    near = less(abs(away), _number(x, radius))
    inside, outside = select(near, away, _number(x, 0)), select(near, _number(x, centre + 1), x)
    series = _number(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        series = series * inside + c
    return select(near, series, formula(outside))


# Bessel functions


@cache
def _slope_of_order_one(alternating: float) -> list[float]:
    """The power series of the derivative of J1 (`alternating` -1) or I1 (1)."""
    terms = []
    for k in range(6):
        scale = 2 ** (2 * k + 1) * math.factorial(k) * math.factorial(k + 1)
        terms += [alternating**k * (2 * k + 1) / scale, 0.0]
    return terms


@elementwise(x=lambda x: bessel_i1(x), dtypes=dt.FLOATING)
def bessel_i0(xp, x):
    """The modified Bessel function of the first kind of order 0."""
    return xp.special("i0", x)


@elementwise(x=lambda x: _bessel_i1_slope(x), dtypes=dt.FLOATING)
def bessel_i1(xp, x):
    """The modified Bessel function of the first kind of order 1. Its derivative at 0 is 1/2."""
    return xp.special("i1", x)


def _bessel_i1_slope(x: Tensor) -> Tensor:
    return _around(x, 0, 0.1, _slope_of_order_one(1.0), lambda x: bessel_i0(x) - bessel_i1(x) / x)


@elementwise(x=lambda out, x: bessel_i1e(x) - sign(x) * out, dtypes=dt.FLOATING)
def bessel_i0e(xp, x):
    """`exp(-abs(x)) * bessel_i0(x)`, which does not overflow. The gradient at its peak, 0, is 0."""
    return xp.special("i0e", x)


@elementwise(x=lambda out, x: _bessel_i1e_slope(out, x), dtypes=dt.FLOATING)
def bessel_i1e(xp, x):
    """`exp(-abs(x)) * bessel_i1(x)`, which does not overflow."""
    return xp.special("i1e", x)


def _bessel_i1e_slope(out: Tensor, x: Tensor) -> Tensor:
    near = less(abs(x), _number(x, 0.1))
    inside, outside = select(near, x, _number(x, 0)), select(near, _number(x, 1), x)
    series = exp(-abs(inside)) * _bessel_i1_slope(inside)
    rest = bessel_i0e(outside) - bessel_i1e(outside) / outside
    return select(near, series, rest) - sign(x) * out


@elementwise(x=lambda x: -bessel_j1(x), dtypes=dt.FLOATING)
def bessel_j0(xp, x):
    """The Bessel function of the first kind of order 0."""
    return xp.special("j0", x)


def _bessel_j1_slope(x: Tensor) -> Tensor:
    return _around(x, 0, 0.1, _slope_of_order_one(-1.0), lambda x: bessel_j0(x) - bessel_j1(x) / x)


@elementwise(x=_bessel_j1_slope, dtypes=dt.FLOATING)
def bessel_j1(xp, x):
    """The Bessel function of the first kind of order 1."""
    return xp.special("j1", x)


def _of_positive(xp: Any, name: str, x: Any, elsewhere: float) -> Any:
    positive = ~(x <= 0)
    value = xp.special(name, xp.where(positive, x, xp.asarray(1, dtype=x.dtype)))
    return xp.where(positive, value, xp.asarray(elsewhere, dtype=x.dtype))


@elementwise(x=lambda x: -bessel_k1(x), dtypes=dt.FLOATING, domain={"x": _POSITIVE})
def bessel_k0(xp, x):
    """The modified Bessel function of the second kind of order 0; Inf for `x <= 0`."""
    return _of_positive(xp, "k0", x, np.inf)


@elementwise(x=lambda out, x: -bessel_k0(x) - out / x, dtypes=dt.FLOATING, domain={"x": _POSITIVE})
def bessel_k1(xp, x):
    """The modified Bessel function of the second kind of order 1; Inf for `x <= 0`."""
    return _of_positive(xp, "k1", x, np.inf)


@elementwise(x=lambda out, x: out - bessel_k1e(x), dtypes=dt.FLOATING, domain={"x": _POSITIVE})
def bessel_k0e(xp, x):
    """`exp(x) * bessel_k0(x)`, which does not underflow; Inf for `x <= 0`."""
    return _of_positive(xp, "k0e", x, np.inf)


@elementwise(
    x=lambda out, x: out * (1 - 1 / x) - bessel_k0e(x), dtypes=dt.FLOATING, domain={"x": _POSITIVE}
)
def bessel_k1e(xp, x):
    """`exp(x) * bessel_k1(x)`, which does not underflow; Inf for `x <= 0`."""
    return _of_positive(xp, "k1e", x, np.inf)


@elementwise(x=lambda x: -bessel_y1(x), dtypes=dt.FLOATING, domain={"x": _POSITIVE})
def bessel_y0(xp, x):
    """The Bessel function of the second kind of order 0; -Inf for `x <= 0`."""
    return _of_positive(xp, "y0", x, -np.inf)


@elementwise(x=lambda out, x: bessel_y0(x) - out / x, dtypes=dt.FLOATING, domain={"x": _POSITIVE})
def bessel_y1(xp, x):
    """The Bessel function of the second kind of order 1; -Inf for `x <= 0`."""
    return _of_positive(xp, "y1", x, -np.inf)


# Functions that are integrals of elementary ones


@elementwise(x=lambda out, x: 1 - 2 * x * out, dtypes=dt.FLOATING)
def dawsn(xp, x):
    """Dawson's integral: exp(-x**2) times the integral of exp(t**2) from 0 to x."""
    return xp.special("dawsn", x)


def _one_sample(*intervals: tuple[float, float]) -> Any:
    """XLA takes a second to compile some of these functions: one sample has to do."""
    return lambda r: [([r.uniform(low, high, size=(2, 3)) for low, high in intervals], {})]


@elementwise(x=lambda g, x: g * exp(x) / x, dtypes=dt.FLOATING, samples=_one_sample((0.2, 3.0)))
def expint(xp, x):
    """The exponential integral Ei: the integral of exp(t) / t from -Inf to x; -Inf at 0."""
    return xp.special("expi", x)


@elementwise(x=lambda x: cos(x * x * (math.pi / 2)), dtypes=dt.FLOATING)
def fresnel_cos(xp, x):
    """Fresnel's integral of cos(pi t**2 / 2) from 0 to x."""
    return _wide(lambda x: xp.special("fresnel", x)[1], x)


@elementwise(x=lambda x: sin(x * x * (math.pi / 2)), dtypes=dt.FLOATING)
def fresnel_sin(xp, x):
    """Fresnel's integral of sin(pi t**2 / 2) from 0 to x."""
    return _wide(lambda x: xp.special("fresnel", x)[0], x)


def _spence_slope(x: Tensor) -> Tensor:
    series = [(-1.0) ** (k + 1) / (k + 1) for k in range(12)]
    return _around(x, 1, 0.03, series, lambda x: log(x) / (1 - x))


@elementwise(x=_spence_slope, dtypes=dt.FLOATING, samples=_one_sample(_POSITIVE))
def spence(xp, x):
    """Spence's integral of log(t) / (1 - t) from 1 to x; NaN for negative `x`."""
    return xp.special("spence", x)


# The incomplete gamma function


def _gamma_density(a: Tensor, x: Tensor) -> Tensor:
    """The derivative of `igamma` by `x`."""
    return exp(xlogy(a - 1, x) - x - lgamma(a))


def _igamma_by_a(a: Tensor, x: Tensor) -> Tensor:
    return multiply_no_nan(_gamma_density(a, x), _igamma_per_density(a, x, order=1))


@elementwise(
    a=_igamma_by_a, x=_gamma_density, dtypes=dt.FLOATING, samples=_one_sample(_POSITIVE, _POSITIVE)
)
def igamma(xp, a, x):
    """The regularised lower incomplete gamma function P(a, x), for a > 0 and x >= 0; else NaN.

    It is the distribution function of gamma variables of shape `a`. Both arguments have gradients.
    """
    value = xp.where(
        (x < 0) | (a <= 0), xp.asarray(np.nan, dtype=x.dtype), xp.special("gammainc", a, x)
    )
    return xp.where(x == 0, xp.asarray(0, dtype=x.dtype), value)


@elementwise(
    a=lambda a, x: -_igamma_by_a(a, x),
    x=lambda a, x: -_gamma_density(a, x),
    dtypes=dt.FLOATING,
    samples=_one_sample(_POSITIVE, _POSITIVE),
)
def igammac(xp, a, x):
    """The regularised upper incomplete gamma function: `1 - igamma(a, x)`, all digits kept."""
    value = xp.special("gammaincc", a, x)
    return xp.where((x < 0) | (a <= 0), xp.asarray(np.nan, dtype=x.dtype), value)


def _per_density_samples(r):
    on_both_sides = [np.array([[0.4], [3.0], [30.0]]), np.array([0.7, 1.2, 2.0, 33.0])]
    return [
        (on_both_sides, {"order": 1}),
        ([r.uniform(1, 3, 2), r.uniform(0.5, 4, 2)], {"order": 2}),
    ]


@elementwise(
    a=lambda out, a, x, order: (
        _igamma_per_density(a, x, order=order + 1) - out * (log(x) - digamma(a))
    ),
    x=lambda out, a, x, order: (
        _density_ratio(order, log(x) - digamma(a), a) - out * ((a - 1) / x - 1)
    ),
    dtypes=dt.FLOATING,
    samples=_per_density_samples,
)
def _igamma_per_density(xp, a, x, *, order):
    """The derivative of `igamma` by `a`, of an `order`, divided by the density at `x`.

    The quotient neither underflows nor overflows, and it is closed under differentiation. Up to
    x = 1 it comes from the power series; beyond, from the integral of the derivative of the
    density over the side of `x` on which, for order 1, its sign does not change: so the relative
    error is some 1e-12, in the tails as well (for `a` near 1e5, 1e-10).
    """
    return _wide(partial(_per_density, xp, order=order), a, x)


def _per_density(xp: Any, a: Any, x: Any, *, order: int) -> Any:
    one = xp.asarray(1, dtype=x.dtype)
    valid = (a > 0) & (x > 0) & xp.isfinite(a) & xp.isfinite(x)
    elsewhere = xp.where((a > 0) & (x >= 0), 0 * one, np.nan * one)
    if xp.name == "numpy":  # each formula where it is needed only
        result = np.array(elsewhere)
        a, x = np.broadcast_arrays(a, x)
        for chosen, formula in (
            (valid & (x <= 1), _per_density_series),
            (valid & (x > 1), _per_density_integral),
        ):
            if chosen.any():
                result[chosen] = formula(xp, a[chosen], x[chosen], order)
        return result
    a, x = xp.where(valid, a, one), xp.where(valid, x, one)
    small = x <= 1
    series = _per_density_series(xp, a, xp.where(small, x, one), order)
    integral = _per_density_integral(xp, a, xp.where(small, 2 * one, x), order)
    return xp.where(valid, xp.where(small, series, integral), elsewhere)


def _per_density_series(xp: Any, a: Any, x: Any, order: int) -> Any:
    """From P = exp(L) S, with L = a log(x) - lgamma(a + 1), S = sum of (-x)**k / k! a / (a + k)."""
    powers = _bell(order, xp.log(x), partial(_polygamma_of, xp, a + 1))
    k = np.arange(1, 21).reshape(-1, *(1,) * x.ndim).astype(x.dtype)
    factorials = np.cumprod(-k, 0)
    terms = x**k / factorials  # alternating, and with x <= 1 the last is 1e-18
    total = powers[order] * (1 + (terms * a / (a + k)).sum(0))
    for m in range(1, order + 1):
        sums = (terms * k / (-a - k) ** (m + 1)).sum(0) * math.factorial(m)
        total = total + math.comb(order, m) * powers[order - m] * sums
    return total * x / a * xp.exp(x)


def _per_density_integral(xp: Any, a: Any, x: Any, order: int) -> Any:
    """By Gauss' quadrature in log(t), from x to where the density is lost against that at x."""
    derivatives = [_polygamma_of(xp, a, n) for n in range(max(order, 1))]
    below = xp.log(x) < derivatives[0]
    side = xp.where(below, -1, 1).astype(x.dtype)
    most, count = (40, 48) if x.dtype.itemsize > 4 else (20, 24)
    away = (x - a) * side

    def drop(u: Any) -> Any:  # of the logarithm of t times the density, from x to x exp(side * u)
        return x * (xp.expm1(side * u) - side * u) + away * u

    # Newton's method from bounds of the length; the drop is convex, so it stays beyond.
    narrow = (xp.sqrt(away * away + 4 * most / 3 * x) - away) / (2 / 3 * x)
    wide = xp.where(below, (most + x) / a, xp.log1p((most + a) / x))
    length = xp.where(narrow < 1, narrow, wide)
    for _ in range(5):
        length = length - (drop(length) - most) / (side * (x * xp.exp(side * length) - a))
    nodes, weights = _gauss(count)
    together = 4 if xp.name == "numpy" and x.size > 1024 else count  # at once, in memory
    column = (-1, *(1,) * x.ndim)
    log_x = xp.log(x)
    total = 0 * x
    for first in range(0, count, together):
        chosen = slice(first, first + together)
        u = length * nodes[chosen].astype(x.dtype).reshape(column)
        factor = _bell(order, log_x + side * u, derivatives.__getitem__)[order]
        heights = factor * xp.exp(-drop(u))
        total = total + (heights * weights[chosen].astype(x.dtype).reshape(column)).sum(0)
    return -side * total * length * x


@cache
def _gauss(count: int) -> tuple[Any, Any]:
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def _polygamma_of(xp: Any, a: Any, n: int) -> Any:
    return xp.special("digamma", a) if n == 0 else _derivative_of_digamma(xp, n + 0 * a, a)


def _bell(order: int, log_t: Any, polygamma_of: Any) -> list[Any]:
    """The derivatives, by `a`, of t**a / gamma(a), of orders 0 to `order`, divided by itself."""
    slopes = [log_t - polygamma_of(0), *(-polygamma_of(n) for n in range(1, order))]
    results = [slopes[0] * 0 + 1]
    for m in range(order):
        terms = [math.comb(m, j) * results[m - j] * slopes[j] for j in range(m + 1)]
        results.append(sum(terms[1:], terms[0]))
    return results


def _density_ratio(order: int, slope: Tensor, a: Tensor) -> Tensor:
    """The derivative of the density by `a`, of an `order`, divided by the density, in ops."""

    def of_order(n: int) -> Any:
        return 0 if n == 0 else _polygamma(_number(a, n), a)

    return _bell(order, slope, of_order)[order]


# The beta function


def _betainc_by_x(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    log_beta = lgamma(a) + lgamma(b) - lgamma(a + b)
    return exp(xlog1py(b - 1, -x) + xlogy(a - 1, x) - log_beta)


@elementwise(
    x=_betainc_by_x,
    dtypes=dt.FLOATING,
    samples=_one_sample(_POSITIVE, _POSITIVE, (0.1, 0.9)),
)
def _betainc(xp, a, b, x):
    invalid = (a <= 0) | (b <= 0) | (x < 0) | (x > 1)
    inner = [xp.where(invalid, xp.asarray(0.5, dtype=x.dtype), v) for v in (a, b, x)]
    return xp.where(invalid, xp.asarray(np.nan, dtype=x.dtype), xp.special("betainc", *inner))


_betainc.op.alike = (0, 1, 2)


def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Tensor:
    """The regularised incomplete beta function, for a, b > 0 and x in [0, 1]; else NaN.

    Only `x` has a gradient; that of `a` and `b` is None.
    """
    return _betainc(a, b, x)


def lbeta(x: Any, name: str | None = None) -> Tensor:
    """The logarithm of the multivariate beta function, over the last axis."""
    x = to_tensor(x, "lbeta")
    if not x.ndim:
        raise ShapeError("lbeta: `x` must have rank 1 at least, and is a scalar.")
    return reduce_sum(lgamma(x), -1) - lgamma(reduce_sum(x, -1))


# Beside them


@elementwise(x1=1, x2=0, dtypes=frozenset([np.dtype(np.float32), np.dtype(np.float64)]))
def nextafter(xp, x1, x2):
    """The number next to `x1` in the direction of `x2`. The gradient passes to `x1`."""
    return xp.nextafter(x1, x2)


def polyval(coeffs: Any, x: Any, name: str | None = None) -> Tensor:
    """The polynomial with the list `coeffs`, of highest power first, at `x`, by Horner's scheme.

    The coefficients are tensors that broadcast against `x`.

    >>> polyval([2.0, 0.0, 1.0], [1.0, 3.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([ 3., 19.], dtype=float32)>
    """
    if not isinstance(coeffs, list):
        raise InvalidArgumentError(
            f"polyval: `coeffs` must be a list of tensors, highest power first, not a "
            f"{type(coeffs).__name__}. Use tf.unstack to make a list of a tensor."
        )
    x = to_tensor(x, "polyval")
    if not coeffs:
        return Tensor(np.zeros(x._array.shape, x._array.dtype))
    value = to_tensor(coeffs[0], "polyval")
    for c in coeffs[1:]:
        value = value * x + c
    return value


def sobol_sample(
    dim: Any, num_results: Any, skip: Any = 0, dtype: Any = dt.float32, name: str | None = None
) -> Tensor:
    """Points of the Sobol sequence in the unit cube: `num_results` rows of `dim` numbers."""
    from scipy.stats import qmc

    axes, count, first = (
        static_int(value, "sobol_sample", argument)
        for value, argument in ((dim, "dim"), (num_results, "num_results"), (skip, "skip"))
    )
    wanted = dt.as_dtype(dtype)
    if not wanted.is_floating:
        raise DTypeError(f"sobol_sample: `dtype` must be floating, and is {wanted.name}.")
    if axes < 1 or count < 1 or first < 0:
        raise InvalidArgumentError(
            "sobol_sample: `dim` and `num_results` must be at least 1 and `skip` at least 0. "
            f"Received: {axes}, {count} and {first}."
        )
    sequence = qmc.Sobol(axes, scramble=False, bits=32)
    sequence.fast_forward(first + 1)  # the origin, with which the sequence begins, is left out
    return Tensor(sequence.random(count).astype(wanted.numpy_dtype))
