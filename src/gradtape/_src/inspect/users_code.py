"""The user's code: the line that runs, what objects are called there, what a line says."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterator
from functools import cache
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType
from typing import Any

from ..core.tracebacks import PACKAGE, is_beneath, is_installed

Line = tuple[str, int]
Stack = tuple[tuple[CodeType, int], ...]
"""The calls of the user's own code, the innermost first: what ran, and at which instruction."""

_DEEPEST = 12
"""Calls that are kept of a stack."""


_MACHINERY, _LIBRARY, _OWN = 1, 2, 3


class Lines:
    """Finds the user's lines, and remembers which files are the user's.

    These are the lines of the user's own code. Of an installed library, of a layer of Keras for
    instance, a line is given only where nothing of one's own runs.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, int] = {}  # by file

    def _kind_of(self, file: str) -> int:
        if file.startswith(PACKAGE) or is_beneath(file):
            kind = _MACHINERY
        else:
            kind = _LIBRARY if is_installed(file) else _OWN
        self._kinds[file] = kind
        return kind

    def here(self, depth: int) -> Line:
        """The user's line that runs now, from `depth` frames out."""
        frame = self._users(sys._getframe(depth))
        return ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)

    def place(self, depth: int) -> tuple[Line, Stack]:
        """The same line, and the calls that led to it: without those of installed libraries."""
        frame = self._users(sys._getframe(depth))
        if frame is None:
            return ("", 0), ()
        line = frame.f_code.co_filename, frame.f_lineno
        stack = [(frame.f_code, frame.f_lasti)]
        known = self._kinds.get
        frame = frame.f_back
        while frame is not None and len(stack) < _DEEPEST:
            file = frame.f_code.co_filename
            if (known(file) or self._kind_of(file)) == _OWN:
                stack.append((frame.f_code, frame.f_lasti))
            frame = frame.f_back
        return line, tuple(stack)

    def _users(self, frame: FrameType | None) -> FrameType | None:
        """The innermost frame of the user's own code; without any, of a library."""
        known = self._kinds.get
        library = None
        while frame is not None:
            file = frame.f_code.co_filename
            kind = known(file) or self._kind_of(file)
            if kind == _OWN:
                return frame
            if kind == _LIBRARY and library is None:
                library = frame
            frame = frame.f_back
        return library

    def frames(self, depth: int) -> Iterator[FrameType]:
        """The frames that run now, of the user's code and of libraries, from the innermost out."""
        frame: FrameType | None = sys._getframe(depth)
        while frame is not None:
            file = frame.f_code.co_filename
            if (self._kinds.get(file) or self._kind_of(file)) != _MACHINERY:
                yield frame
            frame = frame.f_back


def line_at(code: CodeType, instruction: int) -> int:
    """The line of an instruction, given as frames give it."""
    lines = _lines_of(code)
    return lines[min(instruction // 2, len(lines) - 1)] if lines else code.co_firstlineno


@cache
def _lines_of(code: CodeType) -> list[int]:
    return [line or code.co_firstlineno for line, *_ in code.co_positions()]


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


def reassigned(file: str, line: int) -> str | None:
    """What a statement such as `x = x + 1`, `p["w"] = p["w"] - g` or `x -= g` uses and sets."""
    for statement in _statements_of(file):
        last = statement.end_lineno or statement.lineno
        if statement.lineno <= line <= last:
            if isinstance(statement, ast.AugAssign):
                return ast.unparse(statement.target)
            used = {ast.unparse(each) for each in ast.walk(statement.value) if _is_place(each)}
            for target in statement.targets:
                for place in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                    name = ast.unparse(place)
                    if name in used:
                        return name
    return None


def _is_place(node: ast.AST) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))


@cache
def _statements_of(file: str) -> list[ast.Assign | ast.AugAssign]:
    """The assignments of a file; none if it cannot be read."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return []
    return [node for node in ast.walk(tree) if isinstance(node, (ast.Assign, ast.AugAssign))]
