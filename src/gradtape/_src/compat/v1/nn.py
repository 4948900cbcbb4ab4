"""Functions of `tf.compat.v1.nn` whose parameters are others in version 2."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ops.nn import convolution as convolutions, pooling


def avg_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """tf.nn.avg_pool of images."""
    return pooling.avg_pool2d(_one(value, input), ksize, strides, padding, data_format)


def max_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """tf.nn.max_pool of images."""
    return pooling.max_pool2d(_one(value, input), ksize, strides, padding, data_format)


def conv2d_transpose(
    value: Any = None,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: Any = "SAME",
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """tf.nn.conv2d_transpose."""
    return convolutions.conv2d_transpose(
        _one(value, input),
        _one(filter, filters),
        output_shape,
        strides,
        padding,
        data_format,
        dilations,
    )


def convolution(
    input: Any,
    filter: Any,
    padding: Any,
    strides: Any = None,
    dilation_rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """tf.nn.convolution."""
    return convolutions.convolution(
        input,
        _one(filter, filters),
        strides,
        padding,
        data_format,
        _one(dilation_rate, dilations),
    )


def _one(old: Any, new: Any) -> Any:
    """The argument under its old name or under its new one."""
    return old if new is None else new
