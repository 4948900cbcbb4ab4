"""Square roots and powers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.tensor import Tensor
from ..declare.elementwise import elementwise
from .arithmetic import _POSITIVE, multiply_no_nan, reciprocal, square
from .conjugate import conj
from .logic import greater, not_equal, select, zero_like_scalar


@elementwise(
    x=lambda g, out: multiply_no_nan(reciprocal(conj(out + out)), g), domain={"x": _POSITIVE}
)
def sqrt(xp, x):
    """The square root of each element; NaN for a negative real.

    At 0 the gradient is Inf, but 0 if the cotangent is 0 there, so that `where` can mask it.
    """
    return xp.sqrt(x)


@elementwise(
    x=lambda g, out: multiply_no_nan(conj(out * out * out) * -0.5, g), domain={"x": _POSITIVE}
)
def rsqrt(xp, x):
    """`1 / sqrt(x)`, elementwise. At 0 the gradient is -Inf, but 0 if the cotangent is 0 there."""
    return 1 / xp.sqrt(x)


def _pow_vjp_x(g, x, y):
    x, y = conj(x), conj(y)
    return g * y * pow(x, y - 1)


def _pow_vjp_y(g, out, x):
    from .exponential import log  # not loaded by `import gradtape`, as `pow` is

    zero = zero_like_scalar(x)
    defined = not_equal(x, zero) if x._array.dtype in dt.COMPLEX else greater(x, zero)
    logs = log(select(defined, x, Tensor(np.ones((), x._array.dtype))))
    return g * conj(out * select(defined, logs, zero))


@elementwise(
    x=_pow_vjp_x,
    y=_pow_vjp_y,
    dtypes=dt.NUMERIC,
    domain={"x": _POSITIVE},
)
def _pow(xp, x, y):
    return xp.power(x, y)


def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x ** y`, elementwise. An integer cannot be raised to a negative integer.

    The gradient of `x` is `y * x**(y - 1)` taken literally, so NaN at `0**0`; that of `y` is
    `x**y * log(x)`, with 0 in place of the logarithm where `x` is not positive.
    """
    if (type(y) is int or type(y) is float) and y == 2:
        return square(x)
    return _pow(x, y)
