"""Operators made of others: adjoint, inverse, product, blocks, Kronecker product, update."""

from __future__ import annotations

import math
from functools import reduce
from operator import attrgetter
from typing import Any

from ....core.errors import ShapeError
from ....core.spec import broadcast_shapes
from ....core.tensor import Tensor
from ...array.cast import cast
from ...array.joining import concat
from ...array.pad import pad
from ...array.shape import _reshape, adjoint, broadcast_to, expand_dims, matrix_transpose
from ...declare.static import to_tensor
from ...math.arithmetic import abs as absolute
from ...math.conjugate import conj
from ...math.exponential import log
from ...math.reduction import reduce_sum
from ..diagonal import diag_part
from ..matmul import matmul
from ..matrix_functions import kron
from ..systems import _solve, cholesky, cholesky_solve, det
from .identity import LinearOperatorIdentity
from .matrices import LinearOperatorDiag
from .operator import (
    LinearOperator,
    OfSeveral,
    _common_batch,
    require_rank,
    variable_or_tensor,
)


class LinearOperatorBlockDiag(OfSeveral):
    """Operators as blocks along the diagonal."""

    _sign = "_ds_"

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        hints = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        super().__init__(operators, *hints, name)

    def _matrix_shape(self) -> tuple[int, ...]:
        rows = sum(o.range_dimension for o in self._operators)
        columns = sum(o.domain_dimension for o in self._operators)
        return (*_common_batch(self.name, self._operators), rows, columns)

    def _joined(self, parts: list[Tensor]) -> Tensor:
        """Blocks one below the other, their axes before broadcast."""
        batch = broadcast_shapes(
            self.name, **{f"block{i}": tuple(p._array.shape[:-2]) for i, p in enumerate(parts)}
        )
        return concat([broadcast_to(p, (*batch, *p._array.shape[-2:])) for p in parts], -2)

    def _blocks(self, x: Tensor, sizes: list[int]) -> list[Tensor]:
        ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
        return [x[..., end - size : end, :] for end, size in zip(ends, sizes, strict=True)]

    def _dense(self) -> Tensor:
        rows, before = [], 0
        columns = self.domain_dimension
        for each in self._operators:
            block = each.to_dense()
            after = columns - before - each.domain_dimension
            rows.append(pad(block, [[0, 0]] * (block.ndim - 1) + [[before, after]]))
            before += each.domain_dimension
        return self._joined(rows)

    def _multiply(self, x: Tensor, adjoint: bool) -> Tensor:
        sizes = [o.range_dimension if adjoint else o.domain_dimension for o in self._operators]
        parts = self._blocks(x, sizes)
        return self._joined(
            [o.matmul(p, adjoint) for o, p in zip(self._operators, parts, strict=True)]
        )

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        parts = self._blocks(rhs, [o.range_dimension for o in self._operators])
        return self._joined(
            [o.solve(p, adjoint) for o, p in zip(self._operators, parts, strict=True)]
        )

    def _diag_part(self) -> Tensor:
        if not self._all_square:
            return super()._diag_part()
        parts = [expand_dims(o.diag_part(), -1) for o in self._operators]
        return self._joined(parts)[..., 0]

    def _determinant(self) -> Tensor:
        return reduce(lambda a, b: a * b, [o.determinant() for o in self._operators])

    def _log_abs_determinant(self) -> Tensor:
        return reduce(lambda a, b: a + b, [o.log_abs_determinant() for o in self._operators])

    def _inverse(self) -> LinearOperator:
        return self._of_each("inverse")

    def _cholesky(self) -> LinearOperator:
        return self._of_each("cholesky")


