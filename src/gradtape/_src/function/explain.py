"""Errors about tensors that have no value, or none here, in the user's words."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from traceback import walk_tb
from typing import Any

from jax.errors import ConcretizationTypeError, TracerArrayConversionError, UnexpectedTracerError

from ..core.errors import DynamicSizeError, SymbolicTensorError
from ..core.tracebacks import PACKAGE, is_beneath
from ..core.tracing import current_graph
from .lines import lines_to, user_line
from .trace import is_tracer, lines_of

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
    except DynamicSizeError as error:
        error.args = (f"{user_line(lines_to(error))}: {error}",)
        raise
    except (TracerArrayConversionError, ConcretizationTypeError, SymbolicTensorError) as error:
        # (The error of an integer that has no value is a ConcretizationTypeError too.)
        op = _asking_op(error)
        if op is None and isinstance(error, SymbolicTensorError):
            raise
        raise DynamicSizeError(
            f"{user_line(lines_to(error))}: {op or 'an op'}: the size of its result depends on "
            "values, which are not known while the function is traced."
        ) from error
    except UnexpectedTracerError as error:
        raise SymbolicTensorError(
            f"{user_line(lines_to(error))}: a tensor of another trace is used here, which has no "
            "value outside of it. Return it from the function that makes it."
        ) from error
    except RecursionError as error:
        if isinstance(error, _EndlessTrace) or not _branches_in(error):
            raise
        lines = [line for line in lines_to(error) if line[0] != contextlib.__file__]
        raise _EndlessTrace(
            f"{user_line(lines)}: the recursion does not end while the function is "
            "traced. Where a tensor decides, both branches of an `if` are traced, so a function "
            "that calls itself until a tensor says stop calls itself for ever. Write it as a loop "
            "(`while`, tf.while_loop), or let a Python value decide."
        ) from None


class _EndlessTrace(RecursionError):
    """A recursion that a tensor decides."""


_EndlessTrace.__name__ = _EndlessTrace.__qualname__ = "RecursionError"  # what tracebacks say
_EndlessTrace.__module__ = "builtins"


def _branches_in(error: BaseException) -> bool:
    """Whether an error came out of branches inside of branches."""
    codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    choices = [code for code in codes if code.co_name == "choose"]
    return sum([code.co_filename.startswith(PACKAGE) for code in choices]) > 1


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
