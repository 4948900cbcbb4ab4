"""Errors about tensors that have no value, or none here, in the user's words."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from traceback import walk_tb
from typing import Any

from jax.errors import ConcretizationTypeError, TracerArrayConversionError, UnexpectedTracerError

from ..core.errors import DynamicSizeError, SymbolicTensorError
from ..core.tracebacks import PACKAGE, is_beneath
from ..core.tracing import current_graph
from .lines import lines_to, user_line
from .trace import is_tracer, lines_of

_OF_VALUES = (TracerArrayConversionError, ConcretizationTypeError, SymbolicTensorError)
"""The errors of values that are asked for and not there. (That of an integer is the second.)"""

_OPS = os.path.join(PACKAGE, "_src", "ops", "")


def leaked(tracer: Any) -> SymbolicTensorError:
    """The error of a tensor that is used outside of the function that made it."""
    return SymbolicTensorError(explain_symbolic(tracer))


def leaked_among(arrays: Iterable[Any]) -> SymbolicTensorError:
    """The same, of the first such tensor among the arguments of a program."""
    return next(leaked(array) for array in arrays if is_tracer(array))


@contextlib.contextmanager
def values_explained() -> Iterator[None]:
    """A block in which errors about missing values say which op, at which line, needs them.

    A user who asks for a value (`x.numpy()`) gets the error that says so. Where an op asks, a
    DynamicSizeError: without compiling, the same line works.
    """
    try:
        yield
    except UnexpectedTracerError as error:
        raise SymbolicTensorError(
            f"{user_line(lines_to(error))}: a tensor of another trace is used here, which has no "
            "value outside of it. Return it from the function that makes it."
        ) from error
    except _EndlessTrace as error:
        raise _EndlessTrace(*error.args) from None  # else each of the calls has its frames there
    except RecursionError as error:
        if not str(error).startswith("maximum recursion depth"):  # it says more already
            raise
        lines = [line for line in lines_to(error) if line[0] != contextlib.__file__]
        raise _EndlessTrace(
            f"{user_line(lines)}: the recursion does not end while the function is traced, or is "
            f"deeper than Python can follow (its recursion limit is {sys.getrecursionlimit()}). "
            "Where a tensor decides, both branches of an `if` are traced, and the body of a "
            "`while`, so a function that calls itself until a tensor says stop calls itself for "
            "ever. Write it as a loop (`while`, tf.while_loop), or let a Python value decide."
        ) from None
    except Exception as error:
        missing = _missing_value(error)
        if missing is None:
            raise
        line = user_line(lines_to(missing))
        if missing is error and isinstance(error, DynamicSizeError):
            error.args = (f"{line}: {error}",)
            raise
        if isinstance(missing, DynamicSizeError):
            asked = type(missing)(f"{line}: {missing}")
            asked.advice = missing.advice
        else:
            asked = DynamicSizeError(
                f"{line}: {_asking_op(missing) or 'an op'}: the size of its result depends on "
                "values, which are not known while the function is traced."
            )
        asked.missed = getattr(missing, "missed", None)
        raise asked from error


def _missing_value(error: BaseException | None) -> BaseException | None:
    """The error of an op that asked for values: this one, or one that led to it; else None.

    On its way out it may have become another one: Keras makes a new one of each, with more to say.
    """
    while error is not None:
        if isinstance(error, _OF_VALUES) and _is_raised_here(error):
            user_asks = type(error) is SymbolicTensorError and _asking_op(error) is None
            return None if user_asks else error
        error = error.__context__
    return None


def _is_raised_here(error: BaseException) -> bool:
    """Whether it was raised by gradtape, or a library below it."""
    file = next((file for file, _ in lines_to(error)), PACKAGE)
    return file.startswith(PACKAGE) or is_beneath(file)


class _EndlessTrace(RecursionError):
    """A recursion that does not end while a function is traced."""


_EndlessTrace.__name__ = _EndlessTrace.__qualname__ = "RecursionError"  # what tracebacks say
_EndlessTrace.__module__ = "builtins"


def _asking_op(error: BaseException) -> str | None:
    """The op whose own code asked for the value: the outermost function after the user's line."""
    op = None
    for frame, _ in walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if file.startswith(_OPS):
            op = op or frame.f_code.co_name
        elif not file.startswith(PACKAGE) and not is_beneath(file):
            op = None  # the user's code, which an op may have called
    return op


def explain_symbolic(tracer: Any) -> str:
    """Where a tensor of a trace was made, and what to do if its values are asked for."""
    graph = current_graph()
    while graph is not None and not graph.trace.owns(tracer):
        graph = graph.outer
    line = user_line(lines_of(tracer))
    if graph is None:
        return (
            "A tensor of a function that was traced is out of scope: it was made at "
            f"{line}, and has a value inside that function only. Return it from the function; do "
            "not keep it in an attribute, a list or a global."
        )
    return (
        f"(Made at {line}.) Inside a function use tf.print to see values, tf.cond and "
        "tf.while_loop, or Python's `if` and `while` with autograph=True, to decide by them, or "
        "tf.config.run_functions_eagerly(True) to debug."
    )
