"""Parts of ragged tensors, selected by indices, masks and conditions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.convert import as_tensor
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ...ops.array.cast import cast
from ...ops.array.indexing import gather, gather_nd
from ...ops.array.joining import concat
from ...ops.array.masks import boolean_mask as dense_boolean_mask
from ...ops.array.shape import broadcast_to, expand_dims, reshape
from ...ops.declare.static import known, static_axis, static_int
from ...ops.math.logic import select, where
from ...ops.math.segment import dynamic_partition
from ...ops.nn.embedding import embedding_lookup
from .elementwise import map_flat_values, on_same_rows
from .indexing import taken
from .ragged_tensor import RaggedTensor, as_ragged_or_tensor, is_ragged
from .row_partition import RowPartition
from .sparse_form import coordinates

# By indices


@RaggedTensor._takes_over(gather)
def _gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: Any = 0,
    name: Any = None,
) -> Any:
    params = as_ragged_or_tensor(params, "gather")
    indices = as_ragged_or_tensor(indices, "gather")
    batch = static_int(batch_dims, "gather", "batch_dims")
    if batch < 0:
        batch += indices.shape.rank
    along = batch if axis is None else static_axis(axis, params.shape.rank, "gather")
    if not 0 <= batch <= along or batch > indices.shape.rank:
        raise ShapeError(
            f"gather: `batch_dims`={batch_dims} must lie between 0 and `axis`={along}, and not "
            f"exceed the rank of `indices`, {indices.shape.rank}."
        )
    return _along(params, indices, along, batch)


def _along(params: Any, indices: Any, axis: int, batch: int) -> Any:
    if not is_ragged(params) and not is_ragged(indices):
        return gather(params, indices, axis=axis, batch_dims=batch)
    if batch:
        return _in_batches(params, indices, axis, batch)
    if axis == 0:
        return _rows(params, indices)
    # Each row of `params` by itself, with the same indices.
    rows = params.row_splits._array.shape[0] - 1 if is_ragged(params) else params._array.shape[0]
    if is_ragged(indices):
        repeated = _repeated(indices, rows)
    else:
        repeated = broadcast_to(indices, (rows, *indices._array.shape))
    return _in_batches(params, repeated, axis, 1)


def _rows(params: Any, indices: Any) -> Any:
    """`params[indices]`, for indices of any shape."""
    if is_ragged(indices):
        return indices.with_values(_rows(params, indices.values))
    if not is_ragged(params):
        return gather(params, indices)
    if indices.ndim > 1:
        nested = RaggedTensor.from_tensor(indices, row_splits_dtype=params.row_splits.dtype)
        found = RaggedTensor._like(_rows(params, nested.values), nested._row_partition)
        return RaggedTensor.from_row_splits(found.values, found.row_splits, validate=False)
    if not indices.ndim:
        return params[indices]
    splits = known(params.row_splits, "gather", "row_splits")
    _check_range(indices, len(splits) - 1, "gather: index {} is not in [0, {}).")
    chosen = known(indices, "gather", "indices")
    values, partition = taken(params.values, splits[chosen], splits[chosen + 1])
    return params._like(values, partition)


def _in_batches(params: Any, indices: Any, axis: int, batch: int) -> Any:
    """Row i of the result is looked up in row i of `params`, by row i of `indices`."""
    dtype = (params if is_ragged(params) else indices).row_splits.dtype
    if not is_ragged(params):
        params = RaggedTensor.from_tensor(params, row_splits_dtype=dtype)
    dense = not is_ragged(indices)
    if dense:
        if indices.ndim == 1:  # one for each row
            found = _in_batches(params, expand_dims(indices, 1), axis, batch)
            return found[:, 0] if isinstance(found, Tensor) else found.values
        shape = indices._array.shape
        indices = RaggedTensor.from_tensor(indices, row_splits_dtype=dtype)
    if batch > 1:
        found = indices.with_values(_along(params.values, indices.values, axis - 1, batch - 1))
    elif axis == 1:
        found = indices.with_values(_rows(params.values, _among_all(params, indices)))
    else:
        return params.with_values(_further_in(params, indices, axis))
    if dense and not is_ragged(found.values):
        flat = found.values
        return reshape(flat, (*shape[:2], *flat._array.shape[1:]))
    if dense:
        return RaggedTensor.from_row_splits(found.values, found.row_splits, validate=False)
    return found


def _among_all(params: Any, indices: Any) -> Any:
    """Indices within the rows of `params` as indices among the values of all rows."""
    rows, inner = indices.value_rowids(), indices.values
    while is_ragged(inner):
        rows, inner = gather(rows, inner.value_rowids()), inner.values
    beside = (-1, *(1,) * (inner.ndim - 1))  # the shape of a number for each row of flat indices
    if _is_empty(inner):
        return indices.values
    lengths = reshape(gather(params.row_lengths(), rows), beside)
    _check_range(inner, lengths, "gather: index {} is not in [0, {}), the row's length.")
    moved = cast(inner, lengths.dtype) + reshape(gather(params.row_starts(), rows), beside)
    return indices.values.with_flat_values(moved) if is_ragged(indices.values) else moved


def _is_empty(x: Tensor) -> bool:
    return any(isinstance(n, int) and n == 0 for n in x._array.shape)


def _check_range(indices: Tensor, sizes: Any, message: str) -> None:
    """Refuse the first of the indices that is negative, or not below its size."""
    values = known(indices, "gather", "indices")
    limits = np.broadcast_to(known(sizes, "gather", "row_splits"), values.shape)
    outside = (values < 0) | (values >= limits)
    if outside.any():
        raise InvalidArgumentError(message.format(values[outside][0], limits[outside][0]))


def _further_in(params: Any, indices: Any, axis: int) -> Any:
    """In each row of `params` along an axis after the first: its rows share the row's indices."""
    repeated = _rows(indices, params.value_rowids())
    return _in_batches(params.values, repeated, axis - 1, 1)


