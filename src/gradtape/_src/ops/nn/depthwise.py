"""Convolutions of each channel for itself: depthwise and separable."""

from __future__ import annotations

from typing import Any

from ...core.dispatch import _operands
from ...core.errors import ShapeError
from ...core.tensor import Tensor
from ..array.shape import _reshape
from ..declare.static import static_ints, to_tensor
from .convolution import _convolution, _convolution_filter_gradient, _convolve, _plan, _transposed
from .geometry import Ints, channels_first, channels_last, hashable


def _by_channel(name: str, argument: str, filters: Tensor) -> Tensor:
    """Filters [h, w, channels, multiplier] as those with a group for each channel."""
    shape = filters._array.shape
    if len(shape) != 4:
        raise ShapeError(
            f"{name}: `{argument}` must be [height, width, channels, multiplier]. Received: "
            f"{argument}.shape={shape}."
        )
    return _reshape(filters, shape=(*shape[:2], 1, shape[2] * shape[3]))


def _check_channels(name: str, shape: Ints, filters: Ints, data_format: Any) -> None:
    channels = shape[1 if channels_first(data_format, 2, name) else -1]
    if len(shape) != 4 or channels != filters[2]:
        raise ShapeError(
            f"{name}: `input` must have rank 4 and as many channels as the filter. Received: "
            f"input.shape={shape}, filter.shape={filters}, data_format={data_format!r}."
        )


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Each channel of `input` convolved with its own filters: [h, w, channels, multiplier].

    The `multiplier` results of channel c are the output channels from `c * multiplier` on.
    """
    x, w = _operands(_convolution.op, input, filter)
    many = _by_channel("depthwise_conv2d", "filter", w)
    _check_channels("depthwise_conv2d", x._array.shape, w._array.shape, data_format)
    return _convolve("depthwise_conv2d", x, many, 2, strides, padding, data_format, dilations, True)


def depthwise_conv2d_backprop_input(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `depthwise_conv2d` by its input of shape `input_sizes`."""
    op_name = "depthwise_conv2d_backprop_input"
    y, w = _operands(_convolution.op, out_backprop, filter)
    many = _by_channel(op_name, "filter", w)
    sizes = static_ints(input_sizes, op_name, "input_sizes")
    _check_channels(op_name, sizes, w._array.shape, data_format)
    return _transposed(op_name, y, many, 2, sizes, strides, padding, data_format, dilations)


def depthwise_conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `depthwise_conv2d` by its filter of shape `filter_sizes`."""
    op_name = "depthwise_conv2d_backprop_filter"
    x, y = _operands(_convolution.op, input, out_backprop)
    sizes = static_ints(filter_sizes, op_name, "filter_sizes")
    if len(sizes) != 4:
        raise ShapeError(
            f"{op_name}: `filter_sizes` must be [height, width, channels, multiplier]. Received: "
            f"{list(sizes)}."
        )
    _check_channels(op_name, x._array.shape, sizes, data_format)
    height, width, channels, multiplier = sizes
    many = (height, width, 1, channels * multiplier)
    given = hashable(strides), hashable(padding), data_format, hashable(dilations)
    plan = _plan(op_name, x._array.shape, many, 2, *given)
    if plan.first:
        x, y = channels_last(x), channels_last(y)
    expected = (x._array.shape[0], *plan.space, many[-1])
    if y._array.shape != expected:
        raise ShapeError(
            f"{op_name}: `out_backprop` must have the shape of the result, {expected} (batch, "
            f"height, width, channels). Received: {tuple(y._array.shape)}."
        )
    out = _convolution_filter_gradient(x, y, kernel=(height, width), **plan.geometry)
    return _reshape(out, shape=sizes)


def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """`depthwise_conv2d`, then its output channels mixed by `pointwise_filter` [1, 1, in, out]."""
    point = to_tensor(pointwise_filter, "separable_conv2d")
    if point.ndim != 4 or point._array.shape[:2] != (1, 1):
        raise ShapeError(
            "separable_conv2d: `pointwise_filter` must be [1, 1, input channels, output channels]. "
            f"Received: pointwise_filter.shape={tuple(point.shape)}."
        )
    depth = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    mixed = depth._array.shape[1 if channels_first(data_format, 2, "separable_conv2d") else -1]
    if mixed != point._array.shape[2]:
        raise ShapeError(
            f"separable_conv2d: the depthwise filters give {mixed} channels, and "
            f"`pointwise_filter` takes {point._array.shape[2]}."
        )
    return _convolve("separable_conv2d", depth, point, 2, 1, "VALID", data_format, None)
