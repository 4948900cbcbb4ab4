"""Factorisations of matrices: LU, QR, singular values, eigenvalues."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, overload

import numpy as np

from ...core import dtypes as dt
from ...core.convert import as_tensor
from ...core.dtypes import as_dtype
from ...core.errors import InvalidArgumentError, ShapeError, UnimplementedError
from ...core.pattern import each_matrix
from ...core.placement import on_host
from ...core.spec import Spec, broadcast_shapes
from ...core.tensor import Tensor, is_symbolic
from ..array.cast import cast
from ..array.creation import eye, ones_like
from ..array.indexing import gather
from ..array.joining import concat
from ..array.masks import boolean_mask
from ..array.shape import adjoint, broadcast_to, expand_dims
from ..declare.op import op
from ..declare.static import static_ints, to_tensor
from ..math.arithmetic import reciprocal
from ..math.complex import real, real_dtype
from ..math.conjugate import conj
from ..math.logic import logical_and, where
from ..math.ordering import argsort
from .diagonal import _band_part, diag, diag_part, set_diag
from .matmul import matmul
from .matrices import (
    LAPACK,
    adjoint_matmul,
    in_float32,
    matmul_adjoint,
    matrix_spec,
    may_be_recorded,
    square_spec,
    to_matrix,
    work_of_square,
)
from .systems import _invertible, _solve, _triangular_solve, half_lower


def _scaled(matrix: Tensor, rows: Tensor | None = None, columns: Tensor | None = None) -> Tensor:
    """`diag(rows) @ matrix @ diag(columns)`."""
    if rows is not None:
        matrix = expand_dims(rows, -1) * matrix
    return matrix if columns is None else matrix * expand_dims(columns, -2)


def _safe_reciprocal(x: Tensor) -> Tensor:
    """`1 / x`, and 0 at 0: TensorFlow's broadening, for eigenvalues that coincide."""
    return x * reciprocal(x * x + 1e-20)


def _gaps(values: Tensor) -> Tensor:
    """The matrix of `1 / (values[j] - values[i])`, 0 on its diagonal."""
    differences = expand_dims(values, -2) - expand_dims(values, -1)
    on_diagonal = Tensor(np.eye(values._array.shape[-1], dtype=bool))
    zero = Tensor(np.zeros((), values._array.dtype))
    return where(on_diagonal, zero, _safe_reciprocal(differences))


# LU


@op(batch_axes=(), dtypes=LAPACK, work=work_of_square(1 / 3), samples=lambda r: [
    ([_invertible(r, 3, 3)[::-1].copy()], {"dtype": np.dtype("int32")}),
    ([_invertible(r, 2, 2, 2)], {"dtype": np.dtype("int64")}),
    ([_invertible(r, 2, 2) + 1j * r.normal(size=(2, 2))], {"dtype": np.dtype("int32")}),
    ([np.zeros((1, 0, 0))], {"dtype": np.dtype("int32")}),
])  # fmt: skip
def _lu(xp, input, *, dtype):
    factors, perm = xp.matrices.lu(input)
    return factors, perm.astype(dtype)


@_lu.vjp("input")
def _lu_vjp(g, out):
    """From d(L) = L low(M), d(U) = up(M) U with M = inv(L) P dx inv(U)."""
    factors, perm = out
    lower, upper = _lower_upper(factors)
    wanted = g[0]
    middle = _strictly_lower(adjoint_matmul(lower, _strictly_lower(wanted))) + _upper(
        matmul_adjoint(_upper(wanted), upper)
    )
    left = _triangular_solve(lower, middle, lower=True, adjoint=True)
    return _unpermuted(_over_adjoint(left, upper), perm)


def _strictly_lower(x: Tensor) -> Tensor:
    return x - _upper(x)


def _upper(x: Tensor) -> Tensor:
    return _band_part(x, lower=0, upper=-1)


def _over_adjoint(x: Tensor, upper: Tensor) -> Tensor:
    """`x @ inv(adjoint(upper))` for an upper triangular matrix."""
    return adjoint(_triangular_solve(upper, adjoint(x), lower=False, adjoint=False))


def _lower_upper(factors: Tensor) -> tuple[Tensor, Tensor]:
    """L, with its ones, and U of an LU factorisation, which holds both in one matrix."""
    lower = _band_part(factors, lower=-1, upper=0)
    return set_diag(lower, ones_like(diag_part(factors))), _upper(factors)


