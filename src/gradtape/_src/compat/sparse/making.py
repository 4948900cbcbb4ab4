"""Sparse tensors from dense ones and back: from_dense, eye, to_dense, to_indicator."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.convert import as_tensor
from ...core.dtypes import float32, int64
from ...core.errors import ShapeError
from ...core.tensor import Tensor
from ...ops.array.cast import cast
from ...ops.array.creation import fill, ones
from ...ops.array.indexing import gather_nd
from ...ops.array.joining import concat
from ...ops.array.scatter import tensor_scatter_nd_update
from ...ops.array.shape import reshape
from ...ops.declare.static import static_int, to_tensor
from ...ops.effects.debugging import Assert
from ...ops.math.logic import not_equal, where
from ...ops.math.reduction import reduce_all
from .sparse_tensor import SparseTensor, as_sparse, count_of, numbered, sizes_of, unknown_entries


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The entries of a dense tensor that are not zero; of strings, not empty; of bools, True.

    >>> from_dense([0, 0, 3, 0, 1]).indices.numpy().tolist()
    [[2], [4]]
    """
    x = to_tensor(tensor, "sparse.from_dense")
    if not x.ndim:
        raise ShapeError("sparse.from_dense: a scalar has no places. Give it an axis: x[None].")
    unknown = unknown_entries(x._array.shape, x.dtype, x)
    if unknown is not None:
        return unknown
    zero: Any = "" if x.dtype.name == "string" else cast(0, x.dtype)
    indices = where(not_equal(x, zero))
    return SparseTensor(indices, gather_nd(x, indices), list(x._array.shape))


def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = float32, name: str | None = None
) -> SparseTensor:
    """The matrix with ones on the diagonal, as a SparseTensor."""
    rows = static_int(num_rows, "sparse.eye", "num_rows")
    columns = rows if num_columns is None else static_int(num_columns, "sparse.eye", "num_columns")
    diagonal = np.arange(min(rows, columns), dtype=np.int64)
    return SparseTensor(np.stack([diagonal] * 2, 1), ones([diagonal.size], dtype), [rows, columns])


def to_dense(
    sp_input: Any,
    default_value: Any = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """The dense tensor, with `default_value` (0, "" or False) where there is no entry.

    The places must be in order, each once; without `validate_indices` they need not be.
    """
    sparse = as_sparse(sp_input, "sparse.to_dense")
    sizes = sizes_of(sparse, "sparse.to_dense")
    values = sparse.values
    if default_value is None:
        default_value = "" if values.dtype.name == "string" else cast(0, values.dtype)
    default = as_tensor(default_value, values.dtype, "sparse.to_dense")
    if default.ndim:
        raise ShapeError(
            f"sparse.to_dense: `default_value` must be a scalar, and has shape {default.shape}."
        )
    if not sizes:
        return reshape(values, ()) if count_of(sparse) else default
    if validate_indices:
        check_order(sparse, sizes, "sparse.to_dense")
    return tensor_scatter_nd_update(fill(sizes, default), sparse.indices, values)


def check_order(sparse: SparseTensor, sizes: tuple[int, ...], op: str) -> None:
    """Raise, where it runs, unless the places are in order and none is there twice."""
    if count_of(sparse) in (0, 1):
        return
    numbers = numbered(sparse.indices, sizes)
    Assert(
        reduce_all(numbers[1:] > numbers[:-1]),
        [f"{op}: the indices are repeated or out of order. tf.sparse.reorder puts them in order."],
    )


def to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Tensor:
    """A dense tensor of bools: True at the numbers that the last axis of `sp_input` holds.

    >>> ids = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [2, 0, 1], [2, 2])
    >>> to_indicator(ids, 3).numpy().astype(int).tolist()
    [[0, 0, 1], [1, 1, 0]]
    """
    sparse = as_sparse(sp_input, "sparse.to_indicator")
    size = static_int(vocab_size, "sparse.to_indicator", "vocab_size")
    columns = [sparse.indices[:, :-1], cast(sparse.values, int64)[:, None]]
    sizes = [*sizes_of(sparse, "sparse.to_indicator")[:-1], size]
    there = SparseTensor(concat(columns, 1), fill([count_of(sparse)], True), sizes)
    return to_dense(there, validate_indices=False)
