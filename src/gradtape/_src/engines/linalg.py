"""Linear algebra, as `xp.matrices`: what an engine must do, and how it is done if it does not say.

All functions act on the last two axes; leading axes are a batch, and broadcast between arguments.
The dtypes are float32, float64, complex64 and complex128. A matrix for which there is no answer
raises `numpy.linalg.LinAlgError` with a text that says what is wrong (the op adds its name), or
gives NaN where the text says so. Of a compiled engine, the call of the program raises.
"""

from __future__ import annotations

from typing import Any


class LinearAlgebra:
    """The functions, in terms of `xp.linalg`; those that NumPy's namespace lacks, on the host."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp

    def adjoint(self, a: Any) -> Any:
        """The conjugate transpose."""
        a = a.swapaxes(-1, -2)
        return a.conj() if a.dtype.kind == "c" else a

    # Systems

    def inv(self, a: Any) -> Any:
        """The inverse; an error for a singular matrix, and for one with a NaN."""
        return self._xp.linalg.inv(a)

    def solve(self, a: Any, b: Any, *, adjoint: bool) -> Any:
        """x of `a x = b`, with the adjoint of `a` on request; errors as those of `inv`."""
        return self._xp.linalg.solve(self.adjoint(a) if adjoint else a, b)

    def triangular_solve(self, a: Any, b: Any, *, lower: bool, adjoint: bool) -> Any:
        """The same for the lower (upper) triangle of `a`; what stands in the other is not read.

        Inf or NaN where the diagonal has a zero; an error only for shapes that do not fit.
        """
        return self._on_host("triangular_solve", a, b, lower=lower, adjoint=adjoint)

    def tridiagonal_solve(self, diagonals: Any, b: Any) -> Any:
        """The same for (..., 3, n) `diagonals`: above, main, below; NaN for a singular matrix.

        The last entry above and the first entry below are not read.
        """
        return self._on_host("tridiagonal_solve", diagonals, b)

    def banded_solve(self, bands: Any, b: Any, *, lower: bool, adjoint: bool) -> Any:
        """The same for a triangular matrix of (..., count, n) `bands`.

        The main diagonal is the first of them if `lower`, else the last; `bands[..., i, r]` is the
        entry of diagonal i in row r. An error for a zero on the main diagonal.
        """
        return self._on_host("banded_solve", bands, b, lower=lower, adjoint=adjoint)

    def sylvester(self, a: Any, b: Any, c: Any) -> Any:
        """X of `a X + X b = c`; NaN if an entry is not finite."""
        return self._on_host("sylvester", a, b, c)

    def pinv(self, a: Any, rcond: Any) -> Any:
        """The pseudo-inverse; singular values up to `rcond` (of the batch's shape) count as 0."""
        xp = self._xp
        s, u, v = self.svd(a, full_matrices=False)
        cutoff = rcond[..., None] * s.max(-1, keepdims=True, initial=0)
        inverse = xp.where(s <= cutoff, xp.zeros((), dtype=s.dtype), 1 / s)
        return (v * inverse[..., None, :].astype(a.dtype)) @ self.adjoint(u)

    # Determinants

    def det(self, a: Any) -> Any:
        """The determinant."""
        return self._xp.linalg.det(a)

    def slogdet(self, a: Any) -> Any:
        """Its sign and the logarithm of its absolute value, both in the dtype of `a`."""
        sign, log = self._xp.linalg.slogdet(a)
        return sign, log.astype(a.dtype)

    def cofactor(self, a: Any) -> Any:
        """The conjugate derivative of the determinant, of singular matrices too."""
        return self._on_host("cofactor", a)

    # Factors

    def cholesky(self, a: Any) -> Any:
        """The lower factor; NaN for a matrix that is not positive definite."""
        return self._on_host("cholesky", a)

    def lu(self, a: Any) -> Any:
        """L and U in one matrix (the ones of L left out), and the rows' permutation as int64.

        Row i of the factors is row permutation[i] of `a`. An error for a singular matrix.
        """
        return self._on_host("lu", a)

    def qr(self, a: Any, *, full_matrices: bool) -> Any:
        """The tuple (Q, R); the Q of a matrix of m x n is m x min(m, n) if not full, else m x m."""
        return tuple(self._xp.linalg.qr(a, "complete" if full_matrices else "reduced"))

    def svd(self, a: Any, *, full_matrices: bool) -> Any:
        """(s, u, v): real singular values, descending; left and right vectors as columns.

        All NaN for a matrix with a NaN.
        """
        u, s, vh = self._xp.linalg.svd(a, full_matrices)
        return s, u, self.adjoint(vh)

    def svdvals(self, a: Any) -> Any:
        """The singular values alone."""
        return self._xp.linalg.svd(a, compute_uv=False)

    def eigh(self, a: Any) -> Any:
        """Eigenvalues, ascending and in the dtype of `a`, and eigenvectors as columns.

        `a` is Hermitian: only its lower triangle is read.
        """
        e, v = self._xp.linalg.eigh(a)
        return e.astype(a.dtype), v

    def eigvalsh(self, a: Any) -> Any:
        """The eigenvalues alone."""
        return self._xp.linalg.eigvalsh(a).astype(a.dtype)

    def eig(self, a: Any) -> Any:
        """Eigenvalues and eigenvectors of any matrix, complex; an error for NaN and Inf."""
        return self._on_host("eig", a)

    def eigvals(self, a: Any) -> Any:
        """The eigenvalues alone."""
        return self._on_host("eigvals", a)

    # Functions of matrices

    def expm(self, a: Any) -> Any:
        """The matrix exponential; NaN for a matrix that is not finite."""
        return self._on_host("expm", a)

    def sqrtm(self, a: Any) -> Any:
        """The principal square root; NaN for a real matrix that has no real one."""
        return self._on_host("sqrtm", a)

    def logm(self, a: Any) -> Any:
        """The principal logarithm; NaN for a real matrix that has no real one."""
        return self._on_host("logm", a)

    def _on_host(self, member: str, *arrays: Any, **params: Any) -> Any:
        xp = self._xp
        return xp.on_host(getattr(xp.host.matrices, member), *arrays, **params)
