"""Morphology: dilation and erosion of images in shades of grey."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ...engines.windows import Window
from ..array.cast import cast
from ..array.pad import _pad
from ..array.reverse import reverse
from ..array.shape import _reshape
from ..declare.static import to_tensor
from .geometry import amounts, per_axis
from .patches import _check_rank, _patches
from .pooling import _check_dtype, _window_max


def dilation2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: str,
    data_format: str,
    dilations: Any,
    name: str | None = None,
) -> Tensor:
    """The largest sum of `filters` [height, width, channels] and a window of `input`, by channel.

    The gradient goes to the first of equal sums.
    """
    return _morph("dilation2d", input, filters, strides, padding, data_format, dilations)


def erosion2d(
    value: Any,
    filters: Any,
    strides: Any,
    padding: str,
    data_format: str,
    dilations: Any,
    name: str | None = None,
) -> Tensor:
    """The least difference of a window of `value` and the mirrored `filters`, by channel."""
    x, w = to_tensor(value, "erosion2d"), to_tensor(filters, "erosion2d")
    mirrored = reverse(w, [0, 1]) if w.ndim >= 2 else w
    return -_morph("erosion2d", -x, mirrored, strides, padding, data_format, dilations)


def _morph(
    name: str,
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: Any,
    dilations: Any,
) -> Tensor:
    if data_format != "NHWC":
        raise InvalidArgumentError(f"{name}: `data_format` must be 'NHWC', not {data_format!r}.")
    x = _check_rank(to_tensor(input, name), 4, name, "input")
    w = to_tensor(filters, name)
    _check_dtype(x, dt.REAL, name, "input")
    if w.dtype is not x.dtype:
        raise DTypeError(
            f"{name}: `filters` must have the dtype of the input. Received: {x.dtype.name} and "
            f"{w.dtype.name}."
        )
    if w.ndim != 3 or w._array.shape[2] != x._array.shape[3]:
        raise ShapeError(
            f"{name}: `filters` must be [height, width, channels] with the channels of the input. "
            f"Received: input.shape={tuple(x.shape)}, filters.shape={tuple(w.shape)}."
        )
    if padding not in ("SAME", "VALID"):
        raise InvalidArgumentError(f"{name}: `padding` must be 'SAME' or 'VALID', not {padding!r}.")
    dtype = x.dtype
    lowest: Any = -np.inf
    if dtype.is_integer:
        x, w, lowest = cast(x, dt.int64), cast(w, dt.int64), -(2**62)
    kernel = tuple(w._array.shape[:2])
    steps = per_axis(strides, 2, False, name, "strides")
    rates = per_axis(dilations, 2, False, name, "dilations")
    pairs, _ = amounts(padding, tuple(x._array.shape[1:3]), kernel, steps, rates, name)
    if any(map(any, pairs)):
        edge = Tensor(np.asarray(lowest, x._array.dtype))
        x = _pad(x, edge, paddings=((0, 0), *pairs, (0, 0)))
    names = ("filters", "strides", "dilations")
    sums = _patches(name, x, kernel, steps, rates, "VALID", names) + w
    *places, height, width, channels = sums._array.shape
    size = height * width
    sums = _reshape(sums, shape=(*places, size, channels))
    out = _window_max(sums, axis=3, window=Window(size, size, 0, 1))
    return cast(_reshape(out, shape=(*places, channels)), dtype)
