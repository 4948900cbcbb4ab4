"""What the ops of linear algebra share: their dtypes, shape rules, and the batching of two
arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.errors import DTypeError, ShapeError
from ...core.recorder import recorders
from ...core.spec import Spec, broadcast_shapes, same_dtype
from ...core.tensor import Tensor
from ...core.tracing import note_uses
from ..array.cast import cast
from ..array.shape import insert_axes
from ..declare.static import to_tensor
from .matmul import matmul

LAPACK = frozenset(map(np.dtype, "fdFD"))
"""The dtypes that LAPACK computes in, and TensorFlow takes."""

_FLOAT16 = np.dtype(np.float16)


def may_be_recorded(x: Tensor) -> bool:
    """Whether a tape may be recording what is done with `x`, and want its gradient."""
    note_uses((x,))
    return x._key is not None and bool(recorders())


def lined_up(batched: set[str], **named: Tensor) -> list[Tensor]:
    """The tensors with axes inserted behind their batch axis, so that the axes before the matrices
    broadcast."""
    rank = max(x.ndim - (name in batched) for name, x in named.items())
    return [
        insert_axes(x, rank + 1 - x.ndim, at=1) if name in batched else x
        for name, x in named.items()
    ]


def matrix_spec(op: str, **named: Spec) -> Spec:
    """The spec that is given by name; an error if it has fewer than two axes."""
    ((name, spec),) = named.items()
    if spec.ndim < 2:
        raise ShapeError(
            f"{op}: `{name}` must have rank 2 or more (its last two axes are the matrices), and "
            f"has shape {spec.shape}."
        )
    return spec


def square_spec(op: str, **named: Spec) -> Spec:
    """The one named spec, if it is that of square matrices."""
    spec = matrix_spec(op, **named)
    ((name, _),) = named.items()
    if spec.shape[-1] != spec.shape[-2]:
        raise ShapeError(
            f"{op}: `{name}` must hold square matrices, and has shape {spec.shape}: "
            f"{spec.shape[-2]} rows, {spec.shape[-1]} columns."
        )
    return spec


def work_of_square(part: float) -> Callable[..., float]:
    """The multiplications of what takes `part` of n**3 for each matrix of n rows."""
    return lambda input, *out, **_: part * input._array.size * input._array.shape[-1]


def system_spec(op: str, matrix: Spec, rhs: Spec) -> Spec:
    """The spec of the solutions of `matrix @ x = rhs`, whose leading axes broadcast."""
    dtype = same_dtype(op, matrix=matrix, rhs=rhs)
    square_spec(op, matrix=matrix)
    received = f"Received: matrix.shape={matrix.shape}, rhs.shape={rhs.shape}."
    if rhs.ndim < 2:
        raise ShapeError(
            f"{op}: `rhs` must have rank 2 or more, each column a right-hand side. {received} Make "
            "a vector a column: rhs[..., tf.newaxis]."
        )
    if rhs.shape[-2] != matrix.shape[-1]:
        raise ShapeError(f"{op}: `rhs` must have as many rows as `matrix`. {received}")
    batch = broadcast_shapes(f"{op} (batch axes)", matrix=matrix.shape[:-2], rhs=rhs.shape[:-2])
    return Spec((*batch, *rhs.shape[-2:]), dtype)


def adjoint_matmul(a: Tensor, b: Tensor) -> Tensor:
    """`a` conjugated and transposed, times `b`."""
    return matmul(a, b, adjoint_a=True)


def matmul_adjoint(a: Tensor, b: Tensor) -> Tensor:
    """`a` times `b` conjugated and transposed."""
    return matmul(a, b, adjoint_b=True)


def to_matrix(value: Any, op: str, name: str = "input") -> Tensor:
    """`value` as a tensor of a dtype that LAPACK has."""
    x = to_tensor(value, op)
    if x._array.dtype not in LAPACK:
        raise DTypeError(
            f"{op}: `{name}` is {x.dtype.name}, and the op takes float32, float64, complex64 and "
            "complex128. Convert it with tf.cast."
        )
    return x


def in_float32(function: Any, x: Tensor, *args: Any) -> Any:
    """`function(x, *args)`, computed in float32 for a float16 `x`, as TensorFlow's few such do."""
    if x._array.dtype != _FLOAT16:
        return function(x, *args)
    results = function(cast(x, dt.float32), *args)
    if isinstance(results, tuple):
        return tuple(cast(y, dt.float16) for y in results)
    return cast(results, dt.float16)