def _unpermuted(rows: Tensor, perm: Tensor) -> Tensor:
    """`out[..., perm[i], :] = rows[..., i, :]`."""
    return gather(rows, argsort(perm), axis=rows.ndim - 2, batch_dims=perm.ndim - 1)


@_lu.spec
def _lu_spec(input, *, dtype):
    square_spec("lu", input=input)
    return input, Spec(input.shape[:-1], dtype)


class LU(NamedTuple):
    """The two factors in one matrix, and the permutation of the rows."""

    lu: Tensor
    p: Tensor


def lu(input: Any, output_idx_type: Any = dt.int32, name: str | None = None) -> LU:
    """LU factors with partial pivoting: `gather(input, p) = L @ U`, as the pair (LU, p).

    LU holds U and, below its diagonal, L without its ones. A singular matrix raises
    InvalidArgumentError. Differentiable, where TensorFlow's is not.
    """
    wanted = as_dtype(output_idx_type)
    if wanted not in (dt.int32, dt.int64):
        raise InvalidArgumentError(
            f"lu: `output_idx_type` must be int32 or int64, and is {wanted.name}."
        )
    return LU(*_lu(to_tensor(input, "lu"), dtype=wanted.numpy_dtype))


def _checked_factors(lower_upper: Any, perm: Any, op_name: str) -> tuple[Tensor, Tensor]:
    factors, order = to_tensor(lower_upper, op_name), to_tensor(perm, op_name)
    square_spec(op_name, lower_upper=Spec(factors._array.shape, factors._array.dtype))
    if factors._array.shape[:-1] != order._array.shape:
        raise ShapeError(
            f"{op_name}: `perm` must have the shape of `lower_upper` without its last axis. "
            f"Received: lower_upper.shape={tuple(factors.shape)}, perm.shape={tuple(order.shape)}."
        )
    if not is_symbolic(order._array):
        rows = np.asarray(on_host(order._array))
        if (np.sort(rows, -1) != np.arange(rows.shape[-1])).any():
            raise InvalidArgumentError(
                f"{op_name}: `perm` must have each of 0, ..., {rows.shape[-1] - 1} once. Received: "
                f"{rows}."
            )
    return factors, order


