"""Comparisons, logic, bits, tests for NaN and Inf, and the choice between two tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.errors import DTypeError, InvalidArgumentError, NotATensorError, ShapeError
from ...core.take_over import take_over
from ...core.tensor import Tensor
from ..array.slicing import nonzero_indices
from ..declare.elementwise import elementwise
from ..declare.static import to_tensor

_BOOL = np.dtype(np.bool_)


def _truth(dtype: Any) -> Any:
    return _BOOL


# Comparisons


@elementwise(dtypes=dt.ANY, builtin=operator.eq, result=_truth)
def equal(xp, x, y):
    """Whether `x == y`, elementwise. Incompatible shapes raise; the operator calls them unequal."""
    return x == y


@elementwise(dtypes=dt.ANY, builtin=operator.ne, result=_truth)
def not_equal(xp, x, y):
    """Whether `x != y`, elementwise. Incompatible shapes raise; the operator calls them unequal."""
    return x != y


@elementwise(dtypes=dt.REAL, builtin=operator.lt, result=_truth)
def less(xp, x, y):
    """Whether `x < y`, elementwise; False where one is NaN."""
    return x < y


@elementwise(dtypes=dt.REAL, builtin=operator.le, result=_truth)
def less_equal(xp, x, y):
    """Whether `x <= y`, elementwise; False where one is NaN."""
    return x <= y


@elementwise(dtypes=dt.REAL, builtin=operator.gt, result=_truth)
def greater(xp, x, y):
    """Whether `x > y`, elementwise; False where one is NaN."""
    return x > y


@elementwise(dtypes=dt.REAL, builtin=operator.ge, result=_truth)
def greater_equal(xp, x, y):
    """Whether `x >= y`, elementwise; False where one is NaN."""
    return x >= y


def equals_operator(x: Any, y: Any) -> Any:
    """`x == y` as the operator has it: one False for shapes that do not broadcast."""
    if y is None:
        return False
    try:
        return equal(x, y)
    except ShapeError:
        return Tensor(np.asarray(False))


def not_equals_operator(x: Any, y: Any) -> Any:
    """`x != y` as the operator has it: one True for shapes that do not broadcast."""
    if y is None:
        return True
    try:
        return not_equal(x, y)
    except ShapeError:
        return Tensor(np.asarray(True))


# Logic and bits


@elementwise(dtypes=dt.BOOL, builtin=operator.and_)
def logical_and(xp, x, y):
    """`x and y`, elementwise, of booleans."""
    return x & y


@elementwise(dtypes=dt.BOOL, builtin=operator.or_)
def logical_or(xp, x, y):
    """`x or y`, elementwise, of booleans."""
    return x | y


@elementwise(dtypes=dt.BOOL, builtin=operator.xor)
def logical_xor(xp, x, y):
    """Whether just one of `x` and `y` is True, elementwise."""
    return x ^ y


@elementwise(dtypes=dt.BOOL, builtin=operator.invert)
def logical_not(xp, x):
    """`not x`, elementwise, of booleans."""
    return ~x


@elementwise(dtypes=dt.INTEGER, builtin=operator.and_)
def bitwise_and(xp, x, y):
    """The bits set in both integers, elementwise."""
    return x & y


@elementwise(dtypes=dt.INTEGER, builtin=operator.or_)
def bitwise_or(xp, x, y):
    """The bits set in either integer, elementwise."""
    return x | y


@elementwise(dtypes=dt.INTEGER, builtin=operator.xor)
def bitwise_xor(xp, x, y):
    """The bits set in just one of the integers, elementwise."""
    return x ^ y


@elementwise(dtypes=dt.INTEGER, builtin=operator.invert)
def invert(xp, x):
    """All bits of the integers flipped, elementwise."""
    return ~x


@elementwise(dtypes=dt.INTEGER, domain={"y": (0.0, 2.0)})
def left_shift(xp, x, y):
    """`x << y`, elementwise; `y` is first clipped to [0, number of bits - 1]."""
    return x << xp.clip(y, 0, 8 * x.dtype.itemsize - 1)


@elementwise(dtypes=dt.INTEGER, domain={"y": (0.0, 2.0)})
def right_shift(xp, x, y):
    """`x >> y`, elementwise, copies of the sign moving in; `y` is clipped as in `left_shift`."""
    return x >> xp.clip(y, 0, 8 * x.dtype.itemsize - 1)


def _by_dtype(
    logical: Callable[..., Tensor], bitwise: Callable[..., Tensor]
) -> Callable[..., Tensor]:
    """The function behind an operator: logic on booleans, bits on integers."""

    def call(x: Any, y: Any) -> Tensor:
        leading = x if isinstance(x, Tensor) or hasattr(x, "_as_tensor") else y
        try:
            dtype = to_tensor(leading, logical.__name__)._array.dtype
        except NotATensorError as error:
            return take_over(error, call, x, y)
        return (logical if dtype == _BOOL else bitwise)(x, y)

    call.__name__ = logical.__name__
    return call


and_operator = _by_dtype(logical_and, bitwise_and)
or_operator = _by_dtype(logical_or, bitwise_or)
xor_operator = _by_dtype(logical_xor, bitwise_xor)


def invert_operator(x: Any) -> Tensor:
    """`~x`: logic on booleans, bits on integers."""
    try:
        x = to_tensor(x, "invert")
    except NotATensorError as error:
        return take_over(error, invert_operator, x)
    return logical_not(x) if x._array.dtype == _BOOL else invert(x)


# Tests for NaN and Inf


@elementwise(dtypes=dt.FLOATING, result=_truth)
def is_nan(xp, x):
    """Whether each element is NaN."""
    return xp.isnan(x)


@elementwise(dtypes=dt.FLOATING, result=_truth)
def is_inf(xp, x):
    """Whether each element is infinite, of either sign."""
    return xp.isinf(x)


@elementwise(dtypes=dt.FLOATING, result=_truth)
def is_finite(xp, x):
    """Whether each element is neither NaN nor infinite."""
    return xp.isfinite(x)


# Choice


def zero_like_scalar(g: Tensor) -> Tensor:
    """A zero of rank 0 in the dtype of `g`: the other side of a `select` in a gradient rule."""
    return Tensor(np.zeros((), g._array.dtype))


@elementwise(
    name="where",
    dtypes=dt.ANY,
    x=lambda g, condition: select(condition, g, zero_like_scalar(g)),
    y=lambda g, condition: select(condition, zero_like_scalar(g), g),
    samples=lambda r: [
        ([r.random((2, 3)) > 0.5, r.normal(size=(2, 3)), r.normal(size=(2, 3))], {}),
        ([r.random(3) > 0.5, r.normal(size=(2, 1)), r.normal(size=())], {}),
        ([r.random((2, 1)) > 0.5, r.normal(size=3), r.normal(size=(1, 3))], {}),
        ([np.asarray(True), r.normal(size=()), r.normal(size=(2, 0))], {}),
    ],
)
def select(xp, condition, x, y):
    """`x` where `condition` holds and `y` elsewhere, the three broadcast together."""
    return xp.where(condition, x, y)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """`x` where `condition` holds, `y` elsewhere; without `x` and `y`, the indices where it holds.

    The three are broadcast together. Each of `x` and `y` gets the gradient of the elements that
    were taken from it, and zero elsewhere. That zero is still multiplied by the derivative of what
    `x` was computed from, and 0 * Inf is NaN: to keep such a point out, guard the argument with a
    `where` of its own, as in `where(x > 0, log(where(x > 0, x, 1.0)), 0.0)`.
    """
    if (x is None) != (y is None):
        raise InvalidArgumentError("where: give both of `x` and `y`, or neither.")
    try:
        if x is None:
            return nonzero_indices(condition)
        condition = to_tensor(condition, "where")
    except NotATensorError as error:
        return take_over(error, where, condition, x, y)
    if condition._array.dtype != _BOOL:
        raise DTypeError(
            f"where: `condition` is {condition.dtype.name}, and must be bool. Compare it: "
            "condition != 0."
        )
    return select(condition, x, y)
