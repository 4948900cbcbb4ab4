"""Space cut into blocks: space to depth, space to batch, and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import InvalidArgumentError, ShapeError
from ...core.placement import on_host
from ...core.tensor import Tensor
from ..array.pad import _pad
from ..array.shape import _reshape, _transpose
from ..array.slicing import _getitem
from ..declare.static import static_int, static_ints, to_tensor
from .geometry import Ints, explicit


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
    pairs = np.asarray(on_host(to_tensor(amounts, name)._array))
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
        base = np.asarray(on_host(to_tensor(base_paddings, op_name)._array)).astype(np.int32)
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
        return op(x, rank, padding)
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
