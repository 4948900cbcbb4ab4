"""TensorFlow's `tf.autograph`: Python's control flow, converted for compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, ParamSpec, TypeVar, overload

from ...tape.scopes import get_logger

P = ParamSpec("P")
R = TypeVar("R")


class Feature(Enum):
    """TensorFlow's optional parts of the conversion; here all that exists is always on."""

    ALL = "ALL"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """All of them."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[Feature, ...]:
        """All of them but those to `exclude`: one, or a list."""
        left_out = exclude if isinstance(exclude, (list, tuple, set)) else [exclude]
        return tuple(each for each in cls if each not in (*left_out, cls.ALL))


def to_graph(
    entity: Callable[..., Any], recursive: bool = True, experimental_optional_features: Any = None
) -> Callable[..., Any]:
    """The function with its control flow converted, as `@function` converts it.

    >>> def magnitude(x):
    ...     return x if x > 0 else -x
    >>> to_graph(magnitude)(-2)
    2
    """
    from .conversion import converted

    return converted(getattr(entity, "python_function", entity))


def to_code(
    entity: Callable[..., Any], recursive: bool = True, experimental_optional_features: Any = None
) -> str:
    """The source code of the function with its control flow converted."""
    from .conversion import source_of

    return source_of(entity)


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Log what is not converted, and why: from level 1 on, as debug messages."""
    import logging
    import sys

    logger = get_logger()
    logger.setLevel(logging.DEBUG if level > 0 else logging.WARNING)
    if alsologtostdout:
        logger.addHandler(logging.StreamHandler(sys.stdout))


def trace(*args: Any) -> None:
    """Print `args` when the function is traced."""
    print(*args)


@overload
def do_not_convert(func: Callable[P, R]) -> Callable[P, R]: ...
@overload
def do_not_convert(func: None = None) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """A decorator: the function stays as it is when a compiled function calls it."""
    from .conversion import do_not_convert

    return do_not_convert(func)


def set_loop_options(
    parallel_iterations: Any = None,
    swap_memory: Any = None,
    maximum_iterations: Any = None,
    shape_invariants: Any = None,
) -> None:
    """The first statement of a loop in a compiled function: a bound on its rounds.

    The gradient of a `while` on tensors has room for `maximum_iterations` from the first call on.
    With `shape_invariants` shapes may change from round to round, if the function is not compiled
    for it. The other arguments are TensorFlow's hints to itself. Outside of a converted loop, it
    does nothing.
    """
