"""The pictures of a function: the ops that were traced, and what XLA made of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.tracebacks import PACKAGE, is_beneath, is_installed
from .hlo import Instruction, Module, parse
from .picture import Box, Edge, Kind, Picture, Place

_MOST = 20_000
"""Instructions that are drawn: what is called at several places is drawn at each."""


def pictures_of_function(bound: Any) -> list[Picture]:
    """The trace of a function, and the program that runs, of what `get_concrete_function` gives."""
    text = bound._concrete.compiler_ir("optimized_hlo")
    names = [what for _, what in _inputs_named(bound)]
    return [_of_trace(bound), _of_program(parse(text), names)]


def _of_trace(bound: Any) -> Picture:
    boxes: list[Box] = []
    edges: list[Edge] = []
    numbers: dict[int, int] = {}
    named = {id(array): what for array, what in _inputs_named(bound)}
    for op in bound.graph.get_operations():
        kinds: dict[str, Any] = {"Placeholder": "input", "Const": "constant"}
        box = Box(op.type, kinds.get(op.type, "op"))
        if box.kind == "input":
            box.kind, box.name = named.get(id(op.array), ("input", ""))
            box.label = "variable" if box.kind == "variable" else "argument"
        elif box.kind == "constant":
            box.label = "constant"
        if op.outputs:
            y = op.outputs[0]
            box.shape = tuple(y.shape) if y.shape.rank is not None else None
            box.dtype = y.dtype.name
            if y.shape.is_fully_defined():
                box.size = sum(
                    o.shape.num_elements() * np.dtype(o.dtype.numpy_dtype).itemsize
                    for o in op.outputs
                    if o.shape.is_fully_defined()
                )
        _place(box, [(call.file, call.line, call.function) for call in op.calls])
        numbers[id(op)] = len(boxes)
        for x in op.inputs:
            edges.append(Edge(numbers[id(x.op)], len(boxes)))
        boxes.append(box)
    note = "The ops that the trace holds, before XLA. Variables and arguments come in as inputs."
    return Picture("as traced", boxes, edges, note=note)


def _inputs_named(bound: Any) -> list[tuple[Any, tuple[Kind, str]]]:
    """The inputs of the program: arrays of the trace, each with what it is and its name."""
    concrete = bound._concrete
    specs = iter(bound.inputs)
    found: list[tuple[Any, tuple[Kind, str]]] = []
    for x in concrete._arguments:
        spec = next(specs, None)
        found.append((x._array, ("input", getattr(spec, "name", None) or "argument")))
    for key, variable in concrete.graph.variables.items():
        name = variable.name.removesuffix(":0")
        found.append((concrete.graph.read_as[key]._array, ("variable", name)))
    return found


def _of_program(module: Module, names: list[tuple[Kind, str]]) -> Picture:
    picture = Picture("optimised by XLA", [], [])
    _Program(module, picture, names).add(module.entry, (), [])
    picture.note = (
        "The program as it runs. What is fused into one loop is a group; values inside of it are "
        "never written to memory."
    )
    return picture


class _Program:
    def __init__(self, module: Module, picture: Picture, names: list[tuple[Kind, str]]) -> None:
        self.module, self.picture, self.names = module, picture, names

    def add(self, name: str, places: tuple[Place, ...], given: Sequence[int]) -> int | None:
        """Draw a computation whose parameters are these boxes; the box of its result."""
        boxes, edges = self.picture.boxes, self.picture.edges
        numbers: dict[str, int] = {}
        root = None
        for each in self.module.computations.get(name, []):
            if len(boxes) >= _MOST:
                break
            if each.op == "parameter" and given:
                index = int(each.attributes[len("parameter(") :].partition(")")[0])
                if index < len(given):
                    numbers[each.name] = given[index]
                    continue
            operands = [numbers[x] for x in each.operands if x in numbers]
            inside = None
            for count, called in enumerate(each.called):
                label = f"{each.name}" if each.op == "fusion" else f"{each.op}: {called}"
                place = Place((name, each.name, count), label, "scope")
                around = places or _lines_of(each.frames)
                inside = self.add(called, (*around, place), operands)
            if each.op == "fusion" and inside is not None:
                numbers[each.name] = inside
            else:
                numbers[each.name] = self._draw(each, places, operands)
                if inside is not None:
                    edges.append(Edge(inside, numbers[each.name]))
            if each.is_root:
                root = numbers[each.name]
        return root

    def _draw(self, each: Instruction, places: tuple[Place, ...], operands: list[int]) -> int:
        kinds: dict[str, Any] = {"parameter": "input", "constant": "constant"}
        box = Box(each.op, kinds.get(each.op, "op"), places)
        if box.kind == "input":
            index = re.fullmatch(r"arrays\[(\d+)\]", each.op_name)
            known = index is not None and int(index[1]) < len(self.names)
            box.kind, box.name = self.names[int(index[1])] if known and index else ("input", "")
            box.label = "variable" if box.kind == "variable" else "argument"
        box.shape, box.dtype = each.shape, _DTYPES.get(each.dtype, each.dtype)
        if each.shape is not None:
            count = 1
            for n in each.shape:
                count *= n
            box.size = count * _bytes_of(each.dtype)
        box.detail = f"%{each.name} = {each.attributes}"
        _place(box, each.frames, places)
        number = len(self.picture.boxes)
        self.picture.boxes.append(box)
        self.picture.edges += [Edge(x, number) for x in dict.fromkeys(operands)]
        return number


_DTYPES = {
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "pred": "bool",
    "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64", "u8": "uint8", "u16": "uint16",
    "u32": "uint32", "u64": "uint64", "c64": "complex64", "c128": "complex128",
}  # fmt: skip


def _bytes_of(dtype: str) -> int:
    if dtype in ("c64", "c128"):
        return 8 if dtype == "c64" else 16
    digits = "".join([c for c in dtype if c.isdigit()][:2])
    return max(1, int(digits) // 8) if digits else 1


def _place(box: Box, calls: Sequence[Any], within: tuple[Place, ...] = ()) -> None:
    """Say where a box is from, by the lines that made it, the innermost first.

    Inside of what XLA has put together it stays there; else it goes to the user's functions.
    """
    users = _users(calls)
    if users and box.kind not in ("input", "constant"):
        box.file, box.line, _ = users[0]
        box.places = within or _lines_of(calls)


def _users(calls: Sequence[Any]) -> list[tuple[str, int, str]]:
    return [
        (file, line, function)
        for file, line, function in calls
        if not file.startswith(PACKAGE) and not is_beneath(file)
    ]


def _lines_of(calls: Sequence[Any]) -> tuple[Place, ...]:
    """The groups of what these lines made: the functions that they are in, and the line."""
    users = _users(calls)
    if not users:
        return ()
    own = [users[0], *[each for each in users[1:] if not is_installed(each[0])]]
    places = []
    for (inner, _, function), (file, line, caller) in zip(own[-2::-1], own[:0:-1], strict=True):
        if (inner, function) == (file, caller):  # the body of a loop, which AutoGraph calls
            continue
        label = function.rpartition("<locals>.")[2]
        places.append(Place((function, file, line), f"{label}()", "call", file, line))
    file, line, _ = users[0]
    return (*places, Place(("line", file, line), f"line {line}", "line", file, line))