def _repeated(rt: Any, count: int) -> Any:
    """`rt` so many times, along a new first axis."""
    one = expand_dims(rt, 0)
    return _rows(one, Tensor(np.zeros(count, np.int64)))


@RaggedTensor._takes_over(gather_nd)
def _gather_nd(params: Any, indices: Any, batch_dims: Any = 0, name: Any = None) -> Any:
    if static_int(batch_dims, "gather_nd", "batch_dims"):
        raise ValueError("gather_nd: `batch_dims` must be 0 for a RaggedTensor.")
    params = as_ragged_or_tensor(params, "gather_nd")
    indices = as_ragged_or_tensor(indices, "gather_nd")
    if is_ragged(indices):
        if is_ragged(indices.values) or indices.values.ndim > 1:
            return indices.with_values(_gather_nd(params, indices.values))
        raise ShapeError("gather_nd: the last axis of `indices` holds coordinates, and is ragged.")
    if not is_ragged(params):
        return gather_nd(params, indices)
    sizes = indices._array.shape
    if not sizes:
        raise ShapeError("gather_nd: `indices` is a scalar; its last axis must hold coordinates.")
    depth = sizes[-1]
    if len(sizes) > 2:
        flat = _gather_nd(params, reshape(indices, (math.prod(sizes[:-1]), depth)))
        for size in reversed(sizes[1:-1]):
            if is_ragged(flat):
                flat = RaggedTensor.from_uniform_row_length(flat, size)
        if is_ragged(flat):
            return flat
        return reshape(flat, (*sizes[:-1], *flat._array.shape[1:]))
    if len(sizes) == 1:
        found = _gather_nd(params, expand_dims(indices, 0))
        return found[0]
    if not depth:
        return _repeated(params, sizes[0])
    rows = indices[:, 0]
    if depth == 1:
        return _rows(params, rows)
    column = indices[:, 1]
    lengths = gather(params.row_lengths(), rows)
    _check_range(column, lengths, "gather_nd: index {} is not in [0, {}), the row's length.")
    first = gather(params.row_starts(), rows) + cast(column, params.row_splits.dtype)
    rest = expand_dims(first, 1)
    if depth > 2:
        rest = concat([rest, cast(indices[:, 2:], first.dtype)], 1)
    return gather_nd(params.values, rest)


@RaggedTensor._takes_over(embedding_lookup)
def _embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: Any = None) -> Any:
    return map_flat_values(lambda flat: embedding_lookup(params, flat, max_norm), ids)


# By conditions and masks


@RaggedTensor._takes_over(where)
def _where(condition: Any, x: Any = None, y: Any = None, name: Any = None) -> Any:
    condition = as_ragged_or_tensor(condition, "where")
    if x is None:
        return _places(condition)
    if condition.dtype is not dt.bool_:
        raise DTypeError(f"where: `condition` is {condition.dtype.name}, and must be bool.")
    x, y = _of_one_dtype(x, y)
    return on_same_rows(select, [condition, x, y], "where")


@RaggedTensor._takes_over(select)
def _select(condition: Any, x: Any, y: Any) -> Any:
    return _where(condition, x, y)


def _of_one_dtype(x: Any, y: Any) -> tuple[Any, Any]:
    """The two operands; a plain value takes the dtype of the tensor beside it."""
    known_x, known_y = (isinstance(v, (Tensor, RaggedTensor)) for v in (x, y))
    if known_x and not known_y:
        return x, as_tensor(y, x.dtype, "where")
    if known_y and not known_x:
        return as_tensor(x, y.dtype, "where"), y
    return as_ragged_or_tensor(x, "where"), as_ragged_or_tensor(y, "where")


