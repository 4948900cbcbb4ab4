"""Space cut into blocks and windows: space to depth or batch and back, patches, morphology, lrn."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes as dt
from ..core.errors import DTypeError, InvalidArgumentError, ShapeError
from ..core.pattern import MOVES
from ..core.spec import Spec
from ..core.tensor import Tensor
from ._declare import op
from ._geometry import Ints, amounts, explicit, per_axis
from ._static import static_int, static_ints, to_tensor
from .arithmetic import square
from .creation import cast
from .joining import reverse
from .pooling import _check_dtype, _samples, _window, _window_max, _window_sum
from .shape import _reshape, _transpose
from .slicing import _getitem, _pad

# The elements of windows along one axis, and their sum where windows overlap


def _unfolded(r):
    result = []
    for (x,), params in _samples(r, "in"):
        axis = params["axis"]
        window = params["count"], params["size"]
        y = r.normal(size=(*x.shape[:axis], *window, *x.shape[axis + 1 :]))
        result.append(([y], params | {"length": x.shape[axis]}))
    return result


@op(pattern=MOVES, linear="x", samples=lambda r: _samples(r, "in"))
def _unfold(xp, x, *, axis, size, stride, dilation, low, count):
    """The elements of each window along `axis` in an axis of their own, the next one; 0 outside."""
    return xp.windows("unfold", x, axis=axis, **_window(size, stride, low, count, dilation))


@_unfold.vjp("x")
def _unfold_vjp(g, x: Spec, *, axis, size, stride, dilation, low, count):
    window = _window(size, stride, low, count, dilation)
    return _fold(g, axis=axis, length=x.shape[axis], **window)


@_unfold.batch
def _unfold_batch(batched, x, *, axis, size, stride, dilation, low, count):
    return _unfold(x, axis=axis + 1, **_window(size, stride, low, count, dilation))


@op(pattern=MOVES, linear="y", dtypes=dt.NUMERIC, samples=_unfolded)
def _fold(xp, y, *, axis, length, size, stride, dilation, low, count):
    """The elements of windows added up where they lie in an axis of `length`."""
    window = _window(size, stride, low, count, dilation)
    return xp.windows("fold", y, axis=axis, length=length, **window)


@_fold.vjp("y")
def _fold_vjp(g, *, axis, size, stride, dilation, low, count):
    return _unfold(g, axis=axis, **_window(size, stride, low, count, dilation))


@_fold.batch
def _fold_batch(batched, y, *, axis, length, size, stride, dilation, low, count):
    window = _window(size, stride, low, count, dilation)
    return _fold(y, axis=axis + 1, length=length, **window)


def _patches(
    name: str, x: Tensor, sizes: Any, strides: Any, rates: Any, padding: Any, names: Ints | Any
) -> Tensor:
    """The windows of `x` [batch, *space, channels]: [batch, *places, *kernel, channels]."""
    rank = x.ndim - 2
    kernel, steps, dilations = (
        per_axis(v, rank, False, name, n)
        for v, n in zip((sizes, strides, rates), names, strict=True)
    )
    if padding not in ("SAME", "VALID"):
        raise InvalidArgumentError(f"{name}: `padding` must be 'SAME' or 'VALID', not {padding!r}.")
    space = tuple(x._array.shape[1:-1])
    pairs, counts = amounts(padding, space, kernel, steps, dilations, name)
    for axis in range(rank):
        window = _window(kernel[axis], steps[axis], pairs[axis][0], counts[axis], dilations[axis])
        x = _unfold(x, axis=1 + 2 * axis, **window)
    places = range(1, 2 * rank + 1, 2)
    return _transpose(x, perm=(0, *places, *(p + 1 for p in places), 2 * rank + 1))


def _in_channels(patches: Tensor, rank: int) -> Tensor:
    shape = patches._array.shape
    return _reshape(patches, shape=(*shape[: rank + 1], math.prod(shape[rank + 1 :])))


def _check_rank(x: Tensor, rank: int, name: str, argument: str) -> Tensor:
    if x.ndim != rank:
        what = {4: "[batch, height, width, channels]", 5: "[batch, depth, height, width, channels]"}
        raise ShapeError(
            f"{name}: `{argument}` must be {what[rank]}. Received: {argument}.shape="
            f"{tuple(x.shape)}."
        )
    return x


def extract_patches(
    images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Tensor:
    """The windows of `images` [batch, height, width, channels], each flattened into the channels.

    `sizes`, `strides`, `rates` (how far apart the elements of a window are): [1, rows, columns, 1].
    """
    x = _check_rank(to_tensor(images, "extract_patches"), 4, "extract_patches", "images")
    names = ("sizes", "strides", "rates")
    return _in_channels(_patches("extract_patches", x, sizes, strides, rates, padding, names), 2)


def extract_volume_patches(
    input: Any, ksizes: Any, strides: Any, padding: str, name: str | None = None
) -> Tensor:
    """The windows of `input` [batch, depth, height, width, channels], each in the channels."""
    op_name = "extract_volume_patches"
    x = _check_rank(to_tensor(input, op_name), 5, op_name, "input")
    names = ("ksizes", "strides", "rates")
    return _in_channels(_patches(op_name, x, ksizes, strides, 1, padding, names), 3)


# Morphology


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
    out = _window_max(sums, axis=3, **_window(size, size, 0, 1))
    return cast(_reshape(out, shape=(*places, channels)), dtype)


# Blocks


def space_to_depth(
    input: Any, block_size: Any, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Blocks of `block_size` squared pixels as one pixel with all their channels."""
    x, size, first = _blocks("space_to_depth", input, block_size, data_format)
    if first:
        batch, channels, height, width = x._array.shape
    else:
        batch, height, width, channels = x._array.shape
    if height % size or width % size:
        raise InvalidArgumentError(
            f"space_to_depth: height and width must be multiples of `block_size`={size}. Received: "
            f"input.shape={tuple(x.shape)}."
        )
    rows, columns, deep = height // size, width // size, channels * size * size
    if first:
        x = _reshape(x, shape=(batch, channels, rows, size, columns, size))
        x = _transpose(x, perm=(0, 3, 5, 1, 2, 4))
        return _reshape(x, shape=(batch, deep, rows, columns))
    x = _reshape(x, shape=(batch, rows, size, columns, size, channels))
    x = _transpose(x, perm=(0, 1, 3, 2, 4, 5))
    return _reshape(x, shape=(batch, rows, columns, deep))


