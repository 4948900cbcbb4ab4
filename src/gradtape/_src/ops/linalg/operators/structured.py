"""Operators with a structure of their own: circulant, Toeplitz, tridiagonal, Householder,
permutation.
"""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any

import numpy as np

from ....core import dtypes as dt
from ....core.errors import DTypeError, InvalidArgumentError, ShapeError
from ....core.shape import TensorShape
from ....core.spec import broadcast_shapes
from ....core.tensor import Tensor
from ...array.cast import cast
from ...array.creation import ones, zeros
from ...array.indexing import gather
from ...array.joining import concat
from ...array.shape import _reshape, broadcast_to, expand_dims, matrix_transpose
from ...declare.static import to_tensor
from ...math.arithmetic import abs as absolute
from ...math.complex import real, to_complex
from ...math.conjugate import conj
from ...math.exponential import log
from ...math.logic import equal
from ...math.ordering import argsort
from ...math.reduction import reduce_prod, reduce_sum
from ...signal.fft import fft, fft2d, fft3d, ifft, ifft2d, ifft3d
from ..diagonal import _adjoint_diagonals, _compact, diag, tridiagonal_matmul, tridiagonal_solve
from ..matmul import matmul
from ..norm import norm
from .operator import LinearOperator, broadcast_batch, hints_of, require_rank, variable_or_tensor

_TRANSFORMS = {1: (fft, ifft), 2: (fft2d, ifft2d), 3: (fft3d, ifft3d)}


def _complex(x: Tensor) -> Tensor:
    return x if x.dtype.is_complex else to_complex(x)


class LinearOperatorCirculant(LinearOperator):
    """Circulant matrices, given by their `spectrum`: the Fourier transforms of their first columns.

    They multiply and solve by fast Fourier transforms. `input_output_dtype` is the dtype of the
    operator; for a real one the matrices are real only if the spectrum is that of real numbers.
    """

    _depth = 1

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = dt.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        what = name or type(self).__name__
        self._spectrum = variable_or_tensor(spectrum, what)
        require_rank(self._spectrum, self._depth, what, "spectrum")
        if not self._spectrum.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError(f"{what}: a real spectrum always makes a self-adjoint operator.")
            is_self_adjoint = True
        hints = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        parameters = {"spectrum": spectrum, "input_output_dtype": input_output_dtype}
        super().__init__(input_output_dtype, None, *hints, what, parameters)

    spectrum = property(attrgetter("_spectrum"))

    @property
    def block_depth(self) -> int:
        return self._depth

    @property
    def block_shape(self) -> TensorShape:
        return TensorShape(tuple(self._spectrum.shape)[-self._depth :])

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """The first columns of the matrices, as blocks."""
        backward = _TRANSFORMS[self._depth][1]
        return self._cast(backward(_complex(to_tensor(self._spectrum, self.name))))

    def _matrix_shape(self) -> tuple[int, ...]:
        shape = tuple(self._spectrum.shape)
        size = math.prod(shape[-self._depth :])
        return (*shape[: -self._depth], size, size)

    def _cast(self, x: Tensor) -> Tensor:
        x = x if self.dtype.is_complex or not x.dtype.is_complex else real(x)
        return cast(x, self.dtype)

    def _through_spectrum(self, x: Tensor, adjoint: bool, divide: bool) -> Tensor:
        forward, backward = _TRANSFORMS[self._depth]
        spectrum = _complex(to_tensor(self._spectrum, self.name))
        spectrum = conj(spectrum) if adjoint else spectrum
        x = matrix_transpose(cast(broadcast_batch(x, self.batch_shape), spectrum.dtype))
        *leading, size = x._array.shape
        blocks = forward(_reshape(x, shape=(*leading, *self.block_shape)))
        # A column for each right-hand side, then the axes of the blocks.
        batch = tuple(spectrum._array.shape[: -self._depth])
        spectrum = _reshape(spectrum, shape=(*batch, 1, *self.block_shape))
        blocks = backward(blocks / spectrum if divide else blocks * spectrum)
        return self._cast(matrix_transpose(_reshape(blocks, shape=(*leading, size))))

    def _multiply(self, x: Tensor, adjoint: bool) -> Tensor:
        return self._through_spectrum(x, adjoint, False)

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        return self._through_spectrum(rhs, adjoint, True)

    def _flat(self) -> Tensor:
        """The eigenvalues."""
        spectrum = to_tensor(self._spectrum, self.name)
        batch = tuple(spectrum._array.shape[: -self._depth])
        return _reshape(spectrum, shape=(*batch, math.prod(self.block_shape)))

    def trace(self, name: str = "trace") -> Tensor:
        return self._cast(reduce_sum(self._flat(), -1))

    def _diag_part(self) -> Tensor:
        size = self.domain_dimension
        return expand_dims(self.trace() / size, -1) * ones([size], self.dtype)

    def _determinant(self) -> Tensor:
        return self._cast(reduce_prod(self._flat(), -1))

    def _log_abs_determinant(self) -> Tensor:
        return cast(reduce_sum(log(absolute(self._flat())), -1), self.dtype)

    def eigvals(self, name: str = "eigvals") -> Tensor:
        return self._flat()

    def _adjoint(self) -> LinearOperator:
        if self.is_self_adjoint:
            return self
        return type(self)(conj(to_tensor(self._spectrum, self.name)), self.dtype)

    def _inverse(self) -> LinearOperator:
        spectrum = to_tensor(self._spectrum, self.name)
        hints = hints_of(self, is_non_singular=True)
        return type(self)(1 / spectrum, self.dtype, **hints)


