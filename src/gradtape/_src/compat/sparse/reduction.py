"""Entries added up, compared and counted: reduce_sum, reduce_max, bincount."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.convert import as_tensor
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError
from ...core.take_over import lends_itself
from ...core.tensor import Tensor
from ...ops.array.cast import cast
from ...ops.array.creation import ones, zeros_like
from ...ops.array.indexing import gather
from ...ops.array.shape import reshape
from ...ops.declare.static import known, static_axes, static_int
from ...ops.math.counting import bincount as bincount_dense
from ...ops.math.logic import where
from ...ops.math.segment import unsorted_segment_max, unsorted_segment_sum
from .arithmetic import check_same_places
from .sparse_tensor import (
    SparseTensor,
    as_sparse,
    count_of,
    known_indices,
    numbered,
    places_of,
    sizes_of,
    unknown_entries,
)


def reduce_sum(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The sum along `axis` (one axis, several, or all): dense, or with `output_is_sparse` sparse.

    >>> st = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 2, 4], [2, 3])
    >>> reduce_sum(st, axis=1).numpy().tolist()
    [3, 4]
    """
    return _reduced(
        "sparse.reduce_sum", unsorted_segment_sum, sp_input, axis, keepdims, output_is_sparse
    )


def reduce_max(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The largest entry along `axis`; 0 where there is none. Places without entry do not count."""
    return _reduced("sparse.reduce_max", _largest, sp_input, axis, keepdims, output_is_sparse)


def _largest(values: Tensor, ids: Any, count: int) -> Tensor:
    if not count_of_entries(values):
        return unsorted_segment_sum(values, ids, count)
    present = unsorted_segment_sum(ones([count_of_entries(values)], dt.int32), ids, count) > 0
    largest = unsorted_segment_max(values, ids, count)
    return where(present, largest, zeros_like(largest))


def count_of_entries(values: Tensor) -> Any:
    return values._array.shape[0]


def _reduced(
    op: str,
    function: Callable[[Tensor, Any, int], Tensor],
    sp_input: Any,
    axis: Any,
    keepdims: bool | None,
    output_is_sparse: bool,
) -> Any:
    sparse = as_sparse(sp_input, op)
    old = sizes_of(sparse, op)
    axes = static_axes(axis, len(old), op)
    rest = [a for a in range(len(old)) if a not in axes]
    sizes = [old[a] for a in rest]
    shown = [1 if a in axes else n for a, n in enumerate(old)] if keepdims else sizes
    ids = numbered(gather(sparse.indices, rest, axis=1), sizes)
    if not output_is_sparse:
        return reshape(function(sparse.values, ids, math.prod(sizes)), shown)
    unknown = unknown_entries(shown, sparse.dtype, ids)
    if unknown is not None:
        return unknown
    groups, which = np.unique(known(ids, op, "indices"), return_inverse=True)
    values = function(sparse.values, which.reshape(-1), len(groups))
    return SparseTensor(places_of(Tensor(groups), shown), values, shown)


@lends_itself
def bincount(
    values: Any,
    weights: Any = None,
    axis: Any = 0,
    minlength: Any = None,
    maxlength: Any = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """How often each integer occurs, or the sum of its `weights`: sparse, with those that occur.

    With axis=-1 each row of `values` is counted by itself. `values`, and then `weights`, may be
    sparse. Integers from `maxlength` on do not count; `binary_output` gives ones.

    >>> counts = bincount([1, 1, 3])
    >>> counts.indices.numpy().tolist(), counts.values.numpy().tolist()
    ([[1], [3]], [2, 1])
    """
    op = "sparse.bincount"
    if weights is not None and binary_output:
        raise ValueError(f"{op}: give either `weights` or `binary_output`.")
    if axis not in (None, 0, -1):
        raise ValueError(f"{op}: `axis` must be 0 or -1, and is {axis!r}.")
    by_rows = axis == -1
    numbers, rows, row_count, weight = _counted(values, weights, by_rows, op)
    integers = known(numbers, op, "values")
    if integers.dtype.kind not in "iu":
        raise DTypeError(f"{op}: `values` must be integers, and are {numbers.dtype.name}.")
    if integers.min(initial=0) < 0:
        raise InvalidArgumentError(f"{op}: `values` must not be negative: {integers.min()}.")
    length = int(integers.max(initial=0)) + 1
    if maxlength is not None and static_int(maxlength, op, "maxlength") >= 0:
        length = min(length, static_int(maxlength, op, "maxlength"))
    inside = np.flatnonzero(integers < length)
    if minlength is not None:
        length = max(length, static_int(minlength, op, "minlength"))
    ids = rows[inside] * length + integers[inside].astype(np.int64)
    groups, which = np.unique(ids, return_inverse=True)
    if weight is None:
        counts = np.bincount(which.reshape(-1), minlength=len(groups))
        found = np.minimum(counts, 1) if binary_output else counts
        totals = cast(Tensor(found), numbers.dtype)
    else:
        totals = unsorted_segment_sum(gather(weight, inside), which.reshape(-1), len(groups))
    sizes = [row_count, length] if by_rows and row_count is not None else [length]
    return SparseTensor(places_of(Tensor(groups), sizes), totals, sizes)


def _counted(values: Any, weights: Any, by_rows: bool, op: str) -> tuple[Any, Any, Any, Any]:
    """The integers as a vector, the row of each, the number of rows, the weights as a vector."""
    if isinstance(values, SparseTensor):
        sizes = sizes_of(values, op)
        weight = None if weights is None else _weights(values, weights, op)
        if not by_rows:
            return values.values, np.zeros(count_of(values), np.int64), None, weight
        rows = known_indices(values, op)[:, :-1]
        if len(sizes) > 2:
            raise ShapeError(f"{op}: with axis=-1 `values` must have rank 1 or 2: {list(sizes)}.")
        if len(sizes) == 1:
            return values.values, np.zeros(count_of(values), np.int64), None, weight
        return values.values, rows[:, 0], sizes[0], weight
    x = as_tensor(values, op=op)
    weight = None if weights is None else reshape(as_tensor(weights, op=op), [-1])
    if weight is not None and weight._array.size != x._array.size:
        raise ShapeError(
            f"{op}: `weights` must have the shape of `values`, {x.shape}: {weight.shape}."
        )
    flat, size = reshape(x, [-1]), int(x._array.size)
    if not by_rows or x.ndim == 1:
        return flat, np.zeros(size, np.int64), None, weight
    if x.ndim != 2:
        raise ShapeError(f"{op}: with axis=-1 `values` must have rank 1 or 2: {x.shape}.")
    rows = np.repeat(np.arange(x.shape[0]), x.shape[1])
    return flat, rows, x.shape[0], weight


def _weights(values: SparseTensor, weights: Any, op: str) -> Tensor:
    given = as_sparse(weights, op, "weights")
    check_same_places(values, given, op)
    return given.values


def dense_bincount(
    arr: SparseTensor,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dt.int32,
    name: str | None = None,
    axis: Any = None,
    binary_output: bool = False,
) -> Tensor:
    """What tf.math.bincount is for a SparseTensor: its entries are counted, a dense result."""
    weight = None if weights is None else _weights(arr, weights, "bincount")
    numbers = arr.values
    if not by_rows(axis):
        return bincount_dense(
            numbers, weight, minlength, maxlength, dtype, binary_output=binary_output
        )
    counts = bincount(arr, weights, -1, minlength, maxlength, binary_output)
    sizes = sizes_of(counts, "bincount")
    ids = numbered(counts.indices, sizes)
    totals = unsorted_segment_sum(counts.values, ids, math.prod(sizes))
    dense = reshape(totals, sizes)
    return dense if weight is not None else cast(dense, dtype)


def by_rows(axis: Any) -> bool:
    if axis not in (None, 0, -1):
        raise InvalidArgumentError(f"bincount: `axis` must be None, 0 or -1, and is {axis!r}.")
    return bool(axis == -1)