def depth_to_space(
    input: Any, block_size: Any, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """The inverse of `space_to_depth`."""
    x, size, first = _blocks("depth_to_space", input, block_size, data_format)
    if first:
        batch, deep, rows, columns = x._array.shape
    else:
        batch, rows, columns, deep = x._array.shape
    channels, rest = divmod(deep, size * size)
    if rest:
        raise InvalidArgumentError(
            f"depth_to_space: the channels must be a multiple of {size * size}, `block_size` "
            f"squared. Received: input.shape={tuple(x.shape)}."
        )
    if first:
        x = _reshape(x, shape=(batch, size, size, channels, rows, columns))
        x = _transpose(x, perm=(0, 3, 4, 1, 5, 2))
        return _reshape(x, shape=(batch, channels, rows * size, columns * size))
    x = _reshape(x, shape=(batch, rows, columns, size, size, channels))
    x = _transpose(x, perm=(0, 1, 3, 2, 4, 5))
    return _reshape(x, shape=(batch, rows * size, columns * size, channels))


def _blocks(name: str, input: Any, block_size: Any, data_format: str) -> tuple[Tensor, int, bool]:
    x = to_tensor(input, name)
    if data_format not in ("NHWC", "NCHW"):
        raise InvalidArgumentError(
            f"{name}: `data_format` must be 'NHWC' or 'NCHW', not {data_format!r}."
        )
    if x.ndim != 4:
        raise ShapeError(
            f"{name}: `input` must have rank 4 ({data_format}). Received: input.shape="
            f"{tuple(x.shape)}."
        )
    size = static_int(block_size, name, "block_size")
    if size < 2:
        raise InvalidArgumentError(f"{name}: `block_size` must be 2 or more, and is {size}.")
    return x, size, data_format == "NCHW"


def _block_shape(name: str, x: Tensor, block_shape: Any, amounts: Any, argument: str) -> Any:
    """The sizes of the blocks, and the pairs in `argument`, checked."""
    blocks = static_ints(block_shape, name, "block_shape")
    pairs = np.asarray(to_tensor(amounts, name)._array)
    if pairs.size == 0:
        pairs = pairs.reshape(0, 2).astype(np.int64)
    if pairs.shape != (len(blocks), 2) or pairs.dtype.kind not in "iu" or (pairs < 0).any():
        raise InvalidArgumentError(
            f"{name}: `{argument}` must be a pair of integers >= 0 for each of the {len(blocks)} "
            f"sizes in `block_shape`. Received: {pairs.tolist()}."
        )
    if any(b < 1 for b in blocks) or x.ndim < 1 + len(blocks):
        raise InvalidArgumentError(
            f"{name}: `block_shape` must have positive sizes, for axes 1, 2, ... of `input`. "
            f"Received: block_shape={list(blocks)}, input.shape={tuple(x.shape)}."
        )
    return blocks, [tuple(pair) for pair in pairs.tolist()]


def space_to_batch(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Tensor:
    """The same as `space_to_batch_nd`."""
    return space_to_batch_nd(input, block_shape, paddings)


def space_to_batch_nd(
    input: Any, block_shape: Any, paddings: Any, name: str | None = None
) -> Tensor:
    """`input`, padded with zeros, cut into blocks along axes 1, 2, ...; the batch gets one for each
    position in a block."""
    x = to_tensor(input, "space_to_batch")
    blocks, pairs = _block_shape("space_to_batch", x, block_shape, paddings, "paddings")
    count = len(blocks)
    if any(map(any, pairs)):
        rest = [(0, 0)] * (x.ndim - 1 - count)
        zero = Tensor(np.zeros((), x._array.dtype))
        x = _pad(x, zero, paddings=((0, 0), *pairs, *rest))
    batch, *shape = x._array.shape
    space, rest = shape[:count], shape[count:]
    if any(n % b for n, b in zip(space, blocks, strict=True)):
        raise InvalidArgumentError(
            f"space_to_batch: the padded sizes {space} must be multiples of `block_shape`="
            f"{list(blocks)}; `required_space_to_batch_paddings` computes such paddings."
        )
    places = [n // b for n, b in zip(space, blocks, strict=True)]
    split = [size for pair in zip(places, blocks, strict=True) for size in pair]
    x = _reshape(x, shape=(batch, *split, *rest))
    first = [1 + 2 * i for i in range(count)]
    order = (*(i + 1 for i in first), 0, *first, *range(1 + 2 * count, x.ndim))
    x = _transpose(x, perm=order)
    return _reshape(x, shape=(batch * math.prod(blocks), *places, *rest))


def batch_to_space(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Tensor:
    """The inverse of `space_to_batch_nd`, with `crops` cut off at the ends of the axes."""
    x = to_tensor(input, "batch_to_space")
    if isinstance(block_shape, int):
        block_shape = (block_shape, block_shape)
    blocks, pairs = _block_shape("batch_to_space", x, block_shape, crops, "crops")
    count = len(blocks)
    batch, *shape = x._array.shape
    space, rest = shape[:count], shape[count:]
    images, left = divmod(batch, math.prod(blocks))
    sizes = [n * b for n, b in zip(space, blocks, strict=True)]
    if left or any(sum(pair) > n for pair, n in zip(pairs, sizes, strict=True)):
        raise InvalidArgumentError(
            f"batch_to_space: the batch must be a multiple of {math.prod(blocks)}, the product of "
            f"`block_shape`, and `crops` no larger than the sizes {sizes}. Received: input.shape="
            f"{tuple(x.shape)}, crops={[list(pair) for pair in pairs]}."
        )
    x = _reshape(x, shape=(*blocks, images, *space, *rest))
    order = [count]
    for i in range(count):
        order += [count + 1 + i, i]
    x = _transpose(x, perm=(*order, *range(1 + 2 * count, x.ndim)))
    x = _reshape(x, shape=(images, *sizes, *rest))
    if not any(map(any, pairs)):
        return x
    inner = [slice(low, n - high) for (low, high), n in zip(pairs, sizes, strict=True)]
    return _getitem(x, key=(slice(None), *inner))


def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The least paddings, `base_paddings` included, that make sizes multiples of `block_shape`.

    Also the crops that take what was added to `base_paddings` off again.
    """
    op_name = "required_space_to_batch_paddings"
    sizes = np.array(static_ints(input_shape, op_name, "input_shape"), np.int32)
    blocks = np.array(static_ints(block_shape, op_name, "block_shape"), np.int32)
    base = np.zeros((len(blocks), 2), np.int32)
    if base_paddings is not None:
        base = np.asarray(to_tensor(base_paddings, op_name)._array).astype(np.int32)
    if sizes.shape != blocks.shape or base.shape != (len(blocks), 2) or (blocks < 1).any():
        raise InvalidArgumentError(
            f"{op_name}: `input_shape`, `block_shape` (positive) and `base_paddings` (pairs) must "
            f"have one length. Received: {sizes.tolist()}, {blocks.tolist()}, {base.tolist()}."
        )
    extra = -(sizes + base.sum(1, dtype=np.int32)) % blocks
    none = np.zeros_like(extra)
    paddings = base + np.stack([none, extra], axis=1)
    return Tensor(paddings), Tensor(np.stack([none, extra], axis=1))


def with_space_to_batch(
    input: Any,
    dilation_rate: Any,
    padding: Any,
    op: Callable[..., Any],
    filter_shape: Any = None,
    spatial_dims: Any = None,
    data_format: str | None = None,
) -> Tensor:
    """`op(input, number of axes, "VALID")` on each of the grids of pixels `dilation_rate` apart."""
    name = "with_space_to_batch"
    x = to_tensor(input, name)
    rates = static_ints(dilation_rate, name, "dilation_rate")
    rank = len(rates)
    first = data_format is not None and data_format.startswith("NC")
    start = 2 if first else 1
    dims = range(start, rank + start) if spatial_dims is None else spatial_dims
    axes = static_ints(list(dims), name, "spatial_dims")
    if list(axes) != sorted(set(axes)) or len(axes) != rank or any(a < 1 for a in axes):
        raise InvalidArgumentError(
            f"{name}: `spatial_dims` must be {rank} increasing positive axes. Received: "
            f"{list(axes)}."
        )
    if any(r < 1 for r in rates):
        raise InvalidArgumentError(f"{name}: `dilation_rate` must be positive. Received: {rates}.")
    if axes and axes[-1] >= x.ndim:
        raise ShapeError(
            f"{name}: `input` must have an axis {axes[-1]}. Received: input.shape={tuple(x.shape)}."
        )
    if set(rates) <= {1}:
        return op(x, rank, padding)  # type: ignore[no-any-return]
    sizes = [x._array.shape[a] for a in axes]
    paddings, crops = required_space_to_batch_paddings(
        sizes, rates, _base_paddings(padding, rates, filter_shape, first)
    )
    at = dict(zip(axes, range(rank), strict=True))
    up_to = range(1, axes[-1] + 1)
    blocks = [rates[at[a]] if a in at else 1 for a in up_to]
    around, cut = (
        [pairs.numpy()[at[a]].tolist() if a in at else [0, 0] for a in up_to]
        for pairs in (paddings, crops)
    )
    result = op(space_to_batch_nd(x, blocks, around), rank, "VALID")
    return batch_to_space(result, blocks, cut)


def _base_paddings(padding: Any, rates: Ints, filter_shape: Any, first: bool) -> Any:
    """What `padding` alone would add to each axis."""
    name = "with_space_to_batch"
    rank = len(rates)
    if isinstance(padding, (list, tuple)):
        return explicit(padding, rank, first, name)
    if padding == "VALID":
        return [(0, 0)] * rank
    if padding != "SAME" or filter_shape is None:
        raise InvalidArgumentError(
            f"{name}: `padding` must be 'VALID', 'SAME' with a `filter_shape`, or a list of pairs. "
            f"Received: padding={padding!r}, filter_shape={filter_shape!r}."
        )
    kernel = static_ints(filter_shape, name, "filter_shape")[:rank]
    added = [(k - 1) * r for k, r in zip(kernel, rates, strict=True)]
    return [(n // 2, n - n // 2) for n in added]


# Local response normalization


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
    window = _window(2 * radius + 1, 1, radius, x._array.shape[3])
    squares = _window_sum(square(x), axis=3, **window)
    return x * (squares * alpha + bias) ** -beta


lrn = local_response_normalization
