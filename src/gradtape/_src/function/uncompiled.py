"""Signatures that cannot be compiled: of sizes that depend on values, or of text.

They run as plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from ..core.errors import DynamicSizeError, TextError
from ..core.interrupts import keep_variable
from ..core.tensor import Tensor
from ..tape.scopes import get_logger
from .signature import Open


class Uncompiled:
    """Among the traces of a function: a signature that has none, and why.

    It counts as outdated, so that each call comes by with its arguments and gets a `PlainCall`.
    """

    resizable = is_outdated = True

    def __init__(self, error: DynamicSizeError) -> None:
        self.reason = str(error)  # the error would keep alive what its traceback has seen
        self.advice = error.advice

    def __repr__(self) -> str:
        return f"<not compiled: {self.reason}>"

    def follows_from(self, other: Uncompiled) -> bool:
        """Whether the reason is that of `other`, a call around this one."""
        return self.reason == other.reason or self.advice == other.advice == TextError.advice


_around: ContextVar[Uncompiled | None] = ContextVar("around", default=None)
"""Why what runs now, around other functions, is not compiled."""
keep_variable(_around)


class PlainCall:
    """In place of a trace: the Python function itself, on the leaves of these arguments."""

    can_be_inside = False  # the function around runs the Python function as a part of it

    def __init__(self, name: str, run: Callable[[Iterator[Any]], Any], why: Uncompiled) -> None:
        self.name = name
        self._run = run
        self._why = why

    def call(self, leaves: list[Any]) -> Any:
        from .concrete import as_results

        token = _around.set(self._why)
        try:
            return as_results(self._run(iter(leaves)), self.name)
        finally:
            _around.reset(token)

    def __getattr__(self, name: str) -> Any:
        """What a trace has, and this has not: `graph`, `structured_outputs` and others."""
        raise DynamicSizeError(
            f"{self.name}: there is no `{name}`, because this signature is not compiled. "
            f"{self._why.reason}"
        )

    def __repr__(self) -> str:
        return f"<{self.name}, as plain Python>"


def text_among(leaves: list[Any]) -> TextError | None:
    """Why a call with these tensors is not compiled, if there is text among them."""
    tensors = [leaf.tensor if type(leaf) is Open else leaf for leaf in leaves]
    if not any([isinstance(x, Tensor) and x._array.dtype == object for x in tensors]):
        return None
    return TextError("An argument is text, which XLA has not.")


def given_up(function: Any, error: DynamicSizeError) -> Uncompiled:
    """What a function keeps for a signature in place of a trace, unless it must be compiled."""
    if function.jit_compile:
        error.args = (refusal(function.name, error),)
        raise error
    return Uncompiled(error)


_told: set[Any] = set()
"""The lines of Python that became functions, and why they are not compiled: told once for all."""


def warn(name: str, python_function: Any, why: Uncompiled) -> None:
    """Tell the user; not again of a function made anew of the same lines, nor of one inside."""
    around = _around.get()
    told = getattr(python_function, "__code__", name), why.reason
    if told in _told or (around is not None and why.follows_from(around)):
        return
    _told.add(told)
    get_logger().warning(
        "%s runs as plain Python, not compiled. %s To compile it, %s", name, why.reason, why.advice
    )


def refusal(name: str, error: DynamicSizeError) -> str:
    """The message of the error of a function that must be compiled."""
    return (
        f"{error} {error.reason}, and {name} has jit_compile=True; without it, it would run as "
        f"plain Python. To compile it, {error.advice}"
    )
