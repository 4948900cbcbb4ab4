"""Walks: loops as a node; the derivative of a walk is a walk in the other direction.

In the derivative what goes into a round and what comes out of it change sides:

- the state that is carried from round to round carries its cotangent back;
- what each round was given a row of gets a row of its cotangent from each round;
- what every round was given as a constant gets the total of the rounds' cotangents.

And the other way round: a cotangent for each row that was stacked, one cotangent for a total. This
is the table `OTHER_SIDE`. So the derivative of a walk is a walk, and the derivative of that too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..core.sizes import is_open
from ..core.spec import Spec
from ..core.tensor import Tensor, zeros_of
from .call import Slot
from .capacity import Capacity
from .cut import Cut
from .graph import Graph
from .lines import user_line
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
from .trace import Read, larger, numbers, typed_like, var_of, zeros_like

# What goes into a round


@dataclass(frozen=True)
class Carried(Operand):
    """What the round before it handed on, or the start of it."""

    number: int

    def value(self, run: Run) -> Any:
        return run.carries[self.number]


@dataclass(frozen=True, eq=False)
class Row(Operand):
    """The row of this round of an array of the graphs around."""

    array: Any

    def value(self, run: Run) -> Any:
        return run.rows[self]


class RoundNumber(Operand):
    """The number of the round."""

    def value(self, run: Run) -> Any:
        return run.number


# What comes out of a walk


class Final(NamedTuple):
    """What the last round handed on."""

    number: int


class Stack(OfArray):
    """The values of an array of the rounds, as rows."""


class Total(OfArray):
    """The values of an array of the rounds, added up."""


class Rounds(NamedTuple):
    """How many rounds there were."""


OTHER_SIDE: dict[type, Any] = {
    Carried: Final,
    Row: Stack,
    Constant: Total,
    Final: Carried,
    Stack: Row,
    Total: Constant,
}
"""The role of each one's cotangent in the walk back."""


class Course(NamedTuple):
    """How the rounds of a walk follow one another."""

    rounds: Any = None  # how many: an int, an array of the graph around, or as `test` says
    bound: int | None = None  # at most so many
    capacity: Capacity | None = None  # without a bound: so many are kept
    reverse: bool = False
    together: bool = False  # in no order, all at once: nothing is carried
    test: Block | None = None  # of `while`: whether there is a next round

    @property
    def room(self) -> Any:
        """The number of rows of a stack."""
        if self.is_counted:
            return self.rounds
        return self.bound if self.capacity is None else self.capacity.size

    @property
    def is_counted(self) -> bool:
        """Whether the number of rounds is a size, maybe an open one."""
        return isinstance(self.rounds, int) or is_open(self.rounds)

    def back(self, rounds: Any) -> Course:
        """That of the walk back."""
        return Course(rounds, self.bound, self.capacity, not self.reverse, self.together)


class Walk(FlowNode):
    """A block runs round by round."""

    def __init__(self, body: Block, starts: list[Any], course: Course) -> None:
        super().__init__([body] if course.test is None else [body, course.test])
        self.line = user_line()
        self.body = body
        self.starts = starts  # of what is carried
        self.course = course

    def like(self, output: Any) -> Any:
        if isinstance(output, Final):
            return self.starts[output.number]
        if isinstance(output, (Rounds, Failures)):
            return np.int32(0)
        rows = [self.course.room] if isinstance(output, Stack) else []
        return Spec((*rows, *output.array.shape), output.array.dtype)

    def cut(self, wanted: list[Any]) -> Cut:
        """What has to run of a round: for its carries, then stacks, totals and checks."""
        arrays = [o.array for kind in (Stack, Total) for o in wanted if type(o) is kind]
        return self.body.program.cut((*arrays, *self.body.flags))

    def arrays(self, wanted: list[Any]) -> list[Any]:
        found = [*self.starts, self.course.rounds, *self.body.needs(self.cut(wanted))]
        test = self.course.test
        return found if test is None else found + test.needs(test.program.cut(test.flags))

    def capacities(self, wanted: list[Any]) -> list[Capacity]:
        inside, own = self.cut(wanted).counted, self.course.capacity
        if own is None or not any([type(o) is Stack for o in wanted]):
            return inside
        return [own, *inside]

    def values(self, read: Read, wanted: list[Any]) -> dict[Any, Any]:
        return _Emission(self, read, wanted).values()


class Gathered(NamedTuple):
    """What the rounds give together."""

    totals: list[Any]
    failures: list[Any]  # one number, of the checks that failed; none if there are no checks
    counts: list[Any]  # the most rounds of the loops inside that have to be counted

    def and_of(self, one: Gathered) -> Gathered:
        """What this and one more round give together."""
        totals = [a + b for a, b in zip(self.totals, one.totals, strict=True)]
        failures = [a + b for a, b in zip(self.failures, one.failures, strict=True)]
        return Gathered(totals, failures, list(map(larger, self.counts, one.counts)))


