"""Nodes: control flow as an equation of a graph, and as tapes see it.

A node stands for its blocks, branches or a round of a loop, in the graph around them. It is written
as control flow of XLA when a program is compiled. Until then it can still grow: if a derivative
needs what a block computes on the way, the node gets one more output. So nothing is computed twice,
and nothing is kept that no derivative needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, NamedTuple

from ..core.tensor import Tensor, is_inexact
from ..core.tracing import current_graph
from ..tape.batching import Batch
from .call import Call, Slot
from .capacity import Capacity
from .cut import Cut
from .graph import Check, Graph
from .program import Program
from .trace import Node, Read, Var, var_of

# Blocks


class Run(NamedTuple):
    """One run of a block: `read` knows the graphs around; in a loop it is a round."""

    read: Read
    number: Any = None
    carries: Sequence[Any] = ()
    rows: Mapping[Operand, Any] = {}


class Operand:
    """How an input of a block gets its value; `array` is what it needs of the graphs around."""

    array: Any = None

    def value(self, run: Run) -> Any:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Constant(Operand):
    """An array of the graphs around, the same in every run."""

    array: Any

    def value(self, run: Run) -> Any:
        return run.read(self.array)


class Block:
    """A program inside another one, and how each of its inputs gets its value."""

    def __init__(self, program: Program, operands: dict[Var, Operand]) -> None:
        self.program = program
        self.operands = operands

    @property
    def flags(self) -> tuple[Any, ...]:
        """What its checks give."""
        return tuple([check.failed for check in self.program.checks])

    def operands_of(self, cut: Cut) -> list[Operand]:
        return [self.operands[var_of(tracer)] for tracer in cut.free]

    def needs(self, cut: Cut) -> list[Any]:
        """The arrays of the graphs around that a cut of it uses."""
        arrays = [operand.array for operand in self.operands_of(cut)]
        return [array for array in arrays if array is not None] + cut.foreign

    def run(self, cut: Cut, context: Run) -> list[Any]:
        """The outputs of a cut in one run, and the rounds that are counted in it."""
        values = [operand.value(context) for operand in self.operands_of(cut)]
        return cut.run(cut.free, values, context.read)


# Nodes


class OfArray:
    """An output made of an array inside a block: of the same array it is the same output."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.array is self.array

    def __hash__(self) -> int:
        return hash((type(self), id(self.array)))


@dataclass(frozen=True)
class Failures:
    """The output of a node that says how often checks of its blocks failed."""


class FlowNode(Node):
    """A node whose outputs are described by hashable values; each subclass has its own kinds."""

    def __init__(self, blocks: list[Block]) -> None:
        super().__init__()
        self.blocks = blocks
        self.outputs: list[Any] = []

    @property
    def has_effects(self) -> bool:
        return any([block.program.cut().effects for block in self.blocks])

    def like(self, output: Any) -> Any:
        """Something of the shape and dtype of an output."""
        raise NotImplementedError

    def values(self, read: Read, wanted: list[Any]) -> Mapping[Any, Any]:
        """The values of some outputs: the control flow of XLA."""
        raise NotImplementedError

    def arrays(self, wanted: list[Any]) -> list[Any]:
        """The arrays of the graphs around that some outputs need."""
        raise NotImplementedError

    def capacities(self, wanted: list[Any]) -> list[Capacity]:
        """Those of the loops in it whose rounds are kept for some outputs.

        Their counts are values too, with the capacities as keys.
        """
        raise NotImplementedError

    def needs(self, used: list[bool]) -> list[Any]:
        return self.arrays(list(compress(self.outputs, used)))

    def counted(self, used: list[bool]) -> list[Capacity]:
        return self.capacities(list(compress(self.outputs, used)))

    def emit(self, read: Read, used: list[bool]) -> list[Any]:
        values = self.values(read, list(compress(self.outputs, used)))
        return [values.get(output) for output in [*self.outputs, *self.counted(used)]]


class Source(NamedTuple):
    """A tensor outside that a block uses, and as what kind of operand."""

    role: type[Operand]
    outside: Tensor


class Seed(NamedTuple):
    """A cotangent that the derivative of a block is given."""

    key: int  # of the tensor inside whose cotangent it is
    operand: Operand
    outside: Tensor


