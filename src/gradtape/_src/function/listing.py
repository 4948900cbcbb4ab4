"""The ops of a trace as a list to read: `concrete.graph.get_operations()`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..core import dtypes
from ..core.dtypes import DType
from ..core.shape import TensorShape
from ..core.tensor import Tensor
from .trace import Called, Trace, Var, var_of


@dataclass(eq=False, repr=False)
class Operation:
    """An op of a trace: one of XLA, an input ("Placeholder"), a constant or control flow."""

    name: str
    type: str
    inputs: list[Output] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    calls: list[Called] = field(default_factory=list)
    """The lines that made it, the innermost first."""
    array: Any = None
    """Of an input or a constant, what it is in the trace."""

    def __repr__(self) -> str:
        return f"<Operation {self.name!r} type={self.type}>"


@dataclass(eq=False, repr=False)
class Output:
    """A result of an op."""

    op: Operation
    value_index: int
    shape: TensorShape
    dtype: DType

    @property
    def name(self) -> str:
        return f"{self.op.name}:{self.value_index}"

    def __repr__(self) -> str:
        return f"<{self.name}: shape={self.shape}, dtype={self.dtype.name}>"


class NodeDef(NamedTuple):
    """An op as TensorFlow's GraphDef lists it."""

    name: str
    op: str
    input: list[str]


class GraphDef(NamedTuple):
    """What of TensorFlow's GraphDef can be had: the ops."""

    node: list[NodeDef]


def operations(trace: Trace) -> list[Operation]:
    """The ops of a trace in order, each after those that it uses."""
    found: list[Operation] = []
    made: dict[Var, Output] = {}
    counts: dict[str, int] = {}

    def add(kind: str, inputs: list[Output], results: list[tuple[Any, Any]]) -> Operation:
        number = counts[kind] = counts.get(kind, -1) + 1
        op = Operation(f"{kind}_{number}" if number else kind, kind, inputs)
        for i, (var, like) in enumerate(results):
            shape = Tensor(like).shape if hasattr(like, "shape") else TensorShape([])  # a number
            output = Output(op, i, shape, dtypes.of_numpy(like.dtype))
            op.outputs.append(output)
            made[var] = output
        found.append(op)
        return op

    def output_of(array: Any) -> Output:
        array = trace.content(array)
        known = trace.owns(array)
        var = var_of(array) if known else id(array)
        if var not in made:
            add("Placeholder" if known else "Const", [], [(var, array)]).array = array
        return made[var]

    for equation in trace.equations(0, len(trace)):
        arrays = equation.needs([True] * len(equation.results))
        inputs = [output_of(x) for x in arrays if hasattr(x, "dtype")]
        op = add(equation.kind, inputs, list(zip(equation.results, equation.avals, strict=True)))
        op.calls = equation.calls
    return found


def graph_def(found: list[Operation]) -> GraphDef:
    return GraphDef([NodeDef(op.name, op.type, [x.name for x in op.inputs]) for op in found])
