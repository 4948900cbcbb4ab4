"""Linear operators: matrices that are multiplied, solved and factored by their structure.

A subclass says what its matrix is (`_matrix_shape`, `_dense`) and, where its structure allows
better than the dense matrix, how to multiply and solve. All of it is made of ops, so gradients come
by themselves; a variable among the arguments is read when the operator is used, not when it is
made.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import attrgetter
from typing import Any

import numpy as np

from ....core.convert import as_tensor
from ....core.dtypes import DType, as_dtype
from ....core.errors import DTypeError, InvalidArgumentError, ShapeError
from ....core.shape import TensorShape
from ....core.spec import broadcast_shapes
from ....core.tensor import Tensor
from ...array.cast import cast
from ...array.creation import eye
from ...array.shape import adjoint, broadcast_to, expand_dims, squeeze
from ...declare.static import to_tensor
from ...math.arithmetic import abs as absolute
from ...math.conjugate import conj
from ...math.exponential import exp, log
from ...math.reduction import reduce_max, reduce_min, reduce_prod, reduce_sum
from ..decomposition import eigvalsh, svd
from ..diagonal import band_part, diag_part
from ..matmul import matmul
from ..systems import _solve, _triangular_solve, cholesky, cholesky_solve, det, slogdet


class LinearOperator:
    """A batch of matrices of shape [..., M, N], of which only what is asked for is computed.

    The hints `is_non_singular`, `is_self_adjoint`, `is_positive_definite` and `is_square` are
    promises (True), denials (False) or unknown (None); they choose the algorithm and are checked
    only by the `assert_` methods.
    """

    _is_identity = False

    def __init__(
        self,
        dtype: Any,
        graph_parents: Any = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
        parameters: Any = None,
    ) -> None:
        what = name or type(self).__name__
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError(f"{what}: a positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError(f"{what}: a non-singular matrix is always square.")
            is_square = True
        if is_self_adjoint:
            if is_square is False:
                raise ValueError(f"{what}: a self-adjoint matrix is always square.")
            is_square = True
        self._dtype = as_dtype(dtype)
        self._square_hint = is_square
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._name = what
        self._parameters = dict(parameters or {})

    # What a subclass supplies

    def _matrix_shape(self) -> tuple[int, ...]:
        raise NotImplementedError(f"{type(self).__name__} has no `_matrix_shape`.")

    def _dense(self) -> Tensor:
        """The matrices; here from the product with the identity."""
        size = self._matrix_shape()[-1]
        return self._multiply(eye(size, batch_shape=self.batch_shape, dtype=self.dtype), False)

    def _multiply(self, x: Tensor, adjoint: bool) -> Tensor:
        return matmul(self._dense(), x, adjoint_a=adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        if self._by_cholesky:
            return cholesky_solve(cholesky(self._dense()), rhs)
        return _solve(self._dense(), rhs, adjoint=adjoint)

    def _diag_part(self) -> Tensor:
        return diag_part(self._dense())

    def _determinant(self) -> Tensor:
        return exp(self._log_abs_determinant()) if self._by_cholesky else det(self._dense())

    def _log_abs_determinant(self) -> Tensor:
        if self._by_cholesky:
            return reduce_sum(log(diag_part(cholesky(self._dense()))), -1) * 2.0
        return slogdet(self._dense())[1]

    def _adjoint(self) -> LinearOperator:
        return self if self.is_self_adjoint else LinearOperatorAdjoint(self)

    def _inverse(self) -> LinearOperator:
        return LinearOperatorInversion(self)

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorLowerTriangular(cholesky(self._dense()), is_non_singular=True)

    def _eigvals(self) -> Tensor:
        return eigvalsh(self._dense())

    @property
    def _by_cholesky(self) -> bool:
        return bool(self.is_self_adjoint and self.is_positive_definite)

    # What it is

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(self._parameters)

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def name(self) -> str:
        return self._name

    @property
    def is_non_singular(self) -> bool | None:
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        return self._is_positive_definite

    @property
    def is_square(self) -> bool:
        square = self.domain_dimension == self.range_dimension
        if self._square_hint is False and square:
            raise ValueError(f"{self.name}: `is_square` is False, but the operator is square.")
        return square if self._square_hint is None else self._square_hint

    @property
    def shape(self) -> TensorShape:
        return TensorShape.of(tuple(self._matrix_shape()))

    @property
    def batch_shape(self) -> TensorShape:
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> int:
        return len(self._matrix_shape())

    @property
    def domain_dimension(self) -> int:
        return self._matrix_shape()[-1]

    @property
    def range_dimension(self) -> int:
        return self._matrix_shape()[-2]

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        return Tensor(np.array(self._matrix_shape(), np.int32))

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        return Tensor(np.array(self._matrix_shape()[:-2], np.int32))

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        return Tensor(np.array(self.tensor_rank, np.int32))

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        return Tensor(np.array(self.domain_dimension, np.int32))

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        return Tensor(np.array(self.range_dimension, np.int32))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: shape={self.shape}, dtype={self.dtype.name}>"

    # What it does

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Tensor | Any:
        """The product with the matrices `x` ([..., N, R]), or with an operator: an operator."""
        if isinstance(x, LinearOperator):
            left = self.adjoint() if adjoint else self
            return left._times(x.adjoint() if adjoint_arg else x)
        x = self._argument(x, "matmul", adjoint_arg)
        self._check_rows(x, "matmul", self.shape[-2 if adjoint else -1])
        return self._multiply(x, bool(adjoint))

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Tensor:
        """The product with the vectors `x` ([..., N])."""
        return squeeze(self.matmul(self._column(x, "matvec"), adjoint), -1)

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Tensor | Any:
        """The x with `operator @ x = rhs`; of an operator: an operator."""
        if self.is_non_singular is False or not self.is_square:
            raise UnsolvableError(
                f"{self.name}: solve needs square, non-singular matrices; this operator has shape "
                f"{self.shape} and the hint is_non_singular={self.is_non_singular}."
            )
        if isinstance(rhs, LinearOperator):
            left = self.adjoint() if adjoint else self
            return left.inverse()._times(rhs.adjoint() if adjoint_arg else rhs)
        rhs = self._argument(rhs, "solve", adjoint_arg)
        self._check_rows(rhs, "solve", self.shape[-1])
        return self._solve(rhs, bool(adjoint))

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Tensor:
        """The vector x with `operator @ x = rhs`, for vectors `rhs` ([..., N])."""
        return squeeze(self.solve(self._column(rhs, "solvevec"), adjoint), -1)

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """The matrices themselves."""
        return self._dense()

    def _as_tensor(self) -> Tensor:
        return self._dense()

    def diag_part(self, name: str = "diag_part") -> Tensor:
        """The main diagonals."""
        return self._diag_part()

    def trace(self, name: str = "trace") -> Tensor:
        """The sums of the main diagonals."""
        return reduce_sum(self._diag_part(), -1)

    def determinant(self, name: str = "det") -> Tensor:
        self._require_square("determinant")
        return self._determinant()

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        self._require_square("log_abs_determinant")
        return self._log_abs_determinant()

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Tensor:
        """The matrices plus `x`."""
        return self._dense() + as_tensor(x, self.dtype, "add_to_tensor")

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        return self._adjoint()

    @property
    def H(self) -> LinearOperator:
        return self.adjoint()

    def inverse(self, name: str = "inverse") -> LinearOperator:
        self._require_square("inverse")
        if self.is_non_singular is False:
            raise ValueError(f"{self.name}: is_non_singular=False, so there is no inverse.")
        return self._inverse()

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The lower triangular factor, as an operator."""
        if not self._by_cholesky:
            raise ValueError(
                f"{self.name}: cholesky needs an operator with the hints is_self_adjoint=True and "
                "is_positive_definite=True."
            )
        return self._cholesky()

    def eigvals(self, name: str = "eigvals") -> Tensor:
        """The eigenvalues of a self-adjoint operator."""
        if not self.is_self_adjoint:
            raise NotImplementedError(
                f"{self.name}: eigvals needs an operator with the hint is_self_adjoint=True."
            )
        return self._eigvals()

    def cond(self, name: str = "cond") -> Tensor:
        """The condition numbers: largest by smallest singular value."""
        values = svd(self._dense(), compute_uv=False)
        return reduce_max(values, -1) / reduce_min(values, -1)

    def assert_non_singular(self, name: str = "assert_non_singular") -> None:
        """Raise InvalidArgumentError if a matrix is singular up to precision."""
        self._require_square("assert_non_singular")
        eps = np.finfo(self.dtype.numpy_dtype).eps * max(100, self.domain_dimension)
        values = np.asarray(svd(self._dense(), compute_uv=False))
        if not (values.min(-1, initial=np.inf) > eps * values.max(-1, initial=0)).all():
            raise InvalidArgumentError(f"{self.name}: a matrix is singular up to precision.")

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> None:
        """Raise InvalidArgumentError if a matrix is not positive definite."""
        if not np.isfinite(np.asarray(cholesky(self._dense()))).all():
            raise InvalidArgumentError(f"{self.name}: a matrix is not positive definite.")

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> None:
        """Raise InvalidArgumentError if a matrix is not its own adjoint."""
        dense = np.asarray(self._dense())
        if not np.array_equal(dense, dense.swapaxes(-1, -2).conj()):
            raise InvalidArgumentError(f"{self.name}: a matrix is not equal to its adjoint.")

    def _times(self, right: LinearOperator) -> LinearOperator:
        if self.domain_dimension != right.range_dimension:
            raise ShapeError(
                f"{self.name}: operators of shapes {self.shape} and {right.shape} do not fit: "
                f"{self.domain_dimension} != {right.range_dimension}."
            )
        if right._is_identity:
            return self
        if self._is_identity:
            return right
        return LinearOperatorComposition([self, right])

    def _argument(self, x: Any, method: str, adjoint_arg: bool) -> Tensor:
        x = as_tensor(x, None if hasattr(x, "dtype") else self.dtype, method)
        if x.dtype != self.dtype:
            raise DTypeError(
                f"{self.name}.{method}: the argument is {x.dtype.name} and the operator "
                f"{self.dtype.name}. Cast one of them."
            )
        if x.ndim < 2:
            raise ShapeError(
                f"{self.name}.{method}: the argument must have rank 2 or more, and has shape "
                f"{tuple(x.shape)}. For vectors there are matvec and solvevec."
            )
        return adjoint(x) if adjoint_arg else x

    def _column(self, x: Any, method: str) -> Tensor:
        return expand_dims(as_tensor(x, None if hasattr(x, "dtype") else self.dtype, method), -1)

    def _check_rows(self, x: Tensor, method: str, rows: int) -> None:
        if x._array.shape[-2] != rows:
            raise ShapeError(
                f"{self.name}.{method}: the argument must have {rows} rows for an operator of "
                f"shape {self.shape}, and has shape {tuple(x.shape)}."
            )

    def _require_square(self, method: str) -> None:
        if not self.is_square:
            raise NotImplementedError(
                f"{self.name}: {method} needs square matrices, and these have shape {self.shape}."
            )


