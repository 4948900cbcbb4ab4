"""The gamma and beta functions, complete and incomplete, and their relatives."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.errors import ShapeError
from ...core.tensor import Tensor
from ..declare.elementwise import elementwise
from ..declare.static import to_tensor
from .arithmetic import multiply_no_nan
from .exponential import _wide, exp, log, xlog1py, xlogy
from .reduction import reduce_sum
from .special import _POSITIVE, _number, _one_sample

# The gamma function


@elementwise(x=lambda x: digamma(x), dtypes=dt.FLOATING, domain={"x": (0.5, 3.0)})
def lgamma(xp, x):
    """The logarithm of the absolute value of the gamma function; Inf at 0, -1, -2, ..."""
    return xp.where(xp.isinf(x), xp.abs(x), xp.special("gammaln", x))


@elementwise(
    x=lambda x: _polygamma(Tensor(np.ones((), x._array.dtype)), x),
    dtypes=dt.FLOATING,
    domain={"x": (0.5, 3.0)},
)
def digamma(xp, x):
    """The derivative of `lgamma`; NaN at 0, -1, -2, ..."""
    return _digamma(xp, x)


def _digamma(xp: Any, x: Any) -> Any:
    return xp.where(_is_pole(xp, x), xp.asarray(np.nan, dtype=x.dtype), xp.special("digamma", x))


def _is_pole(xp: Any, x: Any) -> Any:
    return (x <= 0) & (x == xp.floor(x))


@elementwise(
    alike="all",
    x=lambda a, x: _polygamma(a + 1, x),
    dtypes=dt.FLOATING,
    samples=lambda r: [
        ([np.array([0.0, 1.0, 2.0, 3.0]), r.uniform(0.5, 3.0, size=(2, 4))], {}),
        ([np.asarray(1.0), r.uniform(0.5, 3.0, size=(2, 0))], {}),
        ([np.array([[1.0], [2.0]]), np.asarray(-1.5)], {}),
    ],
)
def _polygamma(xp, a, x):
    return _wide(partial(_derivative_of_digamma, xp), a, x)


def _derivative_of_digamma(xp: Any, a: Any, x: Any) -> Any:
    nan = xp.asarray(np.nan, dtype=x.dtype)
    order = a + 1
    factorial = xp.exp(xp.special("gammaln", order))
    alternating = xp.where(a % 2 == 0, -factorial, factorial)
    value = xp.where(a == 0, _digamma(xp, x), alternating * _hurwitz(xp, order, x))
    return xp.where((a < 0) | (a != xp.floor(a)), nan, value)


def polygamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The derivative of `digamma` of order `a`, a whole number >= 0; `a` has no gradient."""
    return _polygamma(a, x)


@elementwise(
    alike="all",
    q=lambda x, q: -x * _zeta(x + 1, q),
    dtypes=dt.FLOATING,
    domain={"x": (1.5, 4.0), "q": (0.5, 3.0)},
)
def _zeta(xp, x, q):
    return _wide(partial(_hurwitz, xp), x, q)


def _hurwitz(xp: Any, x: Any, q: Any) -> Any:
    """The Hurwitz zeta function; at a pole in `q` Inf for even `x`, else NaN (no sign is right)."""
    nan = xp.asarray(np.nan, dtype=q.dtype)
    return xp.where(_is_pole(xp, q) & (x % 2 != 0), nan, xp.special("zeta", x, q))


def zeta(x: Any, q: Any, name: str | None = None) -> Tensor:
    """The Hurwitz zeta function: the sum of `(q + k)**-x` over k >= 0; `x` has no gradient."""
    return _zeta(x, q)


# The incomplete gamma function


def _gamma_density(a: Tensor, x: Tensor) -> Tensor:
    """The derivative of `igamma` by `x`."""
    return exp(xlogy(a - 1, x) - x - lgamma(a))


def _igamma_by_a(a: Tensor, x: Tensor) -> Tensor:
    return multiply_no_nan(_gamma_density(a, x), _igamma_per_density(a, x, order=1))


@elementwise(
    a=_igamma_by_a, x=_gamma_density, dtypes=dt.FLOATING, samples=_one_sample(_POSITIVE, _POSITIVE)
)
def _igamma(xp, a, x):
    value = xp.where(
        (x < 0) | (a <= 0), xp.asarray(np.nan, dtype=x.dtype), xp.special("gammainc", a, x)
    )
    return xp.where(x == 0, xp.asarray(0, dtype=x.dtype), value)


def igamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The regularised lower incomplete gamma function P(a, x), for a > 0 and x >= 0; else NaN.

    It is the distribution function of gamma variables of shape `a`. Both arguments have gradients.
    """
    return _igamma(a, x)


@elementwise(
    a=lambda a, x: -_igamma_by_a(a, x),
    x=lambda a, x: -_gamma_density(a, x),
    dtypes=dt.FLOATING,
    samples=_one_sample(_POSITIVE, _POSITIVE),
)
def _igammac(xp, a, x):
    value = xp.special("gammaincc", a, x)
    return xp.where((x < 0) | (a <= 0), xp.asarray(np.nan, dtype=x.dtype), value)


def igammac(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The regularised upper incomplete gamma function: `1 - igamma(a, x)`, all digits kept."""
    return _igammac(a, x)


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
    if not xp.is_compiled:  # each formula where it is needed only
        a, x = xp.broadcast_arrays(a, x)
        for chosen, formula in (
            (valid & (x <= 1), _per_density_series),
            (valid & (x > 1), _per_density_integral),
        ):
            if chosen.any():
                elsewhere[chosen] = formula(xp, a[chosen], x[chosen], order)
        return elsewhere
    a, x = xp.where(valid, a, one), xp.where(valid, x, one)
    small = x <= 1
    series = _per_density_series(xp, a, xp.where(small, x, one), order)
    integral = _per_density_integral(xp, a, xp.where(small, 2 * one, x), order)
    return xp.where(valid, xp.where(small, series, integral), elsewhere)


def _per_density_series(xp: Any, a: Any, x: Any, order: int) -> Any:
    """From P = exp(L) S, with L = a log(x) - lgamma(a + 1), S = sum of (-x)**k / k! a / (a + k)."""
    powers = _bell(order, xp.log(x), partial(_polygamma_of, xp, a + 1))
    k = np.arange(1, 21).reshape(-1, *(1,) * x.ndim).astype(x.dtype)
    k, factorials = xp.asarray(k), xp.asarray(np.cumprod(-k, 0))
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
    column = (-1, *(1,) * x.ndim)
    nodes, weights = [
        xp.asarray(values.astype(x.dtype).reshape(column)) for values in _gauss(count)
    ]
    together = count if xp.is_compiled or x.size <= 1024 else 4  # at once, in memory
    log_x = xp.log(x)
    total = 0 * x
    for first in range(0, count, together):
        chosen = slice(first, first + together)
        u = length * nodes[chosen]
        factor = _bell(order, log_x + side * u, derivatives.__getitem__)[order]
        heights = factor * xp.exp(-drop(u))
        total = total + (heights * weights[chosen]).sum(0)
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
    alike="all",
    x=_betainc_by_x,
    dtypes=dt.FLOATING,
    samples=_one_sample(_POSITIVE, _POSITIVE, (0.1, 0.9)),
)
def _betainc(xp, a, b, x):
    invalid = (a <= 0) | (b <= 0) | (x < 0) | (x > 1)
    inner = [xp.where(invalid, xp.asarray(0.5, dtype=x.dtype), v) for v in (a, b, x)]
    return xp.where(invalid, xp.asarray(np.nan, dtype=x.dtype), xp.special("betainc", *inner))


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
