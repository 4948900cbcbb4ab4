"""Rows of a table looked up by sparse ids, and combined for each example."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import ShapeError
from ...core.tensor import Tensor, is_symbolic
from ...ops.array.cast import cast
from ...ops.array.creation import zeros_like
from ...ops.array.indexing import gather
from ...ops.array.shape import reshape as reshape_dense
from ...ops.declare.static import known, static_int
from ...ops.math.logic import where
from ...ops.math.ordering import searchsorted, sort, unique
from ...ops.math.power import sqrt
from ...ops.math.segment import (
    unsorted_segment_mean,
    unsorted_segment_sqrt_n,
    unsorted_segment_sum,
)
from ...ops.nn.embedding import embedding_lookup
from .layout import fill_empty_rows, reshape, retain
from .sparse_tensor import SparseTensor, as_sparse, sizes_of

_WITHOUT_WEIGHTS = {
    "sum": unsorted_segment_sum,
    "mean": unsorted_segment_mean,
    "sqrtn": unsorted_segment_sqrt_n,
}


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    combiner: str | None = None,
    max_norm: Any = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """For each row of the SparseTensor `sp_ids` the rows of `params` with these ids, combined.

    `combiner` is "mean" (the default), "sum" or "sqrtn"; `sp_weights` are weights of the ids, at
    the same places, or None. Each row must have an id: `safe_embedding_lookup_sparse` takes others.
    The gradient by `params` is an IndexedSlices in which no row is there twice.

    >>> ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 2, 1], [2, 2])
    >>> embedding_lookup_sparse([[1.0], [10.0], [3.0]], ids, None).numpy().tolist()
    [[2.0], [10.0]]
    """
    op = "embedding_lookup_sparse"
    how = combiner or "mean"
    if how not in _WITHOUT_WEIGHTS:
        raise ValueError(f"{op}: `combiner` must be 'mean', 'sqrtn' or 'sum', and is {how!r}.")
    ids = as_sparse(sp_ids, op, "sp_ids")
    rows = ids.indices[:, 0]
    count = _row_count(ids, rows, op)
    found = _rows_by_id(params, ids.values, max_norm)
    if sp_weights is None:
        return _WITHOUT_WEIGHTS[how](found, rows, count)
    weights = as_sparse(sp_weights, op, "sp_weights").values
    if weights._array.shape != ids.values._array.shape:
        raise ShapeError(
            f"{op}: `sp_weights` must have a weight for each of `sp_ids`, and there are "
            f"{weights.shape[0]} and {ids.values.shape[0]}."
        )
    weights = cast(weights, found.dtype)
    each = reshape_dense(weights, [-1, *[1] * (found.ndim - 1)])
    total = unsorted_segment_sum(found * each, rows, count)
    if how == "sum":
        return total
    if how == "mean":
        return total / unsorted_segment_sum(each, rows, count)
    return total / sqrt(unsorted_segment_sum(each * each, rows, count))


def _rows_by_id(params: Any, ids: Tensor, max_norm: Any) -> Tensor:
    """The row of each id. The gradient has the rows of equal ids summed up, as optimizers want it.

    In a function, where nobody knows how many are equal, the sum is at the first of them, and zeros
    are at the others.
    """
    if is_symbolic(ids._array):
        different = sort(ids)
        places = searchsorted(different, ids)
    else:
        different, places = unique(ids)
    return gather(embedding_lookup(params, different, max_norm), places)


def _row_count(ids: SparseTensor, rows: Tensor, op: str) -> int:
    """The number of rows up to the last one with ids; in a trace, that of all rows."""
    if is_symbolic(rows._array):
        return sizes_of(ids, op)[0]
    return int(known(rows, op, "sp_ids").max(initial=-1)) + 1


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str | None = "mean",
    default_id: Any = None,
    max_norm: Any = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """`embedding_lookup_sparse` in which rows may be empty, and ids and weights invalid.

    Negative ids, and (but for "sum") weights that are not positive, are left out. A row without ids
    is zero, or what `default_id` has. `sparse_ids` may have any rank; its last axis is combined.
    """
    op = "safe_embedding_lookup_sparse"
    if embedding_weights is None or (
        isinstance(embedding_weights, (list, tuple)) and not embedding_weights
    ):
        raise ValueError(f"{op}: `embedding_weights` is missing.")
    ids = as_sparse(sparse_ids, op, "sparse_ids")
    *outer, last = sizes_of(ids, op)
    ids = reshape(ids, [int(np.prod(outer)), last])
    weights = None
    if sparse_weights is not None:
        weights = ids.with_values(as_sparse(sparse_weights, op, "sparse_weights").values)
    ids, weights = _valid(ids, weights, combiner, op)
    default = 0 if default_id is None else static_int(default_id, op, "default_id")
    ids, is_empty = fill_empty_rows(ids, cast(default, ids.dtype))
    if weights is not None:
        weights, _ = fill_empty_rows(weights, cast(1, weights.dtype))
    result = embedding_lookup_sparse(embedding_weights, ids, weights, combiner, max_norm)
    if default_id is None:
        mask = reshape_dense(is_empty, [-1, *[1] * (result.ndim - 1)])
        result = where(mask, zeros_like(result), result)
    return reshape_dense(result, [*outer, *result._array.shape[1:]])


def _valid(
    ids: SparseTensor, weights: SparseTensor | None, combiner: str | None, op: str
) -> tuple[SparseTensor, SparseTensor | None]:
    kept = known(ids.values, op, "sparse_ids") >= 0
    if weights is None:
        return retain(ids, kept), None
    if combiner != "sum":
        kept &= known(weights.values, op, "sparse_weights") > 0
    return retain(ids, kept), retain(weights, kept)
