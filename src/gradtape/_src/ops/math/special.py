"""Special functions: the error function, Bessel functions, integrals; `nextafter`, `polyval`.

(The gamma function and its relatives are in `gamma`.)
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from ..declare.elementwise import elementwise
from ..declare.static import to_tensor
from .arithmetic import abs, multiply, sign
from .exponential import _wide, exp, log
from .logic import less, select
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


# The error function


@elementwise(x=lambda x: exp(-(x * x)) * (2 / math.sqrt(math.pi)), dtypes=dt.FLOATING)
def erf(xp, x):
    """The Gauss error function."""
    return xp.special("erf", x)


@elementwise(x=lambda x: exp(-(x * x)) * (-2 / math.sqrt(math.pi)), dtypes=dt.FLOATING)
def erfc(xp, x):
    """`1 - erf(x)`, exact also for large `x`."""
    return xp.special("erfc", x)


@elementwise(
    x=lambda out: exp(out * out) * (math.sqrt(math.pi) / 2),
    dtypes=dt.FLOATING,
    domain={"x": (-0.9, 0.9)},
)
def erfinv(xp, x):
    """The inverse of `erf`; infinite at -1 and 1, NaN beyond."""
    return xp.special("erfinv", x)


@elementwise(
    x=lambda out: exp(out * out / 2) * math.sqrt(2 * math.pi),
    dtypes=dt.FLOATING,
    domain={"x": (0.1, 0.9)},
)
def ndtri(xp, x):
    """The quantiles of the standard normal distribution: infinite at 0 and 1, NaN beyond."""
    return xp.special("ndtri", x)


def erfcinv(x: Any, name: str | None = None) -> Tensor:
    """The inverse of `erfc`; infinite at 0 and 2, NaN beyond."""
    return ndtri(multiply(x, 0.5)) * -math.sqrt(0.5)


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


# Beside them


@elementwise(x1=1, x2=0, dtypes=frozenset([np.dtype(np.float32), np.dtype(np.float64)]))
def _nextafter(xp, x1, x2):
    return xp.nextafter(x1, x2)


def nextafter(x1: Any, x2: Any, name: str | None = None) -> Tensor:
    """The number next to `x1` in the direction of `x2`. The gradient passes to `x1`."""
    return _nextafter(x1, x2)


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