class LinearOperatorCirculant2D(LinearOperatorCirculant):
    """Block circulant matrices with circulant blocks, given by their spectrum [..., N0, N1]."""

    _depth = 2


class LinearOperatorCirculant3D(LinearOperatorCirculant):
    """Circulant matrices of blocks that are 2-D circulant, given by their spectrum [..., N0, N1,
    N2].
    """

    _depth = 3


class LinearOperatorToeplitz(LinearOperator):
    """Matrices with constant diagonals: of first columns `col` and rows `row` (row[0] not read)."""

    def __init__(
        self,
        col: Any,
        row: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorToeplitz",
    ) -> None:
        self._col, self._row = variable_or_tensor(col, name), variable_or_tensor(row, name)
        require_rank(self._col, 1, name, "col")
        require_rank(self._row, 1, name, "row")
        if self._col.shape[-1] != self._row.shape[-1] or is_square is False:
            raise ShapeError(
                f"{name}: the matrices must be square, `col` and `row` of one length. Received: "
                f"col.shape={tuple(self._col.shape)}, row.shape={tuple(self._row.shape)}."
            )
        hints = is_non_singular, is_self_adjoint, is_positive_definite, True
        super().__init__(self._row.dtype, None, *hints, name, {"col": col, "row": row})

    col = property(attrgetter("_col"))
    row = property(attrgetter("_row"))

    def _shape(self) -> tuple[int, ...]:
        return broadcast_shapes(self.name, col=tuple(self._col.shape), row=tuple(self._row.shape))

    def _matrix_shape(self) -> tuple[int, ...]:
        shape = self._shape()
        return (*shape, shape[-1])

    def _vectors(self) -> tuple[Tensor, Tensor]:
        shape = self._shape()
        col, row = to_tensor(self._col, self.name), to_tensor(self._row, self.name)
        return broadcast_to(col, shape), broadcast_to(row, shape)

    def _dense(self) -> Tensor:
        col, row = self._vectors()
        size = self.domain_dimension
        places = np.arange(size) - np.arange(size)[:, None] + size - 1
        entries = concat([col[..., ::-1], row[..., 1:]], -1)
        return gather(entries, Tensor(places.astype(np.int32)), axis=-1)

    def _multiply(self, x: Tensor, adjoint: bool) -> Tensor:
        """By a circulant matrix of twice the size, of which this one is a corner."""
        if self.domain_dimension <= 64:
            return matmul(self._dense(), x, adjoint_a=adjoint)
        col, row = self._vectors()
        size = self.domain_dimension
        around = concat([col, col[..., :1] * 0, row[..., :0:-1]], -1)
        circulant = LinearOperatorCirculant(fft(_complex(around)), self.dtype)
        below = zeros(x._array.shape, self.dtype)
        return circulant.matmul(concat([x, below], -2), adjoint)[..., :size, :]

    def _diag_part(self) -> Tensor:
        col, _ = self._vectors()
        return col[..., :1] * ones([self.domain_dimension], self.dtype)


