"""Choices: `cond` and `switch_case` as a node; their derivative is a choice of derivatives.

A choice of one is the call of a function inside another one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core.tensor import Tensor
from .call import Slot
from .capacity import Capacity
from .cut import Cut
from .graph import Graph
from .node import (
    Block,
    Constant,
    Failures,
    FlowNode,
    NodeCall,
    OfArray,
    Operand,
    Pulled,
    Run,
    Seed,
    Source,
)
from .trace import Read, typed_like, var_of, zeros_like

# What a choice gives


class Result(NamedTuple):
    """A result that every branch has."""

    number: int


class Residual(OfArray):
    """A value that one branch computes on the way; zeros if another branch runs."""

    def __init__(self, branch: int, array: Any) -> None:
        super().__init__(array)
        self.branch = branch


class Choice(FlowNode):
    """A node of which one block runs, that with the number `index`; None if there is only one."""

    def __init__(self, index: Any, blocks: list[Block]) -> None:
        super().__init__(blocks)
        self.index = index

    def like(self, output: Any) -> Any:
        if isinstance(output, Failures):
            return np.int32(0)
        if isinstance(output, Result):
            return self.blocks[0].program.outputs[output.number]
        return output.array

    def _cut(self, number: int, wanted: list[Any]) -> tuple[Cut, list[Any]]:
        """What has to run of a block, and which of the wanted outputs that gives, in order."""
        program = self.blocks[number].program
        asked = {o.number for o in wanted if isinstance(o, Result)}
        mask = tuple([i in asked for i in range(len(program.outputs))])
        residuals = [o for o in wanted if isinstance(o, Residual) and o.branch == number]
        flags = self.blocks[number].flags if Failures() in wanted else ()
        cut = program.cut((*[o.array for o in residuals], *flags), mask)
        return cut, [*map(Result, sorted(asked)), *residuals]

    def arrays(self, wanted: list[Any]) -> list[Any]:
        needed = [] if self.index is None else [self.index]
        for number, block in enumerate(self.blocks):
            needed += block.needs(self._cut(number, wanted)[0])
        return needed

    def capacities(self, wanted: list[Any]) -> list[Capacity]:
        cuts = [self._cut(number, wanted)[0] for number in range(len(self.blocks))]
        return list(dict.fromkeys([capacity for cut in cuts for capacity in cut.counted]))

    def values(self, read: Read, wanted: list[Any]) -> dict[Any, Any]:
        likes = {output: self.like(output) for output in wanted}
        likes |= dict.fromkeys(self.capacities(wanted), np.int32(0))

        def branch(number: int) -> Callable[[], list[Any]]:
            cut, outputs = self._cut(number, wanted)

            def run() -> list[Any]:
                found = self.blocks[number].run(cut, Run(read))
                a, b = len(outputs), len(cut.outputs)
                values: dict[Any, Any] = dict(zip(outputs, found[:a], strict=True))
                values[Failures()] = sum(found[a:b], np.int32(0))
                values |= zip(cut.counted, found[b:], strict=True)
                return [
                    typed_like(values[output] if output in values else zeros_like(like), like)
                    for output, like in likes.items()
                ]

            return run

        branches = [branch(i) for i in range(len(self.blocks))]
        if self.index is None:
            results = branches[0]()
        else:
            results = jax.lax.switch(read(self.index), branches)
        return dict(zip(likes, results, strict=True))


# Its derivative


class Inside(NamedTuple):
    """The slot of what a branch computes on the way, by its key there."""

    branch: int
    key: int


class Branch(NamedTuple):
    """A block as tapes see it."""

    block: Block
    targets: list[int | None]  # the keys of its results, where gradients flow through them
    sources: dict[int, Source]  # by key inside, what it uses of the outside

    def slots(self) -> dict[int, Slot]:
        """The slot of each source: that of the tensor outside, which branches may share.

        Inside of one branch a tensor can have several keys: then the slots are numbered.
        """
        seen: Counter[int | None] = Counter()
        slots = {}
        for key, (_, x) in self.sources.items():
            slots[key] = (x._key, seen[x._key])
            seen[x._key] += 1
        return slots


class ChoiceCall(NodeCall):
    """Slots of outputs are `Result` and `Inside`, those of sources see `Branch`."""

    def __init__(self, name: str, graph: Graph, index: Any, branches: list[Branch]) -> None:
        self.index = index
        self.branches = branches
        self._slots = [branch.slots() for branch in branches]
        sources = {
            slot: branch.sources[key].outside
            for branch, slots in zip(branches, self._slots, strict=True)
            for key, slot in slots.items()
        }
        super().__init__(name, graph, Choice(index, [b.block for b in branches]), sources)

    def results(self) -> list[Tensor]:
        """The results as tensors, recorded."""
        targets = zip(*[branch.targets for branch in self.branches], strict=True)
        connected = [any([key is not None for key in keys]) for keys in targets]
        return self.tensors(
            [(Result(i), Result(i) if flows else None) for i, flows in enumerate(connected)]
        )

    def pull_one(self, seeds: dict[Slot, Tensor]) -> dict[Slot, Any]:
        pulled = []
        for number, branch in enumerate(self.branches):
            keys = [(self._key_inside(number, slot), g) for slot, g in seeds.items()]
            own = [Seed(key, Constant(g._array), g) for key, g in keys if key is not None]
            block = self.pull_block(number, own, branch.sources, branch.sources)
            slots = self._slots[number]
            pulled.append((block, {slots[key]: g for key, g in block.cotangents.items()}))
        every = dict.fromkeys(slot for _, cotangents in pulled for slot in cotangents)
        zeros = {slot: zeros_like(self.sources[slot]._array) for slot in every}
        if not zeros:
            return {}
        branches = [_giving(block, cotangents, zeros) for block, cotangents in pulled]
        call = ChoiceCall(f"gradient of {self.name}", self.here, self.index, branches)
        return dict(zip(zeros, call.results(), strict=True))

    def _key_inside(self, number: int, slot: Result | Inside) -> int | None:
        """The key that an output has in a branch; None if it is not one of this branch."""
        if isinstance(slot, Result):
            return self.branches[number].targets[slot.number]
        return slot.key if slot.branch == number else None

    def residual(self, number: int, tracer: Any) -> Operand:
        known = self.branches[number].block.operands.get(var_of(tracer))
        return known or Constant(self.array(Residual(number, tracer)))

    def stand_in(self, number: int, key: int, like: Any) -> Source:
        return Source(Constant, self.demand(Inside(number, key), like))


def _giving(block: Pulled, cotangents: dict[Slot, Tensor], zeros: dict[Slot, Any]) -> Branch:
    """A derivative that gives a cotangent in each slot: zeros, if a source has no influence."""
    pairs = [(cotangents.get(slot), zero) for slot, zero in zeros.items()]
    program = block.program.with_outputs([zero if g is None else g._array for g, zero in pairs])
    targets = [None if g is None else g._key for g, _ in pairs]
    return Branch(Block(program, block.operands), targets, block.sources)
