"""What AutoGraph's converted code calls in place of Python's control flow.

Where a condition has a value, or an iterable is no tensor, each operator does what Python does.
Where the program has to decide, it runs the blocks of the statement as branches or as the body of
a loop: the Python variables that the statement may change become inputs and results. malt supplies
them by a pair of functions, `get_state` and `set_state`, and `names`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import CodeType
from typing import Any

import numpy as np

from ...core import nest
from ...core.convert import as_tensor
from ...core.errors import DTypeError, DynamicSizeError, TextError
from ...core.tensor import Tensor, is_symbolic, zeros_of
from ...core.tracing import current_graph
from ...ops.array.cast import cast
from ...ops.array.shape import reshape
from ...ops.math.logic import logical_and, logical_not, logical_or, not_equal
from ...tape.control import forms
from ...tape.tensor_array import TensorArray
from ...tape.variable import Variable
from ..lines import user_line
from .containers import Unknown, apart, changing, noted

# Values


class Undefined:
    """The value of a Python variable that has none yet."""

    def __init__(self, name: str, reason: str = "") -> None:
        self.name = name
        self.reason = reason

    def error(self) -> UnboundLocalError:
        return UnboundLocalError(
            f"cannot access local variable '{self.name}' where it is not associated with a value"
            + self.reason
        )


class UndefinedReturnValue:
    """What a function returns that has not come to a `return` yet."""


def ld(value: Any) -> Any:
    """A variable, read."""
    if type(value) is Undefined:
        raise value.error()
    return value


def ldu(load: Callable[[], Any], name: str) -> Any:
    """What `load` gives; `obj.x` and `d[k]` may not exist yet."""
    try:
        return load()
    except (KeyError, AttributeError, NameError, IndexError):
        return Undefined(name)


def is_absent(value: Any) -> bool:
    return isinstance(value, (Undefined, UndefinedReturnValue))


class FunctionScope:
    """The block of a converted function."""

    def __init__(self, function_name: str, name: str, options: Any) -> None:
        self.name = name

    def __enter__(self) -> FunctionScope:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def ret(self, value: Any, did_return: Any) -> Any:
        return None if type(value) is UndefinedReturnValue else value


def with_function_scope(thunk: Callable[[Any], Any], name: str, options: Any) -> Any:
    return thunk(FunctionScope("lambda", name, options))


def symbolic(value: Any) -> Tensor | None:
    """The tensor that `value` is, or stands for, if only the program knows its values."""
    if isinstance(value, Tensor):
        return value if is_symbolic(value._array) else None
    if isinstance(value, Variable) and current_graph() is not None:
        return symbolic(value._as_tensor())
    return None


def truth(tensor: Tensor) -> Tensor:
    """A symbolic condition as a scalar of bool."""
    if tensor._array.size != 1:
        raise ValueError(
            f"{user_line()}: the truth value of a tensor of shape {tensor.shape} is ambiguous. Use "
            "tf.reduce_any(x) or tf.reduce_all(x)."
        )
    scalar = reshape(tensor, ())
    return scalar if scalar.dtype.is_bool else not_equal(scalar, cast(0, scalar.dtype))


def is_number(leaf: Any) -> bool:
    """Whether a value can be part of a program: a tensor, or what a tensor can be made of."""
    if isinstance(leaf, np.ndarray):
        return bool(leaf.dtype != object)
    kinds = (Tensor, Variable, TensorArray, bool, int, float, complex, np.generic)
    return isinstance(leaf, kinds)


def as_part(leaf: Any) -> Any:
    """A value as a part of a program: a tensor, or a TensorArray."""
    return leaf if isinstance(leaf, TensorArray) else as_tensor(leaf)


def same(a: Any, b: Any) -> bool:
    """Whether two values are known to be the same, without asking the program."""
    if a is b:
        return True
    if isinstance(a, (Tensor, Variable, TensorArray, np.ndarray)) or type(a) is not type(b):
        return False
    try:
        return bool(a == b) and repr(a) == repr(b)
    except Exception:
        return False


def zeros_like_value(value: Any) -> Any:
    """Zeros of the shapes and dtypes of the tensors in `value`."""

    def zero(leaf: Any) -> Any:
        if not is_number(leaf) or isinstance(leaf, TensorArray):
            return leaf
        return zeros_of(as_tensor(leaf)._array)

    return nest.map_structure(zero, value, expand_composites=True)


def probed(run: Callable[[], Any]) -> Any:
    """What `run` gives in a graph of its own, which is thrown away: for shapes and dtypes."""
    with current_graph().inner("probe").running(), noted() as changes:
        values = run()
        if changes:
            values = apart(values)
            changes.undo()
        return values


# Logic


def not_(a: Any) -> Any:
    tensor = symbolic(a)
    return not a if tensor is None else logical_not(truth(tensor))


def and_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    """`a() and b()`; of tensors the conjunction."""
    first = a()
    tensor = symbolic(first)
    if tensor is None:
        return first and b()
    left = truth(tensor)
    if _need_not_wait(b):
        return logical_and(left, as_bool(b()))
    return forms.get().cond(left, lambda: as_bool(b()), lambda: Tensor(np.False_))


def or_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    """`a() or b()`; of tensors the disjunction."""
    first = a()
    tensor = symbolic(first)
    if tensor is None:
        return first or b()
    left = truth(tensor)
    if _need_not_wait(b):
        return logical_or(left, as_bool(b()))
    return forms.get().cond(left, lambda: Tensor(np.True_), lambda: as_bool(b()))


def as_bool(value: Any) -> Tensor:
    tensor = symbolic(value)
    return Tensor(np.bool_(bool(value))) if tensor is None else truth(tensor)


def _need_not_wait(operand: Callable[[], Any]) -> bool:
    """Whether an operand has no effects and refuses no values (`i < n and x[i] > 0`).

    Then both are computed: a branch of the program takes longer.
    """
    if not _calls_nothing(operand.__code__):
        return False
    probe = current_graph().inner("probe")
    with probe.running():
        operand()
    return not probe.checks


def _calls_nothing(code: CodeType) -> bool:
    return "converted_call" not in code.co_names and all(
        _calls_nothing(each) for each in code.co_consts if isinstance(each, CodeType)
    )


# if


def if_stmt(
    cond: Any,
    body: Callable[[], Any],
    orelse: Callable[[], Any],
    get_state: Callable[[], Any],
    set_state: Callable[[Any], None],
    names: tuple[str, ...],
    nouts: int,
) -> None:
    """`if cond: body() else: orelse()`. The first `nouts` of the variables are used later on."""
    tensor = symbolic(cond)
    if tensor is None:
        body() if cond else orelse()
        return
    start = get_state()
    in_place = [True] * nouts  # whether a list was changed, not replaced by another
    # A list that this function does not use any more may be one that its caller does.
    others = [i for i in range(nouts, len(start)) if isinstance(start[i], list)]

    def block(run: Callable[[], Any]) -> Callable[[], Any]:
        def branch() -> Any:
            given = own_copies(start)
            set_state(given)
            run()
            values = get_state()[:nouts]
            same_list = [x is y for x, y in zip(given, values, strict=False)]
            in_place[:] = map(min, in_place, same_list)
            return [*values, *[given[i] for i in others]]

        return branch

    kept = (*names[:nouts], *[names[i] for i in others])
    try:
        values = _chosen(truth(tensor), block(body), block(orelse), kept, nouts)
    except BaseException:
        set_state(start)
        raise
    for i, value in zip(others, values[nouts:], strict=True):
        put_back(start[i], [*start[i], _unlike(names[i])] if value is None else value, True)
    set_state((*map(put_back, start, values[:nouts], in_place), *start[nouts:]))


def if_exp(cond: Any, if_true: Callable[[], Any], if_false: Callable[[], Any], text: str) -> Any:
    """`if_true() if cond else if_false()`."""
    tensor = symbolic(cond)
    if tensor is None:
        return if_true() if cond else if_false()
    name = f"... if {text} else ..."
    return _chosen(truth(tensor), lambda: (if_true(),), lambda: (if_false(),), (name,), 1)[0]


def own_copies(values: Any) -> tuple[Any, ...]:
    """The values of variables with copies of lists and TensorArrays, for a block to write to."""
    return tuple(map(_own_copy, values))


def _own_copy(value: Any) -> Any:
    if isinstance(value, list):
        return list(value)
    if isinstance(value, TensorArray):
        value = copy.copy(value)
        value._elements = list(value._elements)
    return value


def put_back(variable: Any, value: Any, in_place: bool) -> Any:
    """The value of a variable after a block; a list that was changed remains the same object."""
    if not in_place or not isinstance(variable, list):
        return value
    if len(variable) != len(value) or not all(map(same, variable, value)):
        changing(variable)[:] = value
    return variable


def _unlike(name: str) -> Unknown:
    return Unknown(
        f"an element of the list `{name}`, which differs after the branches of an `if` on a tensor",
        "A list cannot grow as the program decides: use a tf.TensorArray, or append zeros in the "
        "other branch",
    )


def _run_branch(branch: Callable[[], Any]) -> Any:
    """The values after a branch, whose changes of containers are its own."""
    with noted() as changes:
        values = branch()
    if changes:
        values = apart(values)
        changes.spoil()
    return values


def _chosen(
    pred: Tensor,
    body: Callable[[], Any],
    orelse: Callable[[], Any],
    names: tuple[str, ...],
    needed: int,
) -> list[Any]:
    """The values that the named variables have after one of two blocks.

    Those from `needed` on are None if the program cannot choose between them.
    """
    ends: list[Any] = []  # the values after `body`, then those after `orelse`
    unlike: set[int] = set()

    def first() -> list[Any]:
        values = _run_branch(body)
        if _lacking(names, values):
            # The tensors that the other block gives are found by trying it.
            values = _filled(names, values, probed(orelse))
        ends.append(values)
        return _numbers(values)

    def second() -> list[Any]:
        values = _filled(names, _run_branch(orelse), ends[0])
        ends.append(values)
        for i, (name, a, b) in enumerate(zip(names, *ends, strict=True)):
            try:
                _check_branches(name, a, b)
            except Exception:
                if i < needed:
                    raise
                values[i] = zeros_like_value(a)
                unlike.add(i)
        return _numbers(values)

    results = iter(forms.get().cond(pred, first, second, both=True))

    def merged(a: Any, b: Any) -> Any:
        result = next(results) if is_number(a) else None
        return a if same(a, b) else result

    values = [
        a if is_absent(a) else nest.map_structure(merged, a, b, expand_composites=True)
        for a, b in zip(*ends, strict=True)
    ]
    return [None if i in unlike else value for i, value in enumerate(values)]


def _lacking(names: tuple[str, ...], values: Any) -> list[int]:
    """The variables to which a block gives no value, and need not.

    What a function returns is asked for only where it has returned; and where it has, no other
    variable is asked for any more.
    """
    has_returned = any(
        name.startswith("do_return") and value is True
        for name, value in zip(names, values, strict=True)
    )
    return [
        i
        for i, value in enumerate(values)
        if type(value) is UndefinedReturnValue or (has_returned and is_absent(value))
    ]


def _filled(names: tuple[str, ...], values: Any, others: Any) -> list[Any]:
    """The values after a block; for those lacking, anything that looks like the other block's."""
    result = list(values)
    for i in _lacking(names, values):
        if not is_absent(others[i]):
            result[i] = zeros_like_value(others[i])
    return result


