"""Products of two sparse matrices, by way of TensorFlow's functions on CSR matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.dtypes import as_dtype
from ...core.errors import DTypeError, ShapeError
from ...core.tensor import Tensor
from ...ops.math.conjugate import conj
from ...ops.math.segment import unsorted_segment_sum
from .layout import transpose
from .sparse_tensor import (
    SparseTensor,
    SparseTensorValue,
    entries,
    known_indices,
    places_of,
    sizes_of,
    strides,
)


class CSRSparseMatrix(NamedTuple):
    """A sparse matrix, or a batch of them; what TensorFlow's functions on them hand on."""

    sparse: SparseTensor


def sparse_tensor_to_csr_sparse_matrix(
    indices: Any, values: Any, dense_shape: Any, name: str | None = None
) -> CSRSparseMatrix:
    """A matrix, or a batch of matrices (rank 3), of the parts of a SparseTensor."""
    sparse = SparseTensor(indices, values, dense_shape)
    if sparse.shape.rank not in (2, 3):
        raise ShapeError(
            "sparse_tensor_to_csr_sparse_matrix: the rank must be 2 or 3, and the shape is "
            f"{sparse.shape}."
        )
    return CSRSparseMatrix(sparse)


def csr_sparse_matrix_to_sparse_tensor(
    sparse_matrix: CSRSparseMatrix, type: Any, name: str | None = None
) -> SparseTensorValue:
    """The parts (indices, values, dense_shape) of the SparseTensor."""
    _check_dtype(sparse_matrix, type, "csr_sparse_matrix_to_sparse_tensor")
    sparse = sparse_matrix.sparse
    return SparseTensorValue(sparse.indices, sparse.values, sparse.dense_shape)


def _check_dtype(matrix: CSRSparseMatrix, dtype: Any, op: str) -> None:
    if matrix.sparse.dtype is not as_dtype(dtype):
        raise DTypeError(
            f"{op}: the matrix is {matrix.sparse.dtype.name}, and type={as_dtype(dtype).name}."
        )


def sparse_matrix_sparse_mat_mul(
    a: CSRSparseMatrix,
    b: CSRSparseMatrix,
    type: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> CSRSparseMatrix:
    """The product of two sparse matrices, or of the matrices of two batches: sparse again."""
    op = "sparse_matrix_sparse_mat_mul"
    _check_dtype(a, type, op)
    _check_dtype(b, type, op)
    left = _turned(a.sparse, transpose_a, adjoint_a, op)
    right = _turned(b.sparse, transpose_b, adjoint_b, op)
    sizes, others = sizes_of(left, op), sizes_of(right, op)
    if sizes[:-2] != others[:-2] or sizes[-1] != others[-2]:
        raise ShapeError(f"{op}: the shapes do not fit: {list(sizes)} and {list(others)}.")
    shape = [*sizes[:-1], others[-1]]
    first, second = _pairs(known_indices(left, op), known_indices(right, op), sizes[-1])
    products = entries(left.values, first, unique=False) * entries(
        right.values, second, unique=False
    )
    places = np.concatenate(
        [known_indices(left, op)[first, :-1], known_indices(right, op)[second, -1:]], 1
    )
    numbers = places @ np.asarray(strides(shape), np.int64)
    found, where = np.unique(numbers, return_inverse=True)
    total = unsorted_segment_sum(products, where.reshape(-1), len(found))
    return CSRSparseMatrix(SparseTensor(places_of(Tensor(found), shape), total, shape))


def _pairs(left: Any, right: Any, inner: int) -> tuple[Any, Any]:
    """The numbers of the entries that meet: a column of the one is the row of the other."""

    def key(batch: Any, number: Any) -> Any:
        return number if batch.shape[1] == 0 else batch[:, 0] * max(inner, 1) + number

    wanted = key(left[:, :-2], left[:, -1])
    offered = key(right[:, :-2], right[:, -2])
    order = np.argsort(offered, kind="stable")
    begins = np.searchsorted(offered[order], wanted)
    counts = np.searchsorted(offered[order], wanted, side="right") - begins
    first = np.repeat(np.arange(len(wanted)), counts)
    before = np.repeat(np.cumsum([0, *counts])[:-1], counts)
    second = order[np.repeat(begins, counts) + np.arange(len(first)) - before]
    return first, second


def _turned(sparse: SparseTensor, transposed: bool, conjugated: bool, op: str) -> SparseTensor:
    if not transposed and not conjugated:
        return sparse
    axes = list(range(len(sizes_of(sparse, op))))
    turned = transpose(sparse, [*axes[:-2], axes[-1], axes[-2]])
    return turned.with_values(conj(turned.values)) if conjugated else turned
