"""Images through projective maps, with TensorFlow's rules of interpolation and of borders."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.convert import as_tensor
from ...core.dtypes import float32, int32
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.sizes import size_of
from ...core.tensor import Tensor, is_inexact
from ...ops.array.cast import cast
from ...ops.array.creation import range as numbers_from
from ...ops.array.indexing import gather_nd
from ...ops.array.joining import concat, stack
from ...ops.array.shape import broadcast_to, reshape, shape
from ...ops.linalg.systems import inv
from ...ops.math.arithmetic import abs as absolute, clip_by_value, floor, sign
from ...ops.math.logic import logical_and, where
from ...tape.custom import custom_gradient

_INTERPOLATIONS = ("NEAREST", "BILINEAR")
_MODES = ("CONSTANT", "REFLECT", "WRAP", "NEAREST")


def transform_images(
    images: Any,
    transforms: Any,
    output_shape: Any,
    fill_value: Any,
    interpolation: str,
    fill_mode: str,
) -> Tensor:
    op = "ImageProjectiveTransformV3"
    x, maps = as_tensor(images, op=op), as_tensor(transforms, float32, op)
    if interpolation not in _INTERPOLATIONS or fill_mode not in _MODES:
        raise InvalidArgumentError(
            f"{op}: `interpolation` must be one of {_INTERPOLATIONS} and `fill_mode` of {_MODES}. "
            f"Received: {interpolation!r}, {fill_mode!r}."
        )
    if x.ndim != 4 or maps.ndim != 2 or maps.shape[1] != 8:
        raise ShapeError(
            f"{op}: `images` must be [batch, height, width, channels] and `transforms` [batch, 8] "
            f"or [1, 8]. Received: images.shape={x.shape}, transforms.shape={maps.shape}."
        )
    size = as_tensor(output_shape, int32, op)
    fill = cast(as_tensor(fill_value), float32)

    @custom_gradient
    def transformed(x: Tensor) -> tuple[Tensor, Any]:
        read = _read_through(x, maps, size, fill, interpolation == "NEAREST", fill_mode)

        def gradient(g: Tensor) -> Any:
            back = _inverse(maps)
            sides = shape(x)[1:3]
            return transform_images(g, back, sides, 0.0, interpolation, fill_mode)

        return read, gradient

    if is_inexact(x):
        return transformed(x)
    return _read_through(x, maps, size, fill, interpolation == "NEAREST", fill_mode)


def _inverse(maps: Tensor) -> Tensor:
    """The maps back, scaled so that their last entry is 1."""
    ones = broadcast_to(Tensor(np.ones(1, np.float32)), stack([shape(maps)[0], 1]))
    matrices = inv(reshape(concat([maps, ones], 1), [-1, 3, 3]))
    flat = reshape(matrices, [-1, 9])
    return (flat / flat[:, 8:])[:, :8]


def _read_through(
    x: Tensor, maps: Tensor, size: Tensor, fill: Tensor, nearest: bool, mode: str
) -> Tensor:
    height, width = x._array.shape[1:3]
    rows, columns = size_of(size[0]), size_of(size[1])
    out_y = cast(reshape(numbers_from(rows), [1, -1, 1]), float32)
    out_x = cast(reshape(numbers_from(columns), [1, 1, -1]), float32)
    a0, a1, a2, b0, b1, b2, c0, c1 = (reshape(maps[:, i], [-1, 1, 1]) for i in range(8))
    scale = c0 * out_x + c1 * out_y + 1.0
    finite = scale != 0.0
    safe = where(finite, scale, 1.0)
    in_x = _within((a0 * out_x + a1 * out_y + a2) / safe, width, mode)
    in_y = _within((b0 * out_x + b1 * out_y + b2) / safe, height, mode)
    pixels = cast(x, float32)
    if nearest:
        read = _pixels(pixels, _round(in_y), _round(in_x), fill)
    else:
        top, left = floor(in_y), floor(in_x)
        right_part, low_part = (in_x - left)[..., None], (in_y - top)[..., None]
        left_part, high_part = (left + 1.0 - in_x)[..., None], (top + 1.0 - in_y)[..., None]

        def row(y: Tensor) -> Tensor:
            one = _pixels(pixels, y, left, fill)
            two = _pixels(pixels, y, left + 1.0, fill)
            return left_part * one + right_part * two

        read = high_part * row(top) + low_part * row(top + 1.0)
    read = where(finite[..., None], read, fill)
    return cast(read, x.dtype)


def _pixels(x: Tensor, y: Tensor, column: Tensor, fill: Tensor) -> Tensor:
    """The pixels at whole coordinates [maps, height, width]; `fill` beyond the borders."""
    sizes = shape(x)
    bottom, right = cast(sizes[1] - 1, float32), cast(sizes[2] - 1, float32)
    inside = logical_and(
        logical_and(y >= 0.0, y <= bottom), logical_and(column >= 0.0, column <= right)
    )
    at = [clip_by_value(y, 0.0, bottom), clip_by_value(column, 0.0, right)]
    places = stack([cast(coordinate, int32) for coordinate in at], -1)
    places = broadcast_to(places, concat([sizes[:1], shape(places)[1:]], 0))
    return where(inside[..., None], gather_nd(x, places, batch_dims=1), fill)


def _round(x: Tensor) -> Tensor:
    """To the nearest integer, halves away from zero."""
    return sign(x) * floor(absolute(x) + 0.5)


def _truncated(x: Tensor) -> Tensor:
    return sign(x) * floor(absolute(x))


def _within(at: Tensor, size: Any, mode: str) -> Tensor:
    """Coordinates along an axis of this size, brought to where the image has pixels."""
    if mode == "CONSTANT":
        return at
    length = cast(as_tensor(size), float32)
    last = length - 1.0
    if mode == "REFLECT":
        period = 2.0 * length
        below = where(at < period, period * _truncated(-at / period) + at, at)
        below = where(below < -length, below + period, -below - 1.0)
        above = at - period * _truncated(at / period)
        above = where(above >= length, period - above - 1.0, above)
    elif mode == "WRAP":
        step = where(last > 0.0, last, 1.0)
        below = at + length * (_truncated(-at / step) + 1.0)
        above = at - length * _truncated(at / step)
    else:
        below = above = at
    moved = where(at < 0.0, below, where(at > last, above, at))
    return clip_by_value(moved, 0.0, last)
