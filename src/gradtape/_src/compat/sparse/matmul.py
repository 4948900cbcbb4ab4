"""Products of sparse matrices: with dense ones, and sampled at places."""

from __future__ import annotations

from typing import Any

from ...core.convert import as_tensor
from ...core.dtypes import float32
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ...ops.array.cast import cast, identity
from ...ops.array.shape import adjoint, transpose
from ...ops.effects.debugging import Assert
from ...ops.math.conjugate import conj
from ...ops.math.logic import logical_and
from ...ops.math.reduction import reduce_all, reduce_sum
from ...ops.math.segment import unsorted_segment_sum
from .sparse_tensor import as_sparse, entries, is_sparse, sizes_of

_OP = "sparse.sparse_dense_matmul"


def sparse_dense_matmul(
    sp_a: Any,
    b: Any,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The matrix product of a sparse and a dense matrix, in either order; the result is dense.

    >>> sparse_dense_matmul(tf.sparse.eye(2), tf.constant([[1.0], [2.0]])).numpy().tolist()
    [[1.0], [2.0]]
    """
    if is_sparse(b):  # (a b)^T = b^T a^T
        if adjoint_a != adjoint_b:
            return transpose(sparse_dense_matmul(b, sp_a, adjoint_a, adjoint_b))
        return transpose(sparse_dense_matmul(b, sp_a, not adjoint_a, not adjoint_b))
    sparse = as_sparse(sp_a, _OP, "sp_a")
    dense = as_tensor(b, op=_OP)
    sizes = sizes_of(sparse, _OP)
    if len(sizes) != 2 or dense.ndim != 2:
        raise ShapeError(
            f"{_OP}: both must be matrices, and have the shapes {list(sizes)} and {dense.shape}."
        )
    if sparse.dtype is not dense.dtype:
        raise DTypeError(
            f"{_OP}: the dtypes differ: {sparse.dtype.name} and {dense.dtype.name}. Convert one "
            "with tf.cast."
        )
    rows, columns, values = sparse.indices[:, 0], sparse.indices[:, 1], sparse.values
    if adjoint_a:
        rows, columns, values, sizes = columns, rows, conj(values), sizes[::-1]
    if adjoint_b:
        dense = adjoint(dense)
    if dense._array.shape[0] != sizes[1]:
        raise ShapeError(
            f"{_OP}: the inner sizes do not match: {list(sizes)} and {dense.shape}. Is an adjoint "
            "missing?"
        )
    Assert(
        reduce_all(logical_and(sparse.indices >= 0, sparse.indices < sparse.dense_shape)),
        [f"{_OP}: an index is out of bounds for the shape {list(sizes_of(sparse, _OP))}."],
    )
    products = values[:, None] * entries(dense, columns, unique=False)
    return unsorted_segment_sum(products, rows, sizes[0])


def sampled_addmm(
    indices: Any,
    values: Any,
    dense_shape: Any,
    mat1: Any,
    mat2: Any,
    beta: Any = 1.0,
    alpha: Any = 1.0,
    output_type: Any = float32,
) -> tuple[Tensor, Tensor, Tensor]:
    """`alpha * mat1 @ mat2 + beta * values`, computed at the `indices` only.

    `mat1` and `mat2` may have axes of a batch in front, which `indices` then name too. The result
    is `(indices, values, dense_shape)`.
    """
    op = "sparse.sampled_addmm"
    left, right = as_tensor(mat1, op=op), as_tensor(mat2, op=op)
    places = as_tensor(indices, op=op)
    if left._array.shape[:-2] != right._array.shape[:-2]:
        raise InvalidArgumentError(
            f"{op}: `mat1` and `mat2` must agree in the axes of the batch. Received: {left.shape} "
            f"and {right.shape}."
        )
    if left._array.shape[-1] != right._array.shape[-2]:
        raise InvalidArgumentError(
            f"{op}: the inner sizes do not match: {left.shape} and {right.shape}."
        )
    batch = [places[:, axis] for axis in range(places._array.shape[1] - 2)]
    rows = identity(left)[(*batch, places[:, -2])]
    columns = identity(_swapped(right))[(*batch, places[:, -1])]
    products = reduce_sum(rows * columns, -1)
    wanted = cast(products, output_type)
    return places, alpha * wanted + beta * as_tensor(values, op=op), as_tensor(dense_shape, op=op)


def _swapped(x: Tensor) -> Tensor:
    axes = list(range(x.ndim))
    return transpose(x, [*axes[:-2], axes[-1], axes[-2]])
