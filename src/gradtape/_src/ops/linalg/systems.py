"""Inverses, solutions of linear systems, Cholesky factors and determinants."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core import dtypes as dt
from ...core.convert import as_tensor
from ...core.errors import ShapeError
from ...core.pattern import aligned, each_matrix
from ...core.spec import Spec
from ...core.tensor import Tensor
from ..array.cast import stop_gradient
from ..array.shape import adjoint as adjoint_of, insert_axes
from ..declare.elementwise import sum_back
from ..declare.op import op
from ..declare.static import to_tensor
from ..math.complex import complex as complex_, imag, real
from ..math.conjugate import conj
from ..math.exponential import log
from ..math.reduction import reduce_sum
from .diagonal import _band_part, _diagonals
from .matmul import matmul
from .matrices import (
    LAPACK,
    adjoint_matmul,
    in_float32,
    lined_up,
    matmul_adjoint,
    may_be_recorded,
    square_spec,
    system_spec,
    work_of_square,
)


def _invertible(r: np.random.Generator, *shape: int) -> Any:
    """Random matrices that are far from singular."""
    return r.normal(size=shape) / 2 + 2 * np.eye(shape[-1])


def _complex_invertible(r: np.random.Generator, *shape: int) -> Any:
    return _invertible(r, *shape) + 0.5j * r.normal(size=shape)


def _invertible_samples(r):
    return [
        ([_invertible(r, 3, 3)], {}),
        ([_invertible(r, 2, 2, 2)], {}),
        ([_complex_invertible(r, 2, 2)], {}),
        ([np.zeros((2, 0, 0))], {}),
    ]


@op(
    batch_axes=(),
    pattern=each_matrix,
    dtypes=LAPACK,
    samples=_invertible_samples,
    work=work_of_square(1),
)
def _inv(xp, input):
    return xp.matrices.inv(input)


@_inv.vjp("input")
def _inv_vjp(g, out):
    return -adjoint_matmul(out, matmul_adjoint(g, out))


@_inv.spec
def _inv_spec(input):
    return square_spec("inv", input=input)


def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverses of the square matrices `input` (with `adjoint`, of their conjugate transposes).

    A singular matrix raises InvalidArgumentError.
    """
    x = to_tensor(input, "inv")
    return in_float32(_inv, adjoint_of(x) if adjoint and x.ndim > 1 else x)


def _system_samples(r):
    return [
        ([_invertible(r, 3, 3), r.normal(size=(3, 2))], {"adjoint": False}),
        ([_invertible(r, 3, 3), r.normal(size=(3, 2))], {"adjoint": True}),
        ([_invertible(r, 2, 2, 2), r.normal(size=(2, 1))], {"adjoint": False}),
        ([_invertible(r, 2, 2), r.normal(size=(2, 2, 1))], {"adjoint": True}),
        (
            [_complex_invertible(r, 2, 2), r.normal(size=(2, 1)) + 1j * r.normal(size=(2, 1))],
            {"adjoint": True},
        ),
        ([_invertible(r, 2, 2), r.normal(size=(2, 0))], {"adjoint": False}),
    ]


@op(
    pattern=aligned(2),
    dtypes=LAPACK,
    linear="rhs",
    samples=_system_samples,
    work=lambda matrix, rhs, out, **_: (
        (matrix._array.size / 3 + out._array.size) * matrix._array.shape[-1]
    ),
)
def _solve(xp, matrix, rhs, *, adjoint):
    if rhs.ndim < 2:
        raise ValueError("a right-hand side is a column")
    return xp.matrices.solve(matrix, rhs, adjoint=adjoint)


@_solve.vjp("matrix")
def _solve_vjp_matrix(g, matrix, out, *, adjoint):
    z = _solve(matrix, g, adjoint=not adjoint)
    return sum_back(-matmul_adjoint(out, z) if adjoint else -matmul_adjoint(z, out), matrix)


@_solve.vjp("rhs")
def _solve_vjp_rhs(g, matrix, rhs: Spec, *, adjoint):
    return sum_back(_solve(matrix, g, adjoint=not adjoint), rhs)


@_solve.batch
def _solve_batch(batched, matrix, rhs, *, adjoint):
    return _solve(*lined_up(batched, matrix=matrix, rhs=rhs), adjoint=adjoint)


@_solve.spec
def _solve_spec(matrix, rhs, *, adjoint):
    return system_spec("solve", matrix, rhs)


