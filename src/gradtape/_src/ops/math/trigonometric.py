"""Circular and hyperbolic functions and their inverses."""

from __future__ import annotations

from typing import Any

from ...core import dtypes as dt
from ...core.tensor import Tensor
from ..declare.elementwise import elementwise
from .arithmetic import reciprocal
from .conjugate import conj
from .power import rsqrt

_INSIDE = {"x": (-0.9, 0.9)}


@elementwise(x=lambda x: cos(x))
def sin(xp, x):
    """The sine of each element, an angle in radians."""
    return xp.sin(x)


@elementwise(x=lambda x: -sin(x))
def cos(xp, x):
    """The cosine of each element, an angle in radians."""
    return xp.cos(x)


@elementwise(x=lambda out: out * out + 1, domain={"x": (-1.2, 1.2)})
def tan(xp, x):
    """The tangent of each element, an angle in radians."""
    return xp.tan(x)


@elementwise(x=lambda x: rsqrt(1 - x * x), domain=_INSIDE)
def asin(xp, x):
    """The angle in [-pi/2, pi/2] with this sine; NaN outside of [-1, 1].

    The gradient at -1 and 1 is Inf.
    """
    return xp.arcsin(x)


@elementwise(x=lambda x: -rsqrt(1 - x * x), domain=_INSIDE)
def acos(xp, x):
    """The angle in [0, pi] with this cosine; NaN outside of [-1, 1].

    The gradient at -1 and 1 is -Inf.
    """
    return xp.arccos(x)


@elementwise(x=lambda x: reciprocal(x * x + 1))
def atan(xp, x):
    """The angle in (-pi/2, pi/2) with this tangent."""
    return xp.arctan(x)


@elementwise(
    y=lambda g, y, x: x * (g / (y * y + x * x)),
    x=lambda g, y, x: -y * (g / (y * y + x * x)),
    dtypes=dt.FLOATING,
    domain={"x": (0.5, 2.0)},
)
def _atan2(xp, y, x):
    return xp.arctan2(y, x)


def atan2(y: Any, x: Any, name: str | None = None) -> Tensor:
    """The angle in [-pi, pi] of the point (`x`, `y`). At the origin both gradients are NaN."""
    return _atan2(y, x)


@elementwise(x=lambda x: cosh(x))
def sinh(xp, x):
    """The hyperbolic sine of each element."""
    return xp.sinh(x)


@elementwise(x=lambda x: sinh(x))
def cosh(xp, x):
    """The hyperbolic cosine of each element."""
    return xp.cosh(x)


@elementwise(x=lambda g, out: _tanh_grad(conj(out), g))
def tanh(xp, x):
    """The hyperbolic tangent of each element."""
    return xp.tanh(x)


@elementwise(
    y=lambda g, y, dy: g * conj(-2 * dy * y),
    dy=lambda g, y: _tanh_grad(conj(y), g),
)
def _tanh_grad(xp, y, dy):
    # One kernel: on 16 numbers the rule takes 5.2 µs, made of ops 7.7 µs (on 100 000: 56 and 61).
    return dy * (1 - y * y)


@elementwise(x=lambda out: reciprocal(cosh(out)))
def asinh(xp, x):
    """The inverse of `sinh`."""
    return xp.arcsinh(x)


@elementwise(x=lambda out: reciprocal(sinh(out)), domain={"x": (1.2, 3.0)})
def acosh(xp, x):
    """The inverse of `cosh`; NaN below 1. The gradient at 1 is Inf."""
    return xp.arccosh(x)


@elementwise(x=lambda x: reciprocal(1 - x * x), domain=_INSIDE)
def atanh(xp, x):
    """The inverse of `tanh`; infinite at -1 and 1 with gradient Inf, NaN beyond."""
    return xp.arctanh(x)