class Pulled(NamedTuple):
    """The derivative of a block."""

    program: Program
    operands: dict[Var, Operand]
    seeds: dict[int, Seed]  # by their keys in the derivative
    cotangents: dict[int, Tensor]  # by key inside: of the sources that have influence
    sources: dict[int, Source]  # by key inside: what it uses of the outside itself


class NodeCall(Call):
    """A node as tapes see it."""

    def __init__(
        self, name: str, graph: Graph, node: FlowNode, sources: Mapping[Slot, Tensor]
    ) -> None:
        super().__init__(name, sources)
        self.graph = graph
        self.node = node
        self._tracers: dict[Any, Any] = {}
        graph.trace.add(node)
        checks = [check for block in node.blocks for check in block.program.checks]
        if checks:
            graph.checks.append(Check(self.array(Failures()), checks[0].line))
        roots = [block.program.graph.root for block in node.blocks]
        looked_at = any([root.is_looked_at for root in roots])
        if checks or looked_at or node.has_effects:
            for root in roots:
                graph.root.include(root)
        self.is_looked_at = looked_at

    @property
    def here(self) -> Graph:
        """The graph that is being traced, where a derivative becomes a node."""
        return current_graph() or self.graph

    def array(self, output: Any) -> Any:
        """The tracer of an output of the node, which gets it if it does not have it yet."""
        if output not in self._tracers:
            self._tracers[output] = self.graph.trace.grow(self.node, self.node.like(output))
            self.node.outputs.append(output)
        return self._tracers[output]

    def tensors(self, outputs: Iterable[tuple[Any, Slot | None]]) -> list[Tensor]:
        """These outputs as tensors, and recorded; each with its slot, if gradients flow to it."""
        tensors: list[Tensor] = []
        slots: dict[Slot, Tensor] = {}
        for output, slot in outputs:
            y = Tensor(self.array(output))
            if slot is not None and is_inexact(y):
                y = slots.setdefault(slot, y)
            tensors.append(y)
        if slots and self.listening:
            self.record(slots)
        return tensors

    def pull_block(
        self, number: int, seeds: list[Seed], wanted: Iterable[int], sources: dict[int, Source]
    ) -> Pulled:
        """The derivative of a block by the tensors `wanted`, given as their keys inside."""
        block, wanted = self.node.blocks[number], tuple(wanted)
        graph = block.program.graph
        seeds = [s for s in seeds if s.key in graph.tracked]  # others turned out to be constant
        pullback = block.program.pullback(tuple([s.key for s in seeds]), wanted, densely=True)
        operands = {var_of(t): self.residual(number, t) for t in pullback.residuals}
        operands |= zip(
            map(var_of, pullback.given.values()), [s.operand for s in seeds], strict=True
        )
        seeds_inside = dict(zip(pullback.given, seeds, strict=True))
        known = sources | {
            key: Source(type(s.operand), s.outside) for key, s in seeds_inside.items()
        }
        pairs = zip(wanted, pullback.results, strict=True)
        cotangents = {key: g for key, g in pairs if g is not None}
        used: dict[int, Source] = {}
        for key in pullback.program.sources([g._key for g in cotangents.values()]):
            if key in known:
                used[key] = known[key]
            elif key in graph.made:
                used[key] = self.stand_in(number, key, graph.tensors[key]._array)
            else:
                used[key] = Source(Constant, graph.tensors[key])
        used = {key: source for key, source in used.items() if source.outside._key is not None}
        return Pulled(pullback.program, operands, seeds_inside, cotangents, used)

    def residual(self, number: int, tracer: Any) -> Operand:
        """How the derivative of a block gets what the block computed on the way, or was given."""
        raise NotImplementedError

    def stand_in(self, number: int, key: int, like: Any) -> Source:
        """What stands outside for a tensor of the block on which its derivative depends."""
        raise NotImplementedError

    def pull_batch(
        self, batch: Batch, seeds: dict[Slot, Tensor], wholes: dict[Slot, Tensor]
    ) -> dict[Slot, Any]:
        """The cotangents for a batch of seeds: a walk over its elements, all at once."""
        slots: list[Slot] = []

        def one(rows: list[Tensor]) -> list[Tensor]:
            found = self.pull(seeds | dict(zip(wholes, rows, strict=True)))
            present = {slot: g for slot, g in found.items() if g is not None}
            slots[:] = present
            return list(present.values())

        stacked = self.graph.forms.at_once(self.name, one, list(wholes.values()))
        return {slot: batch.of(g) for slot, g in zip(slots, stacked, strict=True)}
