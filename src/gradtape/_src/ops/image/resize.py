"""Resizing images: along each axis a sparse linear map, whose adjoint is a map of the same kind.

The weights are computed in float32, step by step as TensorFlow computes them, since where a pixel
falls half-way between two, rounding decides. Being linear, resizing has every order of derivative.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.errors import DTypeError, InvalidArgumentError, OutOfRangeError, ShapeError
from ...core.tensor import Tensor
from ..array.cast import cast, stop_gradient
from ..array.indexing import gather
from ..array.pad import _pad
from ..array.shape import _reshape, squeeze
from ..declare.op import op
from ..declare.reduction import in_float32
from ..declare.static import static_int, static_ints, to_tensor
from ..math.arithmetic import floor
from ..math.logic import where


class AxisMap:
    """A linear map along one axis: output i is the sum of weights[:, i] * input[indices[:, i]]."""

    def __init__(self, indices: Any, weights: Any, size: int) -> None:
        self.indices = np.asarray(indices, np.intp)
        self.weights = np.asarray(weights)
        self.size = size  # of the input
        self._blocks: dict[Any, Any] = {}

    @property
    def length(self) -> int:
        """The size of the output."""
        return self.indices.shape[1]

    @cached_property
    def is_selection(self) -> bool:
        return len(self.indices) == 1 and bool((self.weights == 1).all())

    @cached_property
    def matrix(self) -> Any:
        matrix = np.zeros((self.length, self.size), self.weights.dtype)
        np.add.at(matrix, (np.arange(self.length), self.indices), self.weights)
        return matrix

    def blocks(self, channels: int, dtype: Any) -> list[Any]:
        """The matrix, transposed, in blocks (inputs, outputs, block) of some outputs each.

        It acts on pixels that are `channels` elements wide.
        """
        found = self._blocks.get((channels, dtype))
        if found is None:
            step = max(4, 24 // channels)
            starts = range(0, self.length, step)
            found = [self._block(i, min(i + step, self.length), channels, dtype) for i in starts]
            self._blocks[channels, dtype] = found
        return found

    def _block(self, first: int, last: int, channels: int, dtype: Any) -> Any:
        used = self.indices[:, first:last][self.weights[:, first:last] != 0]
        low, high = (int(used.min()), int(used.max()) + 1) if used.size else (0, 0)
        part = np.zeros((high - low, last - first), dtype)
        outputs = np.broadcast_to(np.arange(last - first), (len(self.indices), last - first))
        kept = self.weights[:, first:last] != 0
        np.add.at(part, (used - low, outputs[kept]), self.weights[:, first:last][kept])
        if channels > 1:
            part = np.kron(part, np.eye(channels, dtype=dtype))
        inputs = slice(low * channels, high * channels)
        return inputs, slice(first * channels, last * channels), part

    @cached_property
    def adjoint(self) -> AxisMap:
        """The transposed map: for each input, the outputs that it went into."""
        kept = self.weights != 0
        sources = self.indices[kept]
        outputs = np.broadcast_to(np.arange(self.length), kept.shape)[kept]
        order = np.lexsort((outputs, sources))
        sources, outputs, weights = sources[order], outputs[order], self.weights[kept][order]
        counts = np.bincount(sources, minlength=self.size)
        rank = np.arange(len(sources)) - np.repeat(np.cumsum(counts) - counts, counts)
        taps = max(1, counts.max(initial=0))
        indices = np.zeros((taps, self.size), np.intp)
        padded = np.zeros((taps, self.size), self.weights.dtype)
        indices[rank, sources], padded[rank, sources] = outputs, weights
        adjoint = AxisMap(indices, padded, self.length)
        adjoint.__dict__["adjoint"] = self
        return adjoint

    def __repr__(self) -> str:
        return f"<map of {self.size} to {self.length} elements, {len(self.indices)} at a time>"


def _map_samples(r: np.random.Generator) -> list[Any]:
    return [
        ([r.normal(size=(2, 3))], {"map": _linear(3, 5), "axis": 1}),
        ([r.normal(size=(5, 2))], {"map": _nearest(5, 3), "axis": 0}),
        ([r.normal(size=(2, 4, 2))], {"map": _kernel("lanczos3", 4, 2, True), "axis": 1}),
        ([r.normal(size=(0, 2))], {"map": _area(2, 3), "axis": 1}),
    ]


@op(batch_axes="axis", linear="x", dtypes=dt.REAL, samples=_map_samples)
@in_float32
def _along_axis(xp, x, *, map, axis):
    """`map` applied to `x` along `axis`."""
    return xp.apply_map(x, map, axis)


@_along_axis.vjp("x")
def _along_axis_vjp(g, *, map, axis):
    return _along_axis(g, map=map.adjoint, axis=axis)


def along_axes(x: Tensor, maps: tuple[AxisMap, AxisMap], axes: tuple[int, int]) -> Tensor:
    """Both maps, the one that makes the result smaller first."""
    pairs = sorted(zip(maps, axes, strict=True), key=lambda pair: pair[0].length / pair[0].size)
    for map, axis in pairs:
        x = _along_axis(x, map=map, axis=axis)
    return x


# The maps. All arithmetic is in float32: the constants below must not widen it.

_F = np.float32


def _centers(size: int, length: int) -> Any:
    """Where the pixels of the output lie in the input, counted from its edge."""
    return (np.arange(length, dtype=_F) + _F(0.5)) * (_F(size) / _F(length))


@lru_cache(maxsize=256)
def _nearest(size: int, length: int) -> AxisMap:
    chosen = np.clip(np.floor(_centers(size, length)).astype(np.intp), 0, size - 1)
    return AxisMap(chosen[None], np.ones((1, length), _F), size)


@lru_cache(maxsize=256)
def _linear(size: int, length: int) -> AxisMap:
    place = _centers(size, length) - _F(0.5)
    low = np.floor(place)
    part = place - low
    indices = np.stack([np.maximum(low, 0), np.minimum(np.ceil(place), size - 1)])
    return AxisMap(indices, np.stack([1 - part, part]), size)


_TABLE = 1024  # TensorFlow rounds the fraction of a position to this many steps


def _cubic_table() -> Any:
    """Keys' cubic kernel at distances 0 to 1, and at 1 to 2."""
    x = np.arange(_TABLE + 1, dtype=_F) / _F(_TABLE)
    a = _F(-0.5)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    x = x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return near, far


