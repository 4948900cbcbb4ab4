"""Images by place: flips, turns, crops, borders; differences of neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ..array.joining import stack
from ..array.pad import _pad, pad
from ..array.reverse import _reverse
from ..array.shape import _transpose
from ..array.slicing import _getitem, _window_adjoint, slice as slice_
from ..declare.static import is_unknown, static_int, to_tensor
from ..math.arithmetic import abs as absolute
from ..math.reduction import reduce_sum
from ..nn.patches import extract_patches as _extract_patches
from .resize import image_batch, like_given

ALL = slice(None)

extract_patches = _extract_patches


def flip_left_right(image: Any) -> Tensor:
    """`image`, or each of a batch of images, mirrored along its width."""
    x = _as_image(image, "flip_left_right")
    return _reverse(x, axis=(x.ndim - 2,))


def flip_up_down(image: Any) -> Tensor:
    """`image`, or each of a batch of images, mirrored along its height."""
    x = _as_image(image, "flip_up_down")
    return _reverse(x, axis=(x.ndim - 3,))


def _as_image(image: Any, op_name: str) -> Tensor:
    """`image` as a tensor of one image or a batch of them."""
    x = to_tensor(image, op_name)
    image_batch(x, op_name)
    return x


def transpose(image: Any, name: str | None = None) -> Tensor:
    """`image`, or each of a batch of images, with height and width exchanged."""
    x = _as_image(image, "transpose")
    return _transpose(x, perm=(1, 0, 2) if x.ndim == 3 else (0, 2, 1, 3))


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Tensor:
    """`image`, or each of a batch of images, turned `k` times by 90 degrees counter-clockwise."""
    x = _as_image(image, "rot90")
    turns = static_int(k, "rot90", "k") % 4
    rows = x.ndim - 3
    if turns == 0:
        return x
    if turns == 1:
        return transpose(_reverse(x, axis=(rows + 1,)))
    if turns == 2:
        return _reverse(x, axis=(rows, rows + 1))
    return _reverse(transpose(x), axis=(rows + 1,))


def central_crop(image: Any, central_fraction: Any) -> Tensor:
    """The middle of `image`: `central_fraction`, in (0, 1], of its height and of its width."""
    fraction = float(to_tensor(central_fraction, "central_crop"))
    if not 0 < fraction <= 1:
        raise InvalidArgumentError(
            f"central_crop: `central_fraction` must lie in (0, 1], and is {fraction}."
        )
    x = _as_image(image, "central_crop")
    if fraction == 1:
        return x
    key: list[Any] = [ALL] * x.ndim
    for axis in (x.ndim - 3, x.ndim - 2):
        size = x._array.shape[axis]
        start = int((size - size * fraction) / 2)
        key[axis] = slice(start, size - start)
    return _getitem(x, key=tuple(key))


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """The part of `image` of the target size whose upper left corner is at the offsets."""
    op_name = "crop_to_bounding_box"
    x, was_batch = image_batch(image, op_name)
    begin, sizes = [0], [x._array.shape[0]]
    for name, offset, target, size in _sides(
        x, offset_height, offset_width, target_height, target_width, op_name
    ):
        begin.append(offset)
        sizes.append(target)
        if target < 1 or (not is_unknown(offset) and offset + target > size):
            raise InvalidArgumentError(
                f"{op_name}: `target_{name}` must be positive and `offset_{name}` + "
                f"`target_{name}` at most the {name} of the image, {size}. Received: {offset} + "
                f"{target}."
            )
    return like_given(slice_(x, [*begin, 0], [*sizes, -1]), was_batch)


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """An image of zeros of the target size with `image` in it at the offsets."""
    op_name = "pad_to_bounding_box"
    x, was_batch = image_batch(image, op_name)
    pairs = [(0, 0)]
    sides = _sides(x, offset_height, offset_width, target_height, target_width, op_name)
    if is_unknown([offset for _, offset, _, _ in sides]):
        starts = [to_tensor(start, op_name) for start in (0, sides[0][1], sides[1][1], 0)]
        n, _, _, channels = x._array.shape
        framed = _window_adjoint(x, *starts, shape=(n, sides[0][2], sides[1][2], channels))
        return like_given(framed, was_batch)
    for name, offset, target, size in sides:
        if offset + size > target:
            raise InvalidArgumentError(
                f"{op_name}: `target_{name}` must be at least `offset_{name}` plus the {name} of "
                f"the image. Received: target {target}, offset {offset}, {name} {size}."
            )
        pairs.append((offset, target - offset - size))
    zero = Tensor(np.zeros((), x._array.dtype))
    return like_given(_pad(x, zero, paddings=(*pairs, (0, 0))), was_batch)


def _sides(
    x: Tensor,
    offset_height: Any,
    offset_width: Any,
    target_height: Any,
    target_width: Any,
    op_name: str,
) -> list[tuple[str, Any, int, int]]:
    """For height and width: name, offset, target and size, the offset being checked, if known."""
    sides = []
    given = [("height", offset_height, target_height), ("width", offset_width, target_width)]
    for axis, (name, offset, target) in enumerate(given, 1):
        start = offset if is_unknown(offset) else static_int(offset, op_name, f"offset_{name}")
        if not is_unknown(start) and start < 0:
            raise InvalidArgumentError(f"{op_name}: `offset_{name}` must be >= 0, and is {start}.")
        stop = static_int(target, op_name, f"target_{name}")
        sides.append((name, start, stop, x._array.shape[axis]))
    return sides


def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """`image` cut, or framed with zeros, to the target size, its middle staying the middle."""
    op_name = "resize_with_crop_or_pad"
    x, was_batch = image_batch(image, op_name)
    crop, pairs = [ALL], [(0, 0)]
    for axis, (name, target) in enumerate((("height", target_height), ("width", target_width)), 1):
        wanted, size = static_int(target, op_name, f"target_{name}"), x._array.shape[axis]
        if wanted < 1:
            raise InvalidArgumentError(
                f"{op_name}: `target_{name}` must be positive, and is {wanted}."
            )
        start, before = max((size - wanted) // 2, 0), max((wanted - size) // 2, 0)
        crop.append(slice(start, start + min(wanted, size)))
        pairs.append((before, max(wanted - size - before, 0)))
    cropped = _getitem(x, key=tuple(crop))
    zero = Tensor(np.zeros((), x._array.dtype))
    return like_given(_pad(cropped, zero, paddings=(*pairs, (0, 0))), was_batch)


# Differences of neighbours


def image_gradients(image: Any) -> tuple[Tensor, Tensor]:
    """The differences to the next pixel below and to the right, (dy, dx); 0 at the far border."""
    x = _batch_only(image, "image_gradients")
    zero = Tensor(np.zeros((), x._array.dtype))
    down = _getitem(x, key=(ALL, slice(1, None))) - _getitem(x, key=(ALL, slice(-1)))
    right = _getitem(x, key=(ALL, ALL, slice(1, None))) - _getitem(x, key=(ALL, ALL, slice(-1)))
    return (
        _pad(down, zero, paddings=((0, 0), (0, 1), (0, 0), (0, 0))),
        _pad(right, zero, paddings=((0, 0), (0, 0), (0, 1), (0, 0))),
    )


def _batch_only(image: Any, op_name: str) -> Tensor:
    x = to_tensor(image, op_name)
    if x.ndim != 4 or 0 in x._array.shape[1:]:
        raise ShapeError(
            f"{op_name}: `image` must be a batch of images [n, height, width, channels], not "
            f"empty. Received: shape {tuple(x.shape)}."
        )
    return x


def sobel_edges(image: Any) -> Tensor:
    """Sobel's smoothed differences along height and width, [n, height, width, channels, 2]."""
    x = _batch_only(image, "sobel_edges")
    if min(x._array.shape[1:3]) < 2:
        raise ShapeError(
            f"sobel_edges: `image` must be at least 2 x 2. Received: shape {tuple(x.shape)}."
        )
    x = pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
    return stack([_smooth(_slope(x, 1), 2), _smooth(_slope(x, 2), 1)], axis=-1)


def _part(x: Tensor, axis: int, start: int, stop: int | None) -> Tensor:
    return _getitem(x, key=(*(ALL,) * axis, slice(start, stop)))


def _slope(x: Tensor, axis: int) -> Tensor:
    return _part(x, axis, 2, None) - _part(x, axis, 0, -2)


def _smooth(x: Tensor, axis: int) -> Tensor:
    return _part(x, axis, 2, None) + _part(x, axis, 0, -2) + 2 * _part(x, axis, 1, -1)


def total_variation(images: Any, name: str | None = None) -> Tensor:
    """The sum of the absolute differences of neighbouring pixels, for each image."""
    x = to_tensor(images, "total_variation")
    if x.ndim not in (3, 4):
        raise ShapeError(
            f"total_variation: `images` must have rank 3 or 4, and has shape {tuple(x.shape)}."
        )
    axes = tuple(range(x.ndim - 3, x.ndim))
    sums = [
        reduce_sum(absolute(_part(x, axis, 1, None) - _part(x, axis, 0, -1)), axes)
        for axis in axes[:2]
    ]
    return sums[0] + sums[1]
