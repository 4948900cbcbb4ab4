"""The user's own line, for messages: the innermost one that is not gradtape's machinery."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from traceback import walk_tb
from types import FrameType

from ..core.tracebacks import PACKAGE, is_beneath

Line = tuple[str, int]


def user_line(lines: Iterable[Line] | None = None) -> str:
    """The user's line among these, the innermost first; without any, the one that runs now."""
    line = users_among(_running() if lines is None else lines)
    return "@function" if line is None else f"{line[0]}, line {line[1]}"


def users_among(lines: Iterable[Line]) -> Line | None:
    """The user's line among these, the innermost first."""
    for file, number in lines:
        if not file.startswith(PACKAGE) and not is_beneath(file):
            return file, number
    return None


def lines_to(error: BaseException) -> list[Line]:
    """The lines on the way to an error, the innermost first."""
    frames = walk_tb(error.__traceback__)
    return [(frame.f_code.co_filename, number) for frame, number in frames][::-1]


def _running() -> Iterator[Line]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