class LinearOperatorTridiag(LinearOperator):
    """Tridiagonal matrices, given by their diagonals as in `tridiagonal_solve`."""

    def __init__(
        self,
        diagonals: Any,
        diagonals_format: str = "compact",
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorTridiag",
    ) -> None:
        several = diagonals_format == "sequence"
        if several:
            self._diagonals: Any = [variable_or_tensor(d, name) for d in diagonals]
        else:
            self._diagonals = variable_or_tensor(diagonals, name)
        self._format = diagonals_format
        if is_square is False:
            raise ValueError(f"{name}: a tridiagonal operator is always square.")
        shape = tuple(_compact(self._diagonals, diagonals_format, name).shape)
        if len(shape) < 2 or shape[-2] != 3:
            raise ShapeError(
                f"{name}: `diagonals` in compact form must have shape [..., 3, M], and has {shape}."
            )
        dtype = (self._diagonals[1] if several else self._diagonals).dtype
        hints = is_non_singular, is_self_adjoint, is_positive_definite, True
        parameters = {"diagonals": diagonals, "diagonals_format": diagonals_format}
        super().__init__(dtype, None, *hints, name, parameters)

    diagonals = property(attrgetter("_diagonals"))

    @property
    def diagonals_format(self) -> str:
        return self._format

    def _stacked(self, adjoint: bool = False) -> Tensor:
        compact = _compact(self._diagonals, self._format, self.name)
        return _adjoint_diagonals(compact) if adjoint else compact

    def _matrix_shape(self) -> tuple[int, ...]:
        *batch, _, size = self._stacked()._array.shape
        return (*batch, size, size)

    def _dense(self) -> Tensor:
        compact = self._stacked()
        if compact._array.shape[-1] < 2:
            return diag(compact[..., 1, :])
        return diag(compact, k=(-1, 1), align="LEFT_RIGHT")

    def _both(self, x: Tensor, adjoint: bool) -> tuple[Tensor, Tensor]:
        x = broadcast_batch(x, self.batch_shape)
        compact = self._stacked(adjoint)
        return broadcast_batch(compact, x._array.shape[:-2]), x

    def _multiply(self, x: Tensor, adjoint: bool) -> Tensor:
        return tridiagonal_matmul(*self._both(x, adjoint))

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        return tridiagonal_solve(*self._both(rhs, adjoint))

    def _diag_part(self) -> Tensor:
        return self._stacked()[..., 1, :]

    def _adjoint(self) -> LinearOperator:
        return self if self.is_self_adjoint else LinearOperatorTridiag(self._stacked(True))