class UnsolvableError(NotImplementedError, ValueError):
    """An operator that cannot be solved."""


HINTS = ("is_non_singular", "is_self_adjoint", "is_positive_definite")


def hints_of(operator: LinearOperator, **others: bool) -> dict[str, Any]:
    """The hints of an operator, to be passed on; `others` in place of its own."""
    return {hint: getattr(operator, hint) for hint in HINTS} | others


def variable_or_tensor(value: Any, op_name: str) -> Any:
    """A tensor of `value`; a variable as it is, to be read when it is used."""
    return value if hasattr(value, "_as_tensor") else to_tensor(value, op_name)


def require_rank(value: Any, least: int, what: str, name: str) -> None:
    if len(value.shape) < least:
        raise ShapeError(
            f"{what}: `{name}` must have rank {least} or more, and has shape {tuple(value.shape)}."
        )


def broadcast_batch(x: Tensor, batch: Any) -> Tensor:
    """`x` with its axes before the last two broadcast with `batch`."""
    shape = tuple(x._array.shape)
    wanted = broadcast_shapes("LinearOperator (batch axes)", x=shape[:-2], operator=tuple(batch))
    return x if wanted == shape[:-2] else broadcast_to(x, (*wanted, *shape[-2:]))


def _all(hints: Any) -> bool | None:
    """True if all operators promise it; else unknown."""
    return True if all(hints) else None


