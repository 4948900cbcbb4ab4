"""Operators made of others: adjoint, inverse, product, blocks, Kronecker product, update."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

from ..core.errors import DTypeError, ShapeError
from ..core.spec import broadcast_shapes
from ..core.tensor import Tensor
from ._family import conj
from ._static import to_tensor
from .arithmetic import abs as absolute
from .contraction import matmul
from .creation import cast, eye
from .diagonal import diag_part
from .exponential import log
from .joining import concat
from .linalg import kron
from .linear_operator import (
    LinearOperator,
    LinearOperatorDiag,
    kept_or_tensor,
    require_rank,
)
from .linear_operator_identity import LinearOperatorIdentity
from .linear_systems import _solve, cholesky, cholesky_solve, det
from .reduction import reduce_sum
from .shape import _reshape, adjoint, broadcast_to, expand_dims, matrix_transpose
from .slicing import pad


def _all(hints: Any) -> bool | None:
    """True if all operators promise it; else unknown."""
    return True if all(hints) else None


def _checked(operators: Any, name: str) -> list[LinearOperator]:
    operators = list(operators) if isinstance(operators, Sequence) else []
    if not operators or not all(isinstance(o, LinearOperator) for o in operators):
        raise ValueError(f"{name}: `operators` must be a list of one or more LinearOperators.")
    if any(o.dtype != operators[0].dtype for o in operators):
        found = ", ".join(o.dtype.name for o in operators)
        raise DTypeError(f"{name}: the operators must have one dtype, and have {found}.")
    return operators


def _common_batch(name: str, operators: list[LinearOperator]) -> tuple[int, ...]:
    named = {f"operators[{i}]": tuple(o.batch_shape) for i, o in enumerate(operators)}
    return broadcast_shapes(f"{name} (batch axes)", **named)


class LinearOperatorAdjoint(LinearOperator):
    """The adjoint of another operator."""

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._operator = operator
        hints = (
            operator.is_non_singular if is_non_singular is None else is_non_singular,
            operator.is_self_adjoint if is_self_adjoint is None else is_self_adjoint,
            operator.is_positive_definite if is_positive_definite is None else is_positive_definite,
            is_square,
        )
        super().__init__(operator.dtype, None, *hints, name or f"{operator.name}_adjoint",
                         {"operator": operator})  # fmt: skip

    @property
    def operator(self) -> LinearOperator:
        return self._operator

    def _matrix_shape(self) -> tuple[int, ...]:
        *batch, rows, columns = self._operator._matrix_shape()
        return (*batch, columns, rows)

    def _dense(self) -> Tensor:
        return adjoint(self._operator.to_dense())

    def _multiply(self, x: Tensor, adjoint: bool) -> Tensor:
        return self._operator._multiply(x, not adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        return self._operator._solve(rhs, not adjoint)

    def _diag_part(self) -> Tensor:
        return conj(self._operator.diag_part())

    def _determinant(self) -> Tensor:
        return conj(self._operator.determinant())

    def _log_abs_determinant(self) -> Tensor:
        return self._operator.log_abs_determinant()

    def _adjoint(self) -> LinearOperator:
        return self._operator


class LinearOperatorInversion(LinearOperator):
    """The inverse of another operator: multiplying with it solves."""

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._operator = operator
        if is_non_singular is False or operator.is_non_singular is False:
            raise ValueError("LinearOperatorInversion: the operator must not be singular.")
        hints = (
            True,
            operator.is_self_adjoint if is_self_adjoint is None else is_self_adjoint,
            operator.is_positive_definite if is_positive_definite is None else is_positive_definite,
            is_square,
        )
        super().__init__(operator.dtype, None, *hints, name or f"{operator.name}_inv",
                         {"operator": operator})  # fmt: skip

    @property
    def operator(self) -> LinearOperator:
        return self._operator

    def _matrix_shape(self) -> tuple[int, ...]:
        return self._operator._matrix_shape()

    def _dense(self) -> Tensor:
        size = self.domain_dimension
        return self._operator.solve(eye(size, batch_shape=self.batch_shape, dtype=self.dtype))

    def _multiply(self, x: Tensor, adjoint: bool) -> Tensor:
        return self._operator.solve(x, adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        return self._operator.matmul(rhs, adjoint)

    def _determinant(self) -> Tensor:
        return 1 / self._operator.determinant()

    def _log_abs_determinant(self) -> Tensor:
        return -self._operator.log_abs_determinant()

    def _inverse(self) -> LinearOperator:
        return self._operator


class LinearOperatorComposition(LinearOperator):
    """The product of operators: the last is applied first."""

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        what = "LinearOperatorComposition"
        self._operators = _checked(operators, what)
        for left, right in zip(self._operators[:-1], self._operators[1:], strict=True):
            if left.domain_dimension != right.range_dimension:
                raise ShapeError(
                    f"{what}: operators of shapes {left.shape} and {right.shape} do not fit: "
                    f"{left.domain_dimension} != {right.range_dimension}."
                )
        if is_non_singular is None:
            is_non_singular = _all(o.is_non_singular for o in self._operators)
        hints = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        joined = "_o_".join(o.name for o in self._operators)
        super().__init__(self._operators[0].dtype, None, *hints, name or joined,
                         {"operators": operators})  # fmt: skip

    @property
    def operators(self) -> list[LinearOperator]:
        return self._operators

    def _matrix_shape(self) -> tuple[int, ...]:
        batch = _common_batch(self.name, self._operators)
        return (*batch, self._operators[0].range_dimension, self._operators[-1].domain_dimension)

    def _dense(self) -> Tensor:
        out = self._operators[-1].to_dense()
        for each in self._operators[-2::-1]:
            out = each.matmul(out)
        return out

    def _multiply(self, x: Tensor, adjoint: bool) -> Tensor:
        for each in self._operators if adjoint else self._operators[::-1]:
            x = each.matmul(x, adjoint)
        return x

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        if any(not o.is_square for o in self._operators):
            return super()._solve(rhs, adjoint)
        for each in self._operators[::-1] if adjoint else self._operators:
            rhs = each.solve(rhs, adjoint)
        return rhs

    def _determinant(self) -> Tensor:
        if any(not o.is_square for o in self._operators):
            return super()._determinant()
        return reduce(lambda a, b: a * b, [o.determinant() for o in self._operators])

    def _log_abs_determinant(self) -> Tensor:
        if any(not o.is_square for o in self._operators):
            return super()._log_abs_determinant()
        return reduce(lambda a, b: a + b, [o.log_abs_determinant() for o in self._operators])

    def _adjoint(self) -> LinearOperator:
        if self.is_self_adjoint:
            return self
        return LinearOperatorComposition([o.adjoint() for o in self._operators[::-1]])

    def _inverse(self) -> LinearOperator:
        if any(not o.is_square for o in self._operators):
            return super()._inverse()
        return LinearOperatorComposition([o.inverse() for o in self._operators[::-1]])


class LinearOperatorBlockDiag(LinearOperator):
    """Operators as blocks along the diagonal."""

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        self._operators = _checked(operators, "LinearOperatorBlockDiag")
        if is_non_singular is None:
            is_non_singular = _all(o.is_non_singular for o in self._operators)
        if is_self_adjoint is None:
            is_self_adjoint = _all(o.is_self_adjoint for o in self._operators)
        if is_positive_definite is None:
            is_positive_definite = _all(o.is_positive_definite for o in self._operators)
        hints = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        joined = "_ds_".join(o.name for o in self._operators)
        super().__init__(self._operators[0].dtype, None, *hints, name or joined,
                         {"operators": operators})  # fmt: skip

    @property
    def operators(self) -> list[LinearOperator]:
        return self._operators

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
        if any(not o.is_square for o in self._operators):
            return super()._diag_part()
        parts = [expand_dims(o.diag_part(), -1) for o in self._operators]
        return self._joined(parts)[..., 0]

    def _determinant(self) -> Tensor:
        return reduce(lambda a, b: a * b, [o.determinant() for o in self._operators])

    def _log_abs_determinant(self) -> Tensor:
        return reduce(lambda a, b: a + b, [o.log_abs_determinant() for o in self._operators])

    def _adjoint(self) -> LinearOperator:
        if self.is_self_adjoint:
            return self
        return LinearOperatorBlockDiag([o.adjoint() for o in self._operators])

    def _inverse(self) -> LinearOperator:
        return LinearOperatorBlockDiag([o.inverse() for o in self._operators])

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorBlockDiag([o.cholesky() for o in self._operators])


class LinearOperatorKronecker(LinearOperator):
    """The Kronecker product of operators; multiplied and solved factor by factor."""

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._operators = _checked(operators, "LinearOperatorKronecker")
        if is_non_singular is None:
            is_non_singular = _all(o.is_non_singular for o in self._operators)
        if is_self_adjoint is None:
            is_self_adjoint = _all(o.is_self_adjoint for o in self._operators)
        if is_positive_definite is None:
            is_positive_definite = _all(o.is_positive_definite for o in self._operators)
        hints = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        joined = "_x_".join(o.name for o in self._operators)
        super().__init__(self._operators[0].dtype, None, *hints, name or joined,
                         {"operators": operators})  # fmt: skip

    @property
    def operators(self) -> list[LinearOperator]:
        return self._operators

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
        if not rhs._array.size or any(not o.is_square for o in self._operators):
            return super()._solve(rhs, adjoint)
        return self._factor_by_factor(rhs, "solve", adjoint)

    def _diag_part(self) -> Tensor:
        if any(not o.is_square for o in self._operators):
            return super()._diag_part()
        parts = [expand_dims(o.diag_part(), -1) for o in self._operators]
        return reduce(kron, parts)[..., 0]

    def _determinant(self) -> Tensor:
        if any(not o.is_square for o in self._operators):
            return super()._determinant()
        size = self.domain_dimension
        powers = [o.determinant() ** (size // o.domain_dimension) for o in self._operators]
        return reduce(lambda a, b: a * b, powers)

    def _log_abs_determinant(self) -> Tensor:
        if any(not o.is_square for o in self._operators):
            return super()._log_abs_determinant()
        size = self.domain_dimension
        logs = [o.log_abs_determinant() * (size / o.domain_dimension) for o in self._operators]
        return reduce(lambda a, b: a + b, logs)

    def _adjoint(self) -> LinearOperator:
        if self.is_self_adjoint:
            return self
        return LinearOperatorKronecker([o.adjoint() for o in self._operators])

    def _inverse(self) -> LinearOperator:
        if any(not o.is_square for o in self._operators):
            return super()._inverse()
        return LinearOperatorKronecker([o.inverse() for o in self._operators])

    def _cholesky(self) -> LinearOperator:
        if not all(o._by_cholesky for o in self._operators):
            return super()._cholesky()
        return LinearOperatorKronecker([o.cholesky() for o in self._operators])


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
        self._u = kept_or_tensor(u, name)
        self._v = self._u if v is None else kept_or_tensor(v, name)
        require_rank(self._u, 2, name, "u")
        require_rank(self._v, 2, name, "v")
        self._diag = None if diag_update is None else kept_or_tensor(diag_update, name)
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

    @property
    def base_operator(self) -> LinearOperator:
        return self._base

    @property
    def u(self) -> Any:
        return self._u

    @property
    def v(self) -> Any:
        return self._v

    @property
    def diag_update(self) -> Any:
        return self._diag

    @property
    def diag_operator(self) -> LinearOperator:
        return self._small

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
