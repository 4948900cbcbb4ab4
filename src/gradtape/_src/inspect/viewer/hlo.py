"""The text of a program of XLA, read: its computations, their instructions, and their lines."""

from __future__ import annotations

import re
from typing import NamedTuple

_COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.\-]+) .*\{\s*$")
_INSTRUCTION = re.compile(r"^\s+(ROOT )?%?([\w.\-]+) = (.*)$")
_ARRAY = re.compile(r"([a-z]\w*)\[([\d,<=?]*)\](?:\{[^}]*\})?")
_CALLED = re.compile(
    r"(?:calls|body|condition|to_apply|true_computation|false_computation)=%?([\w.\-]+)"
)
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
_OP_NAME = re.compile(r'op_name="((?:[^"\\]|\\.)*)"')
_FRAME = re.compile(r"stack_frame_id=(\d+)")
_SOURCE = re.compile(r'source_file="((?:[^"\\]|\\.)*)" source_line=(\d+)')
_TABLE_ROW = re.compile(r"^(\d+) (?:\"((?:[^\"\\]|\\.)*)\"|\{(.*)\})$")
_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")


class Frame(NamedTuple):
    """A line that an instruction is from, and the function that it is in."""

    file: str
    line: int
    function: str


class Instruction(NamedTuple):
    """An op of XLA."""

    name: str
    op: str
    dtype: str
    shape: tuple[int, ...] | None  # None of a tuple of arrays
    operands: list[str]
    called: list[str]
    op_name: str
    frames: list[Frame]  # the innermost first
    attributes: str
    is_root: bool


class Module(NamedTuple):
    """The computations of a program by name."""

    entry: str
    computations: dict[str, list[Instruction]]


def parse(text: str) -> Module:
    """The program that XLA writes as `text`."""
    tables: dict[str, dict[int, str]] = {name: {} for name in _TABLES}
    computations: dict[str, list[Instruction]] = {}
    entry, inside, table = "", None, None
    for line in text.splitlines():
        if inside is None:
            if line in tables:
                table = tables[line]
            elif table is not None and (row := _TABLE_ROW.match(line)):
                table[int(row[1])] = row[2] if row[2] is not None else row[3]
            elif found := _COMPUTATION.match(line):
                inside = computations[found[2]] = []
                if found[1]:
                    entry = found[2]
        elif line.startswith("}"):
            inside = None
        elif found := _INSTRUCTION.match(line):
            inside.append(_instruction(found, tables))
    return Module(entry, computations)


def _instruction(found: re.Match[str], tables: dict[str, dict[int, str]]) -> Instruction:
    kind, rest = _split_type(found[3])
    op, _, rest = rest.partition("(")
    inner, attributes = _split_parentheses(rest)
    arrays = [] if kind.startswith("(") else _ARRAY.findall(kind)
    dtype = arrays[0][0] if arrays else "tuple"
    shape = None
    if arrays:
        sizes = re.findall(r"\d+", arrays[0][1])
        shape = tuple([int(n) for n in sizes])
    name = _OP_NAME.search(attributes)
    branches = _BRANCHES.search(attributes)
    called = _CALLED.findall(attributes) if op.strip() in _WITH_INSIDES else []
    if branches:
        called += [each.strip().lstrip("%") for each in branches[1].split(",")]
    operands = re.findall(r"%([\w.\-]+)", inner)
    if op.strip() in ("constant", "parameter", "iota"):
        operands = []
    return Instruction(
        found[2],
        op.strip(),
        dtype,
        shape,
        operands,
        called,
        name[1] if name else "",
        _frames(attributes, tables),
        f"{op.strip()}({inner[:80]}){attributes.split(', metadata=')[0][:160]}",
        bool(found[1]),
    )


_WITH_INSIDES = {"fusion", "while", "conditional", "call", "async-start", "custom-call"}


def _split_type(text: str) -> tuple[str, str]:
    """The type of an instruction, and the rest of its line."""
    if not text.startswith("("):
        kind, _, rest = text.partition(" ")
        return kind, rest
    inner, rest = _split_parentheses(text[1:])
    return f"({inner})", rest.lstrip()


def _split_parentheses(text: str) -> tuple[str, str]:
    """What comes before the parenthesis that closes, and what comes after it."""
    depth = 1
    for i, character in enumerate(text):
        depth += (character in "({") - (character in ")}")
        if not depth:
            return text[:i], text[i + 1 :]
    return text, ""


def _frames(attributes: str, tables: dict[str, dict[int, str]]) -> list[Frame]:
    source = _SOURCE.search(attributes)
    if source:
        return [Frame(source[1], int(source[2]), "")]
    number = _FRAME.search(attributes)
    frames: list[Frame] = []
    current = int(number[1]) if number else 0
    while current and len(frames) < 50:
        row = _numbers(tables["StackFrames"].get(current, ""))
        place = _numbers(tables["FileLocations"].get(row.get("file_location_id", 0), ""))
        file = tables["FileNames"].get(place.get("file_name_id", 0), "")
        function = tables["FunctionNames"].get(place.get("function_name_id", 0), "")
        if file:
            frames.append(Frame(file, place.get("line", 0), function))
        parent = row.get("parent_frame_id", 0)
        current = parent if parent != current else 0
    return frames


def _numbers(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", text)}