def _operator_list(operators: Any, name: str) -> list[LinearOperator]:
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


class _OfAnother(LinearOperator):
    """An operator made of another one, with the hints of that one unless others are given."""

    _suffix = ""

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
            self._non_singular_hint(is_non_singular),
            operator.is_self_adjoint if is_self_adjoint is None else is_self_adjoint,
            operator.is_positive_definite if is_positive_definite is None else is_positive_definite,
            is_square,
        )
        super().__init__(operator.dtype, None, *hints, name or f"{operator.name}_{self._suffix}",
                         {"operator": operator})  # fmt: skip

    operator = property(attrgetter("_operator"))

    def _non_singular_hint(self, given: bool | None) -> bool | None:
        return self._operator.is_non_singular if given is None else given


class LinearOperatorAdjoint(_OfAnother):
    """The adjoint of another operator."""

    _suffix = "adjoint"

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


class LinearOperatorInversion(_OfAnother):
    """The inverse of another operator: multiplying with it solves."""

    _suffix = "inv"

    def _non_singular_hint(self, given: bool | None) -> bool | None:
        if given is False or self._operator.is_non_singular is False:
            raise ValueError("LinearOperatorInversion: the operator must not be singular.")
        return True

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


class OfSeveral(LinearOperator):
    """An operator made of others. What all of them promise is its hint, unless one is given."""

    _sign = ""  # between the names of the operators
    _is_self_adjoint_if_all_are = True
    _turned_around = 1  # -1 if the adjoint and the inverse have the operators in reverse order

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._operators = _operator_list(operators, type(self).__name__)
        self._check_sizes()
        if is_non_singular is None:
            is_non_singular = _all(o.is_non_singular for o in self._operators)
        if self._is_self_adjoint_if_all_are:
            if is_self_adjoint is None:
                is_self_adjoint = _all(o.is_self_adjoint for o in self._operators)
            if is_positive_definite is None:
                is_positive_definite = _all(o.is_positive_definite for o in self._operators)
        hints = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        joined = self._sign.join(o.name for o in self._operators)
        super().__init__(self._operators[0].dtype, None, *hints, name or joined,
                         {"operators": operators})  # fmt: skip

    operators = property(attrgetter("_operators"))

    def _check_sizes(self) -> None:
        pass

    @property
    def _all_square(self) -> bool:
        return all(o.is_square for o in self._operators)

    def _of_each(self, method: str) -> LinearOperator:
        """The same of `method()` of each operator."""
        operators = self._operators[:: self._turned_around]
        return type(self)([getattr(o, method)() for o in operators])

    def _adjoint(self) -> LinearOperator:
        return self if self.is_self_adjoint else self._of_each("adjoint")

    def _inverse(self) -> LinearOperator:
        return self._of_each("inverse") if self._all_square else super()._inverse()


