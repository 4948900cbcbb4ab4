"""The user's code: the line that runs, what objects are called there, what a line says."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType
from typing import Any

from ..core.tracebacks import PACKAGE, is_beneath, is_installed

Line = tuple[str, int]
Stack = tuple[tuple[CodeType, int], ...]
"""The calls of the user's own code, the innermost first: what ran, and at which instruction."""

_DEEPEST = 12
"""Calls that are kept of a stack."""


class Lines:
    """Finds the user's lines, and remembers which files are the user's."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}
        self._own: dict[str, bool] = {}  # of no library that is installed

    def is_users(self, file: str) -> bool:
        known = self._known.get(file)
        if known is None:
            known = self._known[file] = not file.startswith(PACKAGE) and not is_beneath(file)
        return known

    def here(self, depth: int) -> Line:
        """The innermost line of the user's code that runs now, from `depth` frames out."""
        frame = self._innermost(sys._getframe(depth))
        return ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)

    def place(self, depth: int) -> tuple[Line, Stack]:
        """The same line, and the calls that led to it: without those of installed libraries."""
        frame = self._innermost(sys._getframe(depth))
        if frame is None:
            return ("", 0), ()
        line = frame.f_code.co_filename, frame.f_lineno
        innermost = frame.f_code, frame.f_lasti
        stack: list[tuple[CodeType, int]] = []
        known = self._own
        while frame is not None and len(stack) < _DEEPEST:
            file = frame.f_code.co_filename
            own = known.get(file)
            if own is None:
                own = known[file] = not file.startswith(PACKAGE) and not is_installed(file)
            if own:
                stack.append((frame.f_code, frame.f_lasti))
            frame = frame.f_back
        return line, tuple(stack) or (innermost,)

    def _innermost(self, frame: FrameType | None) -> FrameType | None:
        known = self._known.get
        while frame is not None:
            file = frame.f_code.co_filename
            users = known(file)
            if users is None:
                users = self.is_users(file)
            if users:
                return frame
            frame = frame.f_back
        return None

    def frames(self, depth: int) -> Iterator[FrameType]:
        """The frames of the user's code that run now, from the innermost out."""
        frame: FrameType | None = sys._getframe(depth)
        while frame is not None:
            if self.is_users(frame.f_code.co_filename):
                yield frame
            frame = frame.f_back


def locals_of(frame: FrameType) -> dict[str, Any]:
    """The local variables of a frame, which does not hold on to them."""
    local = frame.f_locals
    found = dict(local)
    if type(local) is dict and frame.f_code.co_flags & CO_OPTIMIZED:
        local.clear()  # a copy, which before Python 3.13 would hold its values until the frame ends
    return found


def name_of(value: Any) -> str | None:
    """What the user's code that runs now calls this object."""
    return next((name for name, each in names_in_use() if each is value), None)


def names_in_use() -> list[tuple[str, Any]]:
    """The names of the function of the user that runs now, with what they stand for."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    if frame is None:
        return []
    return [(name, each) for name, each in locals_of(frame).items() if not name.startswith("_")]


_REASSIGNMENT = re.compile(r"^(\w+)\s*(?:[-+*/@]|\*\*|//)?=(?!=)(.*)$")


def reassigned(line: str) -> str | None:
    """The name that a line such as `x = x + 1` or `x -= g` uses and sets."""
    match = _REASSIGNMENT.match(line.strip())
    if match is None:
        return None
    name = match[1]
    in_place = not re.match(rf"^{name}\s*=", line.strip())
    return name if in_place or re.search(rf"\b{name}\b", match[2]) else None
