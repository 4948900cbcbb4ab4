"""Sums of chosen rows by segment, and slices without chosen rows: segment_sum to mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.convert import as_tensor
from ...core.cotangent import IndexedSlices
from ...core.errors import DTypeError, InvalidArgumentError
from ...core.tensor import Tensor
from ...ops.array.indexing import gather
from ...ops.declare.static import known, static_int
from ...ops.math.segment import (
    unsorted_segment_mean,
    unsorted_segment_sqrt_n,
    unsorted_segment_sum,
)
from .sparse_tensor import entries


def segment_sum(
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """The sums of the rows of `data` at `indices` that have the same of the sorted `segment_ids`.

    There are `num_segments` sums, or as many as the last id says; one without rows is 0. With
    `sparse_gradient` the gradient by `data` is an IndexedSlices.
    """
    args = (data, indices, segment_ids, num_segments, sparse_gradient, "sparse.segment_sum")
    return unsorted_segment_sum(*_segments(*args))


def segment_mean(
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """As `tf.sparse.segment_sum`, the means."""
    args = (data, indices, segment_ids, num_segments, sparse_gradient, "sparse.segment_mean")
    return unsorted_segment_mean(*_segments(*args))


def segment_sqrt_n(
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """As `tf.sparse.segment_sum`, divided by the square root of the number of rows."""
    args = (data, indices, segment_ids, num_segments, sparse_gradient, "sparse.segment_sqrt_n")
    return unsorted_segment_sqrt_n(*_segments(*args))


def _segments(
    data: Any, indices: Any, segment_ids: Any, num_segments: Any, sparse_gradient: bool, op: str
) -> tuple[Tensor, Tensor, int]:
    rows = as_tensor(indices, op=op)
    table = as_tensor(data, op=op)
    chosen = gather(table, rows) if sparse_gradient else entries(table, rows, unique=False)
    ids = as_tensor(segment_ids, op=op)
    if num_segments is not None:
        return chosen, ids, static_int(num_segments, op, "num_segments")
    values = known(ids, op, "segment_ids")
    if (values[1:] < values[:-1]).any():
        raise InvalidArgumentError(
            f"{op}: `segment_ids` must be sorted. Received: {values!r:.200}."
        )
    return chosen, ids, int(values[-1]) + 1 if values.size else 0


def mask(a: Any, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """The IndexedSlices `a` without the rows whose index is among `mask_indices`."""
    if not isinstance(a, IndexedSlices):
        raise DTypeError(f"sparse.mask: `a` must be an IndexedSlices, not {a!r:.100}.")
    indices = known(a.indices, "sparse.mask", "a.indices")
    left_out = known(as_tensor(mask_indices, op="sparse.mask"), "sparse.mask", "mask_indices")
    which = np.flatnonzero(~np.isin(indices, left_out))
    return IndexedSlices(entries(a.values, which), entries(a.indices, which), a.dense_shape)