class LinearOperatorComposition(OfSeveral):
    """The product of operators: the last is applied first."""

    _sign = "_o_"
    _is_self_adjoint_if_all_are = False
    _turned_around = -1

    def _check_sizes(self) -> None:
        for left, right in zip(self._operators[:-1], self._operators[1:], strict=True):
            if left.domain_dimension != right.range_dimension:
                raise ShapeError(
                    f"LinearOperatorComposition: operators of shapes {left.shape} and "
                    f"{right.shape} do not fit: {left.domain_dimension} != {right.range_dimension}."
                )

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
        if not self._all_square:
            return super()._solve(rhs, adjoint)
        for each in self._operators[::-1] if adjoint else self._operators:
            rhs = each.solve(rhs, adjoint)
        return rhs

    def _determinant(self) -> Tensor:
        if not self._all_square:
            return super()._determinant()
        return reduce(lambda a, b: a * b, [o.determinant() for o in self._operators])

    def _log_abs_determinant(self) -> Tensor:
        if not self._all_square:
            return super()._log_abs_determinant()
        return reduce(lambda a, b: a + b, [o.log_abs_determinant() for o in self._operators])


class LinearOperatorLowerTriangular(LinearOperator):
    """Lower triangular matrices; the part above the diagonal is not read."""

    def __init__(
        self,
        tril: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        self._tril = variable_or_tensor(tril, name)
        require_rank(self._tril, 2, name, "tril")
        if is_square is False:
            raise ValueError(f"{name}: only square lower triangular operators exist here.")
        hints = is_non_singular, is_self_adjoint, is_positive_definite, True
        super().__init__(self._tril.dtype, None, *hints, name, {"tril": tril})

    tril = property(attrgetter("_tril"))

    def _matrix_shape(self) -> tuple[int, ...]:
        return tuple(self._tril.shape)

    def _dense(self) -> Tensor:
        return band_part(to_tensor(self._tril, self.name), -1, 0)

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        matrix = to_tensor(self._tril, self.name)
        return _triangular_solve(matrix, rhs, lower=True, adjoint=adjoint)

    def _diag_part(self) -> Tensor:
        return diag_part(to_tensor(self._tril, self.name))

    def _determinant(self) -> Tensor:
        return reduce_prod(self._diag_part(), -1)

    def _log_abs_determinant(self) -> Tensor:
        return cast(reduce_sum(log(absolute(self._diag_part())), -1), self.dtype)

    def _eigvals(self) -> Tensor:
        return self._diag_part()