def _numbers(values: Any) -> list[Any]:
    there = [value for value in values if not is_absent(value)]
    present = [leaf for value in there for leaf in nest.flatten(value, expand_composites=True)]
    return [as_part(leaf) for leaf in present if is_number(leaf)]


def _check_branches(name: str, a: Any, b: Any) -> None:
    """Raise unless a variable can have either of two values, as the program decides."""
    what = described(name)
    if is_absent(a) or is_absent(b):
        if is_absent(a) and is_absent(b):
            return
        branch = "main" if is_absent(a) else "else"
        raise ValueError(
            f"{user_line()}: {what} must also be initialized in the {branch} branch, because the "
            "condition is a tensor and only the program knows which branch runs. Give it a value "
            "of the same shape and dtype there, or before the `if`."
        )
    if name.startswith("retval_") and (a is None) != (b is None):
        branch = "main" if a is None else "else"
        raise ValueError(
            f"{user_line()}: the {branch} branch must also have a return statement with a value, "
            "because the condition is a tensor: a program returns the same on every path."
        )
    try:
        nest.assert_same_structure(a, b, expand_composites=True)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{user_line()}: {what} must have the same nested structure in both branches of an "
            f"`if` on a tensor. {error}{list_hint(a, b)}"
        ) from None
    if nest.composites(a) != nest.composites(b):
        raise DynamicSizeError(
            f"{what} is made of {nest.composites(a)} in the main branch and of "
            f"{nest.composites(b)} in the else branch, so that only the run decides on the shape."
        )
    for x, y in zip(nest.flatten(a, True), nest.flatten(b, True), strict=True):
        _check_leaves(what, x, y)


