"""The operators of identity matrices, and of zeros."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from ....core import dtypes as dt
from ....core.convert import as_tensor
from ....core.errors import InvalidArgumentError
from ....core.spec import broadcast_shapes
from ....core.tensor import Tensor
from ...array.cast import cast
from ...array.creation import eye, ones, zeros
from ...array.shape import expand_dims
from ...declare.static import static_int, static_ints, to_tensor
from ...math.arithmetic import abs as absolute
from ...math.conjugate import conj
from ...math.exponential import log
from ...math.power import sqrt
from ..diagonal import diag_part, set_diag
from .operator import HINTS, LinearOperator, broadcast_batch, hints_of, variable_or_tensor


def _count(value: Any, what: str, name: str) -> int:
    count = static_int(value, what, name)
    if count < 0:
        raise InvalidArgumentError(f"{what}: `{name}` must not be negative, and is {count}.")
    return count


class LinearOperatorScaledIdentity(LinearOperator):
    """Identity matrices times `multiplier`, whose shape is that of the batch."""

    def __init__(
        self,
        num_rows: Any,
        multiplier: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        self._num_rows = _count(num_rows, name, "num_rows")
        self._multiplier = variable_or_tensor(multiplier, name)
        if not is_square:
            raise ValueError(f"{name}: a scaled identity is always square.")
        if not self._multiplier.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError(f"{name}: a real scaled identity is always self-adjoint.")
            is_self_adjoint = True
        hints = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        parameters = {"num_rows": num_rows, "multiplier": multiplier}
        super().__init__(self._multiplier.dtype, None, *hints, name, parameters)

    multiplier = property(attrgetter("_multiplier"))

    def _matrix_shape(self) -> tuple[int, ...]:
        return (*self._multiplier.shape, self._num_rows, self._num_rows)

    def _factor(self, axes: int, adjoint: bool = False) -> Tensor:
        factor = to_tensor(self._multiplier, self.name)
        factor = conj(factor) if adjoint else factor
        for _ in range(axes):
            factor = expand_dims(factor, -1)
        return factor

    def _dense(self) -> Tensor:
        return self._factor(2) * eye(self._num_rows, dtype=self.dtype)

    def _multiply(self, x: Tensor, adjoint: bool) -> Tensor:
        return self._factor(2, adjoint) * x

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        return rhs / self._factor(2, adjoint)

    def _diag_part(self) -> Tensor:
        return self._factor(1) * ones([self._num_rows], self.dtype)

    def _determinant(self) -> Tensor:
        return self._factor(0) ** self._num_rows

    def _log_abs_determinant(self) -> Tensor:
        return cast(log(absolute(self._factor(0))) * float(self._num_rows), self.dtype)

    def _adjoint(self) -> LinearOperator:
        if self.is_self_adjoint:
            return self
        return LinearOperatorScaledIdentity(self._num_rows, self._factor(0, True))

    def _inverse(self) -> LinearOperator:
        hints = hints_of(self, is_non_singular=True)
        return LinearOperatorScaledIdentity(self._num_rows, 1 / self._factor(0), **hints)

    def _cholesky(self) -> LinearOperator:
        hints = dict.fromkeys(HINTS, True)
        return LinearOperatorScaledIdentity(self._num_rows, sqrt(self._factor(0)), **hints)

    def _eigvals(self) -> Tensor:
        return self._diag_part()

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Tensor:
        x = broadcast_batch(as_tensor(mat, self.dtype, "add_to_tensor"), self.batch_shape)
        return set_diag(x, diag_part(x) + self._factor(1))


class LinearOperatorIdentity(LinearOperatorScaledIdentity):
    """Identity matrices."""

    _is_identity = True

    def __init__(
        self,
        num_rows: Any,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        hints = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        if not all(hints):
            raise ValueError(
                f"{name}: an identity is always square, self-adjoint and positive definite."
            )
        batch = () if batch_shape is None else static_ints(batch_shape, name, "batch_shape")
        super().__init__(num_rows, ones(batch, dtype or dt.float32), *hints, name=name)
        self._parameters = {"num_rows": num_rows, "batch_shape": batch_shape, "dtype": dtype}

    def _multiply(self, x: Tensor, adjoint: bool) -> Tensor:
        return broadcast_batch(x, self.batch_shape)

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        return broadcast_batch(rhs, self.batch_shape)

    def _inverse(self) -> LinearOperator:
        return self

    def _cholesky(self) -> LinearOperator:
        return self


class LinearOperatorZeros(LinearOperator):
    """Matrices of zeros."""

    def __init__(
        self,
        num_rows: Any,
        num_columns: Any = None,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ) -> None:
        rows = _count(num_rows, name, "num_rows")
        columns = rows if num_columns is None else _count(num_columns, name, "num_columns")
        batch = () if batch_shape is None else static_ints(batch_shape, name, "batch_shape")
        self._shape = (*batch, rows, columns)
        if is_non_singular or is_positive_definite:
            raise ValueError(f"{name}: a matrix of zeros is singular, and not positive definite.")
        if (is_square or is_self_adjoint) and rows != columns:
            raise ValueError(
                f"{name}: matrices of {rows} rows and {columns} columns are not square; give "
                "is_square=False and is_self_adjoint=False."
            )
        hints = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        parameters = {"num_rows": num_rows, "num_columns": num_columns, "batch_shape": batch_shape}
        super().__init__(dtype or dt.float32, None, *hints, name, parameters)

    def _matrix_shape(self) -> tuple[int, ...]:
        return self._shape

    def _dense(self) -> Tensor:
        return zeros(self._shape, self.dtype)

    def _multiply(self, x: Tensor, adjoint: bool) -> Tensor:
        rows = self._shape[-1 if adjoint else -2]
        batch = broadcast_shapes(self.name, x=tuple(x._array.shape[:-2]), operator=self._shape[:-2])
        return zeros((*batch, rows, x._array.shape[-1]), self.dtype)

    def _determinant(self) -> Tensor:
        return zeros(self._shape[:-2], self.dtype)

    def _diag_part(self) -> Tensor:
        return zeros((*self._shape[:-2], min(self._shape[-2:])), self.dtype)

    def _eigvals(self) -> Tensor:
        return self._diag_part()

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Tensor:
        return broadcast_batch(as_tensor(mat, self.dtype, "add_to_tensor"), self.batch_shape)
