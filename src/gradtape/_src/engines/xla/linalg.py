"""Linear algebra of the XLA engine.

While a program is compiled values are not known: a singular matrix gives Inf or NaN, and the call
of the program raises where eager code does.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
from jax.lax import linalg as lax_linalg

from ..linalg import LinearAlgebra
from .checks import refuse_unless


class XlaLinearAlgebra(LinearAlgebra):
    """JAX's functions, and what is made of them."""

    def inv(self, a: Any) -> Any:
        eye = jnp.eye(a.shape[-1], dtype=a.dtype)
        return self.solve(a, jnp.broadcast_to(eye, a.shape), adjoint=False)

    def solve(self, a: Any, b: Any, *, adjoint: bool) -> Any:
        a, b = _broadcast_batches(a, b)
        factors, pivots, _ = self._factors(a)
        return jsl.lu_solve((factors, pivots), b, trans=2 if adjoint else 0)

    def _factors(self, a: Any) -> Any:
        """LU, the rows that were exchanged, and their permutation; an error if it is singular."""
        factors, pivots, perm = lax_linalg.lu(jnp.asarray(a))
        refuse_unless(_is_regular, jnp.diagonal(factors, axis1=-2, axis2=-1))
        return factors, pivots, perm

    def cofactor(self, a: Any) -> Any:
        u, s, vh = jnp.linalg.svd(jnp.asarray(a))
        others = jnp.where(np.eye(s.shape[-1], dtype=bool), 1, s[..., None, :]).prod(-1)
        turn = jnp.linalg.det(u) * jnp.linalg.det(vh)
        return jnp.conj(turn)[..., None, None] * ((u * others[..., None, :].astype(a.dtype)) @ vh)

    def cholesky(self, a: Any) -> Any:
        return jnp.linalg.cholesky(a, symmetrize_input=False)

    def triangular_solve(self, a: Any, b: Any, *, lower: bool, adjoint: bool) -> Any:
        a, b = _broadcast_batches(a, b)
        return lax_linalg.triangular_solve(
            a, b, left_side=True, lower=lower, transpose_a=adjoint, conjugate_a=adjoint
        )

    def eigh(self, a: Any) -> Any:
        e, v = jnp.linalg.eigh(a, "L", symmetrize_input=False)
        return e.astype(a.dtype), v

    def eigvalsh(self, a: Any) -> Any:
        return self.eigh(a)[0]  # JAX's own would read both triangles

    def eig(self, a: Any) -> Any:
        refuse_unless(_is_finite, a)
        return tuple(jnp.linalg.eig(a))

    def eigvals(self, a: Any) -> Any:
        refuse_unless(_is_finite, a)
        return jnp.linalg.eigvals(a)

    def lu(self, a: Any) -> Any:
        packed, _, perm = self._factors(a)
        return packed, perm

    def sylvester(self, a: Any, b: Any, c: Any) -> Any:
        """By the Kronecker form: XLA has no Schur factors on an accelerator."""
        a, b, c = _broadcast_batches(a, b, c)
        m, n = c.shape[-2:]
        turned = jnp.swapaxes(b, -1, -2)
        left = a[..., :, None, :, None] * jnp.eye(n, dtype=c.dtype)[:, None, :]
        right = jnp.eye(m, dtype=c.dtype)[:, None, :, None] * turned[..., None, :, None, :]
        system = (left + right).reshape(*c.shape[:-2], m * n, m * n)
        return jnp.linalg.solve(system, c.reshape(*c.shape[:-2], m * n, 1)).reshape(c.shape)

    def expm(self, a: Any) -> Any:
        return jsl.expm(jnp.asarray(a))

    def sqrtm(self, a: Any) -> Any:
        a = jnp.asarray(a)
        if not a.size:
            return a
        out = _each(jsl.sqrtm, a)
        if a.dtype.kind == "c":
            return out.astype(a.dtype)
        scale = jnp.max(jnp.abs(out), (-1, -2), keepdims=True)
        turned = jnp.max(jnp.abs(out.imag), (-1, -2), keepdims=True)
        return jnp.where(turned <= 1e-6 * scale, out.real, jnp.nan).astype(a.dtype)

    def logm(self, a: Any) -> Any:
        """Inverse scaling and squaring (Higham, Functions of Matrices, 11.5).

        Square roots are taken until the matrix is near the identity; there the [7/7] Padé
        approximant of the logarithm, a Gauss-Legendre sum, is exact to double precision.
        """
        return _each(_logm, jnp.asarray(a)) if a.size else a

    def tridiagonal_solve(self, diagonals: Any, b: Any) -> Any:
        diagonals, b = _broadcast_batches(diagonals, b)
        if 0 in b.shape:
            return b
        edge = np.zeros(b.shape[-2], b.dtype)
        edge[-1:] = 1
        above = jnp.where(edge == 1, 0, diagonals[..., 0, :])  # what lies outside must be zero
        below = jnp.where(edge[::-1] == 1, 0, diagonals[..., 2, :])
        return lax_linalg.tridiagonal_solve(below, diagonals[..., 1, :], above, b)

    def banded_solve(self, bands: Any, b: Any, *, lower: bool, adjoint: bool) -> Any:
        count, size = bands.shape[-2:]
        refuse_unless(_is_regular, bands[..., 0 if lower else -1, :])
        dense = jnp.zeros((*bands.shape[:-2], size, size), bands.dtype)
        for i in range(count):
            offset = i if lower else count - 1 - i
            if offset < size:
                near, far = np.arange(size - offset), np.arange(offset, size)
                rows, columns = (far, near) if lower else (near, far)
                entries = bands[..., i, offset:] if lower else bands[..., i, : size - offset]
                dense = dense.at[..., rows, columns].set(entries)
        return self.triangular_solve(dense, b, lower=lower, adjoint=adjoint)


def _is_regular(pivots: Any) -> Any:
    return ((pivots == pivots) & (pivots != 0)).all()  # NaN is not equal to itself


def _is_finite(a: Any) -> Any:
    return jnp.isfinite(a).all()


def _broadcast_batches(*arrays: Any) -> Any:
    """The arrays with their leading axes broadcast, which XLA does not do by itself."""
    batch = np.broadcast_shapes(*[a.shape[:-2] for a in arrays])
    return [jnp.broadcast_to(a, (*batch, *a.shape[-2:])) for a in arrays]


def _each(function: Any, *arrays: Any) -> Any:
    """`function` of each matrix, for the functions that take one only."""
    spread = _broadcast_batches(*arrays)
    batch = spread[0].shape[:-2]
    flat = [a.reshape(-1, *a.shape[-2:]) for a in spread]
    if not batch:
        return function(*arrays)
    if 0 in batch:
        return flat[-1].reshape(spread[-1].shape)
    out = jax.vmap(function)(*flat)
    return out.reshape(*batch, *out.shape[1:])


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
