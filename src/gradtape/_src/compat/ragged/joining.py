"""Ragged tensors joined, repeated, and given or rid of an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.errors import InvalidArgumentError, ShapeError, UnimplementedError
from ...core.tensor import Tensor
from ...ops.array.indexing import gather
from ...ops.array.joining import concat, split, stack as dense_stack, tile
from ...ops.array.reverse import reverse
from ...ops.array.shape import expand_dims, rank, size, squeeze
from ...ops.declare.static import known, static_axis, static_int, static_ints
from ...ops.effects.debugging import assert_equal
from ...ops.linalg.matmul import matmul
from .indexing import ranges
from .ragged_tensor import RaggedTensor, as_ragged_or_tensor, is_ragged
from .row_partition import RowPartition, number, partition_dtype


@RaggedTensor._takes_over(concat)
def _concat(values: Any, axis: Any, name: Any = None) -> Any:
    values = [as_ragged_or_tensor(v, "concat") for v in values]
    if len(values) == 1:
        return values[0]
    ndim = values[0].shape.rank
    for v in values:
        if v.shape.rank != ndim:
            raise ShapeError(
                f"concat: all `values` must have one rank, and have {ndim} and {v.shape.rank}."
            )
    axis = static_axis(axis, ndim, "concat")
    return _joined(_alike(values, "concat"), axis)


def _alike(values: list[Any], op: str) -> list[Any]:
    """All of them ragged along the same axes."""
    dtype = partition_dtype(*values)
    depth = max(v.ragged_rank for v in values if is_ragged(v))
    return [_deepened(v, depth, dtype, op) for v in values]


def _deepened(value: Any, depth: int, dtype: Any, op: str) -> Any:
    if not depth:
        return value
    if is_ragged(value):
        return value.with_values(_deepened(value.values, depth - 1, dtype, op))
    if value.ndim <= depth:
        raise ShapeError(f"{op}: a tensor of shape {value.shape} has no {depth} axes to be ragged.")
    return RaggedTensor.from_tensor(value, ragged_rank=depth, row_splits_dtype=dtype)


def _joined(values: list[Any], axis: int) -> Any:
    if not is_ragged(values[0]):
        return concat(values, axis)
    if axis == 0:
        return _one_below_the_other(values)
    if axis == 1:
        return _side_by_side(values)
    first, *rest = values
    for other in rest:
        assert_equal(first.row_splits, other.row_splits, "concat: the rows must have equal length.")
    return first.with_values(_joined([v.values for v in values], axis - 1))


def _one_below_the_other(values: list[Any]) -> Any:
    joined = _joined([v.values for v in values], 0)
    lengths = concat([v.row_lengths() for v in values], 0)
    return RaggedTensor.from_row_lengths(joined, lengths, validate=False)


def _side_by_side(values: list[Any]) -> Any:
    """Row i of the result is row i of each."""
    splits = [known(v.row_splits, "concat", "row_splits") for v in values]
    count = len(splits[0]) - 1
    if any(len(s) - 1 != count for s in splits):
        raise ShapeError(
            "concat: along axis 1 all `values` must have as many rows, and have "
            f"{[len(s) - 1 for s in splits]}."
        )
    joined = _joined([v.values for v in values], 0)
    offsets = np.cumsum([0, *[s[-1] for s in splits]])
    starts = np.stack([s[:-1] + o for s, o in zip(splits, offsets, strict=False)], 1)
    limits = np.stack([s[1:] + o for s, o in zip(splits, offsets, strict=False)], 1)
    places, _ = ranges(starts.reshape(-1), limits.reshape(-1))
    lengths = (limits - starts).sum(1)
    found = gather(joined, Tensor(places))
    return RaggedTensor.from_row_lengths(found, Tensor(lengths), validate=False)


@RaggedTensor._takes_over(dense_stack)
def stack(values: Any, axis: Any = 0, name: str | None = None) -> Any:
    """Tensors and ragged tensors of one rank along a new `axis`; rows may differ in length.

    Tensors along one of the last two axes of the result must have one shape, and give a Tensor;
    but for vectors, which become rows.

    >>> stack([tf.constant([1, 2]), tf.constant([3])])
    <tf.RaggedTensor [[1, 2], [3]]>
    """
    values = [as_ragged_or_tensor(v, "stack") for v in values]
    if not values:
        raise ValueError("stack: `values` is empty; nothing to stack.")
    ndim = values[0].shape.rank
    for v in values:
        if v.shape.rank != ndim:
            raise ShapeError(
                f"stack: all `values` must have one rank, and have {ndim} and {v.shape.rank}."
            )
    axis = static_axis(axis, ndim + 1, "stack")
    if not any(map(is_ragged, values)):
        if ndim == 1 and axis == 0:
            lengths = Tensor(np.asarray([v._array.shape[0] for v in values], np.int64))
            return RaggedTensor.from_row_lengths(concat(values, 0), lengths, validate=False)
        if axis >= ndim - 1:
            return dense_stack(values, axis)
        values = [RaggedTensor.from_tensor(v) for v in values]
    if axis > 1:
        values = _alike(values, "stack")
        return _stacked_inside(values, axis)
    return _ragged(_joined(_alike([expand_dims(v, axis) for v in values], "stack"), axis))


def _stacked_inside(values: list[Any], axis: int) -> Any:
    """Along an axis after the rows, which must agree."""
    if not is_ragged(values[0]):
        return dense_stack(values, axis)
    if axis <= 1:
        return stack(values, axis)
    first, *rest = values
    for other in rest:
        assert_equal(first.row_splits, other.row_splits, "stack: the rows must have equal length.")
    return first._like(
        _stacked_inside([v.values for v in values], axis - 1),
        RowPartition.from_row_splits(first.row_splits, validate=False),
    )


def _ragged(rt: Any) -> Any:
    """`rt` with its rows said to be ragged, whatever their lengths."""
    return RaggedTensor.from_row_splits(rt.values, rt.row_splits, validate=False)


@RaggedTensor._takes_over(expand_dims)
def _expand_dims(input: Any, axis: Any, name: Any = None) -> Any:
    axis = static_axis(axis, input.shape.rank + 1, "expand_dims")
    dtype = input.row_splits.dtype
    if axis == 0:
        return RaggedTensor.from_uniform_row_length(input, input.nrows(), number(1, dtype), False)
    if axis == 1:
        return RaggedTensor.from_uniform_row_length(input, number(1, dtype), input.nrows(), False)
    return input.with_values(expand_dims(input.values, axis - 1))


@RaggedTensor._takes_over(squeeze)
def _squeeze(input: Any, axis: Any = None, name: Any = None) -> Any:
    if axis is None:
        raise ValueError("squeeze: `axis` must be given for a RaggedTensor.")
    rank = input.shape.rank
    axes = [static_axis(a, rank, "squeeze") for a in static_ints(axis, "squeeze", "axis")]
    return _without(input, set(axes))


def _without(value: Any, axes: set[int]) -> Any:
    """`value` without `axes`, of size 1 each."""
    if not axes:
        return value
    if not is_ragged(value):
        return squeeze(value, sorted(axes))
    after = {a - 1 for a in axes if a > 1}
    partition = value._row_partition
    if 1 in axes:
        lengths = known(partition.row_lengths(), "squeeze", "row_lengths")
        if (lengths != 1).any():
            raise InvalidArgumentError(
                f"squeeze: axis 1 must have rows of length 1, and they are {lengths!r:.100}."
            )
        inner = _without(value.values, after)
        return _without(inner, {0}) if 0 in axes else inner
    inner = value.with_values(_without(value.values, after)) if after else value
    if 0 not in axes:
        return inner
    if partition.static_nrows != 1:
        raise InvalidArgumentError(
            f"squeeze: axis 0 must have size 1, and has {partition.static_nrows}."
        )
    return inner.values


@RaggedTensor._takes_over(tile)
def _tile(input: Any, multiples: Any, name: Any = None) -> Any:
    counts = static_ints(multiples, "tile", "multiples")
    if len(counts) != input.shape.rank:
        raise ShapeError(
            f"tile: `multiples`={list(counts)} must have one entry for each of the "
            f"{input.shape.rank} axes."
        )
    return _tiled(input, counts)


def _tiled(value: Any, counts: tuple[int, ...]) -> Any:
    if not is_ragged(value):
        return tile(value, counts)
    above, along, *after = counts
    values = _tiled(value.values, (1, *after))
    splits = known(value.row_splits, "tile", "row_splits")
    starts, limits = np.tile(splits[:-1], above), np.tile(splits[1:], above)
    places, _ = ranges(np.repeat(starts, along), np.repeat(limits, along))
    found = gather(values, Tensor(places))
    return RaggedTensor.from_row_lengths(found, Tensor((limits - starts) * along), validate=False)


@RaggedTensor._takes_over(reverse)
def _reverse(tensor: Any, axis: Any, name: Any = None) -> Any:
    found = tensor
    for each in static_ints(axis, "reverse", "axis"):
        each = static_axis(each, tensor.shape.rank, "reverse")
        found = found[(*(slice(None),) * each, slice(None, None, -1))]
    return found


@RaggedTensor._takes_over(split)
def _split(value: Any, num_or_size_splits: Any, axis: Any = 0) -> Any:
    axis = static_axis(axis, value.shape.rank, "split")
    if 0 < axis <= value.ragged_rank and value.shape[axis] is None:
        raise ValueError(f"split: axis {axis} is ragged, and cannot be split.")
    total = static_int(value.bounding_shape(axis=axis), "split", "axis")
    if np.ndim(num_or_size_splits) == 0:
        count = static_int(num_or_size_splits, "split", "num_or_size_splits")
        if count < 1 or total % count:
            raise InvalidArgumentError(
                f"split: axis {axis} of size {total} cannot be cut into {count} equal parts."
            )
        sizes = [total // count] * count
    else:
        sizes = list(static_ints(num_or_size_splits, "split", "num_or_size_splits"))
        if sizes.count(-1) == 1:
            sizes[sizes.index(-1)] = total - sum(n for n in sizes if n != -1)
        if sum(sizes) != total or min(sizes, default=0) < 0:
            raise InvalidArgumentError(f"split: {sizes} must add up to the size {total}.")
    ends = np.cumsum(sizes).tolist()
    before = (slice(None),) * axis
    return [value[(*before, slice(end - n, end))] for n, end in zip(sizes, ends, strict=True)]


@RaggedTensor._takes_over(size)
def _size(input: Any, out_type: Any = None, name: Any = None) -> Any:
    return size(input.flat_values, out_type)


@RaggedTensor._takes_over(rank)
def _rank(input: Any, name: Any = None) -> Any:
    return number(input.shape.rank, dt.int32)


@RaggedTensor._takes_over(matmul)
def _matmul(a: Any, b: Any, *flags: Any) -> Any:
    """The products of matrices of which those of `a` have different numbers of rows."""
    if any(flags) or is_ragged(b) or a.shape.rank != 3 or a.ragged_rank != 1:
        raise UnimplementedError(
            "matmul: of ragged tensors, only `a` of shape [batch, (rows), columns] can be "
            "multiplied, by a tensor of rank 3. Pad them: tf.matmul(a.to_tensor(), b.to_tensor())."
        )
    b = as_ragged_or_tensor(b, "matmul")
    if b.ndim != 3:
        raise ShapeError(f"matmul: `a` and `b` must have the same rank, and b.shape is {b.shape}.")
    product = matmul(a.to_tensor(), b)
    dtype = a.row_splits.dtype
    return RaggedTensor.from_tensor(product, a.row_lengths(), row_splits_dtype=dtype)