class LinearOperatorHouseholder(LinearOperator):
    """Reflections `I - 2 v adjoint(v)` at the planes orthogonal to `reflection_axis`, of any
    length.
    """

    def __init__(
        self,
        reflection_axis: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorHouseholder",
    ) -> None:
        self._axis = variable_or_tensor(reflection_axis, name)
        require_rank(self._axis, 1, name, "reflection_axis")
        if is_self_adjoint is False or is_non_singular is False or is_square is False:
            raise ValueError(f"{name}: a reflection is square, self-adjoint and non-singular.")
        if is_positive_definite:
            raise ValueError(f"{name}: a reflection is never positive definite.")
        super().__init__(self._axis.dtype, None, True, True, False, True, name,
                         {"reflection_axis": reflection_axis})  # fmt: skip

    reflection_axis = property(attrgetter("_axis"))

    def _matrix_shape(self) -> tuple[int, ...]:
        shape = tuple(self._axis.shape)
        return (*shape, shape[-1])

    def _unit(self) -> Tensor:
        axis = to_tensor(self._axis, self.name)
        return expand_dims(axis / norm(axis, axis=-1, keepdims=True), -1)

    def _multiply(self, x: Tensor, adjoint: bool) -> Tensor:
        unit = self._unit()
        return x - matmul(unit, matmul(unit, x, adjoint_a=True)) * 2

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        return self._multiply(rhs, adjoint)

    def _diag_part(self) -> Tensor:
        unit = self._unit()[..., 0]
        return 1 - unit * conj(unit) * 2

    def trace(self, name: str = "trace") -> Tensor:
        return ones(self.batch_shape, self.dtype) * (self.domain_dimension - 2)

    def _determinant(self) -> Tensor:
        return -ones(self.batch_shape, self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return zeros(self.batch_shape, self.dtype)

    def _inverse(self) -> LinearOperator:
        return self

    def _eigvals(self) -> Tensor:
        rest = ones((*self.batch_shape, self.domain_dimension - 1), self.dtype)
        return concat([-ones((*self.batch_shape, 1), self.dtype), rest], -1)


class LinearOperatorPermutation(LinearOperator):
    """Permutations of rows: `(operator @ x)[i] = x[perm[i]]`."""

    def __init__(
        self,
        perm: Any,
        dtype: Any = dt.float32,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorPermutation",
    ) -> None:
        self._perm = to_tensor(perm, name)
        require_rank(self._perm, 1, name, "perm")
        if not self._perm.dtype.is_integer:
            raise DTypeError(f"{name}: `perm` must hold integers, and is {self._perm.dtype.name}.")
        values = np.asarray(self._perm)
        if (np.sort(values, -1) != np.arange(values.shape[-1])).any():
            raise InvalidArgumentError(
                f"{name}: `perm` must hold each of 0 to {values.shape[-1] - 1} once."
            )
        if is_non_singular is False or is_square is False:
            raise ValueError(f"{name}: a permutation is always square and non-singular.")
        super().__init__(dtype, None, True, is_self_adjoint, is_positive_definite, True, name,
                         {"perm": perm, "dtype": dtype})  # fmt: skip

    perm = property(attrgetter("_perm"))

    def _matrix_shape(self) -> tuple[int, ...]:
        shape = tuple(self._perm.shape)
        return (*shape, shape[-1])

    def _dense(self) -> Tensor:
        numbers = Tensor(np.arange(self.domain_dimension).astype(self._perm._array.dtype))
        return cast(equal(numbers, expand_dims(self._perm, -1)), self.dtype)

    def _multiply(self, x: Tensor, adjoint: bool) -> Tensor:
        x = broadcast_batch(x, self.batch_shape)
        perm = argsort(self._perm) if adjoint else self._perm
        perm = broadcast_to(perm, (*x._array.shape[:-2], self.domain_dimension))
        return gather(x, perm, axis=x.ndim - 2, batch_dims=x.ndim - 2)

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        return self._multiply(rhs, not adjoint)

    def _determinant(self) -> Tensor:
        """The sign of the permutation."""
        return LinearOperator._determinant(self)

    def _log_abs_determinant(self) -> Tensor:
        return zeros(self.batch_shape, self.dtype)

    def _adjoint(self) -> LinearOperator:
        return self._inverse()

    def _inverse(self) -> LinearOperator:
        return LinearOperatorPermutation(argsort(self._perm), self.dtype)