@lru_cache(maxsize=256)
def _cubic(size: int, length: int) -> AxisMap:
    near, far = _cubic_table()
    place = _centers(size, length) - _F(0.5)
    low = np.floor(place)
    step = np.rint((place - low) * _TABLE).astype(np.intp)
    wanted = low.astype(np.intp) + np.arange(-1, 3)[:, None]
    weights = np.stack([far[step], near[step], near[_TABLE - step], far[_TABLE - step]])
    weights[(wanted < 0) | (wanted >= size)] = 0
    return AxisMap(np.clip(wanted, 0, size - 1), _normalised(weights), size)


def _normalised(weights: Any) -> Any:
    total = weights.sum(0, dtype=_F)
    usable = np.abs(total) >= _F(1000) * np.finfo(_F).tiny
    return np.where(usable, weights / np.where(usable, total, 1), weights)


@lru_cache(maxsize=256)
def _area(size: int, length: int) -> AxisMap:
    scale = _F(size) / _F(length)
    start = np.arange(length, dtype=_F) * scale
    stop = np.arange(1, length + 1, dtype=_F) * scale
    first = np.floor(start).astype(np.intp)
    taps = int((np.ceil(stop).astype(np.intp) - first).max())
    pixels = first + np.arange(taps)[:, None]
    covered = np.minimum(pixels + 1, stop) - np.maximum(pixels, start)
    weights = np.maximum(covered, 0).astype(_F) / scale
    return AxisMap(np.clip(pixels, 0, size - 1), weights, size)


