"""Linear algebra of the XLA engine, with the functions of `_linalg`.

While a program is compiled values are not known: a singular matrix gives Inf or NaN, no error.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
from jax.lax import linalg as lax_linalg


def adjoint(a: Any) -> Any:
    return jnp.conj(jnp.swapaxes(a, -1, -2))


def _spread(*arrays: Any) -> Any:
    """The arrays with their leading axes broadcast, which XLA does not do by itself."""
    batch = np.broadcast_shapes(*[a.shape[:-2] for a in arrays])
    return [jnp.broadcast_to(a, (*batch, *a.shape[-2:])) for a in arrays]


def _each(function: Any, *arrays: Any) -> Any:
    """`function` of each matrix, for the functions that take one only."""
    spread = _spread(*arrays)
    batch = spread[0].shape[:-2]
    flat = [a.reshape(-1, *a.shape[-2:]) for a in spread]
    if not batch:
        return function(*arrays)
    if 0 in batch:
        return flat[-1].reshape(spread[-1].shape)
    out = jax.vmap(function)(*flat)
    return out.reshape(*batch, *out.shape[1:])


def inv(a: Any) -> Any:
    return jnp.linalg.inv(a)


def solve(a: Any, b: Any, *, adjoint: bool) -> Any:
    a, b = _spread(a, b)
    return jnp.linalg.solve(jnp.conj(jnp.swapaxes(a, -1, -2)) if adjoint else a, b)


def det(a: Any) -> Any:
    return jnp.linalg.det(a)


def slogdet(a: Any) -> Any:
    sign, log = jnp.linalg.slogdet(a)
    return sign, log.astype(a.dtype)


def cofactor(a: Any) -> Any:
    u, s, vh = jnp.linalg.svd(jnp.asarray(a))
    others = jnp.where(np.eye(s.shape[-1], dtype=bool), 1, s[..., None, :]).prod(-1)
    turn = jnp.linalg.det(u) * jnp.linalg.det(vh)
    return jnp.conj(turn)[..., None, None] * ((u * others[..., None, :].astype(a.dtype)) @ vh)


def cholesky(a: Any) -> Any:
    return jnp.linalg.cholesky(a, symmetrize_input=False)


def triangular_solve(a: Any, b: Any, *, lower: bool, adjoint: bool) -> Any:
    a, b = _spread(a, b)
    return lax_linalg.triangular_solve(
        a, b, left_side=True, lower=lower, transpose_a=adjoint, conjugate_a=adjoint
    )


def qr(a: Any, *, full_matrices: bool) -> Any:
    return tuple(jnp.linalg.qr(a, "complete" if full_matrices else "reduced"))


def svd(a: Any, *, full_matrices: bool) -> Any:
    u, s, vh = jnp.linalg.svd(a, full_matrices)
    return s, u, adjoint(vh)


def svdvals(a: Any) -> Any:
    return jnp.linalg.svd(a, compute_uv=False)


def pinv(a: Any, rcond: Any) -> Any:
    s, u, v = svd(a, full_matrices=False)
    cutoff = rcond[..., None] * jnp.max(s, -1, keepdims=True, initial=0)
    kept = jnp.where(s <= cutoff, jnp.inf, s)
    return (v / kept[..., None, :].astype(a.dtype)) @ adjoint(u)


def eigh(a: Any) -> Any:
    e, v = jnp.linalg.eigh(a, "L", symmetrize_input=False)
    return e.astype(a.dtype), v


def eigvalsh(a: Any) -> Any:
    return eigh(a)[0]


def eig(a: Any) -> Any:
    return tuple(jnp.linalg.eig(a))


def eigvals(a: Any) -> Any:
    return jnp.linalg.eigvals(a)


def lu(a: Any) -> Any:
    packed, _, perm = lax_linalg.lu(jnp.asarray(a))
    return packed, perm


def sylvester(a: Any, b: Any, c: Any) -> Any:
    """By the Kronecker form: XLA has no Schur factors on an accelerator."""
    a, b, c = _spread(a, b, c)
    m, n = c.shape[-2:]
    turned = jnp.swapaxes(b, -1, -2)
    left = a[..., :, None, :, None] * jnp.eye(n, dtype=c.dtype)[:, None, :]
    right = jnp.eye(m, dtype=c.dtype)[:, None, :, None] * turned[..., None, :, None, :]
    system = (left + right).reshape(*c.shape[:-2], m * n, m * n)
    return jnp.linalg.solve(system, c.reshape(*c.shape[:-2], m * n, 1)).reshape(c.shape)


def expm(a: Any) -> Any:
    return jsl.expm(jnp.asarray(a))


def sqrtm(a: Any) -> Any:
    a = jnp.asarray(a)
    if not a.size:
        return a
    out = _each(jsl.sqrtm, a)
    if a.dtype.kind == "c":
        return out.astype(a.dtype)
    scale = jnp.max(jnp.abs(out), (-1, -2), keepdims=True)
    turned = jnp.max(jnp.abs(out.imag), (-1, -2), keepdims=True)
    return jnp.where(turned <= 1e-6 * scale, out.real, jnp.nan).astype(a.dtype)


def logm(a: Any) -> Any:
    """Inverse scaling and squaring (Higham, Functions of Matrices, 11.5).

    Square roots are taken until the matrix is near the identity; there the [7/7] Padé approximant
    of the logarithm, which is a Gauss-Legendre sum, is exact to double precision.
    """
    return _each(_logm, jnp.asarray(a)) if a.size else a


def _logm(a: Any) -> Any:
    eye = jnp.eye(a.shape[-1], dtype=a.dtype)

    def far(state: Any) -> Any:
        count, root = state
        return (jnp.max(jnp.sum(jnp.abs(root - eye), 0)) > 0.264) & (count < 60)

    def halve(state: Any) -> Any:
        count, root = state
        return count + 1, jsl.sqrtm(root).astype(a.dtype)

    count, root = jax.lax.while_loop(far, halve, (0, a))
    nodes, weights = np.polynomial.legendre.leggauss(7)
    x = root - eye
    places = zip((nodes + 1) / 2, weights / 2, strict=True)
    total = sum(w * jnp.linalg.solve(eye + t * x, x) for t, w in places)
    return (total * 2.0**count).astype(a.dtype)


def tridiagonal_solve(diagonals: Any, b: Any) -> Any:
    diagonals, b = _spread(diagonals, b)
    if 0 in b.shape:
        return b
    edge = np.zeros(b.shape[-2], b.dtype)
    edge[-1:] = 1
    above = jnp.where(edge == 1, 0, diagonals[..., 0, :])  # what lies outside must be zero
    below = jnp.where(edge[::-1] == 1, 0, diagonals[..., 2, :])
    return lax_linalg.tridiagonal_solve(below, diagonals[..., 1, :], above, b)


def banded_solve(bands: Any, b: Any, *, lower: bool, adjoint: bool) -> Any:
    count, size = bands.shape[-2:]
    dense = jnp.zeros((*bands.shape[:-2], size, size), bands.dtype)
    for i in range(count):
        offset = i if lower else count - 1 - i
        if offset < size:
            near, far = np.arange(size - offset), np.arange(offset, size)
            rows, columns = (far, near) if lower else (near, far)
            entries = bands[..., i, offset:] if lower else bands[..., i, : size - offset]
            dense = dense.at[..., rows, columns].set(entries)
    return triangular_solve(dense, b, lower=lower, adjoint=adjoint)
