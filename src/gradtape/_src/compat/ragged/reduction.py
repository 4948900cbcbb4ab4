"""Reductions of ragged tensors, and softmax and running sums, which are made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.convert import as_tensor
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from ...ops.array.cast import cast, stop_gradient
from ...ops.array.creation import ones_like
from ...ops.array.indexing import gather
from ...ops.array.shape import expand_dims, reshape
from ...ops.declare.static import known, static_axes, static_axis, static_int
from ...ops.math import segment
from ...ops.math.arithmetic import divide, maximum, square, subtract
from ...ops.math.counting import bincount
from ...ops.math.cumulative import cumsum
from ...ops.math.exponential import exp, log
from ...ops.math.logic import is_finite, where
from ...ops.math.power import sqrt
from ...ops.math.reduction import (
    reduce_all,
    reduce_any,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_std,
    reduce_sum,
    reduce_variance,
)
from ...ops.nn.loss import log_softmax, softmax
from ..sparse.reduction import bincount as sparse_bincount
from .ragged_tensor import RaggedTensor, as_ragged_or_tensor
from .row_partition import RowPartition

_SEGMENTS: dict[Any, Any] = {
    reduce_sum: segment.unsorted_segment_sum,
    reduce_prod: segment.unsorted_segment_prod,
    reduce_max: segment.unsorted_segment_max,
    reduce_min: segment.unsorted_segment_min,
}
"""The reductions that are made of others along the way, and what each is for rows."""


def _reduction(reduce: Callable[..., Any]) -> None:
    by_segment = _SEGMENTS[reduce]

    def rule(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
        if axis is None:
            return _of_all(reduce, input_tensor, keepdims)
        rt = input_tensor
        for each in reversed(static_axes(axis, rt.shape.rank, reduce.__name__)):
            rt = along(reduce, by_segment, rt, each, keepdims)
        return rt

    RaggedTensor._takes_over(reduce)(rule)


def _of_all(reduce: Callable[..., Any], rt: Any, keepdims: bool) -> Any:
    """The reduction over all axes."""
    result = reduce(rt.flat_values, keepdims=keepdims)
    for _ in range(rt.ragged_rank if keepdims else 0):
        result = expand_dims(result, 0)
    return result


def along(reduce: Any, by_segment: Any, rt: Any, axis: int, keepdims: bool) -> Any:
    """The reduction along one axis of a RaggedTensor, or of a tensor."""
    if isinstance(rt, Tensor):
        return reduce(rt, axis, keepdims)
    if axis > 1:
        return rt.with_values(along(reduce, by_segment, rt.values, axis - 1, keepdims))
    partition = rt._row_partition
    if axis == 0:
        longest = rt.bounding_shape(axis=1)
        result = by_segment(rt.values, partition.offsets_in_rows(), longest)
    else:
        result = by_segment(rt.values, partition.value_rowids(), _row_count(partition))
    return expand_dims(result, axis) if keepdims else result


def _row_count(partition: RowPartition) -> Any:
    return partition.row_splits()._array.shape[0] - 1


for _reduce in _SEGMENTS:
    _reduction(_reduce)


@RaggedTensor._takes_over(reduce_mean)
def _mean(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    # Of integers it is a float, other than that of a tensor, which is truncated: as in TensorFlow.
    total = reduce_sum(input_tensor, axis, keepdims)
    return divide(total, reduce_sum(ones_like(input_tensor), axis, keepdims))


@RaggedTensor._takes_over(reduce_variance)
def _variance(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    # The mean of squares less the square of the mean, as TensorFlow has it, loses digits where
    # the mean is large; but for two or more axes it needs no broadcasting along ragged ones.
    squares = reduce_mean(square(input_tensor), axis, keepdims)
    return maximum(squares - square(reduce_mean(input_tensor, axis, keepdims)), 0)


@RaggedTensor._takes_over(reduce_std)
def _std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    return sqrt(reduce_variance(input_tensor, axis, keepdims))


@RaggedTensor._takes_over(reduce_any)
def _any(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    return reduce_sum(cast(input_tensor, dt.int32), axis, keepdims) != 0


@RaggedTensor._takes_over(reduce_all)
def _all(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    return reduce_prod(cast(input_tensor, dt.int32), axis, keepdims) != 0


@RaggedTensor._takes_over(reduce_logsumexp)
def _logsumexp(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None
) -> Any:
    if axis is None:
        return _of_all(reduce_logsumexp, input_tensor, keepdims)
    highest = stop_gradient(_shift(input_tensor, axis))
    total = log(reduce_sum(exp(subtract(input_tensor, highest)), axis, True)) + highest
    if keepdims:
        return total
    return reduce_sum(total, axis)  # of one element each


def _shift(rt: Any, axis: Any) -> Any:
    """The largest element along `axis`, which stays; 0 where there is none, or it is infinite."""
    highest = reduce_max(rt, axis, True)
    limit = rt.dtype.min
    return where(is_finite(highest) & (highest > limit), highest, cast(0, rt.dtype))


@RaggedTensor._takes_over(softmax)
def _softmax(logits: Any, axis: Any = None, name: Any = None) -> Any:
    axis = static_axis(-1 if axis is None else axis, logits.shape.rank, "softmax")
    powers = exp(subtract(logits, stop_gradient(_shift(logits, axis))))
    return divide(powers, reduce_sum(powers, axis, True))


@RaggedTensor._takes_over(log_softmax)
def _log_softmax(logits: Any, axis: Any = None, name: Any = None) -> Any:
    axis = static_axis(-1 if axis is None else axis, logits.shape.rank, "log_softmax")
    return subtract(logits, reduce_logsumexp(logits, axis, True))


@RaggedTensor._takes_over(cumsum)
def _cumsum(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: Any = None
) -> Any:
    axis = static_axis(axis, x.shape.rank, "cumsum")
    if axis == 0:  # from row to row, at each place
        if isinstance(x.values, RaggedTensor):
            raise ValueError("cumsum: along axis 0, rows must not hold ragged ones.")
        columns = cumsum(x.to_tensor(), 0, exclusive, reverse)
        return RaggedTensor.from_tensor(
            columns, x.row_lengths(), row_splits_dtype=x.row_splits.dtype
        )
    if axis > x.ragged_rank:
        flat = cumsum(x.flat_values, axis - x.ragged_rank, exclusive, reverse)
        return x.with_flat_values(flat)
    if axis > 1:
        return x.with_values(cumsum(x.values, axis - 1, exclusive, reverse))
    if isinstance(x.values, RaggedTensor):
        raise ValueError("cumsum: along a ragged axis, `x` must have no ragged one after it.")
    # The sum over the values before, less what of it came before the row.
    totals = cumsum(x.values, 0, exclusive=True, reverse=reverse)
    ends = x.row_limits() - 1 if reverse else x.row_starts()
    before = gather(totals, where(x.row_lengths() > 0, ends, 0)) if _has_values(x) else totals
    own = totals - gather(before, x.value_rowids()) if _has_values(x) else totals
    return x.with_values(own if exclusive else own + x.values)


def _has_values(rt: RaggedTensor) -> bool:
    return bool(rt.values._array.shape[0] != 0)


@RaggedTensor._takes_over(bincount)
def _bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dt.int32,
    name: Any = None,
    axis: Any = None,
    binary_output: bool = False,
) -> Any:
    flat, weights = arr.flat_values, getattr(weights, "flat_values", weights)
    if axis != -1:
        return bincount(flat, weights, minlength, maxlength, dtype, None, axis, binary_output)
    if arr.shape.rank != 2:
        raise InvalidArgumentError("bincount: with axis=-1 `arr` must have two axes.")
    values = known(flat, "bincount", "arr")
    length = max(int(values.max(initial=-1)) + 1, int(minlength or 0))
    if maxlength is not None:
        length = min(length, int(maxlength))
    rows = known(arr.value_rowids(), "bincount", "arr")
    kept = np.flatnonzero(values < length)
    places = Tensor(rows[kept] * length + values[kept])
    count = _row_count(arr._row_partition) * length
    if weights is not None:
        weights = gather(as_tensor(weights, op="bincount"), Tensor(kept))
    counts = bincount(places, weights, count, count, dtype, None, None, binary_output)
    return reshape(counts, (-1, length) if length else (_row_count(arr._row_partition), 0))


@RaggedTensor._takes_over(sparse_bincount)
def _sparse_bincount(values: Any, weights: Any = None, *args: Any, **kwargs: Any) -> Any:
    if isinstance(weights, RaggedTensor):
        weights = weights.to_sparse()
    return sparse_bincount(values.to_sparse(), weights, *args, **kwargs)


# Segments of ragged rows


def _segmented(by_segment: Any) -> None:
    def rule(data: Any, segment_ids: Any, num_segments: Any, name: Any = None) -> Any:
        return segments(by_segment, data, segment_ids, num_segments)

    RaggedTensor._takes_over(by_segment)(rule)


def segments(by_segment: Any, data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """For each segment its rows reduced to one, as long as the longest of them."""
    ids = as_ragged_or_tensor(segment_ids, by_segment.__name__)
    if isinstance(ids, RaggedTensor):  # ids for values, not for rows
        if not isinstance(data, RaggedTensor):
            raise InvalidArgumentError(
                f"{by_segment.__name__}: `segment_ids` is ragged, and `data` is not."
            )
        return by_segment(data.values, ids.values, num_segments)
    partition = data._row_partition
    dtype = partition.dtype
    count = static_int(num_segments, by_segment.__name__, "num_segments")
    lengths = segment.unsorted_segment_max(partition.row_lengths(), ids, count)
    lengths = maximum(lengths, Tensor(np.zeros((), dtype.numpy_dtype)))  # of segments without rows
    rows = RowPartition.from_row_lengths(lengths, validate=False)
    starts = gather(rows.row_starts(), cast(ids, dtype))
    places = gather(starts, partition.value_rowids()) + partition.offsets_in_rows()
    values = by_segment(data.values, places, rows.nvals())
    return RaggedTensor._like(values, rows)


for _by_segment in (
    *_SEGMENTS.values(), segment.unsorted_segment_mean, segment.unsorted_segment_sqrt_n
):  # fmt: skip
    _segmented(_by_segment)