class _Emission:
    """A walk as control flow of XLA, for some of its outputs."""

    def __init__(self, walk: Walk, read: Read, wanted: list[Any]) -> None:
        self.walk = walk
        self.course = walk.course
        self.read = read
        self.cut = walk.cut(wanted)
        self.stacks = [o for o in wanted if type(o) is Stack]
        self.totals = [o for o in wanted if type(o) is Total]
        self.is_checked = any([block.flags for block in walk.blocks])
        self.rows = [x for x in walk.body.operands_of(self.cut) if isinstance(x, Row)]
        self.inputs = [jnp.asarray(read(row.array)) for row in self.rows]
        self.starts = [typed_like(read(start), start) for start in walk.starts]
        self.capacities = walk.capacities(wanted)

    def values(self) -> dict[Any, Any]:
        rounds = self.course.rounds
        if self.course.together:
            finals, stacks, gathered = self._at_once()
        elif self.course.is_counted:
            finals, stacks, gathered = self._scan()
        else:
            finals, stacks, gathered, rounds = self._while()
        values: dict[Any, Any] = {Final(i): y for i, y in enumerate(finals)}
        values |= zip(self.stacks, stacks, strict=True)
        values |= zip(self.totals, gathered.totals, strict=True)
        values |= zip([Failures()] * self.is_checked, gathered.failures, strict=True)
        values |= zip(self.cut.counted, gathered.counts, strict=True)
        values[Rounds()] = jnp.int32(rounds) if self.course.is_counted else rounds
        own = self.course.capacity
        if own is not None and own in self.capacities:
            values[own] = rounds
            if self.course.test is not None:
                self._tell(own, rounds)
        return values

    def _tell(self, capacity: Capacity, rounds: Any) -> None:
        """Let the run pause in Python, if not all rounds of a loop could be kept."""
        reruns = self.walk.body.program.graph.reruns
        if reruns.calls_python and not reruns.are_mapped:
            (rows,) = numbers([capacity.size])

            def pause() -> None:
                jax.debug.callback(reruns.pause, ordered=True)

            jax.lax.cond(rounds > rows, pause, lambda: None)

    def _round(self, carries: Any, number: Any, rows: Any) -> tuple[list[Any], list[Any], Gathered]:
        """What a round hands on, its rows of the stacks, and its share of what is gathered."""
        run = Run(self.read, number, carries, dict(zip(self.rows, rows, strict=True)))
        likes = [*self.walk.starts, *[o.array for o in [*self.stacks, *self.totals]]]
        outputs = self.walk.body.run(self.cut, run)
        typed = [typed_like(y, like) for y, like in zip(outputs, likes, strict=False)]
        a = len(self.starts)
        b = a + len(self.stacks)
        c = b + len(self.totals)
        d = len(self.cut.outputs)
        failures = [sum(outputs[c:d], np.int32(0))] * self.is_checked
        counts = [typed_like(n, np.int32(0)) for n in outputs[d:]]
        return typed[:a], typed[a:b], Gathered(typed[b:c], failures, counts)

    def _numbers(self) -> Any:
        return jnp.arange(self.course.rounds, dtype=np.int32)

    def _nothing(self) -> Gathered:
        totals = [jnp.asarray(zeros_like(o.array)) for o in self.totals]
        counts = [jnp.int32(0) for _ in self.cut.counted]
        return Gathered(totals, [jnp.int32(0)] * self.is_checked, counts)

    def _at_once(self) -> tuple[Any, Any, Any]:
        def run(number: Any, rows: Any) -> Any:
            return self._round([], number, rows)[1:]

        with self.walk.body.program.graph.reruns.mapped():
            stacks, each = jax.vmap(run)(self._numbers(), self.inputs)
        counts = [n.max(0) for n in each.counts]
        for capacity, count in zip(self.cut.counted, counts, strict=True):
            self._tell(capacity, count)
        totals, failures = [[x.sum(0) for x in shares] for shares in each[:2]]
        return [], stacks, Gathered(totals, failures, counts)

    def _scan(self) -> tuple[Any, Any, Any]:
        def step(state: Any, inputs: Any) -> Any:
            carries, gathered = state
            carries, rows, shares = self._round(carries, *inputs)
            return (carries, gathered.and_of(shares)), rows

        start = (self.starts, self._nothing())
        inputs = (self._numbers(), self.inputs)
        (finals, gathered), stacks = jax.lax.scan(step, start, inputs, reverse=self.course.reverse)
        return finals, stacks, gathered

    def _while(self) -> tuple[Any, Any, Any, Any]:
        course = self.course
        rounds: Any = None if course.test is not None else self.read(course.rounds)

        def goes_on(state: Any) -> Any:
            number, carries, gathered, _ = state
            if course.test is None:
                return number < rounds
            holds, failures = self._test(course.test, number, carries)
            if self.is_checked:  # eager code would have ended: this might run for ever
                holds = holds & (gathered.failures[0] + failures == 0)
            return holds if course.bound is None else (number < course.bound) & holds

        def step(state: Any) -> Any:
            number, carries, gathered, buffers = state
            place = rounds - 1 - number if course.reverse else number
            rows = [jax.lax.dynamic_index_in_dim(s, place, 0, False) for s in self.inputs]
            carries, new, shares = self._round(carries, place, rows)
            buffers = [
                jax.lax.dynamic_update_index_in_dim(buffer, row, place, 0)
                for buffer, row in zip(buffers, new, strict=True)
            ]
            return number + 1, carries, gathered.and_of(shares), buffers

        # (What does not fit into a buffer goes to its last row: then the program runs again.)
        buffers = [jnp.asarray(zeros_like(self.walk.like(o))) for o in self.stacks]
        start = (jnp.int32(0), self.starts, self._nothing(), buffers)
        done, finals, gathered, stacks = jax.lax.while_loop(goes_on, step, start)
        if course.test is not None and course.test.flags:  # a test that fails is the last one
            in_time = True if course.bound is None else done < course.bound
            is_first = in_time & (gathered.failures[0] == 0)
            gathered.failures[0] += jnp.where(is_first, self._test(course.test, done, finals)[1], 0)
        return finals, stacks, gathered, done

    def _test(self, test: Block, number: Any, carries: Any) -> tuple[Any, Any]:
        """Whether there is a next round, and how many checks of this question failed."""
        cut = test.program.cut(test.flags)
        holds, *flags = test.run(cut, Run(self.read, number, carries))
        return jnp.asarray(holds).reshape(()), sum(flags, np.int32(0))


