"""Activation functions: relu and its relatives, gelu, silu, softsign.

Their rules keep the output where that suffices: the next op keeps it anyway.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.engine import LARGE
from ...core.errors import NotATensorError
from ...core.pattern import ELEMENTWISE
from ...core.take_over import take_over
from ...core.tensor import Tensor
from ..array.cast import cast
from ..array.joining import concat
from ..declare.elementwise import elementwise
from ..declare.op import op
from ..declare.static import to_tensor
from ..math.arithmetic import abs as absolute, square
from ..math.exponential import _wide, exp, sigmoid
from ..math.logic import where
from ..math.special import erfc
from ..math.trigonometric import tanh


@elementwise(x=lambda g, out: _relu_grad(g, out), dtypes=dt.REAL)
def _relu(xp, x):
    return xp.relu(x)


@elementwise(dy=lambda g, y: _relu_grad(g, y), y=0, dtypes=dt.FLOATING)
def _relu_grad(xp, dy, y):
    """`dy` where `y` is positive, else 0."""
    return xp.relu_grad(dy, y)


def relu(features: Any, name: str | None = None) -> Tensor:
    """`features` where positive, else 0. The gradient at 0 is 0."""
    return _relu(features)


@elementwise(x=lambda g, out: _relu6_grad(g, out), dtypes=dt.REAL, domain={"x": (-4.0, 8.0)})
def _relu6(xp, x):
    return _wide(lambda x: xp.clip(x, 0, 6), x)


@elementwise(dy=lambda g, y: _relu6_grad(g, y), y=0, dtypes=dt.FLOATING)
def _relu6_grad(xp, dy, y):
    """`dy` where `y` lies between 0 and 6, else 0."""
    return dy * ((y > 0) & (y < 6)).astype(dy.dtype)


def relu6(features: Any, name: str | None = None) -> Tensor:
    """`features` limited to [0, 6]. The gradient at 0 and at 6 is 0."""
    return _relu6(features)


def _sloped_samples(r: np.random.Generator) -> list[Any]:
    return [([r.normal(size=s)], {"alpha": a}) for s, a in [((2, 3), 0.2), ((), 0.5), ((4,), 2.0)]]


@elementwise(
    x=lambda g, out, alpha: _leaky_relu_grad(g, out, alpha=alpha),
    dtypes=dt.FLOATING,
    samples=_sloped_samples,
)
def _leaky_relu(xp, x, *, alpha):
    # `alpha` is positive, so that the sign of the output is that of the input.
    return _wide(lambda x: (xp.maximum if alpha <= 1 else xp.minimum)(x, alpha * x), x)


@elementwise(
    dy=lambda g, y, alpha: _leaky_relu_grad(g, y, alpha=alpha),
    y=0,
    dtypes=dt.FLOATING,
    samples=lambda r: [([r.normal(size=(2, 3)), r.normal(size=(2, 3))], {"alpha": 0.2})],
)
def _leaky_relu_grad(xp, dy, y, *, alpha):
    """`dy` where `y` is positive, else `alpha * dy`: arithmetic, thrice as fast as np.where."""

    def pull(dy, y):
        positive = (y > 0).astype(dy.dtype)
        return dy * (positive + (1 - positive) * alpha)

    return _wide(pull, dy, y)


def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """`features` where positive, else `alpha * features`. The gradient at 0 is `alpha`."""
    try:
        x = to_tensor(features, "leaky_relu")
    except NotATensorError as error:
        return take_over(error, leaky_relu, features, alpha)
    if x._array.dtype in dt.INTEGER:
        x = cast(x, dt.float32)
    alpha = float(alpha)
    return _leaky_relu(x, alpha=alpha) if alpha > 0 else where(x > 0, x, alpha * x)


_SELU_SCALE = 1.0507009873554805
_SELU_LEFT = 1.7580993408473768  # scale times alpha: how far below zero it goes


@elementwise(x=lambda g, out: g * _elu_slope(out, left=1.0, right=1.0), dtypes=dt.FLOATING)
def _elu(xp, x):
    return _wide(lambda x: _expm1_below_zero(xp, x) + xp.maximum(x, 0), x)


def _expm1_below_zero(xp: Any, x: Any) -> Any:
    """`expm1(min(x, 0))` through tanh, which NumPy vectorises: expm1 takes four times as long."""
    t = xp.tanh(xp.minimum(x, 0) * 0.5)
    return 2 * t / (1 - t)


@elementwise(
    x=lambda g, out: g * _elu_slope(out, left=_SELU_LEFT, right=_SELU_SCALE), dtypes=dt.FLOATING
)
def _selu(xp, x):
    return _wide(
        lambda x: _SELU_LEFT * _expm1_below_zero(xp, x) + _SELU_SCALE * xp.maximum(x, 0), x
    )


@elementwise(
    y=lambda g, y: _relu_grad(g, -y),
    dtypes=dt.FLOATING,
    samples=lambda r: [([r.uniform(-1, 1, size=(2, 3))], {"left": 2.0, "right": 1.0})],
)
def _elu_slope(xp, y, *, left, right):
    """The slope of elu and selu from their value: `y + left` below 0, else `right`."""

    def slope(y):
        bent = xp.fmin(y, 0)
        if left == right:
            return bent + right
        negative = (y < 0).astype(y.dtype)
        return negative * left + (1 - negative) * right + bent

    return _wide(slope, y)


def elu(features: Any, name: str | None = None) -> Tensor:
    """`features` where positive, else `exp(features) - 1`. The gradient at 0 is 1."""
    return _elu(features)


def selu(features: Any, name: str | None = None) -> Tensor:
    """Scaled elu, which keeps mean 0 and variance 1. The gradient at 0 is the scale, 1.0507."""
    return _selu(features)


_SQRT_HALF = math.sqrt(0.5)
_SQRT_2_OVER_PI = math.sqrt(2 / math.pi)
_CUBIC = 0.044715


def _normal_density(x: Tensor) -> Tensor:
    return exp(square(x) * -0.5) * (_SQRT_2_OVER_PI / 2)


def _gelu_slope(x: Tensor) -> Tensor:
    return erfc(x * -_SQRT_HALF) * 0.5 + x * _normal_density(x)


@elementwise(x=_gelu_slope, dtypes=dt.FLOATING)
def _gelu(xp, x):
    result = xp.gelu(x, False)
    if result is not None:
        return result
    return _wide(lambda x: 0.5 * x * xp.special("erfc", -x * _SQRT_HALF), x)


@op(
    pattern=ELEMENTWISE,
    batch_axes=(),
    in_blocks=True,
    dtypes=dt.FLOATING,
    fills_missing=False,
    samples=lambda r: [([r.normal(size=s)], {}) for s in [(), (3,), (2, 3), (0, 2)]],
)
def _gelu_and_slope(xp, x):
    """The same and its derivative, which on the way costs a quarter: for arrays large enough to be
    walked through but once.

    With the gradient, for 4 million float32: 13 ms; `erfc` there and back took 110.
    """

    def both(x):
        below, density = xp.normal(x)
        return x * below, x * density + below

    if x.dtype.itemsize > 2:
        return both(x)
    value, slope = both(x.astype(np.float32))
    return value.astype(x.dtype), slope.astype(x.dtype)


@_gelu_and_slope.vjp("x")
def _gelu_and_slope_vjp(g, out, x):
    by_value, by_slope = g
    direct = None if by_value is None else by_value * out[1]
    if by_slope is None:
        return direct
    bend = by_slope * _normal_density(x) * (2 - square(x))
    return bend if direct is None else direct + bend


def _gelu_tanh_curve(x: Tensor) -> Tensor:
    squares = square(x)
    t = tanh(x * (squares * _CUBIC + 1) * _SQRT_2_OVER_PI)
    slope = (squares * (3 * _CUBIC) + 1) * _SQRT_2_OVER_PI  # of what the tanh is taken of
    bend = x * (6 * _CUBIC * _SQRT_2_OVER_PI)
    return (1 - square(t)) * (slope + x * (bend * 0.5 - t * square(slope)))


@elementwise(x=_gelu_tanh_curve, dtypes=dt.FLOATING)
def _gelu_tanh_slope(xp, x):
    result = xp.gelu_slope(x)
    return _wide(partial(_slope_by_steps, xp), x) if result is None else result


def _slope_by_steps(xp: Any, x: Any) -> Any:
    squares = x * x
    t = xp.tanh(x * (squares * _CUBIC + 1) * _SQRT_2_OVER_PI)
    inner_slope = (squares * (3 * _CUBIC) + 1) * _SQRT_2_OVER_PI
    return ((t + 1) + x * (1 - t * t) * inner_slope) * 0.5


@elementwise(x=lambda x: _gelu_tanh_slope(x), dtypes=dt.FLOATING)
def _gelu_tanh(xp, x):
    result = xp.gelu(x, True)
    if result is not None:
        return result
    return _wide(lambda x: 0.5 * x * (1 + xp.tanh(_SQRT_2_OVER_PI * (x + _CUBIC * x * x * x))), x)


def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Tensor:
    """`features` times the probability that a standard normal number is below it.

    With `approximate` the probability comes from a tanh, to about 1e-3.
    """
    if approximate:
        return _gelu_tanh(features)
    watched = type(features) is Tensor and features._key is not None
    if watched and type(features._array) is np.ndarray and features._array.size >= LARGE:
        return _gelu_and_slope(features)[0]
    return _gelu(features)


def _swish_slope(x: Tensor, beta: Tensor) -> Tensor:
    s = sigmoid(beta * x)
    return s * (1 + beta * x * (1 - s))


def _swish_slope_beta(x: Tensor, beta: Tensor) -> Tensor:
    s = sigmoid(beta * x)
    return square(x) * (s * (1 - s))


@elementwise(x=_swish_slope, beta=_swish_slope_beta, dtypes=dt.FLOATING)
def _swish(xp, x, beta):
    return _wide(lambda x, beta: x * xp.sigmoid(beta * x), x, beta)


def silu(features: Any, beta: Any = 1.0) -> Tensor:
    """`features * sigmoid(beta * features)`; also called swish. Differentiable by `beta` too."""
    try:
        x = to_tensor(features, "silu")
    except NotATensorError as error:
        return take_over(error, silu, features, beta)
    if type(beta) is not float:
        beta = cast(to_tensor(beta, "silu"), x.dtype)
    return _swish(x, beta)


swish = silu


@elementwise(x=lambda g, x: g / square(absolute(x) + 1), dtypes=dt.FLOATING)
def _softsign(xp, x):
    return x / (xp.abs(x) + 1)


def softsign(features: Any, name: str | None = None) -> Tensor:
    """`features / (1 + |features|)`."""
    return _softsign(features)


def crelu(features: Any, axis: Any = -1, name: str | None = None) -> Tensor:
    """`relu` of `features` and of `-features`, joined along `axis`."""
    try:
        x = to_tensor(features, "crelu")
    except NotATensorError as error:
        return take_over(error, crelu, features, axis)
    return relu(concat([x, -x], axis))
