"""Ragged tensors as sparse ones, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.tensor import Tensor
from ...ops.array.cast import cast
from ...ops.array.creation import range as range_of
from ...ops.array.indexing import gather
from ...ops.array.joining import concat, stack
from ...ops.array.shape import reshape
from ...ops.effects.debugging import assert_equal
from ..sparse.sparse_tensor import SparseTensor
from .row_partition import RowPartition, number


def as_sparse(rt: Any) -> SparseTensor:
    """`rt.to_sparse()`: each value at its place."""
    flat = rt.flat_values
    inner = flat._array.shape[1:]
    columns = coordinates(rt._nested_row_partitions)
    places = stack([cast(column, dt.int64) for column in columns], 1)
    if inner:
        within = np.indices(inner).reshape(len(inner), -1).T.astype(np.int64)
        places = _paired(places, Tensor(within))
        flat = reshape(flat, (flat._array.shape[0] * math.prod(inner),))
    return SparseTensor(places, flat, rt.bounding_shape(out_type=dt.int64))


def coordinates(partitions: tuple[RowPartition, ...]) -> list[Tensor]:
    """The place of each flat value along each axis of rows."""
    columns: list[Tensor] = []
    rows: Tensor | None = None  # which row of the present axis each value is in
    for partition in reversed(partitions):
        offsets, ids = partition.offsets_in_rows(), partition.value_rowids()
        columns.insert(0, offsets if rows is None else gather(offsets, rows))
        rows = ids if rows is None else gather(ids, rows)
    assert rows is not None
    return [rows, *columns]


def _paired(a: Tensor, b: Tensor) -> Tensor:
    """Each row of `a` beside each row of `b`."""
    m, n = a._array.shape[0], b._array.shape[0]
    left = gather(a, range_of(number(m * n, dt.int64)) // n)
    right = gather(b, range_of(number(m * n, dt.int64)) % n)
    return concat([left, right], 1)


def rows_of_sparse(st: Any, dtype: Any) -> tuple[Tensor, RowPartition]:
    """The values and the rows of a sparse matrix whose rows have no gaps, in order."""
    if not isinstance(st, SparseTensor):
        raise TypeError(f"from_sparse: `st_input` must be a SparseTensor, not {type(st).__name__}.")
    if st.shape.rank not in (2, None):
        raise ValueError(f"from_sparse: `st_input` must have rank 2, and its shape is {st.shape}.")
    places = cast(st.indices, dtype)
    rows = RowPartition.from_value_rowids(
        places[:, 0], cast(st.dense_shape[0], dtype), validate=False
    )
    assert_equal(
        places[:, 1],
        rows.offsets_in_rows(),
        "from_sparse: SparseTensor is not right-ragged: its rows have gaps, or are not in order.",
    )
    return st.values, rows