# Its derivative


class Carry(NamedTuple):
    """What is carried, as tapes see it: its keys in a round, and the tensor that it begins with."""

    before: int
    after: int | None  # None if no gradient flows through it
    start: Tensor


class Target(NamedTuple):
    """The slot of an output that is made of the rounds' values of a tensor, by its key there."""

    role: type[Stack] | type[Total]
    key: int


class WalkCall(NodeCall):
    """Slots of outputs are `Final` and `Target`, those of sources `Carried` and keys in a round."""

    node: Walk

    def __init__(
        self,
        name: str,
        graph: Graph,
        node: Walk,
        carries: dict[int, Carry],
        sources: dict[int, Source],
    ) -> None:
        self.carries = carries  # by number, those that gradients flow through
        self.inside = sources  # by key in a round
        slots: dict[Slot, Tensor] = {Carried(i): carry.start for i, carry in carries.items()}
        slots |= {key: source.outside for key, source in sources.items()}
        super().__init__(name, graph, node, slots)

    def pull_one(self, seeds: dict[Slot, Tensor]) -> dict[Slot, Any]:
        starts = [
            seeds[Final(i)] if Final(i) in seeds else zeros_of(carry.start._array)
            for i, carry in self.carries.items()
        ]
        wanted = dict.fromkeys([*[c.before for c in self.carries.values()], *self.inside])
        block = self.pull_block(0, self._seeds(seeds, starts), wanted, self.inside)
        outputs: dict[Slot, tuple[Any, Slot | None]] = {
            Carried(i): (Final(n), Final(n)) for n, i in enumerate(self.carries)
        }
        for key, source in self.inside.items():
            if key in block.cotangents:
                role, g = OTHER_SIDE[source.role], block.cotangents[key]
                outputs[key] = (role(g._array), None if g._key is None else Target(role, g._key))
        tensors = self._walk_back(block, starts).tensors(outputs.values())
        return dict(zip(outputs, tensors, strict=True))

    def _seeds(self, seeds: dict[Slot, Tensor], starts: list[Tensor]) -> list[Seed]:
        """The cotangents that a round of the walk back is given."""
        given = [
            Seed(carry.after, Carried(n), starts[n])
            for n, carry in enumerate(self.carries.values())
            if carry.after is not None
        ]
        for slot, g in seeds.items():
            if isinstance(slot, Target):
                given.append(Seed(slot.key, OTHER_SIDE[slot.role](g._array), g))
        return given

    def _walk_back(self, block: Pulled, starts: list[Tensor]) -> WalkCall:
        """The walk back as a call, with what it depends on: for derivatives of higher order."""
        keys = {s.operand: k for k, s in block.seeds.items() if isinstance(s.operand, Carried)}
        carries: dict[int, Carry] = {}
        ends = []
        for n, (carry, start) in enumerate(zip(self.carries.values(), starts, strict=True)):
            g = block.cotangents.get(carry.before)
            ends.append(zeros_like(start._array) if g is None else g._array)
            before = keys.get(Carried(n), -1 - n)  # what no round looks at has no key
            carries[n] = Carry(before, None if g is None else g._key, start)
        body = Block(block.program.with_outputs(ends), block.operands)
        course = self.node.course
        rounds = course.rounds if course.test is None else self.array(Rounds())
        back = Walk(body, [start._array for start in starts], course.back(rounds))
        sources = {key: s for key, s in block.sources.items() if s.role is not Carried}
        return WalkCall(f"gradient of {self.name}", self.here, back, carries, sources)

    def residual(self, number: int, tracer: Any) -> Operand:
        operand = self.node.body.operands.get(var_of(tracer))
        if operand is None or isinstance(operand, Carried):
            return Row(self.array(Stack(tracer)))
        return operand

    def stand_in(self, number: int, key: int, like: Any) -> Source:
        return Source(Row, self.demand(Target(Stack, key), self.node.like(Stack(like))))