def _places(condition: Any) -> Tensor:
    """The positions of what is true."""
    found = np.argwhere(known(condition.flat_values, "where", "condition"))
    outer = [
        known(column, "where", "condition")[found[:, 0]]
        for column in coordinates(condition._nested_row_partitions)
    ]
    return Tensor(np.column_stack([*outer, found[:, 1:]]).astype(np.int64))


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The values of `data` where `mask` is true; its rows stay, and are ragged.

    >>> boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, True]])
    <tf.RaggedTensor [[1, 3], [6]]>
    """
    mask = as_ragged_or_tensor(mask, "boolean_mask")
    data = as_ragged_or_tensor(data, "boolean_mask")
    if mask.dtype is not dt.bool_:
        raise DTypeError(f"boolean_mask: `mask` is {mask.dtype.name}, and must be bool.")
    rank = mask.shape.rank
    if not rank:
        raise ShapeError("boolean_mask: `mask` must not be a scalar.")
    dtypes = {x.row_splits.dtype for x in (data, mask) if is_ragged(x)}
    dtype = dt.int64 if len(dtypes) != 1 else dtypes.pop()
    # Mask and data ragged along the axes that they share, but for the last of the mask.
    for axis in range(1, rank):
        mask, data = _deep(mask, axis, dtype), _deep(data, axis, dtype)
    return _masked(data, mask)


def _deep(x: Any, depth: int, dtype: Any) -> Any:
    """`x` with `depth` ragged axes at least."""
    if not is_ragged(x):
        return RaggedTensor.from_tensor(x, ragged_rank=depth, row_splits_dtype=dtype)
    if depth <= 1:
        return x.with_row_splits_dtype(dtype)
    return x.with_row_splits_dtype(dtype).with_values(_deep(x.values, depth - 1, dtype))


def _masked(data: Any, mask: Any) -> Any:
    if is_ragged(mask):
        inner = mask.values
        if not is_ragged(inner) and inner.ndim == 1:  # the mask of the values of rows
            chosen = known(inner, "boolean_mask", "mask")
            totals = np.concatenate([[0], np.cumsum(chosen)])
            splits = totals[known(mask.row_splits, "boolean_mask", "mask")]
            values = _masked(data.values, inner)
            new = Tensor(splits.astype(mask.row_splits._array.dtype))
            return RaggedTensor.from_row_splits(values, new, validate=False)
        return data._like(_masked(data.values, inner), mask._row_partition)
    chosen = np.flatnonzero(known(mask, "boolean_mask", "mask"))
    if is_ragged(data):
        return _rows(data, Tensor(chosen))
    return dense_boolean_mask(data, mask)


# Into parts


@RaggedTensor._takes_over(dynamic_partition)
def _dynamic_partition(
    data: Any, partitions: Any, num_partitions: Any, name: Any = None
) -> list[Any]:
    stacked = stack_dynamic_partitions(data, partitions, num_partitions)
    return [stacked[i] for i in range(static_int(num_partitions, "dynamic_partition", "count"))]


def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> Any:
    """The rows of `data` in `num_partitions` rows, each in the one that `partitions` says.

    >>> stack_dynamic_partitions([10, 20, 30], [1, 0, 1], 3)
    <tf.RaggedTensor [[20], [10, 30], []]>
    """
    name = "stack_dynamic_partitions"
    data = as_ragged_or_tensor(data, name)
    partitions = as_ragged_or_tensor(partitions, name)
    count = static_int(num_partitions, name, "num_partitions")
    if is_ragged(partitions):
        if not is_ragged(data):
            data = RaggedTensor.from_tensor(data, row_splits_dtype=partitions.row_splits.dtype)
        return stack_dynamic_partitions(data.values, partitions.values, count)
    if not partitions.ndim:
        raise ShapeError(f"{name}: `partitions` must have rank 1 or more.")
    if partitions.ndim > 1:
        if is_ragged(data):
            raise ShapeError(f"{name}: `partitions` must be ragged as `data` is, or a vector.")
        sizes = partitions._array.shape
        data = reshape(data, (math.prod(sizes), *data._array.shape[len(sizes) :]))
        partitions = reshape(partitions, (math.prod(sizes),))
    which = known(partitions, name, "partitions")
    if which.size and not 0 <= which.min() <= which.max() < count:
        raise InvalidArgumentError(f"{name}: `partitions` must lie in [0, {count}).")
    order = np.argsort(which, kind="stable")
    dtype = data.row_splits.dtype if is_ragged(data) else dt.int64
    lengths = np.bincount(which.astype(np.int64), minlength=count).astype(dtype.numpy_dtype)
    rows = RowPartition.from_row_lengths(Tensor(lengths), validate=False)
    return RaggedTensor._like(gather(data, Tensor(order)), rows)
