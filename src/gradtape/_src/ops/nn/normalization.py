"""Bias, moments, and normalisation by them or by neighbouring channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.convert import operand
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.pattern import across
from ...core.spec import spec_of
from ...core.tensor import Tensor
from ...engines.windows import Window
from ..array.cast import cast, stop_gradient
from ..array.creation import zeros_like
from ..array.shape import _reshape
from ..declare.op import op
from ..declare.reduction import HALVES, in_float32, reduction_samples, size_over
from ..declare.static import static_axes, static_int, to_tensor
from ..math.arithmetic import divide_no_nan, reciprocal, square, squared_difference
from ..math.power import rsqrt
from ..math.reduction import (
    mean_and_away,
    mean_square,
    reduce_mean,
    reduce_mean_vjp,
    reduce_sum,
    reduce_variance_vjp,
)
from .patches import _check_rank
from .pooling import _check_dtype, _window_sum


def bias_add(
    value: Any, bias: Any, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """`value` plus the vector `bias` along the channels: the last axis; axis 1 for "NC..."."""
    if data_format is not None and not data_format.startswith("N"):
        raise ValueError(
            f"bias_add: `data_format` must be 'N...C' or 'NC...', not {data_format!r}."
        )
    x = to_tensor(value, "bias_add")
    b = bias if type(bias) is Tensor else operand(bias, x._array.dtype, "bias_add")
    axis = 1 if data_format is not None and data_format.startswith("NC") else -1
    shape = x._array.shape
    if len(shape) < 2 or b._array.shape != (shape[axis],):
        raise ShapeError(
            "bias_add: `bias` must be a vector with one number for each channel of `value`, which "
            f"has rank 2 at least. Received: value.shape={shape}, bias.shape={b._array.shape}."
        )
    return x + (b if axis == -1 else _reshape(b, shape=(-1, *(1,) * (len(shape) - 2))))


@op(
    batch_axes="axis",
    pattern=across("axis"),
    dtypes=dt.FLOATING,
    fills_missing=False,
    samples=reduction_samples,
)
def _moments(xp, x, *, axis, keepdims):
    found = xp.moments(x, axis)
    mean, variance = _moments_by_steps(xp, x, axis=axis) if found is None else found
    if not keepdims:
        return mean, variance
    kept = tuple([1 if i in axis else n for i, n in enumerate(x.shape)])
    return mean.reshape(kept), variance.reshape(kept)


@in_float32
def _moments_by_steps(xp, x, *, axis):
    mean, away = mean_and_away(xp, x, axis)
    variance = mean_square(xp, away, axis)
    return mean.reshape(variance.shape), variance


@_moments.vjp("x")
def _moments_vjp(g, x, *, axis, keepdims):
    static = {"axis": axis, "keepdims": keepdims}
    by_mean, by_variance = g
    if by_mean is not None:
        by_mean = reduce_mean_vjp(by_mean, spec_of(x._array), **static)
    if by_variance is None:
        return by_mean
    by_variance = reduce_variance_vjp(by_variance, x, **static)
    return by_variance if by_mean is None else by_mean + by_variance


def moments(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance of `x` over `axes`. (`shift` is not used, as in TensorFlow.)"""
    x = to_tensor(x, "moments")
    if x._array.dtype in dt.FLOATING:
        return _moments(x, axis=static_axes(axes, x.ndim, "moments"), keepdims=bool(keepdims))
    mean = reduce_mean(x, axes, keepdims)
    away = squared_difference(x, reduce_mean(x, axes, True))
    return mean, reduce_mean(away, axes, keepdims)


def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance of `x` over `axes`, each element counted `frequency_weights` times."""
    given = to_tensor(x, "weighted_moments")
    x = cast(given, dt.float32) if given._array.dtype in HALVES else given
    weights = cast(to_tensor(frequency_weights, "weighted_moments"), x.dtype)
    count = reduce_sum(weights + zeros_like(x), axes, True)

    def weighted_mean(values: Tensor) -> Tensor:
        return divide_no_nan(reduce_sum(weights * values, axes, True), count)

    # The mean of large elements is rounded; their distances from it are exact. The result does not
    # depend on where these are measured from, so that `near` is a constant.
    near = stop_gradient(weighted_mean(x))
    away = x - near
    mean = weighted_mean(away)
    variance = weighted_mean(squared_difference(away, mean))
    results = [near + mean, variance]
    if not keepdims:
        results = [reduce_sum(y, axes) for y in results]
    return tuple([cast(y, given.dtype) for y in results])


def sufficient_statistics(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """The number of elements over `axes`, their sum, the sum of their squares, and `shift`.

    The sums are those of the elements less `shift`, unless it is None: near the mean it makes the
    squares small. `normalize_moments` makes mean and variance of them.
    """
    x = to_tensor(x, "sufficient_statistics")
    axis = static_axes(list(axes), x.ndim, "sufficient_statistics")
    count = Tensor(np.asarray(size_over(x._array.shape, axis), x._array.dtype))
    if shift is None:
        away, squares = x, square(x)
    else:
        if not isinstance(shift, Tensor):
            shift = operand(shift, x._array.dtype, "sufficient_statistics")
        away, squares = x - shift, squared_difference(x, shift)
    return count, reduce_sum(away, axis, keepdims), reduce_sum(squares, axis, keepdims), shift


def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance from the number of elements, their sum and the sum of their squares.

    The sums are those of the elements less `shift`, unless it is None.
    """
    share = reciprocal(to_tensor(counts, "normalize_moments"))
    shifted = mean_ss * share
    variance = variance_ss * share - square(shifted)
    return (shifted if shift is None else shifted + shift), variance


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: float,
    name: str | None = None,
) -> Tensor:
    """`(x - mean) / sqrt(variance + variance_epsilon) * scale + offset`; both may be None."""
    x = to_tensor(x, "batch_normalization")
    factor = rsqrt(to_tensor(variance, "batch_normalization") + variance_epsilon)
    if scale is not None:
        factor = factor * scale
    # Not x * factor + (offset - mean * factor): where the mean is large, that rounds both away.
    normalized = (x - cast(mean, x.dtype)) * cast(factor, x.dtype)
    return normalized if offset is None else normalized + cast(offset, x.dtype)


def local_response_normalization(
    input: Any,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """`input / (bias + alpha * s) ** beta`, s the sum of squares of the channels at most
    `depth_radius` away."""
    op_name = "local_response_normalization"
    x = _check_rank(to_tensor(input, op_name), 4, op_name, "input")
    _check_dtype(x, dt.FLOATING, op_name, "input")
    radius = static_int(depth_radius, op_name, "depth_radius")
    if radius < 0:
        raise InvalidArgumentError(
            f"{op_name}: `depth_radius` must not be negative, and is {radius}."
        )
    window = Window(2 * radius + 1, 1, radius, x._array.shape[3])
    squares = _window_sum(square(x), axis=3, window=window)
    return x * (squares * alpha + bias) ** -beta


def batch_norm_with_global_normalization(
    input: Any,
    mean: Any,
    variance: Any,
    beta: Any,
    gamma: Any,
    variance_epsilon: float,
    scale_after_normalization: bool,
    name: str | None = None,
) -> Tensor:
    """`batch_normalization`: offset `beta`, scale `gamma` if `scale_after_normalization`."""
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon)


lrn = local_response_normalization
