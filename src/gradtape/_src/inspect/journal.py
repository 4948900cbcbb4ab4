"""Journal: what happened to tensors, call by call, with the user's lines; kept only when asked for.

A tape knows what it recorded. Why a gradient is None lies most often in what it did not: an op
before its block, a tensor that nobody watched, an integer, a number that went through NumPy. So
while gradients are to be explained there is one journal for the process, told by `core/dispatch.py`
of each op call, by tensors of values that leave, by variables of what is assigned, and by tapes of
the gradients that they gave. It names tensors by their keys and holds no array.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import count
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..core.recorder import recorders
from ..core.tensor import Tensor, is_inexact, key_of
from ..core.tracing import tracing
from ..core.witness import Witness
from ..tape.scopes import get_current_name_scope
from .users_code import Line, Lines, Stack

_MOST = 200_000
"""Events that are kept, of a program that runs on and on: the last ones, some 60 MB."""


_tapes = count(1)


class Ran(NamedTuple):
    """An op call."""

    number: int
    op: Any
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    floating: bool  # whether an output has a gradient
    dtype: Any  # of the first output
    shape: tuple[Any, ...]
    line: Line
    followed: dict[int, list[int]]  # by the number of each tape that listened: inputs it follows
    stack: Stack  # empty if no tape listened, as is the next
    scope: str  # the name scopes around it
    seconds: float  # since the call before: what Python did in between counts too


class Left(NamedTuple):
    """Values of a tensor that became numbers of Python or NumPy."""

    number: int
    key: int
    use: str
    line: Line


class Assigned(NamedTuple):
    """A value that was stored in a variable."""

    number: int
    variable: int
    value: int | None
    line: Line


class Journal(Witness):
    """The events, oldest first."""

    keeps_records = True

    def __init__(self, explain: Callable[[Journal, Any, Any, Any, Any], None]) -> None:
        self.events: deque[Any] = deque(maxlen=_MOST)
        self.roots: dict[int, Any] = {}  # of tensors that no noted op has made, what they look like
        self.made: set[int] = set()  # keys of outputs
        self.variables: set[int] = set()  # keys of those that were read
        self.reasons: dict[int, Any] = {}  # why the gradient by a key was None, when last asked for
        self.quiet = False  # while it is itself being asked
        self._explain = explain  # the gradients that a tape gives
        self.users = 0  # those who want it: tapes, and one for all
        self.report: Callable[[Any], None] | None = None  # what is to be told of each None
        self._numbers = count()
        self._lines = Lines()
        self._done = perf_counter()  # when the last call had been noted

    # Being told

    def ran(self, op: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> None:
        if self.quiet:
            return
        seconds = perf_counter() - self._done
        results = outputs if type(outputs) is tuple else (outputs,)
        keys = tuple([self._key_of_input(x) for x in inputs])
        out_keys = tuple(map(key_of, results))
        self.made.update(out_keys)
        followed = {
            self.number_of(recorder): [key for key in keys if key in recorder.tracked]
            for recorder in recorders()
        }
        first = results[0]._array if results else None
        if followed:
            (line, stack), scope = self._lines.place(2), get_current_name_scope()
        else:  # on a way back, most often; its line is enough
            line, stack, scope = self._lines.here(2), (), ""
        self.events.append(
            Ran(
                next(self._numbers),
                op,
                keys,
                out_keys,
                any(map(is_inexact, results)),
                getattr(first, "dtype", None),
                getattr(first, "shape", ()),
                line,
                followed,
                stack,
                scope,
                seconds,
            )
        )
        self._done = perf_counter()

    def left(self, tensor: Tensor, use: str) -> None:
        if not self.quiet and not use.startswith(("if", "str", "A pickle")):
            self.events.append(Left(next(self._numbers), key_of(tensor), use, self._lines.here(2)))

    def was_read(self, variable: Any) -> None:
        self.variables.add(variable._key)

    def assigned(self, variable: Any, value: Any) -> None:
        key = key_of(value) if isinstance(value, Tensor) else getattr(value, "_key", None)
        self.events.append(Assigned(next(self._numbers), variable._key, key, self._lines.here(2)))

    def derived(self, tape: Any, target: Any, sources: list[Any], found: list[Any]) -> None:
        self._explain(self, tape, target, sources, found)

    # Answering

    def reason_for(self, key: int) -> Any:
        return self.reasons.get(key)

    def number_of(self, recorder: Any) -> int:
        """The number of a tape. (An id may be that of another one, later.)"""
        number: int | None = vars(recorder).get("_number")
        if number is None:
            number = next(_tapes)
            recorder._number = number
        return number

    def calls(self) -> Iterator[Ran]:
        return (event for event in self.events if type(event) is Ran)

    def _key_of_input(self, x: Any) -> int:
        key = key_of(x)
        if key not in self.made and key not in self.roots:
            self.roots[key] = looks_of(x._array)
        return key


def journal_of_process() -> Journal | None:
    """The journal that is told now, if there is one."""
    return next((each for each in tracing.witnesses if isinstance(each, Journal)), None)


def looks_of(array: Any) -> Any:
    """What tells arrays of other values apart; None of a large one, which would take too long."""
    try:
        if array.nbytes <= 4096:
            return tuple(array.shape), array.dtype.str, hash(np.asarray(array).tobytes())
    except Exception:  # a symbol has no bytes
        pass
    return None
