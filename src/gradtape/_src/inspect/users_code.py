"""The user's code: the line that runs, what objects are called there, what a line says."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from inspect import CO_OPTIMIZED
from types import FrameType
from typing import Any

from ..core.tracebacks import PACKAGE, is_beneath

Line = tuple[str, int]


class Lines:
    """Finds the user's lines, and remembers which files are the user's."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}

    def is_users(self, file: str) -> bool:
        known = self._known.get(file)
        if known is None:
            known = self._known[file] = not file.startswith(PACKAGE) and not is_beneath(file)
        return known

    def here(self, depth: int) -> Line:
        """The innermost line of the user's code that runs now, from `depth` frames out."""
        frame: FrameType | None = sys._getframe(depth)
        known = self._known.get
        while frame is not None:
            file = frame.f_code.co_filename
            users = known(file)
            if users is None:
                users = self.is_users(file)
            if users:
                return file, frame.f_lineno
            frame = frame.f_back
        return "", 0

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
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    if frame is None:
        return None
    local = locals_of(frame)
    names = [name for name, each in local.items() if each is value and not name.startswith("_")]
    return names[0] if names else None


_REASSIGNMENT = re.compile(r"^(\w+)\s*(?:[-+*/@]|\*\*|//)?=(?!=)(.*)$")


def reassigned(line: str) -> str | None:
    """The name that a line such as `x = x + 1` or `x -= g` uses and sets."""
    match = _REASSIGNMENT.match(line.strip())
    if match is None:
        return None
    name = match[1]
    in_place = not re.match(rf"^{name}\s*=", line.strip())
    return name if in_place or re.search(rf"\b{name}\b", match[2]) else None
