"""Glimpses: a window of each image, at a place of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ..array.cast import cast, stop_gradient
from ..array.indexing import gather_nd
from ..array.joining import stack
from ..array.shape import broadcast_to, expand_dims
from ..declare.static import static_ints, to_tensor
from ..math.arithmetic import clip_by_value
from ..math.logic import where
from ..math.reduction import reduce_max, reduce_mean, reduce_min, reduce_std
from ..random.sequence import normal, uniform


def extract_glimpse(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Tensor:
    """A window of `size` (height, width) from each image, as float32; differentiable by `input`.

    `offsets` has a row (y, x) for each image. If `normalized`, 1 is the height or width of the
    image; if `centered` too, (0, 0) is a window around the middle, and -1 and 1 lie on the borders;
    if `centered` alone, the corner of the window is so far from the middle. Else it is so far from
    the corner of the image. Outside of the image there is noise: "uniform" or "gaussian", like the
    numbers of the image, or "zero".
    """
    op_name = "extract_glimpse"
    x = cast(to_tensor(input, op_name), dt.float32)
    places = cast(to_tensor(offsets, op_name), dt.float32)
    window = static_ints(size, op_name, "size")
    shape = x._array.shape
    if len(shape) != 4 or places._array.shape != (shape[0], 2) or len(window) != 2:
        raise ShapeError(
            f"{op_name}: expected `input` of shape (images, height, width, channels), `size` of "
            f"two numbers and `offsets` of shape (images, 2). Received: input.shape={shape}, "
            f"size={window}, offsets.shape={places._array.shape}."
        )
    if min(window) < 0:
        raise InvalidArgumentError(f"{op_name}: `size` must not be negative, and is {window}.")
    starts = _corners(places, shape[1:3], window, centered, normalized)
    ranges = [
        expand_dims(starts[:, axis], 1) + np.arange(window[axis], dtype=np.int32) for axis in (0, 1)
    ]
    inside = [(r >= 0) & (r < shape[axis + 1]) for axis, r in enumerate(ranges)]
    # What lies outside is looked up at the border, and replaced.
    ranges = [clip_by_value(r, 0, max(shape[a + 1] - 1, 0)) for a, r in enumerate(ranges)]
    whole = (shape[0], *window)
    images = np.arange(shape[0], dtype=np.int32)[:, None, None]
    indices = [images, expand_dims(ranges[0], 2), expand_dims(ranges[1], 1)]
    seen = gather_nd(x, stack([broadcast_to(each, whole) for each in indices], -1))
    mask = expand_dims(expand_dims(inside[0], 2) & expand_dims(inside[1], 1), 3)
    return where(mask, seen, _noise(noise, stop_gradient(x), (*whole, shape[3])))


def _corners(
    places: Tensor,
    image: tuple[int, ...],
    window: tuple[int, ...],
    centered: bool,
    normalized: bool,
) -> Tensor:
    """The row and column where each window begins, cut off toward zero."""
    sides, window_sides = np.array(image, np.float32), np.array(window, np.float32)
    if normalized:
        places = places * sides
    if centered:
        places = places / 2 + (sides - window_sides) / 2 if normalized else places + sides / 2
    return cast(places, dt.int32)


def _noise(kind: str, x: Tensor, shape: tuple[int, ...]) -> Tensor:
    axes = [1, 2, 3]
    if kind == "zero":
        return Tensor(np.zeros(shape, np.float32))
    if kind == "gaussian":
        return normal(shape) * reduce_std(x, axes, True) + reduce_mean(x, axes, True)
    if kind != "uniform":
        raise InvalidArgumentError(
            f"extract_glimpse: `noise` must be 'uniform', 'gaussian' or 'zero', not {kind!r}."
        )
    low = reduce_min(x, axes, True)
    return uniform(shape) * (reduce_max(x, axes, True) - low) + low