def _check_leaves(what: str, x: Any, y: Any) -> None:
    if same(x, y):
        return
    if is_text(x) and is_text(y):
        raise TextError(f"{what} is text that depends on a condition.")
    if not is_number(x) or not is_number(y):
        raise TypeError(
            f"{user_line()}: {what} is {x!r:.80} in the main branch and {y!r:.80} in the else "
            "branch. Where the condition is a tensor, only tensors and numbers can depend on it."
        )
    if isinstance(x, TensorArray) and isinstance(y, TensorArray):
        return
    x, y = as_tensor(x), as_tensor(y)
    if x.dtype != y.dtype:
        raise DTypeError(
            f"{user_line()}: {what} has dtype {x.dtype.name} in the main branch and "
            f"{y.dtype.name} in the else branch. Convert one of them with tf.cast."
        )
    if x.shape != y.shape:
        raise DynamicSizeError(
            f"{what} has shape {x.shape} in the main branch and {y.shape} in the else branch, so "
            "that only the run decides on the shape."
        )


def is_text(value: Any) -> bool:
    """Whether it is a text of Python, or a tensor of texts."""
    return isinstance(value, (str, bytes)) or (
        isinstance(value, Tensor) and value._array.dtype == object
    )


def described(name: str) -> str:
    return "what the function returns" if name.startswith("retval_") else f"`{name}`"


def list_hint(a: Any, b: Any) -> str:
    if type(a) is not list and type(b) is not list:
        return ""
    return " A list cannot grow as the program decides: use a tf.TensorArray."
