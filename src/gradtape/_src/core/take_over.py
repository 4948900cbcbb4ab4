"""How composites take over the functions that meet them.

What `tf.concat` is for ragged tensors stands beside their class, and `concat` knows nothing of it.
Where a tensor is needed and a composite came, the conversion raises NotATensorError. Ops, and the
functions that lend themselves to it, catch it and call the rule of the class instead. A `try` in
which nothing is raised costs nothing, so calls with tensors do not pay. In a function that is
called often it is written out,

    try:
        x = to_tensor(input, "tile")
    except NotATensorError as error:
        return take_over(error, tile, input, multiples)

and where 0.1 µs for a wrapper is nothing, the decorator `lends_itself` does it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, ParamSpec, TypeVar

from .errors import NotATensorError
from .pattern import ELEMENTWISE

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_Rule = TypeVar("_Rule", bound=Callable[..., Any])


class TakesOver:
    """Base of the classes whose values take functions over: of composites."""

    _to_make_tensors = "Take it apart first."
    """What to do where only a tensor serves: the end of an error message."""

    _rules: ClassVar[dict[Any, Callable[..., Any]]]
    """The functions that the class takes over, and what each of them is for it."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._rules = {}

    @classmethod
    def _takes_over(cls, *functions: Any) -> Callable[[_Rule], _Rule]:
        """Declare what public functions are for values of this class, called in the same way.

        ELEMENTWISE stands for all elementwise ops: of these the rule is given the op first.
        """

        def declare(rule: _Rule) -> _Rule:
            cls._rules.update(dict.fromkeys(functions, rule))
            return rule

        return declare


def refusal(value: TakesOver, what: str) -> NotATensorError:
    """The error of a function, called `what`, that needs a tensor in place of `value`."""
    error = NotATensorError(f"{what} takes no {type(value).__name__}. {value._to_make_tensors}")
    error.value = value
    return error


def take_over(
    error: NotATensorError, function: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """The result of `function` by the rule of the composite that came where it needs a tensor."""
    value = error.value
    rule = _rule(value, function)
    if rule is not None:
        return rule(*args, **kwargs)
    op = getattr(function, "op", None)
    if op is not None and op.pattern is ELEMENTWISE:
        rule = _rule(value, ELEMENTWISE)
        if rule is not None:
            return rule(function, *args, **kwargs)
    raise refusal(value, function.__name__) from None


def _rule(value: Any, key: Any) -> Callable[..., Any] | None:
    for kind in type(value).__mro__:
        if key in getattr(kind, "_rules", ()):
            return kind._rules[key]  # type: ignore[attr-defined, no-any-return]
    return None


def lends_itself(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """A public function that composites may take over: see above."""

    @wraps(function)
    def call(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        try:
            return function(*args, **kwargs)
        except NotATensorError as error:
            return take_over(error, call, *args, **kwargs)  # type: ignore[no-any-return]

    return call
