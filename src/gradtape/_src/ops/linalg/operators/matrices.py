"""Linear operators that hold their matrix, whole or its diagonal."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from ....core.convert import as_tensor
from ....core.tensor import Tensor
from ...array.cast import cast
from ...array.shape import expand_dims
from ...declare.static import to_tensor
from ...math.arithmetic import abs as absolute
from ...math.conjugate import conj
from ...math.exponential import log
from ...math.power import sqrt
from ...math.reduction import reduce_prod, reduce_sum
from ..diagonal import diag, diag_part, set_diag
from .operator import (
    HINTS,
    LinearOperator,
    broadcast_batch,
    hints_of,
    require_rank,
    variable_or_tensor,
)


class LinearOperatorFullMatrix(LinearOperator):
    """The operator of dense matrices."""

    def __init__(
        self,
        matrix: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        self._matrix = variable_or_tensor(matrix, name)
        require_rank(self._matrix, 2, name, "matrix")
        hints = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        super().__init__(self._matrix.dtype, None, *hints, name, {"matrix": matrix})

    matrix = property(attrgetter("_matrix"))

    def _matrix_shape(self) -> tuple[int, ...]:
        return tuple(self._matrix.shape)

    def _dense(self) -> Tensor:
        return to_tensor(self._matrix, self.name)


class LinearOperatorDiag(LinearOperator):
    """The operator of diagonal matrices."""

    def __init__(
        self,
        diag: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        self._diag = variable_or_tensor(diag, name)
        require_rank(self._diag, 1, name, "diag")
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError(f"{name}: a real diagonal operator is always self-adjoint.")
            is_self_adjoint = True
        if is_square is False:
            raise ValueError(f"{name}: only square diagonal operators exist here.")
        hints = is_non_singular, is_self_adjoint, is_positive_definite, True
        super().__init__(self._diag.dtype, None, *hints, name, {"diag": diag})

    diag = property(attrgetter("_diag"))

    def _matrix_shape(self) -> tuple[int, ...]:
        shape = tuple(self._diag.shape)
        return (*shape, shape[-1])

    def _values(self, adjoint: bool = False) -> Tensor:
        values = to_tensor(self._diag, self.name)
        return conj(values) if adjoint else values

    def _dense(self) -> Tensor:
        return diag(self._values())

    def _multiply(self, x: Tensor, adjoint: bool) -> Tensor:
        return expand_dims(self._values(adjoint), -1) * x

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        return rhs / expand_dims(self._values(adjoint), -1)

    def _diag_part(self) -> Tensor:
        return self._values()

    def _determinant(self) -> Tensor:
        return reduce_prod(self._values(), -1)

    def _log_abs_determinant(self) -> Tensor:
        return cast(reduce_sum(log(absolute(self._values())), -1), self.dtype)

    def _adjoint(self) -> LinearOperator:
        if self.is_self_adjoint:
            return self
        return LinearOperatorDiag(self._values(True), **hints_of(self))

    def _inverse(self) -> LinearOperator:
        return LinearOperatorDiag(1 / self._values(), **hints_of(self))

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorDiag(sqrt(self._values()), **dict.fromkeys(HINTS, True))

    def _eigvals(self) -> Tensor:
        return self._values()

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Tensor:
        x = broadcast_batch(as_tensor(x, self.dtype, "add_to_tensor"), self.batch_shape)
        return set_diag(x, diag_part(x) + self._values())
