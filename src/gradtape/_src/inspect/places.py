"""Places: at which line, and in which calls of the user's functions, each tensor was made.

Noted only while someone asks: the line for `tape.memory()`, the calls for what `recompute_grad`
would free, and for the picture of a profile.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from threading import local
from types import CodeType, FrameType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from ..core.tensor import key_of
from ..core.tracing import current_graph
from ..core.witness import Witness
from ..tape.profile import Frame
from .users_code import Line, Lines

_MOST = 200_000
"""Tensors whose places are kept, of a program that runs on and on: the last ones."""


_numbers = count(1)


class Call:
    """A call of a function of the user."""

    __slots__ = ("caller", "code", "line", "stack")

    def __init__(self, code: CodeType, caller: Call | None, line: int) -> None:
        self.code = code
        self.caller = caller
        self.line = line  # of the caller, where it is called
        around = () if caller is None else caller.stack
        frame = Frame(self.name, code.co_filename, code.co_firstlineno)
        self.stack: tuple[tuple[int, Frame], ...] = (*around, (next(_numbers), frame))

    def __iter__(self) -> Iterator[Call]:
        """This call, and those around it, from the innermost out."""
        call: Call | None = self
        while call is not None:
            yield call
            call = call.caller

    @property
    def name(self) -> str:
        return self.code.co_qualname.rpartition("<locals>.")[2]


class Place(NamedTuple):
    """Where something happened."""

    line: Line
    call: Call | None


NOWHERE = Place(("", 0), None)


class Running(local):
    """The calls of the user's functions that this thread is in.

    Two calls of one function are told apart by their frames. A frame is held until another call is
    seen, or `forget`: so that no other one has its place meanwhile, and no local lives for long.
    """

    def __init__(self) -> None:
        self._calls: list[tuple[FrameType, Call]] = []  # from the innermost out
        self._before: dict[int, Call] = {}  # by the frames that were held last
        self._lines = Lines()

    def now(self) -> Place:
        """Where the user's code is now."""
        frames = self._lines.frames(2)
        innermost = next(frames, None)
        if innermost is None:
            return NOWHERE
        line = self._lines.here(2)
        if not self._calls or self._calls[0][0] is not innermost:
            self._calls = self._follow([innermost, *frames])
        return Place(line, self._calls[0][1])

    def _follow(self, frames: list[FrameType]) -> list[tuple[FrameType, Call]]:
        known = {id(frame): call for frame, call in self._calls} or self._before
        calls: list[tuple[FrameType, Call]] = []
        caller, line = None, 0
        for frame in reversed(frames):
            seen = known.get(id(frame))
            if seen is None or seen.code is not frame.f_code or seen.caller is not caller:
                seen = Call(frame.f_code, caller, line)
            call = seen
            calls.append((frame, call))
            caller, line = call, frame.f_lineno
        return calls[::-1]

    def forget(self) -> None:
        """Hold no frames. What is in the same place afterwards is taken for the same call."""
        if self._calls:
            self._before = {id(frame): call for frame, call in self._calls}
            self._calls = []


class Places(Witness):
    """Of each tensor that an op makes, its place."""

    def __init__(self) -> None:
        self.running = Running()
        self.of: dict[int, Place] = {}  # by the key of the tensor
        self.of_tapes: WeakKeyDictionary[Any, Place] = WeakKeyDictionary()  # of their blocks

    def paused(self, tape: Any) -> None:
        self.of_tapes[tape] = self.running.now()

    def ran(self, op: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> None:
        if current_graph() is None:
            self.note(outputs, self.running.now())

    def place_of(self, key: int) -> Place:
        """The place of the tensor with this key."""
        return self.of.get(key, NOWHERE)

    def note(self, outputs: Any, place: Place) -> None:
        """Note where these outputs were made."""
        for y in outputs if type(outputs) is tuple else (outputs,):
            self.of[key_of(y)] = place
        while len(self.of) > _MOST:
            del self.of[next(iter(self.of))]