def lu_reconstruct(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The matrices whose LU factors, as `lu` gives them, are these."""
    factors, order = _checked_factors(lower_upper, perm, "lu_reconstruct")
    return _unpermuted(matmul(*_lower_upper(factors)), order)


def lu_solve(
    lower_upper: Any, perm: Any, rhs: Any, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Solutions x of `A @ x = rhs` from the LU factors of A; the axes before the last two
    broadcast.
    """
    factors, order = _checked_factors(lower_upper, perm, "lu_solve")
    b = as_tensor(rhs, factors.dtype, "lu_solve")
    if b.ndim < 2 or b._array.shape[-2] != factors._array.shape[-1]:
        raise ShapeError(
            "lu_solve: `rhs` must have shape [..., M, K] with as many rows as `lower_upper`. "
            f"Received: lower_upper.shape={tuple(factors.shape)}, rhs.shape={tuple(b.shape)}."
        )
    batch = broadcast_shapes(
        "lu_solve (batch axes)",
        lower_upper=tuple(factors._array.shape[:-2]),
        rhs=tuple(b._array.shape[:-2]),
    )
    b = broadcast_to(b, (*batch, *b._array.shape[-2:]))
    order = broadcast_to(order, (*batch, order._array.shape[-1]))
    lower, upper = _lower_upper(factors)
    b = gather(b, order, axis=b.ndim - 2, batch_dims=len(batch))
    half = _triangular_solve(lower, b, lower=True, adjoint=False)
    return _triangular_solve(upper, half, lower=False, adjoint=False)


def lu_matrix_inverse(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The inverses of the matrices whose LU factors, as `lu` gives them, are these."""
    factors, order = _checked_factors(lower_upper, perm, "lu_matrix_inverse")
    *batch, _, size = factors._array.shape
    return lu_solve(factors, order, eye(size, batch_shape=batch, dtype=factors.dtype))


# QR


@op(batch_axes=(), pattern=each_matrix, dtypes=LAPACK, samples=lambda r: [
    ([r.normal(size=(3, 3))], {"full_matrices": False}),
    ([r.normal(size=(2, 3, 2))], {"full_matrices": False}),
    ([r.normal(size=(2, 4))], {"full_matrices": True}),
    ([r.normal(size=(3, 2)) + 1j * r.normal(size=(3, 2))], {"full_matrices": False}),
    ([r.normal(size=(2, 3)) + 1j * r.normal(size=(2, 3))], {"full_matrices": False}),
    ([np.zeros((0, 2))], {"full_matrices": False}),
])  # fmt: skip
def _qr(xp, input, *, full_matrices):
    return xp.matrices.qr(input, full_matrices=full_matrices)


@_qr.vjp("input")
def _qr_vjp(g, out, *, full_matrices):
    """Roberts and Roberts, QR and LQ decomposition matrix backpropagation (arXiv:2009.10071)."""
    (q, r), (g_q, g_r) = out, g
    rows, columns = q._array.shape[-2], r._array.shape[-1]
    if full_matrices and rows > columns:
        raise UnimplementedError(
            f"qr: with full_matrices=True the {rows - columns} last columns of `q` are not unique, "
            f"so there is no gradient for matrices of {rows} rows and {columns} columns. Use "
            "full_matrices=False."
        )
    if rows >= columns:
        return _qr_vjp_tall(q, r, g_q, g_r)
    beside, g_beside = r[..., rows:], g_r[..., rows:]
    g_q = g_q + matmul(q, matmul_adjoint(beside, g_beside))
    first = _qr_vjp_tall(q, r[..., :rows], g_q, g_r[..., :rows])
    return concat([first, matmul(q, g_beside)], -1)


def _qr_vjp_tall(q: Tensor, r: Tensor, g_q: Tensor, g_r: Tensor) -> Tensor:
    half = half_lower(matmul_adjoint(r, g_r) - adjoint_matmul(g_q, q))
    return _over_adjoint(g_q + matmul(q, half + adjoint(half)), r)


@_qr.spec
def _qr_spec(input, *, full_matrices):
    *batch, rows, columns = matrix_spec("qr", input=input).shape
    inner = rows if full_matrices else min(rows, columns)
    return Spec((*batch, rows, inner), input.dtype), Spec((*batch, inner, columns), input.dtype)


class QR(NamedTuple):
    """The factors of a matrix: orthonormal columns, and an upper triangle."""

    q: Tensor
    r: Tensor


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> QR:
    """`input = q @ r` with orthonormal columns in `q` and an upper triangular `r`.

    With `full_matrices` `q` is square; it then has no gradient for matrices of more rows than
    columns.
    """
    full = bool(full_matrices)
    return QR(*in_float32(lambda x: _qr(x, full_matrices=full), to_tensor(input, "qr")))


# Singular values


@op(batch_axes=(), pattern=each_matrix, dtypes=LAPACK, fills_missing=False, samples=lambda r: [
    ([r.normal(size=(2, 2)) + np.diag([3, 1])], {"full_matrices": False}),
    ([r.normal(size=(2, 3, 2))], {"full_matrices": False}),
    ([r.normal(size=(2, 4))], {"full_matrices": False}),
    ([r.normal(size=(2, 3))], {"full_matrices": True}),
    ([r.normal(size=(3, 2))], {"full_matrices": True}),
])  # fmt: skip
def _svd(xp, tensor, *, full_matrices):
    """Singular values, left vectors, right vectors."""
    return xp.matrices.svd(tensor, full_matrices=full_matrices)


@_svd.vjp("tensor")
def _svd_vjp(g, out, *, full_matrices):
    """Townsend, Differentiating the singular value decomposition, 2016; for complex numbers Wan and
    Zhang, 2019 (arXiv:1909.02659)."""
    (values, u, v), (g_values, g_u, g_v) = out, g
    rows, columns, rank = u._array.shape[-2], v._array.shape[-2], values._array.shape[-1]
    if full_matrices:
        if abs(rows - columns) > 1 and (g_u is not None or g_v is not None):
            raise UnimplementedError(
                "svd: with full_matrices=True the vectors beyond the singular values are not "
                f"unique, so there is no gradient for matrices of {rows} rows and {columns} "
                "columns. Use full_matrices=False."
            )
        u, g_u = _thin(u, g_u, rank)
        v, g_v = _thin(v, g_v, rank)
    if g_u is None and g_v is None:
        return matmul_adjoint(_scaled(u, columns=cast(g_values, u.dtype)), v)
    s = cast(values, u.dtype)
    inverse = _safe_reciprocal(s)
    gaps = _gaps(s * s)
    middle = None if g_values is None else diag(cast(g_values, u.dtype))
    if g_u is not None:
        turn = adjoint_matmul(u, g_u)
        middle = _plus(middle, _scaled(gaps * (turn - adjoint(turn)), columns=s))
        if g_v is None and u._array.dtype in dt.COMPLEX:
            phase = diag_part(turn)
            middle = middle + diag(inverse * (phase - conj(phase)) * 0.5)
    if g_v is not None:
        turn = adjoint_matmul(v, g_v)
        middle = _plus(middle, _scaled(gaps * (turn - adjoint(turn)), rows=s))
        if u._array.dtype in dt.COMPLEX:
            phase = diag_part(turn)
            middle = middle + diag(inverse * (conj(phase) - phase) * 0.5)
    left = matmul(u, middle)
    if columns > rank and g_v is not None:
        beside = _scaled(u, columns=inverse)
        outside = matmul_adjoint(beside, g_v - matmul(v, adjoint_matmul(v, g_v)))
        return matmul_adjoint(left, v) + outside
    if rows > rank and g_u is not None:
        left = left + _scaled(g_u - matmul(u, adjoint_matmul(u, g_u)), columns=inverse)
    return matmul_adjoint(left, v)


def _plus(x: Tensor | None, y: Tensor) -> Tensor:
    return y if x is None else x + y


def _thin(vectors: Tensor, g: Tensor | None, rank: int) -> tuple[Tensor, Tensor | None]:
    """The first `rank` vectors; and their cotangent, with what reaches them through the other ones,
    which move so as to stay orthogonal."""
    first, rest = vectors[..., :rank], vectors[..., rank:]
    if g is None or not rest._array.shape[-1]:
        return first, g
    g_first, g_rest = g[..., :rank], g[..., rank:]
    return first, g_first - matmul(rest, adjoint_matmul(g_rest, first))


@_svd.spec
def _svd_spec(tensor, *, full_matrices):
    *batch, rows, columns = matrix_spec("svd", tensor=tensor).shape
    rank = min(rows, columns)
    u, v = (rows, columns) if full_matrices else (rank, rank)
    return (
        Spec((*batch, rank), np.dtype(real_dtype(tensor.dtype))),
        Spec((*batch, rows, u), tensor.dtype),
        Spec((*batch, columns, v), tensor.dtype),
    )


@op(batch_axes=(), pattern=each_matrix, dtypes=LAPACK, samples=lambda r: [
    ([r.normal(size=(2, 3, 2))], {}),
    ([r.normal(size=(2, 3)) + 1j * r.normal(size=(2, 3))], {}),
])  # fmt: skip
def _svdvals(xp, tensor):
    return xp.matrices.svdvals(tensor)


@_svdvals.vjp("tensor")
def _svdvals_vjp(g, tensor):
    _, u, v = _svd(tensor, full_matrices=False)
    return matmul_adjoint(_scaled(u, columns=cast(g, u.dtype)), v)


@_svdvals.spec
def _svdvals_spec(tensor):
    return _svd_spec(tensor, full_matrices=False)[0]


@overload
def svd(
    tensor: Any,
    full_matrices: bool = False,
    compute_uv: Literal[True] = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def svd(
    tensor: Any, full_matrices: bool = False, *, compute_uv: Literal[False], name: str | None = None
) -> Tensor: ...
def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """Singular values s, largest first, and the vectors: `tensor = u @ diag(s) @ adjoint(v)`.

    Returns (s, u, v), or s alone without `compute_uv`. s is real. Vectors are unique up to a common
    factor of size 1 in u and v: the gradient is right for what does not depend on it. The gradient
    of vectors whose singular values coincide is not defined, and leaves out the infinite part.
    """
    x = to_tensor(tensor, "svd")
    if compute_uv:
        return _svd(x, full_matrices=bool(full_matrices))
    # The gradient needs the vectors: better found now than by a second decomposition.
    return _svd(x, full_matrices=False)[0] if may_be_recorded(x) else _svdvals(x)


# Eigenvalues of Hermitian matrices


def _hermitian(r: np.random.Generator, *shape: int) -> Any:
    x = r.normal(size=shape)
    return x + x.swapaxes(-1, -2) + np.diag(np.arange(shape[-1]) * 3.0)


@op(batch_axes=(), pattern=each_matrix, dtypes=LAPACK, fills_missing=False, samples=lambda r: [
    ([_hermitian(r, 3, 3)], {}),
    ([_hermitian(r, 2, 2, 2)], {}),
    ([np.zeros((1, 0, 0))], {}),
])  # fmt: skip
def _eigh(xp, tensor):
    return xp.matrices.eigh(tensor)


@_eigh.vjp("tensor")
def _eigh_vjp(g, out):
    (values, vectors), (g_values, g_vectors) = out, g
    if g_vectors is None:
        left = _scaled(vectors, columns=g_values)
    else:
        middle = _gaps(values) * adjoint_matmul(vectors, g_vectors)
        left = matmul(vectors, middle if g_values is None else middle + diag(g_values))
    full = matmul_adjoint(left, vectors)
    return half_lower(full + adjoint(full))  # only the lower triangle was read


@_eigh.spec
def _eigh_spec(tensor):
    square_spec("eigh", tensor=tensor)
    return Spec(tensor.shape[:-1], tensor.dtype), tensor


def eigh(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues, smallest first, and eigenvectors (as columns) of symmetric or Hermitian
    matrices.

    Only the lower triangle is read, and only it gets a gradient. The gradient of vectors whose
    eigenvalues coincide is not defined, and leaves out the infinite part.
    """
    return _eigh(to_tensor(tensor, "eigh"))


@op(batch_axes=(), pattern=each_matrix, dtypes=LAPACK, samples=lambda r: [
    ([_hermitian(r, 3, 3)], {}),
    ([_hermitian(r, 2, 2, 2) + 1j * np.tril(r.normal(size=(2, 2)), -1)], {}),
])  # fmt: skip
def _eigvalsh(xp, tensor):
    return xp.matrices.eigvalsh(tensor)


@_eigvalsh.vjp("tensor")
def _eigvalsh_vjp(g, tensor):
    _, vectors = _eigh(tensor)
    full = matmul_adjoint(_scaled(vectors, columns=g), vectors)
    return half_lower(full + adjoint(full))


@_eigvalsh.spec
def _eigvalsh_spec(tensor):
    square_spec("eigvalsh", tensor=tensor)
    return Spec(tensor.shape[:-1], tensor.dtype)


def eigvalsh(tensor: Any, name: str | None = None) -> Tensor:
    """Eigenvalues, smallest first, of symmetric or Hermitian matrices; see `eigh`."""
    x = to_tensor(tensor, "eigvalsh")
    return _eigh(x)[0] if may_be_recorded(x) else _eigvalsh(x)


def eigh_tridiagonal(
    alpha: Any,
    beta: Any,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: Any = None,
    tol: Any = None,
    name: str | None = None,
) -> Tensor | Any:
    """Eigenvalues of Hermitian tridiagonal matrices with `alpha` on the diagonal and `beta` below
    it.

    `select` chooses all ('a'), those with indices ('i') or values ('v') in `select_range`, both
    ends included for indices, only the upper one for values. Without `eigvals_only`, the pair of
    values and vectors. Eigenvalues are real, and of the working precision whatever `tol` asks for.
    """
    a = to_tensor(alpha, "eigh_tridiagonal")
    b = as_tensor(beta, a.dtype, "eigh_tridiagonal")
    if not a.ndim or b._array.shape != (*a._array.shape[:-1], max(a._array.shape[-1] - 1, 0)):
        raise ShapeError(
            "eigh_tridiagonal: `beta` must have one element less than `alpha` along the last axis. "
            f"Received: alpha.shape={tuple(a.shape)}, beta.shape={tuple(b.shape)}."
        )
    if select not in ("a", "i", "v"):
        raise InvalidArgumentError(
            f"eigh_tridiagonal: `select`={select!r} is unknown; there are 'a', 'i' and 'v'."
        )
    if select != "a" and (select_range is None or len(select_range) != 2):
        raise InvalidArgumentError(
            f"eigh_tridiagonal: select={select!r} needs `select_range`, a pair of bounds; it is "
            f"{select_range!r}."
        )

    def tridiagonal(a: Tensor, b: Tensor) -> Tensor:
        main = diag(a)
        return main if not b._array.shape[-1] else main + diag(b, k=-1)

    def run(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        if eigvals_only:
            values, vectors = eigvalsh(tridiagonal(a, b)), None
        else:
            values, vectors = _eigh(tridiagonal(a, b))
        return _selected(real(values), vectors, select, select_range)

    if a._array.dtype == np.float16:
        results = in_float32(lambda x: run(x, cast(b, dt.float32)), a)
    else:
        results = run(to_matrix(a, "eigh_tridiagonal", "alpha"), b)
    return results[0] if eigvals_only else results


def _selected(
    values: Tensor, vectors: Tensor | None, select: str, bounds: Any
) -> tuple[Tensor, ...]:
    if select == "i":
        low, high = static_ints(bounds, "eigh_tridiagonal", "select_range")
        count = values._array.shape[-1]
        if not 0 <= low <= high < count:
            raise InvalidArgumentError(
                f"eigh_tridiagonal: `select_range`={bounds!r} must be indices low <= high below "
                f"{count}."
            )
        values = values[..., low : high + 1]
        vectors = None if vectors is None else vectors[..., low : high + 1]
    elif select == "v":
        if values.ndim != 1:
            raise UnimplementedError(
                "eigh_tridiagonal: select='v' takes one matrix, since the number of eigenvalues "
                "found may differ between matrices; the eigenvalues have shape "
                f"{tuple(values.shape)}."
            )
        low, high = (as_tensor(bound, values.dtype, "eigh_tridiagonal") for bound in bounds)
        chosen = logical_and(values > low, values <= high)
        values = boolean_mask(values, chosen)
        vectors = None if vectors is None else boolean_mask(vectors, chosen, axis=1)
    return (values,) if vectors is None else (values, vectors)


# Eigenvalues of any square matrices


def _complex_spec(op_name: str, x: Spec) -> Spec:
    square_spec(op_name, tensor=x)
    return Spec(x.shape, np.result_type(x.dtype, np.complex64))


@op(batch_axes=(), pattern=each_matrix, dtypes=LAPACK, fills_missing=False, samples=lambda r: [
    # Real eigenvalues, well apart: then the vectors are real, and unique up to their sign.
    ([np.diag([1.0, 3.0, 6.0]) + r.normal(size=(3, 3)) / 4], {}),
    ([np.diag([1.0, 3.0]) + r.normal(size=(2, 2, 2)) / 4], {}),
])  # fmt: skip
def _eig(xp, tensor):
    return xp.matrices.eig(tensor)


@_eig.vjp("tensor")
def _eig_vjp(g, tensor: Spec, out):
    """Boeddeker et al., On the computation of complex-valued gradients, 2017 (arXiv:1701.00392)."""
    (values, vectors), (g_values, g_vectors) = out, g
    middle = None if g_values is None else diag(g_values)
    if g_vectors is not None:
        turn = adjoint_matmul(vectors, g_vectors)
        size = cast(real(diag_part(turn)), vectors.dtype)
        unscaled = turn - _scaled(adjoint_matmul(vectors, vectors), columns=size)
        middle = _plus(middle, conj(_gaps(values)) * unscaled)
    return _eig_cotangent(vectors, middle, tensor)


def _eig_cotangent(vectors: Tensor, middle: Tensor, x: Tensor | Spec) -> Tensor:
    full = _solve(vectors, matmul_adjoint(middle, vectors), adjoint=True)
    dtype = x._array.dtype if isinstance(x, Tensor) else x.dtype
    return full if dtype in dt.COMPLEX else real(full)


@_eig.spec
def _eig_spec(tensor):
    spec = _complex_spec("eig", tensor)
    return Spec(spec.shape[:-1], spec.dtype), spec


def eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues, in no particular order, and eigenvectors (as columns, of length 1); both
    complex.

    Vectors are unique up to a factor of size 1: the gradient is right for what does not depend on
    it.
    """
    return _eig(to_tensor(tensor, "eig"))


@op(batch_axes=(), pattern=each_matrix, dtypes=LAPACK, samples=lambda r: [
    ([r.normal(size=(3, 3))], {}),
    ([r.normal(size=(2, 2, 2)) + 1j * r.normal(size=(2, 2, 2))], {}),
])  # fmt: skip
def _eigvals(xp, tensor):
    return xp.matrices.eigvals(tensor)


@_eigvals.vjp("tensor")
def _eigvals_vjp(g, tensor):
    _, vectors = _eig(tensor)
    return _eig_cotangent(vectors, diag(g), tensor)


@_eigvals.spec
def _eigvals_spec(tensor):
    spec = _complex_spec("eigvals", tensor)
    return Spec(spec.shape[:-1], spec.dtype)


def eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """Eigenvalues of square matrices, complex, in no particular order."""
    x = to_tensor(tensor, "eigvals")
    return _eig(x)[0] if may_be_recorded(x) else _eigvals(x)
