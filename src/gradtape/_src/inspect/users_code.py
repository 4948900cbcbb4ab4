"""What the user's source says: the names of objects, and lines that give a name another value."""

from __future__ import annotations

import re
import sys
from inspect import CO_OPTIMIZED
from types import FrameType
from typing import Any

from ..core.tracebacks import PACKAGE


def name_of(value: Any) -> str | None:
    """What the user's code that runs now calls this object."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    if frame is None:
        return None
    local = frame.f_locals
    names = [name for name, each in local.items() if each is value and not name.startswith("_")]
    if type(local) is dict and frame.f_code.co_flags & CO_OPTIMIZED:
        local.clear()  # a copy, which before Python 3.13 would hold its values until the frame ends
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
