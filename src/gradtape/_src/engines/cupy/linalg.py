"""Linear algebra of the CuPy engine: cuSOLVER's and cuBLAS', and the host's where they have none.

cuSOLVER reports a matrix that has no answer by a number that CuPy looks at only if it is told to.
"""

from __future__ import annotations

from typing import Any

import cupy
import cupyx
import numpy as np
from numpy.linalg import LinAlgError

from ..linalg import LinearAlgebra
from ..numpy.linalg import SINGULAR


class CupyLinearAlgebra(LinearAlgebra):
    """CuPy's functions, with errors that say what is wrong."""

    def inv(self, a: Any) -> Any:
        if not a.size:
            return a
        return self._checked(lambda: cupy.linalg.inv(a), a)

    def solve(self, a: Any, b: Any, *, adjoint: bool) -> Any:
        if a.ndim < 2 or a.shape[-1] != a.shape[-2] or a.shape[-1] != b.shape[-2]:
            return self._on_host("solve", a, b, adjoint=adjoint)  # which says what is wrong
        if not a.size or not b.size:
            batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
            return cupy.zeros((*batch, *b.shape[-2:]), b.dtype)
        a = self.adjoint(a) if adjoint else a
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a = cupy.broadcast_to(a, (*batch, *a.shape[-2:]))
        b = cupy.broadcast_to(b, (*batch, *b.shape[-2:]))
        return self._checked(lambda: cupy.linalg.solve(a, b), a)

    def _checked(self, solve: Any, a: Any) -> Any:
        if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
            raise LinAlgError("Last 2 dimensions of the array must be square")
        try:
            with cupyx.errstate(linalg="raise"):
                out = solve()
        except LinAlgError:
            raise LinAlgError(SINGULAR) from None
        if not bool(cupy.isfinite(out.sum())) and not bool(cupy.isfinite(out).all()):
            raise LinAlgError(SINGULAR)
        return out

    def det(self, a: Any) -> Any:
        return cupy.asarray(cupy.linalg.det(a), a.dtype)

    def slogdet(self, a: Any) -> Any:
        sign, log = cupy.linalg.slogdet(a)
        return cupy.where(cupy.isnan(log), log, sign).astype(a.dtype), log.astype(a.dtype)

    def cholesky(self, a: Any) -> Any:
        if not a.size or a.ndim < 2 or a.shape[-1] != a.shape[-2]:
            return self._on_host("cholesky", a)
        try:
            with cupyx.errstate(linalg="raise"):
                return cupy.linalg.cholesky(a)
        except LinAlgError:  # a matrix of several may be wrong: the others are not
            return self._on_host("cholesky", a)

    def triangular_solve(self, a: Any, b: Any, *, lower: bool, adjoint: bool) -> Any:
        from cupyx.scipy.linalg import solve_triangular

        if a.ndim != 2 or b.ndim != 2 or not b.size or a.shape[0] != len(b) or (
            a.shape[0] != a.shape[1]
        ):  # fmt: skip
            return self._on_host("triangular_solve", a, b, lower=lower, adjoint=adjoint)
        trans = ("C" if a.dtype.kind == "c" else "T") if adjoint else "N"
        return solve_triangular(a, b, trans=trans, lower=lower)

    def pinv(self, a: Any, rcond: Any) -> Any:
        s, u, v = self.svd(a, full_matrices=False)
        if not s.shape[-1]:
            return (v * s[..., None, :].astype(a.dtype)) @ self.adjoint(u)
        cutoff = rcond[..., None] * s.max(-1, keepdims=True)
        kept = cupy.where(s > cutoff, s, np.inf)
        kept = cupy.where(cupy.isnan(s), s, kept)
        return (v / kept[..., None, :].astype(a.dtype)) @ self.adjoint(u)

    def qr(self, a: Any, *, full_matrices: bool) -> Any:
        if a.ndim > 2 or not a.size:
            return self._on_host("qr", a, full_matrices=full_matrices)
        return tuple(cupy.linalg.qr(a, "complete" if full_matrices else "reduced"))

    def svd(self, a: Any, *, full_matrices: bool) -> Any:
        if not a.size or bool(cupy.isnan(a.sum())):
            return self._on_host("svd", a, full_matrices=full_matrices)
        u, s, vh = cupy.linalg.svd(a, full_matrices)
        return s, u, self.adjoint(vh)

    def svdvals(self, a: Any) -> Any:
        if not a.size or bool(cupy.isnan(a.sum())):
            return self._on_host("svdvals", a)
        return cupy.linalg.svd(a, compute_uv=False)

    def eigh(self, a: Any) -> Any:
        if not a.size:
            return self._on_host("eigh", a)
        e, v = cupy.linalg.eigh(a)
        return e.astype(a.dtype), v

    def eigvalsh(self, a: Any) -> Any:
        if not a.size:
            return self._on_host("eigvalsh", a)
        return cupy.linalg.eigvalsh(a).astype(a.dtype)
