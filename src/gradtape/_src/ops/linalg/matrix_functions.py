"""Least squares, pseudoinverses, functions of matrices, and products of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.convert import as_tensor
from ...core.errors import DTypeError, ShapeError
from ...core.spec import Spec
from ...core.tensor import Tensor
from ..array.cast import cast, stop_gradient
from ..array.creation import eye
from ..array.joining import concat
from ..array.shape import _reshape, adjoint, expand_dims
from ..declare.elementwise import sum_back
from ..declare.op import op
from ..declare.static import static_int, to_tensor
from ..math.arithmetic import abs as absolute
from ..math.logic import where
from ..math.reduction import reduce_max, reduce_sum
from .decomposition import svd
from .matmul import matmul
from .matrices import (
    LAPACK,
    adjoint_matmul,
    lined_up,
    matmul_adjoint,
    matrix_spec,
    square_spec,
    to_matrix,
)
from .norm import norm
from .systems import (
    _cholesky,
    _complex_invertible,
    _invertible,
    _positive_samples,
    _system,
    cholesky_solve,
    inv,
)

# Pseudoinverses and least squares


def _pinv_samples(r):
    small = np.array(1e-12)
    return [
        ([r.normal(size=(3, 2)), small], {}),
        ([r.normal(size=(2, 2, 3)), np.full(2, 1e-12)], {}),
        ([_complex_invertible(r, 3, 3)[:, :2], small], {}),
    ]


@op(dtypes=LAPACK, nondiff="rcond", samples=_pinv_samples)
def _pinv(xp, a, rcond):
    return xp.matrices.pinv(a, rcond)


@_pinv.vjp("a")
def _pinv_vjp(g, a, out):
    """Golub and Pereyra, 1973: along matrices of the same rank."""
    g = adjoint(g)
    small = matmul_adjoint(matmul(g, out), out)
    large = matmul(adjoint_matmul(out, out), g)
    return (
        (small - matmul(a, matmul(out, small)))
        + (large - matmul(matmul(large, out), a))
        - adjoint(matmul(matmul(out, g), out))
    )


@_pinv.batch
def _pinv_batch(batched, a, rcond):
    if "a" not in batched:
        return NotImplemented
    return _pinv(a, rcond)


@_pinv.spec
def _pinv_spec(a, rcond):
    *batch, rows, columns = matrix_spec("pinv", a=a).shape
    return Spec((*batch, columns, rows), a.dtype)


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The pseudoinverses (Moore and Penrose) of matrices of any shape.

    Singular values below `rcond` times the largest count as zero; by default `rcond` is
    10 * max(rows, columns) times the precision of the dtype. The default has the gradient along
    matrices of the same rank, right for singular values that coincide too; with an explicit
    `rcond` the gradient is that of the singular value decomposition.
    """
    x = to_matrix(a, "pinv", "a")
    *_, rows, columns = matrix_spec("pinv", a=Spec(x._array.shape, x._array.dtype)).shape
    if rcond is None:
        default = 10.0 * max(rows, columns) * np.finfo(x._array.dtype).eps
        return _pinv(x, Tensor(np.full(x._array.shape[:-2], default, x._array.real.dtype)))
    s, u, v = svd(x)
    least = expand_dims(as_tensor(rcond, s.dtype, "pinv"), -1) * reduce_max(s, -1, True)
    kept = cast(where(s > least, s, Tensor(np.array(np.inf, s._array.dtype))), v.dtype)
    return matmul_adjoint(v / expand_dims(kept, -2), u)


def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """How many singular values of each matrix lie above `tol`, as int32.

    By default `tol` is the largest one times max(rows, columns) times the precision of the dtype.
    """
    x = to_matrix(a, "matrix_rank", "a")
    *_, rows, columns = matrix_spec("matrix_rank", a=Spec(x._array.shape, x._array.dtype)).shape
    s = svd(Tensor(x._array), compute_uv=False)
    if not s._array.shape[-1]:
        return Tensor(np.zeros(s._array.shape[:-1], np.int32))
    if tol is None:
        precision = float(np.finfo(x._array.dtype).eps)
        least = reduce_max(s, -1, True) * (precision * max(rows, columns))
    else:
        least = expand_dims(as_tensor(tol, s.dtype, "matrix_rank"), -1)
    return reduce_sum(cast(s > least, dt.int32), -1)


