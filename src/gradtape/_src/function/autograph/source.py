"""Where a function is defined: the part of its file's syntax tree that its code was made of."""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import os
from functools import lru_cache
from types import CodeType
from typing import Any

Definition = ast.FunctionDef | ast.Lambda
FUNCTIONS = (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef)


class NotConvertible(Exception):
    """Why a function stays as it is."""


def definition_of(code: CodeType) -> tuple[Definition, str | None]:
    """The definition that `code` was compiled from, and the class whose private names it sees."""
    try:
        if code.co_filename == "<string>":  # any exec's; Python 3.13 would show that of `python -c`
            raise OSError
        lines = _lines_of_file(code.co_filename) or inspect.findsource(code)[0]
    except (OSError, TypeError, IndexError):
        raise NotConvertible("its source code is not available") from None
    known = [
        (node, owner)
        for node, owner in _definitions("".join(lines)).get(code.co_firstlineno, ())
        if _has_parameters_of(node, code)
    ]
    if code.co_name == "<lambda>":
        known = [(node, owner) for node, owner in known if isinstance(node, ast.Lambda)]
        if len(known) > 1:
            known = _spanning(known, code)
    else:
        known = [entry for entry in known if getattr(entry[0], "name", None) == code.co_name]
    if len(known) != 1:
        raise NotConvertible(f"its source code was not found at line {code.co_firstlineno}")
    node, owner = known[0]
    if isinstance(node, ast.AsyncFunctionDef):
        raise NotConvertible("it is a coroutine")
    return copy.deepcopy(node), owner


def _lines_of_file(path: str) -> list[str]:
    """The lines of a file that is there.

    `inspect` would look through all modules for the one that the file belongs to: 0.02 s.
    """
    linecache.checkcache(path)
    return linecache.getlines(path) if os.path.isfile(path) else []


@lru_cache(maxsize=16)
def _definitions(source: str) -> dict[int, list[tuple[Any, str | None]]]:
    """All functions and lambdas of a file by their first line, with the class around them."""
    try:
        module = ast.parse(source)
    except SyntaxError:
        raise NotConvertible("its source code cannot be parsed") from None
    found: dict[int, list[tuple[Any, str | None]]] = {}

    def visit(node: ast.AST, owner: str | None) -> None:
        if isinstance(node, FUNCTIONS):
            decorators = getattr(node, "decorator_list", None)
            line = decorators[0].lineno if decorators else node.lineno
            found.setdefault(line, []).append((node, owner))
        inside = node.name if isinstance(node, ast.ClassDef) else owner
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(module, None)
    return found


def _has_parameters_of(node: Any, code: CodeType) -> bool:
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    count = code.co_argcount + code.co_kwonlyargcount
    given = list(code.co_varnames[:count])
    return len(names) == count and all(
        own == name or own.endswith(name) for own, name in zip(given, names, strict=True)
    )


def _spanning(known: list[Any], code: CodeType) -> list[Any]:
    """Of several lambdas that begin on one line, the one that holds the code's instructions."""
    places = [
        (line, column)
        for line, _, column, end in code.co_positions()
        if line is not None and column is not None and end != column
    ]

    def holds(node: ast.Lambda) -> bool:
        body = node.body
        begin = (body.lineno, body.col_offset)
        end = (body.end_lineno, body.end_col_offset)
        return all(begin <= place < end for place in places)

    def size(node: ast.Lambda) -> tuple[int, int]:
        body: Any = node.body
        return body.end_lineno - body.lineno, body.end_col_offset - body.col_offset

    holding = [entry for entry in known if holds(entry[0])]
    return sorted(holding, key=lambda entry: size(entry[0]))[:1]
