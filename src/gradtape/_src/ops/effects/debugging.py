"""Asserts on tensors. They raise at once, give None, and are nothing to a tape.

Inside `@function` the checks of shapes and dtypes are made while it is traced. Those of values that
are not known then are made at each call, which raises before any variable changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.convert import as_tensor
from ...core.dispatch import _operands
from ...core.dtypes import DType, as_dtype
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError
from ...core.take_over import lends_itself
from ...core.tensor import Tensor
from ...core.tracing import current_graph
from ..declare.op import op
from ..declare.static import static_int, to_tensor
from ..math.arithmetic import abs as absolute, subtract
from ..math.logic import equal, greater, greater_equal, less, less_equal, not_equal
from ..math.reduction import reduce_all
from .run_time import at_run_time, waits_for_run_time


def Assert(
    condition: Any, data: Any, summarize: int | None = None, name: str | None = None
) -> None:
    """Raise InvalidArgumentError with the values of `data`, unless `condition` is true."""

    def check(holds: Any, *values: Any) -> None:
        if not holds:
            shown = "\n".join(_shown(v, 3 if summarize is None else summarize) for v in values)
            raise InvalidArgumentError(f"Assert: the condition is false. Data:\n{shown}")

    if current_graph() is None:
        check(condition, *data)
        return
    holds = to_tensor(condition, "Assert")
    if holds._array.size != 1:
        raise ShapeError(
            f"Assert: `condition` must be one bool, and has shape {holds.shape}. Use "
            "tf.reduce_all(condition)."
        )
    tensors = [v if isinstance(v, (str, bytes)) else to_tensor(v, "Assert") for v in data]
    _check(check, holds, *tensors)


def _shown(value: Any, summarize: int) -> str:
    """The first elements of `value`, as many as `summarize` says; a negative number says all."""
    if isinstance(value, (str, bytes)):
        return value if isinstance(value, str) else value.decode()
    flat = np.asarray(to_tensor(value, "Assert")).reshape(-1)
    count = len(flat) if summarize < 0 else summarize
    return ", ".join(map(str, flat[:count])) + (", ..." if len(flat) > count else "")


# Two tensors, elementwise


@lends_itself
def assert_equal(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: Any = None
) -> None:
    """Raise InvalidArgumentError unless `x == y` everywhere; both broadcast."""
    _compare("assert_equal", "==", equal, x, y, message, summarize)


@lends_itself
def assert_none_equal(
    x: Any, y: Any, summarize: int | None = None, message: Any = None, name: Any = None
) -> None:
    """Raise InvalidArgumentError unless `x != y` everywhere; both broadcast."""
    _compare("assert_none_equal", "!=", not_equal, x, y, message, summarize)


@lends_itself
def assert_greater(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: Any = None
) -> None:
    """Raise InvalidArgumentError unless `x > y` everywhere; both broadcast."""
    _compare("assert_greater", ">", greater, x, y, message, summarize)


@lends_itself
def assert_greater_equal(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: Any = None
) -> None:
    """Raise InvalidArgumentError unless `x >= y` everywhere; both broadcast."""
    _compare("assert_greater_equal", ">=", greater_equal, x, y, message, summarize)


@lends_itself
def assert_less(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: Any = None
) -> None:
    """Raise InvalidArgumentError unless `x < y` everywhere; both broadcast."""
    _compare("assert_less", "<", less, x, y, message, summarize)


@lends_itself
def assert_less_equal(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: Any = None
) -> None:
    """Raise InvalidArgumentError unless `x <= y` everywhere; both broadcast."""
    _compare("assert_less_equal", "<=", less_equal, x, y, message, summarize)


@lends_itself
def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: Any = None,
    summarize: int | None = None,
    name: Any = None,
) -> None:
    """Raise InvalidArgumentError unless `|x - y| <= atol + rtol * |y|` everywhere.

    Each tolerance is ten times the machine epsilon of the dtype unless given.
    """
    x, y = _operands(subtract.op, x, y)
    if x._array.dtype not in dt.INEXACT:
        raise DTypeError(f"assert_near: `x` must be floating or complex, and is {x.dtype.name}.")
    epsilon = 10 * float(x.dtype.real_dtype._limits().eps)
    relative, absolute_part = (epsilon if t is None else float(t) for t in (rtol, atol))
    close = less_equal(absolute(x - y), absolute_part + relative * absolute(y))
    what = f"|x - y| <= {absolute_part:g} + {relative:g} * |y|"
    _require("assert_near", what, close, {"x": x, "y": y}, message, summarize)


def _compare(
    op_name: str,
    sign: str,
    relation: Callable[..., Tensor],
    x: Any,
    y: Any,
    message: Any,
    summarize: Any,
) -> None:
    x, y = _operands(relation.op, x, y)
    _require(op_name, f"x {sign} y", relation(x, y), {"x": x, "y": y}, message, summarize)


# One tensor, elementwise


def assert_positive(
    x: Any, message: Any = None, summarize: int | None = None, name: Any = None
) -> None:
    """Raise InvalidArgumentError unless `x > 0` everywhere."""
    _compare_zero("assert_positive", ">", greater, x, message, summarize)


def assert_negative(
    x: Any, message: Any = None, summarize: int | None = None, name: Any = None
) -> None:
    """Raise InvalidArgumentError unless `x < 0` everywhere."""
    _compare_zero("assert_negative", "<", less, x, message, summarize)


def assert_non_negative(
    x: Any, message: Any = None, summarize: int | None = None, name: Any = None
) -> None:
    """Raise InvalidArgumentError unless `x >= 0` everywhere."""
    _compare_zero("assert_non_negative", ">=", greater_equal, x, message, summarize)


def assert_non_positive(
    x: Any, message: Any = None, summarize: int | None = None, name: Any = None
) -> None:
    """Raise InvalidArgumentError unless `x <= 0` everywhere."""
    _compare_zero("assert_non_positive", "<=", less_equal, x, message, summarize)


def _compare_zero(
    op_name: str, sign: str, relation: Callable[..., Tensor], x: Any, message: Any, summarize: Any
) -> None:
    x = to_tensor(x, op_name)
    _require(op_name, f"x {sign} 0", relation(x, 0), {"x": x}, message, summarize)


def _require(
    op_name: str, what: str, holds: Tensor, tensors: dict[str, Tensor], message: Any, summarize: Any
) -> None:
    """Raise unless it holds everywhere; inside `@function`, when that runs."""

    def check(holds: Any, *arrays: Any) -> None:
        if not holds.all():
            named = dict(zip(tensors, arrays, strict=True))
            _refuse(op_name, what, holds, named, message, summarize)

    _check(check, holds, *tensors.values())


def _check(check: Callable[..., None], holds: Tensor, *values: Any) -> None:
    """`check` what must hold and the values to show of it, now or when the function runs."""
    if type(holds) is not Tensor:
        bool(reduce_all(holds))  # each element of a batch is checked for itself
    arrays = [v._array if isinstance(v, Tensor) else v for v in (holds, *values)]
    if waits_for_run_time(holds):
        at_run_time(check, *arrays, unless=reduce_all(holds)._array)
    else:
        check(*arrays)


def _refuse(
    op_name: str, what: str, holds: Any, arrays: dict[str, Any], message: Any, summarize: Any
) -> None:
    """Raise, with the first places where it does not hold and the values there."""
    count = 3 if summarize is None else summarize
    wrong = np.argwhere(~np.asarray(holds))
    first = wrong if count < 0 else wrong[:count]
    lines = [f"{op_name}: {what} does not hold at {len(wrong)} of {np.size(holds)} places."]
    for name, array in arrays.items():
        values = np.broadcast_to(array, np.shape(holds))
        there = [f"{name}{list(map(int, i)) if len(i) else ''} = {values[tuple(i)]}" for i in first]
        lines.append(", ".join(there) + (", ..." if len(wrong) > len(first) else ""))
    raise InvalidArgumentError("\n".join(_with_message(message, lines)))


def _with_message(message: Any, lines: list[str]) -> list[str]:
    return lines if message in (None, "") else [str(message), *lines]


# Not a number


@op(
    batch_axes=(),
    dtypes=dt.FLOATING,
    samples=lambda r: [
        ([r.normal(size=(2, 3))], {"message": ""}),
        ([r.normal(size=())], {"message": "x"}),
    ],
)
def _check_numerics(xp, x, *, message):
    return xp.finite_or_error(x, message)


@_check_numerics.vjp("x")
def _check_numerics_vjp(g, *, message):
    return _check_numerics(g, message=f"in the gradient. {message}")


@lends_itself
def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """`tensor`, or InvalidArgumentError if a NaN or Inf is in it, or later in its gradient."""
    return _check_numerics(to_tensor(tensor, "check_numerics"), message=message)


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Tensor:
    """`x`, or InvalidArgumentError if there is a NaN or Inf in it."""
    x = to_tensor(x, "assert_all_finite")
    check_numerics(x, message)
    return x


# Rank, shape and dtype


def assert_rank(x: Any, rank: Any, message: Any = None, name: Any = None) -> None:
    """Raise ValueError unless `x` has this rank."""
    wanted = _rank(rank, "assert_rank")
    _check_rank("assert_rank", x, lambda n: n == wanted, f"{wanted}", message)


def assert_rank_at_least(x: Any, rank: Any, message: Any = None, name: Any = None) -> None:
    """Raise ValueError unless `x` has this rank or a higher one."""
    least = _rank(rank, "assert_rank_at_least")
    _check_rank("assert_rank_at_least", x, lambda n: n >= least, f"{least} or more", message)


def assert_rank_in(x: Any, ranks: Any, message: Any = None, name: Any = None) -> None:
    """Raise ValueError unless the rank of `x` is one of `ranks`."""
    allowed = [_rank(rank, "assert_rank_in") for rank in ranks]
    _check_rank("assert_rank_in", x, lambda n: n in allowed, f"one of {allowed}", message)


def assert_scalar(tensor: Any, message: Any = None, name: Any = None) -> None:
    """Raise ValueError unless `tensor` is a scalar."""
    _check_rank("assert_scalar", tensor, lambda n: n == 0, "0 (a scalar)", message)


def _rank(rank: Any, op_name: str) -> int:
    if np.ndim(rank):
        raise ShapeError(f"{op_name}: a rank must be an integer, not {rank!r}.")
    return static_int(rank, op_name, "rank")


def _check_rank(
    op_name: str, x: Any, fits: Callable[[int], bool], wanted: str, message: Any
) -> None:
    x = to_tensor(x, op_name)
    if not fits(x.ndim):
        line = f"{op_name}: the rank must be {wanted}, and is {x.ndim} (shape {x.shape})."
        raise ShapeError("\n".join(_with_message(message, [line])))


def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: Any = None,
    name: Any = None,
) -> None:
    """Raise ValueError unless each tensor has the shape that stands beside it.

    `shapes` is a list of pairs (tensor, shape). A shape is a string or sequence of sizes: a
    number is that size, a letter or name the same size wherever it stands, None or "." any size,
    and Ellipsis or "*" as the first any number of axes. A scalar also fits the shape of one axis
    of size 1.

    >>> assert_shapes([(tf.zeros([5, 3]), "ND"), (tf.zeros([3]), "D")])
    """
    pairs = list(shapes.items()) if hasattr(shapes, "items") else list(shapes)
    sizes: dict[Any, tuple[int, str]] = {}
    for number, (tensor, symbols) in enumerate(pairs):
        if not hasattr(symbols, "__iter__"):
            raise ShapeError(
                f"assert_shapes: a shape must be a sequence or a string, not {symbols!r}."
            )
        x = to_tensor(tensor, "assert_shapes")
        fault = _shape_fault(tuple(x.shape), [*symbols], sizes, f"tensor {number}")
        if fault:
            came = f"assert_shapes: tensor {number} has shape {x.shape}"
            line = f"{came}, and must have {symbols!r}: {fault}."
            raise ShapeError("\n".join(_with_message(message, [line])))


def _shape_fault(
    shape: tuple[int, ...], symbols: list[Any], sizes: dict[Any, Any], what: str
) -> str:
    """What is wrong with a shape; the sizes of names are put into `sizes`, or compared to it."""
    any_rank = [symbol is ... or symbol == "*" for symbol in symbols]
    if True in any_rank[1:]:
        return "`...` and '*' stand in the first place only"
    if any_rank[:1] == [True]:
        symbols = symbols[1:]
        shape = shape[max(len(shape) - len(symbols), 0) :]
    if len(symbols) == 1 and not shape:
        shape = (1,)
    if len(shape) != len(symbols):
        return f"the rank is {len(shape)} where {len(symbols)} axes are described"
    for axis, (size, symbol) in enumerate(zip(shape, symbols, strict=True)):
        if symbol is None or symbol == ".":
            continue
        number = isinstance(symbol, (int, np.integer)) or (
            isinstance(symbol, str) and symbol.isdigit()
        )
        wanted, by = (
            (int(symbol), "") if number else sizes.setdefault(symbol, (size, f" as in {what}"))
        )
        if size != wanted:
            return f"axis {axis} has size {size}, not {wanted}{by}"
    return ""


def assert_type(tensor: Any, tf_type: Any, message: Any = None, name: Any = None) -> None:
    """Raise TypeError unless `tensor` has this dtype."""
    tensor = to_tensor(tensor, "assert_type")
    if tensor.dtype is not as_dtype(tf_type):
        line = (
            f"assert_type: the dtype must be {as_dtype(tf_type).name}, and is {tensor.dtype.name}."
        )
        raise DTypeError("\n".join(_with_message(message, [line])))


def assert_integer(x: Any, message: Any = None, name: Any = None) -> None:
    """Raise TypeError unless `x` has an integer dtype."""
    x = to_tensor(x, "assert_integer")
    if not x.dtype.is_integer:
        line = f"assert_integer: the dtype must be an integer, and is {x.dtype.name}."
        raise DTypeError("\n".join(_with_message(message, [line])))


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> DType:
    """The floating dtype of all `tensors` and `dtype` (float32 without any), or ValueError."""
    found = None if dtype is None else as_dtype(dtype)
    for i, tensor in enumerate(tensors or []):
        own = as_tensor(tensor, op="assert_same_float_dtype").dtype
        if found is not None and own is not found:
            raise DTypeError(
                f"assert_same_float_dtype: tensor {i} is {own.name}, and {found.name} is expected."
            )
        found = own
    if found is not None and not found.is_floating:
        raise DTypeError(
            f"assert_same_float_dtype: a floating dtype is expected, and {found.name} was given."
        )
    return found or dt.float32


def assert_proper_iterable(values: Any) -> None:
    """Raise TypeError if `values` is a tensor, an array, a string, or cannot be iterated over."""
    single = isinstance(values, (Tensor, np.ndarray, str, bytes)) or hasattr(values, "_as_tensor")
    if single or not hasattr(values, "__iter__"):
        raise DTypeError(
            f"assert_proper_iterable: a list or another sequence of values is expected, not a "
            f"{type(values).__name__}."
        )


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether `tensor` is a tensor of numbers."""
    return isinstance(tensor, Tensor) and tensor.dtype.is_numeric