def lstsq(
    matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """The x that minimises `|matrix @ x - rhs|**2 + l2_regularizer * |x|**2`, for each right-hand
    side.

    With more columns than rows, the shortest x that solves the system. `fast` goes by Cholesky
    factors of the normal equations: matrices without full rank give NaN. Otherwise it goes by
    singular values, takes any matrix, and leaves `l2_regularizer` out.
    """
    a, b = _system(matrix, rhs, "lstsq")
    to_matrix(a, "lstsq", "matrix")
    if a.ndim < 2 or b.ndim < 2 or a._array.shape[-2] != b._array.shape[-2]:
        raise ShapeError(
            "lstsq: `matrix` must have shape [..., M, N] and `rhs` [..., M, K]. Received: "
            f"matrix.shape={tuple(a.shape)}, rhs.shape={tuple(b.shape)}."
        )
    rows, columns = a._array.shape[-2:]
    if not fast:
        return matmul(pinv(a), b)
    tall = rows >= columns
    gram = adjoint_matmul(a, a) if tall else matmul_adjoint(a, a)
    if isinstance(l2_regularizer, Tensor) or l2_regularizer != 0:
        weight = cast(l2_regularizer, a.dtype)
        gram = gram + weight * eye(min(rows, columns), dtype=a.dtype)
    # The lower triangle's gradient, taken back through the product, is that of the symmetric one.
    factor = _cholesky(gram)
    if tall:
        return cholesky_solve(factor, adjoint_matmul(a, b))
    return adjoint_matmul(a, cholesky_solve(factor, b))


# Functions of matrices


def _sylvester_samples(r):
    z = r.normal(size=(2, 2)) + 1j * r.normal(size=(2, 2))
    return [
        ([_invertible(r, 2, 2), _invertible(r, 3, 3), r.normal(size=(2, 3))], {}),
        ([_invertible(r, 2, 2, 2), _invertible(r, 2, 2), r.normal(size=(2, 2))], {}),
        ([_complex_invertible(r, 2, 2), _complex_invertible(r, 2, 2), z], {}),
    ]


@op(dtypes=LAPACK, linear="c", samples=_sylvester_samples)
def _sylvester(xp, a, b, c):
    """X of `a @ X + X @ b = c`."""
    return xp.matrices.sylvester(a, b, c)


@_sylvester.vjp("a")
def _sylvester_vjp_a(g, a, b, out):
    return sum_back(-matmul_adjoint(_sylvester(adjoint(a), adjoint(b), g), out), a)


@_sylvester.vjp("b")
def _sylvester_vjp_b(g, a, b, out):
    return sum_back(-adjoint_matmul(out, _sylvester(adjoint(a), adjoint(b), g)), b)


@_sylvester.vjp("c")
def _sylvester_vjp_c(g, a, b, c: Spec):
    return sum_back(_sylvester(adjoint(a), adjoint(b), g), c)


@_sylvester.batch
def _sylvester_batch(batched, a, b, c):
    return _sylvester(*lined_up(batched, a=a, b=b, c=c))


@op(batch_axes=(), dtypes=LAPACK, samples=_positive_samples)
def _sqrtm(xp, input):
    return xp.matrices.sqrtm(input)


@_sqrtm.vjp("input")
def _sqrtm_vjp(g, out):
    root = adjoint(out)
    return _sylvester(root, root, g)


@_sqrtm.spec
def _sqrtm_spec(input):
    return square_spec("sqrtm", input=input)


def sqrtm(input: Any, name: str | None = None) -> Tensor:
    """The principal square roots y of square matrices: `y @ y = input`.

    A real matrix that has no real one gives NaN: cast it to complex first.
    """
    return _sqrtm(to_tensor(input, "sqrtm"))


matrix_square_root = sqrtm


def _block_cotangent(function: Any, x: Tensor, g: Tensor) -> Tensor:
    """The cotangent of an analytic function of `x`: the Fréchet derivative at adjoint(x) by `g`.

    It is a block of the function of a larger matrix (Mathias, 1996), so any order of derivative
    comes from the function itself. `g` is brought to size 1, which the derivative, being linear,
    allows.
    """
    size = stop_gradient(reduce_max(absolute(g), (-2, -1), True))
    size = cast(where(size > 0, size, Tensor(np.ones((), size._array.dtype))), g.dtype)
    x = adjoint(x)
    count = x._array.shape[-1]
    above = concat([x, g / size], -1)
    below = concat([Tensor(np.zeros(x._array.shape, x._array.dtype)), x], -1)
    return function(concat([above, below], -2))[..., :count, count:] * size


@op(batch_axes=(), dtypes=LAPACK, samples=lambda r: [([r.normal(size=(2, 2, 2)) * 2], {})])
def _expm(xp, input):
    return xp.matrices.expm(input)


@_expm.vjp("input")
def _expm_vjp(g, input):
    return _block_cotangent(_expm, input, g) if g._array.size else g


@_expm.spec
def _expm_spec(input):
    return square_spec("expm", input=input)


def expm(input: Any, name: str | None = None) -> Tensor:
    """The exponentials of square matrices: `I + x + x @ x / 2 + ...`."""
    return _expm(to_tensor(input, "expm"))


@op(batch_axes=(), dtypes=dt.COMPLEX, samples=lambda r: [([_complex_invertible(r, 2, 2)], {})])
def _logm(xp, input):
    return xp.matrices.logm(input)


@_logm.vjp("input")
def _logm_vjp(g, input):
    return _block_cotangent(_logm, input, g) if g._array.size else g


@_logm.spec
def _logm_spec(input):
    return square_spec("logm", input=input)


def logm(input: Any, name: str | None = None) -> Tensor:
    """The principal logarithms of complex square matrices: `expm(logm(x)) = x`.

    A singular matrix gives NaN. Differentiable, where TensorFlow's is not.
    """
    return _logm(to_tensor(input, "logm"))


def matrix_power(a: Any, n: Any) -> Tensor:
    """`a @ a @ ... @ a`, n times, by squaring; for n = 0 the identity, for n < 0 of the inverse."""
    x = to_tensor(a, "matrix_power")
    *batch, size, _ = square_spec("matrix_power", a=Spec(x._array.shape, x._array.dtype)).shape
    exponent = static_int(n, "matrix_power", "n")
    if exponent < 0:
        x, exponent = inv(x), -exponent
    result: Tensor | None = None
    while exponent:
        if exponent & 1:
            result = x if result is None else matmul(result, x)
        exponent >>= 1
        x = matmul(x, x) if exponent else x
    return eye(size, batch_shape=batch, dtype=x.dtype) if result is None else result


# Products of vectors and matrices


def _cross_samples(r):
    return [
        ([r.normal(size=(2, 3)), r.normal(size=(2, 3))], {}),
        ([r.normal(size=3), r.normal(size=3)], {}),
        ([np.zeros((0, 3)), np.zeros((0, 3))], {}),
    ]


@op(dtypes=dt.REAL, linear="all", samples=_cross_samples)
def _cross(xp, a, b):
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    u, v, w = b[..., 0], b[..., 1], b[..., 2]
    return xp.stack([y * w - z * v, z * u - x * w, x * v - y * u], -1)


@_cross.vjp("a")
def _cross_vjp_a(g, b):
    return _cross(b, g)


@_cross.vjp("b")
def _cross_vjp_b(g, a):
    return _cross(g, a)


@_cross.batch
def _cross_batch(batched, a, b):
    return _cross(a, b) if len(batched) == 2 else NotImplemented


def cross(a: Any, b: Any, name: str | None = None) -> Tensor:
    """The cross products of the vectors of 3 elements along the last axes of `a` and `b`."""
    x, y = _system(a, b, "cross")
    if x._array.shape != y._array.shape or x._array.shape[-1:] != (3,):
        raise ShapeError(
            "cross: `a` and `b` must have one shape, with 3 elements along the last axis. "
            f"Received: a.shape={tuple(x.shape)}, b.shape={tuple(y.shape)}."
        )
    return _cross(x, y)


def kron(a: Any, b: Any) -> Tensor:
    """The Kronecker products of matrices: `a` with each element replaced by it times `b`."""
    x, y = _system(a, b, "kron")
    if x.ndim < 2 or y.ndim < 2:
        raise ShapeError(
            f"kron: `a` and `b` must have rank 2 or more. Received: a.shape={tuple(x.shape)}, "
            f"b.shape={tuple(y.shape)}."
        )
    (*_, m, n), (*_, p, q) = x._array.shape, y._array.shape
    left = _reshape(x, shape=(*x._array.shape[:-2], m, 1, n, 1))
    right = _reshape(y, shape=(*y._array.shape[:-2], 1, p, 1, q))
    out = left * right
    return _reshape(out, shape=(*out._array.shape[:-4], m * p, n * q))


def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """`tensor` divided by its norm over `axis` (see `norm`), and that norm, with the axes kept."""
    x = to_tensor(tensor, "normalize")
    if x._array.dtype not in dt.INEXACT:
        raise DTypeError(
            f"normalize: `tensor` is {x.dtype.name}, and the op takes floats and complex numbers. "
            "Convert it with tf.cast."
        )
    size = norm(x, ord, axis, True)
    return x / cast(size, x.dtype), size