def _lanczos(x: Any, radius: float) -> Any:
    safe = np.where(x <= 1e-3, 1, x)
    value = radius * np.sin(np.pi * safe) * np.sin(np.pi * safe / radius) / (np.pi * safe) ** 2
    return np.where(x <= 1e-3, 1, np.where(x > radius, 0, value))


def _keys(x: Any) -> Any:
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x >= 2, 0, np.where(x >= 1, far, ((1.5 * x - 2.5) * x) * x + 1))


def _mitchell(x: Any) -> Any:
    far = (((-7 / 18) * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x >= 2, 0, np.where(x >= 1, far, (((7 / 6) * x - 2) * x) * x + 8 / 9))


_KERNELS: dict[str, Any] = {
    "lanczos3": (3, lambda x: _lanczos(x, 3)),
    "lanczos5": (5, lambda x: _lanczos(x, 5)),
    "gaussian": (1.5, lambda x: np.where(x >= 1.5, 0, np.exp(-2 * x * x))),
    "triangle": (1, lambda x: np.maximum(1 - x, 0)),
    "keyscubic": (2, _keys),
    "mitchellcubic": (2, _mitchell),
}


@lru_cache(maxsize=256)
def _kernel(name: str, size: int, length: int, antialias: bool) -> AxisMap:
    """Weights by the distance of input pixels; `antialias` widens the kernel when shrinking."""
    radius, function = _KERNELS[name]
    inverse = 1 / (_F(length) / _F(size))
    widening = max(inverse, _F(1)) if antialias else _F(1)
    reach = _F(radius) * widening
    sample = (np.arange(length, dtype=_F) + _F(0.5)) * inverse
    start = np.clip(np.ceil(sample - reach - _F(0.5)).astype(np.intp), 0, size - 1)
    stop = np.clip(np.floor(sample + reach - _F(0.5)).astype(np.intp), 0, size - 1) + 1
    taps = int((stop - start).max())
    pixels = start + np.arange(taps)[:, None]
    distance = np.abs((pixels.astype(_F) + _F(0.5) - sample) * (_F(1) / widening))
    weights = np.where(pixels < stop, function(distance), 0).astype(_F)
    weights = np.where((sample >= 0) & (sample <= size), _normalised(weights), 0)
    return AxisMap(np.minimum(pixels, size - 1), weights, size)


class ResizeMethod:
    """The methods of `resize`."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


_PLAIN = {"nearest": _nearest, "bilinear": _linear, "bicubic": _cubic, "area": _area}
_SMOOTH = {"bilinear": "triangle", "bicubic": "keyscubic"}


def _map_for(method: Any, size: int, length: int, antialias: bool, op_name: str) -> AxisMap:
    if antialias and method in _SMOOTH:
        return _kernel(_SMOOTH[method], size, length, True)
    if method in _PLAIN:
        return _PLAIN[method](size, length)
    if method in ("lanczos3", "lanczos5", "gaussian", "mitchellcubic"):
        return _kernel(method, size, length, bool(antialias))
    known = ", ".join(value for name, value in vars(ResizeMethod).items() if name.isupper())
    raise InvalidArgumentError(f"{op_name}: `method` must be one of {known}, not {method!r}.")


def image_batch(image: Any, op_name: str, name: str = "image") -> tuple[Tensor, bool]:
    """`image` as a batch [n, height, width, channels], and whether it was one already."""
    x = to_tensor(image, op_name)
    shape = x._array.shape
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise ShapeError(
            f"{op_name}: `{name}` must be an image [height, width, channels] or a batch of images "
            f"[n, height, width, channels], not empty. Received: shape {tuple(shape)}."
        )
    return (x, True) if len(shape) == 4 else (_reshape(x, shape=(1, *shape)), False)


def like_given(x: Tensor, was_batch: bool) -> Tensor:
    """The batch `x` itself, or its only image."""
    return x if was_batch else squeeze(x, [0])


def resize(
    images: Any,
    size: Any,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """`images` at another `size` (height, width), as float32; "nearest" keeps the dtype.

    `antialias` widens the filter when an image shrinks ("nearest" and "area" know none).
    With `preserve_aspect_ratio` the result is the largest that fits into `size`. Differentiable to
    every order by every method (TensorFlow: "area" has no gradient, others no second order).
    """
    x, was_batch = image_batch(images, "resize", "images")
    if not x.dtype.is_numeric or x.dtype.is_complex:
        raise DTypeError(f"resize: `images` must be real numbers, and are {x.dtype.name}.")
    wanted = static_ints(size, "resize", "size")
    if len(wanted) != 2 or min(wanted) < 1:
        raise InvalidArgumentError(
            f"resize: `size` must be two positive integers (height, width), not {list(wanted)}."
        )
    height, width = x._array.shape[1:3]
    if preserve_aspect_ratio:
        factor = min(_F(wanted[0]) / _F(height), _F(wanted[1]) / _F(width))
        wanted = (int(np.rint(factor * _F(height))), int(np.rint(factor * _F(width))))
        if min(wanted) < 1:
            raise InvalidArgumentError(
                f"resize: an image of {height} x {width} has no pixel left at `size`={size!r} with "
                "preserve_aspect_ratio=True."
            )
    if method != "nearest":
        x = cast(x, dt.float32)
    vertical = _map_for(method, height, wanted[0], antialias, "resize")
    horizontal = _map_for(method, width, wanted[1], antialias, "resize")
    return like_given(along_axes(x, (vertical, horizontal), (1, 2)), was_batch)


def resize_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """`image` resized as large as the target allows without distortion, zeros around it."""
    x, was_batch = image_batch(image, "resize_with_pad")
    target = (
        static_int(target_height, "resize_with_pad", "target_height"),
        static_int(target_width, "resize_with_pad", "target_width"),
    )
    if min(target) < 1:
        raise InvalidArgumentError(
            "resize_with_pad: `target_height` and `target_width` must be positive. Received: "
            f"{target[0]} and {target[1]}."
        )
    sizes = x._array.shape[1:3]
    ratio = max(_F(n) / _F(t) for n, t in zip(sizes, target, strict=True))
    exact = [_F(n) / ratio for n in sizes]
    resized = resize(x, [max(1, int(np.floor(e))) for e in exact], method, antialias=antialias)
    pairs = [(0, 0)]
    for t, e, n in zip(target, exact, resized._array.shape[1:3], strict=True):
        before = max(0, int(np.floor((_F(t) - e) / 2)))
        pairs.append((before, t - before - n))
    padded = _pad(resized, Tensor(np.zeros((), resized._array.dtype)), paddings=(*pairs, (0, 0)))
    return like_given(padded, was_batch)


# Crops at any place and size


def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Crops of the batch `image`, all resized to `crop_size` (height, width), as float32.

    Box i, `boxes[i] = [y1, x1, y2, x2]` with 0 and 1 the first and last pixel, is cut from image
    `box_indices[i]`. What lies outside of it is `extrapolation_value`. Differentiable in `image`
    and `boxes`; as in TensorFlow, "nearest" uses the slope of "bilinear" for `boxes`.
    """
    op_name = "crop_and_resize"
    x = to_tensor(image, op_name)
    boxes = boxes if isinstance(boxes, Tensor) else cast(boxes, dt.float32)
    numbers = to_tensor(box_indices, op_name)
    height, width = _crop_size(crop_size)
    _check_crop(x, boxes, numbers)
    if method not in ("bilinear", "nearest"):
        raise InvalidArgumentError(
            f'{op_name}: `method` must be "bilinear" or "nearest", not {method!r}.'
        )
    y1, x1, y2, x2 = (_reshape(boxes[:, i], shape=(-1, 1)) for i in range(4))
    ys = _positions(y1, y2, x._array.shape[1], height)
    xs = _positions(x1, x2, x._array.shape[2], width)
    pixels = cast(x, dt.float32)
    if method == "bilinear":
        values = _sampled(pixels, numbers, ys, xs)
    else:
        values = _picked(
            pixels, numbers, floor(stop_gradient(ys) + 0.5), floor(stop_gradient(xs) + 0.5)
        )
        if boxes._key is not None:
            slope = _sampled(stop_gradient(pixels), numbers, ys, xs)
            values = values + (slope - stop_gradient(slope))
    inside = (
        _inside(ys, x._array.shape[1])[:, :, None, None]
        & _inside(xs, x._array.shape[2])[:, None, :, None]
    )
    return where(inside, values, float(extrapolation_value))


def _crop_size(crop_size: Any) -> tuple[int, int]:
    sizes = static_ints(crop_size, "crop_and_resize", "crop_size")
    if len(sizes) != 2 or min(sizes) < 1:
        raise InvalidArgumentError(
            f"crop_and_resize: `crop_size` must be two positive integers, not {list(sizes)}."
        )
    return sizes


def _check_crop(x: Tensor, boxes: Tensor, numbers: Tensor) -> None:
    shapes = f"image.shape={tuple(x.shape)}, boxes.shape={tuple(boxes.shape)}, "
    shapes += f"box_indices.shape={tuple(numbers.shape)}"
    if x.ndim != 4 or boxes.ndim != 2 or boxes._array.shape[1] != 4 or 0 in x._array.shape[1:]:
        raise ShapeError(
            "crop_and_resize: `image` must be [n, height, width, channels], not empty, and `boxes` "
            f"[count, 4]. Received: {shapes}."
        )
    if tuple(numbers._array.shape) != (boxes._array.shape[0],):
        raise ShapeError(
            f"crop_and_resize: there must be one entry of `box_indices` for each box. Received: "
            f"{shapes}."
        )
    if boxes._array.dtype != np.float32:
        raise DTypeError(f"crop_and_resize: `boxes` must be float32, and are {boxes.dtype.name}.")
    if numbers._array.dtype not in dt.INTEGER:
        raise DTypeError(
            f"crop_and_resize: `box_indices` must be integers, and are {numbers.dtype.name}."
        )
    if isinstance(numbers._array, np.ndarray) and numbers._array.size:
        low, high = numbers._array.min(), numbers._array.max()
        if low < 0 or high >= x._array.shape[0]:
            raise OutOfRangeError(
                f"crop_and_resize: `box_indices` must lie in [0, {x._array.shape[0]}), the number "
                f"of images, and go from {low} to {high}."
            )


def _positions(low: Tensor, high: Tensor, size: int, count: int) -> Tensor:
    """Where the pixels of the crops lie in the image, [boxes, count]."""
    if count == 1:
        return (low + high) * (0.5 * (size - 1))
    steps = Tensor(np.arange(count, dtype=_F))
    return low * float(size - 1) + steps * ((high - low) * ((size - 1) / (count - 1)))


def _inside(positions: Tensor, size: int) -> Tensor:
    return (positions >= 0) & (positions <= size - 1)


def _picked(pixels: Tensor, numbers: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """The pixels of image `numbers[i]` at the whole numbers `rows[i]`, `columns[i]`."""
    count, height, width, channels = pixels._array.shape
    i = cast(rows, dt.int32)
    j = cast(columns, dt.int32)
    i = where(i < 0, 0 * i, where(i >= height, 0 * i + (height - 1), i))
    j = where(j < 0, 0 * j, where(j >= width, 0 * j + (width - 1), j))
    n = cast(numbers, dt.int32)[:, None, None]
    flat = _reshape(pixels, shape=(count * height * width, channels))
    return gather(flat, (n * height + i[:, :, None]) * width + j[:, None, :])


def _sampled(pixels: Tensor, numbers: Tensor, ys: Tensor, xs: Tensor) -> Tensor:
    """The pixels interpolated between their four neighbours; on a pixel the slope is 0."""
    top, left = floor(ys), floor(xs)
    below, right = -floor(-ys), -floor(-xs)
    down = (ys - top)[:, :, None, None]
    across = (xs - left)[:, None, :, None]
    upper, lower = (
        a + (b - a) * across
        for a, b in (
            (_picked(pixels, numbers, row, left), _picked(pixels, numbers, row, right))
            for row in (top, below)
        )
    )
    return upper + (lower - upper) * down