def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Solutions x of `matrix @ x = rhs`; with `adjoint`, of `adjoint(matrix) @ x = rhs`.

    `matrix` has shape [..., M, M] and `rhs` [..., M, K], with the same axes before the last two. A
    singular matrix raises InvalidArgumentError.
    """
    a, b = _system(matrix, rhs, "solve")
    if a.ndim > 1 and b.ndim > 1 and a._array.shape[:-2] != b._array.shape[:-2]:
        raise ShapeError(
            "solve: the axes before the last two must agree. Received: "
            f"matrix.shape={tuple(a.shape)}, rhs.shape={tuple(b.shape)}. Repeat one argument with "
            "tf.broadcast_to."
        )
    return _solve(a, b, adjoint=bool(adjoint))


def _system(matrix: Any, rhs: Any, op_name: str) -> tuple[Tensor, Tensor]:
    """Both as tensors; a plain value takes the dtype of the tensor it meets."""
    if not isinstance(matrix, Tensor) and isinstance(rhs, Tensor):
        return as_tensor(matrix, rhs.dtype, op_name), rhs
    a = to_tensor(matrix, op_name)
    return a, rhs if isinstance(rhs, Tensor) else _like(rhs, a, op_name)


def _like(value: Any, partner: Tensor, op_name: str) -> Tensor:
    if hasattr(value, "_as_tensor"):
        return to_tensor(value, op_name)
    return as_tensor(value, partner.dtype, op_name)


def _triangular_samples(r):
    samples = [
        (arrays, params | {"lower": lower})
        for (arrays, params), lower in zip(
            _system_samples(r), [True, False, True, False, True, True], strict=True
        )
    ]
    many = [_invertible(r, 5, 2, 2), r.normal(size=(5, 2, 1))]  # the way of many small systems
    return [*samples, (many, {"lower": True, "adjoint": True})]


@op(
    pattern=aligned(2),
    dtypes=LAPACK,
    linear="rhs",
    samples=_triangular_samples,
    work=lambda matrix, rhs, out, **_: out._array.size * matrix._array.shape[-1] / 2,
)
def _triangular_solve(xp, matrix, rhs, *, lower, adjoint):
    return xp.matrices.triangular_solve(matrix, rhs, lower=lower, adjoint=adjoint)


@_triangular_solve.vjp("matrix")
def _triangular_solve_vjp_matrix(g, matrix, out, *, lower, adjoint):
    z = _triangular_solve(matrix, g, lower=lower, adjoint=not adjoint)
    full = -matmul_adjoint(out, z) if adjoint else -matmul_adjoint(z, out)
    return sum_back(_triangle(full, lower), matrix)


@_triangular_solve.vjp("rhs")
def _triangular_solve_vjp_rhs(g, matrix, rhs: Spec, *, lower, adjoint):
    return sum_back(_triangular_solve(matrix, g, lower=lower, adjoint=not adjoint), rhs)


@_triangular_solve.batch
def _triangular_solve_batch(batched, matrix, rhs, *, lower, adjoint):
    matrix, rhs = lined_up(batched, matrix=matrix, rhs=rhs)
    return _triangular_solve(matrix, rhs, lower=lower, adjoint=adjoint)


@_triangular_solve.spec
def _triangular_solve_spec(matrix, rhs, *, lower, adjoint):
    return system_spec("triangular_solve", matrix, rhs)


def _triangle(x: Tensor, lower: bool) -> Tensor:
    return _band_part(x, lower=-1, upper=0) if lower else _band_part(x, lower=0, upper=-1)


def triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solutions x of `matrix @ x = rhs` for triangular matrices (with `adjoint`, their adjoints).

    Only the triangle named by `lower` is read, and only it gets a gradient. The axes before the
    last two broadcast. A zero on the diagonal gives Inf or NaN.
    """
    a, b = _system(matrix, rhs, "triangular_solve")
    return _triangular_solve(a, b, lower=bool(lower), adjoint=bool(adjoint))


def half_lower(x: Tensor) -> Tensor:
    """The lower triangle of `x` with half its diagonal: `y + adjoint(y)` is then Hermitian."""
    size = x._array.shape[-1]
    weights = np.tri(size, dtype=x._array.dtype)
    weights[np.diag_indices(size)] = 0.5
    return x * Tensor(weights)


def _positive_samples(r):
    def positive(x):
        return x @ x.swapaxes(-1, -2).conj() + np.eye(x.shape[-1])

    z = r.normal(size=(2, 2)) + 1j * r.normal(size=(2, 2))
    return [
        ([positive(r.normal(size=(3, 3)))], {}),
        ([positive(r.normal(size=(2, 2, 2)))], {}),
        ([positive(z)], {}),
        ([np.zeros((2, 0, 0))], {}),
    ]


@op(
    batch_axes=(),
    pattern=each_matrix,
    dtypes=LAPACK,
    samples=_positive_samples,
    work=work_of_square(1 / 6),
)
def _cholesky(xp, input):
    """The lower factor of what the lower triangle of `input` says."""
    return xp.matrices.cholesky(input)