class LinearOperatorKronecker(OfSeveral):
    """The Kronecker product of operators; multiplied and solved factor by factor."""

    _sign = "_x_"

    def _matrix_shape(self) -> tuple[int, ...]:
        rows = math.prod(o.range_dimension for o in self._operators)
        columns = math.prod(o.domain_dimension for o in self._operators)
        return (*_common_batch(self.name, self._operators), rows, columns)

    def _dense(self) -> Tensor:
        return reduce(kron, [o.to_dense() for o in self._operators])

    def _factor_by_factor(self, x: Tensor, method: str, adjoint: bool) -> Tensor:
        """Each factor acts on the first axis of what is left; the axis it made goes to the end."""
        columns = x._array.shape[-1]
        for each in self._operators:
            taken = each.range_dimension if adjoint or method == "solve" else each.domain_dimension
            *batch, rows, rest = x._array.shape
            x = _reshape(x, shape=(*batch, taken, rows * rest // taken))
            x = matrix_transpose(getattr(each, method)(x, adjoint))
        *batch, rows, last = x._array.shape
        return matrix_transpose(_reshape(x, shape=(*batch, columns, rows * last // columns)))

    def _multiply(self, x: Tensor, adjoint: bool) -> Tensor:
        if not x._array.size:
            return super()._multiply(x, adjoint)
        return self._factor_by_factor(x, "matmul", adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        if not rhs._array.size or not self._all_square:
            return super()._solve(rhs, adjoint)
        return self._factor_by_factor(rhs, "solve", adjoint)

    def _diag_part(self) -> Tensor:
        if not self._all_square:
            return super()._diag_part()
        parts = [expand_dims(o.diag_part(), -1) for o in self._operators]
        return reduce(kron, parts)[..., 0]

    def _determinant(self) -> Tensor:
        if not self._all_square:
            return super()._determinant()
        size = self.domain_dimension
        powers = [o.determinant() ** (size // o.domain_dimension) for o in self._operators]
        return reduce(lambda a, b: a * b, powers)

    def _log_abs_determinant(self) -> Tensor:
        if not self._all_square:
            return super()._log_abs_determinant()
        size = self.domain_dimension
        logs = [o.log_abs_determinant() * (size / o.domain_dimension) for o in self._operators]
        return reduce(lambda a, b: a + b, logs)

    def _cholesky(self) -> LinearOperator:
        if not all(o._by_cholesky for o in self._operators):
            return super()._cholesky()
        return self._of_each("cholesky")


class LinearOperatorLowRankUpdate(LinearOperator):
    """`base_operator + u @ diag(diag_update) @ adjoint(v)`; solved through matrices of its small
    rank.

    Woodbury's formula for solutions, the matrix determinant lemma for determinants. `v` is `u` and
    `diag_update` ones if they are not given.
    """

    def __init__(
        self,
        base_operator: LinearOperator,
        u: Any,
        diag_update: Any = None,
        v: Any = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowRankUpdate",
    ) -> None:
        self._base = base_operator
        self._u = variable_or_tensor(u, name)
        self._v = self._u if v is None else variable_or_tensor(v, name)
        require_rank(self._u, 2, name, "u")
        require_rank(self._v, 2, name, "v")
        self._diag = None if diag_update is None else variable_or_tensor(diag_update, name)
        positive = diag_update is None or is_diag_update_positive
        if v is None and positive and base_operator._by_cholesky:
            is_positive_definite = True if is_positive_definite is None else is_positive_definite
            is_self_adjoint = True if is_self_adjoint is None else is_self_adjoint
        if self._u.shape[-2] != base_operator.range_dimension or (
            self._v.shape[-2] != base_operator.domain_dimension
        ):
            raise ShapeError(
                f"{name}: `u` and `v` must have as many rows as the base operator has rows and "
                f"columns. Received: base_operator.shape={base_operator.shape}, "
                f"u.shape={tuple(self._u.shape)}, v.shape={tuple(self._v.shape)}."
            )
        self._is_diag_update_positive = positive
        rank = self._u.shape[-1]
        self._small: LinearOperator = (
            LinearOperatorIdentity(rank, dtype=base_operator.dtype)
            if self._diag is None
            else LinearOperatorDiag(self._diag, is_positive_definite=is_diag_update_positive)
        )
        hints = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        parameters = {"base_operator": base_operator, "u": u, "diag_update": diag_update, "v": v}
        super().__init__(base_operator.dtype, None, *hints, name, parameters)

    base_operator = property(attrgetter("_base"))
    u = property(attrgetter("_u"))
    v = property(attrgetter("_v"))
    diag_update = property(attrgetter("_diag"))
    diag_operator = property(attrgetter("_small"))

    @property
    def is_diag_update_positive(self) -> bool | None:
        return self._is_diag_update_positive

    def _matrix_shape(self) -> tuple[int, ...]:
        batch = broadcast_shapes(
            f"{self.name} (batch axes)",
            base_operator=tuple(self._base.batch_shape),
            u=tuple(self._u.shape[:-2]),
            v=tuple(self._v.shape[:-2]),
            diag_update=tuple(self._small.batch_shape),
        )
        return (*batch, *self._base._matrix_shape()[-2:])

    def _factors(self, adjoint: bool = False) -> tuple[Tensor, Tensor]:
        u, v = to_tensor(self._u, self.name), to_tensor(self._v, self.name)
        return (v, u) if adjoint else (u, v)

    def _dense(self) -> Tensor:
        u, v = self._factors()
        update = matmul(u, self._small.matmul(adjoint(v)))
        return self._base.add_to_tensor(update)

    def _multiply(self, x: Tensor, adjoint: bool) -> Tensor:
        u, v = self._factors(adjoint)
        update = matmul(u, self._small.matmul(matmul(v, x, adjoint_a=True), adjoint))
        return self._base.matmul(x, adjoint) + update

    def _capacitance(self, adjoint: bool = False) -> Tensor:
        """`inv(D) + adjoint(v) @ inv(base) @ u`, of the size of the rank."""
        u, v = self._factors(adjoint)
        inner = matmul(v, self._base.solve(u, adjoint), adjoint_a=True)
        small = self._small.inverse()
        return (small.adjoint() if adjoint else small).add_to_tensor(inner)

    @property
    def _capacitance_by_cholesky(self) -> bool:
        return self._by_cholesky and self._u is self._v and bool(self._is_diag_update_positive)

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        u, v = self._factors(adjoint)
        first = self._base.solve(rhs, adjoint)
        inner = matmul(v, first, adjoint_a=True)
        small = self._capacitance(adjoint)
        if self._capacitance_by_cholesky:
            inner = cholesky_solve(cholesky(small), inner)
        else:
            inner = _solve(small, inner, adjoint=False)
        return first - self._base.solve(matmul(u, inner), adjoint)

    def _diag_part(self) -> Tensor:
        u, v = self._factors()
        weights = expand_dims(self._small.diag_part(), -2)
        return reduce_sum(u * conj(v) * weights, -1) + self._base.diag_part()

    def _determinant(self) -> Tensor:
        small = det(self._capacitance())
        return small * self._small.determinant() * self._base.determinant()

    def _log_abs_determinant(self) -> Tensor:
        small = self._capacitance()
        if self._capacitance_by_cholesky:
            size = reduce_sum(log(absolute(diag_part(cholesky(small)))), -1) * 2.0
        else:
            size = log(absolute(det(small)))
        rest = self._small.log_abs_determinant() + self._base.log_abs_determinant()
        return cast(size, self.dtype) + rest

    def _adjoint(self) -> LinearOperator:
        if self.is_self_adjoint:
            return self
        u, v = self._factors(True)
        return LinearOperatorLowRankUpdate(
            self._base.adjoint(), u, conj(self._small.diag_part()), v,
            is_non_singular=self.is_non_singular,
        )  # fmt: skip