@_cholesky.vjp("input")
def _cholesky_vjp(g, out):
    """Murray, Differentiation of the Cholesky decomposition, 2016: here for the lower triangle."""
    middle = half_lower(adjoint_matmul(out, g))
    left = _triangular_solve(out, middle, lower=True, adjoint=True)
    full = adjoint_of(_triangular_solve(out, adjoint_of(left), lower=True, adjoint=True))
    return half_lower(full + adjoint_of(full))


@_cholesky.spec
def _cholesky_spec(input):
    return square_spec("cholesky", input=input)


def cholesky(input: Any, name: str | None = None) -> Tensor:
    """The lower triangular L with `L @ adjoint(L) = input`, for positive definite matrices.

    Only the lower triangle is read, but the gradient is that of a symmetric (Hermitian) argument:
    itself symmetric. A matrix that is not positive definite gives NaN.
    """
    x = to_tensor(input, "cholesky")
    if not may_be_recorded(x) or x.ndim < 2 or x._array.shape[-1] != x._array.shape[-2]:
        return _cholesky(x)
    # The value of `x`, with the derivative of its symmetric part.
    symmetric = (x + adjoint_of(x)) * 0.5
    return _cholesky(symmetric + stop_gradient(x - symmetric))


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """Solutions x of `A @ x = rhs` from the lower factor of `A = chol @ adjoint(chol)`."""
    a, b = _system(chol, rhs, "cholesky_solve")
    half = _triangular_solve(a, b, lower=True, adjoint=False)
    return _triangular_solve(a, half, lower=True, adjoint=True)


# Determinants


def _det_samples(r):
    return [
        ([r.normal(size=(3, 3))], {}),
        ([r.normal(size=(2, 2, 2))], {}),
        ([_complex_invertible(r, 2, 2)], {}),
        ([np.zeros((2, 0, 0))], {}),
        ([_invertible(r, 1, 1)], {}),
    ]


@op(batch_axes=(), pattern=each_matrix, dtypes=LAPACK, samples=_det_samples)
def _det(xp, input):
    return xp.matrices.det(input)


@_det.vjp("input")
def _det_vjp(g, input):
    return insert_axes(g, 2, at=g.ndim) * _cofactor(input)


@_det.spec
def _det_spec(input):
    square_spec("det", input=input)
    return Spec(input.shape[:-2], input.dtype)


@op(batch_axes=(), pattern=each_matrix, dtypes=LAPACK, samples=_det_samples)
def _cofactor(xp, input):
    """The conjugated cofactors: the derivative of the determinant."""
    return xp.matrices.cofactor(input)


@_cofactor.vjp("input")
def _cofactor_vjp(g, input, out):
    """From `out = conj(det(input)) * adjoint(inv(input))`: for invertible matrices."""
    inverse = _inv(input)
    inner = reduce_sum(conj(g) * out, (-2, -1))
    return insert_axes(inner, 2, at=inner.ndim) * adjoint_of(inverse) - matmul(
        out, matmul(adjoint_of(g), adjoint_of(inverse))
    )


def det(input: Any, name: str | None = None) -> Tensor:
    """The determinants of the square matrices `input`.

    The gradient is the matrix of cofactors, also of a singular matrix; its second derivative needs
    the inverse.
    """
    return _det(to_tensor(input, "det"))


@op(batch_axes=(), pattern=each_matrix, dtypes=LAPACK, samples=_invertible_samples)
def _slogdet(xp, input):
    return xp.matrices.slogdet(input)


@_slogdet.vjp("input")
def _slogdet_vjp(g, input, out):
    g_sign, g_log = g
    if input._array.dtype in dt.COMPLEX:
        # The logarithm is real, and the sign turns by the imaginary part of trace(inv(input) @ dx).
        g_log = complex_(real(g_log), imag(conj(out[0]) * g_sign))
    return insert_axes(g_log, 2, at=g_log.ndim) * adjoint_of(_inv(input))


@_slogdet.spec
def _slogdet_spec(input):
    square_spec("slogdet", input=input)
    return Spec(input.shape[:-2], input.dtype), Spec(input.shape[:-2], input.dtype)


class LogDeterminant(NamedTuple):
    """A determinant as its sign and the logarithm of its size."""

    sign: Tensor
    log_abs_determinant: Tensor


def slogdet(input: Any, name: str | None = None) -> LogDeterminant:
    """The sign of the determinant (of size 1 for complex numbers), and the logarithm of its size.

    Both have the dtype of `input`. Of a singular matrix the sign is 0 and the logarithm -Inf.
    """
    return LogDeterminant(*_slogdet(to_tensor(input, "slogdet")))


def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """The logarithm of the determinant of positive definite matrices, by their Cholesky factors.

    Real for complex matrices too; NaN for a matrix that is not positive definite.
    """
    factor = cholesky(to_tensor(matrix, "logdet"))
    main = _diagonals(factor, low=0, high=0, align="RIGHT_LEFT")
    return reduce_sum(log(real(main)), -1) * 2.0
