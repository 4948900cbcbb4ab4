"""Nodes: control flow in a graph, and its derivative.

A branch or the body of a loop is a graph of its own, a `Block` with its inputs fed from the graph
around it. The node stands for it among the equations there, and is written as control flow of XLA
when a program is compiled. Until then it can still grow: if a derivative needs what a block
computes on the way, the node gets one more output. So nothing is computed twice, and nothing is
kept that no derivative needs.

The derivative of a choice is a choice between the derivatives. That of a walk is a walk in the
other direction, in which the roles change sides: what every round was given (`const`) collects a
`total` over the rounds, what a round was given (`each`) gets its own cotangent, and the state that
was handed on (`carry`) hands its cotangent back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..core import dtypes
from ..core.errors import UnimplementedError
from ..core.tensor import Tensor
from ..core.tracing import current_graph
from ..tape.batching import Batch, BatchedTensor
from .calls import Call, Slot
from .graph import Cut, Graph, Program

Read = Callable[[Any], Any]


class Block:
    """A graph inside another one: its program, and what feeds the inputs."""

    def __init__(self, program: Program, feeds: dict[int, Any]) -> None:
        self.program = program
        self.feeds = feeds  # by the id of the inner tracer

    @property
    def graph(self) -> Graph:
        return self.program.graph


def _chosen(outputs: list[Any], used: list[bool]) -> list[Any]:
    """The outputs that are used; those that a node got since then are not."""
    return [output for output, needed in zip(outputs, used, strict=False) if needed]


def _zeros(like: Any) -> Any:
    return np.zeros(like.shape, like.dtype)


def _as(value: Any, like: Any) -> Any:
    """`value` with exactly the type of `like`, as XLA's control flow wants it."""
    return jax.lax.convert_element_type(jnp.asarray(value), like.dtype)


class Choice:
    """The node of `cond` and `switch_case`: one of several blocks runs."""

    def __init__(self, index: Any, blocks: list[Block]) -> None:
        self.index = index
        self.blocks = blocks
        results = len(blocks[0].program.outputs)
        self.outputs: list[tuple[Any, ...]] = [("result", i) for i in range(results)]

    @property
    def effects(self) -> bool:
        return any(block.program.cut().effects for block in self.blocks)

    def like(self, output: tuple[Any, ...]) -> Any:
        """Something of the shape and dtype of an output."""
        kind, *which = output
        return self.blocks[0].program.outputs[which[0]] if kind == "result" else which[1]

    def _cuts(self, used: list[bool]) -> list[Cut]:
        chosen = _chosen(self.outputs, used)
        results = {i for kind, i, *_ in chosen if kind == "result"}
        cuts = []
        for b, block in enumerate(self.blocks):
            also = tuple([o[2] for o in chosen if o[0] == "residual" and o[1] == b])
            mask = tuple([i in results for i in range(len(block.program.outputs))])
            cuts.append(block.program.cut(also, mask))
        return cuts

    def needs(self, used: list[bool]) -> list[Any]:
        found = [self.index]
        for block, cut in zip(self.blocks, self._cuts(used), strict=True):
            found += [block.feeds[id(t)] for t in cut.free]
            found += cut.foreign.values()
        return found

    def emit(self, read: Read, used: list[bool]) -> list[Any]:
        chosen = _chosen(self.outputs, used)

        def branch(b: int, block: Block, cut: Cut) -> Callable[[], list[Any]]:
            def run() -> list[Any]:
                values = [read(block.feeds[id(t)]) for t in cut.free]
                computed = iter(cut.run(cut.free, values, read))
                return [
                    _as(
                        next(computed) if o[0] == "result" or o[1] == b else _zeros(self.like(o)),
                        self.like(o),
                    )
                    for o in chosen
                ]

            return run

        branches = [
            branch(b, block, cut)
            for b, (block, cut) in enumerate(zip(self.blocks, self._cuts(used), strict=True))
        ]
        results = iter(jax.lax.switch(read(self.index), branches))
        return [next(results) if needed else None for needed in used]


class Walk:
    """The node of loops: a block runs for each round, in one direction, or for all at once.

    The feeds of its inputs are ("carry", i), ("each", array), ("const", array) or ("round",).
    """

    def __init__(
        self,
        body: Block,
        starts: list[Any],
        outputs: list[tuple[Any, ...]],
        rounds: Any,
        reverse: bool = False,
        together: bool = False,
        bound: int | None = None,
        test: Block | None = None,
    ) -> None:
        self.body = body
        self.starts = starts  # of the carries
        self.outputs = outputs  # ("carry", i), ("each", array), ("total", array) or ("rounds",)
        self.rounds = rounds  # how many: an int, or an array of the graph around
        self.reverse = reverse
        self.together = together
        self.bound = rounds if isinstance(rounds, int) else bound
        self.test = test  # for `while`: whether to go on

    @property
    def effects(self) -> bool:
        return any(block.program.cut().effects for block in (self.body, self.test) if block)

    def like(self, output: tuple[Any, ...]) -> Any:
        kind, *which = output
        if kind == "carry":
            return self.starts[which[0]]
        if kind == "rounds":
            return np.int32(0)
        shape = tuple(which[0].shape)
        return jax.ShapeDtypeStruct(
            (self.bound, *shape) if kind == "each" else shape, which[0].dtype
        )

    def _cut(self, used: list[bool]) -> tuple[Cut, list[Any], list[Any]]:
        chosen = _chosen(self.outputs, used)
        each = [o[1] for o in chosen if o[0] == "each"]
        totals = [o[1] for o in chosen if o[0] == "total"]
        return self.body.program.cut((*each, *totals)), each, totals

    def needs(self, used: list[bool]) -> list[Any]:
        cut, _, _ = self._cut(used)
        found = [*self.starts, self.rounds]
        for block, part in [(self.body, cut), (self.test, self.test and self.test.program.cut())]:
            if block is not None and part is not None:
                feeds = [block.feeds[id(t)] for t in part.free]
                found += [feed[1] for feed in feeds if feed[0] in ("each", "const")]
                found += part.foreign.values()
        return found

    def emit(self, read: Read, used: list[bool]) -> list[Any]:
        cut, each, totals = self._cut(used)
        feeds = [self.body.feeds[id(t)] for t in cut.free]
        stacks = [jnp.asarray(read(feed[1])) for feed in feeds if feed[0] == "each"]
        starts = [_as(read(start), start) for start in self.starts]

        def body(carry: Any, number: Any, rows: Any) -> tuple[list[Any], list[Any], list[Any]]:
            values = _fed(feeds, carry, number, rows, read)
            results = cut.run(cut.free, values, read)
            new = [_as(y, start) for y, start in zip(results, self.starts, strict=False)]
            others = [_as(y, t) for y, t in zip(results[len(new) :], [*each, *totals], strict=True)]
            return new, others[: len(each)], others[len(each) :]

        if self.together:
            finals, stacked, sums = self._at_once(body, stacks)
            rounds = self.rounds
        elif isinstance(self.rounds, int) and self.test is None:
            finals, stacked, sums = self._scan(body, starts, totals, stacks)
            rounds = self.rounds
        else:
            finals, stacked, sums, rounds = self._while(body, starts, each, totals, stacks, read)
        values = {"each": iter(stacked), "total": iter(sums)}
        return [
            None
            if not needed
            else finals[o[1]]
            if o[0] == "carry"
            else np.int32(rounds)
            if o[0] == "rounds" and isinstance(rounds, int)
            else rounds
            if o[0] == "rounds"
            else next(values[o[0]])
            for o, needed in zip(self.outputs, used, strict=False)
        ]

    def _at_once(self, body: Any, stacks: Any) -> Any:
        def run(number: Any, rows: Any) -> Any:
            return body([], number, rows)[1:]

        each, totals = jax.vmap(run)(jnp.arange(self.rounds, dtype=np.int32), stacks)
        return [], each, [t.sum(0) for t in totals]

    def _scan(self, body: Any, starts: Any, totals: Any, stacks: Any) -> Any:
        def step(state: Any, inputs: Any) -> Any:
            carry, sums = state
            new, rows, parts = body(carry, *inputs)
            return (new, [s + p for s, p in zip(sums, parts, strict=True)]), rows

        numbers = jnp.arange(self.rounds, dtype=np.int32)
        begin = (starts, [jnp.zeros(t.shape, t.dtype) for t in totals])
        (finals, sums), each = jax.lax.scan(step, begin, (numbers, stacks), reverse=self.reverse)
        return finals, each, sums

    def _while(
        self, body: Any, starts: Any, each: Any, totals: Any, stacks: Any, read: Read
    ) -> Any:
        rounds = None if self.test is not None else read(self.rounds)

        def goes_on(state: Any) -> Any:
            number, carry = state[:2]
            if rounds is not None:
                return number < rounds
            holds = self._test(carry, number, read)
            return holds if self.bound is None else (number < self.bound) & holds

        def step(state: Any) -> Any:
            number, carry, sums, buffers = state
            place = rounds - 1 - number if self.reverse else number
            rows = [jax.lax.dynamic_index_in_dim(s, place, 0, False) for s in stacks]
            new, written, parts = body(carry, place, rows)
            buffers = [
                jax.lax.dynamic_update_index_in_dim(b, y, place, 0)
                for b, y in zip(buffers, written, strict=True)
            ]
            return number + 1, new, [s + p for s, p in zip(sums, parts, strict=True)], buffers

        sums = [jnp.zeros(t.shape, t.dtype) for t in totals]
        buffers = [jnp.zeros((self.bound, *y.shape), y.dtype) for y in each]
        begin = (jnp.int32(0), starts, sums, buffers)
        done, finals, sums, buffers = jax.lax.while_loop(goes_on, step, begin)
        return finals, buffers, sums, done

    def _test(self, carry: Any, number: Any, read: Read) -> Any:
        assert self.test is not None
        cut = self.test.program.cut()
        feeds = [self.test.feeds[id(t)] for t in cut.free]
        (holds,) = cut.run(cut.free, _fed(feeds, carry, number, [], read), read)
        return jnp.asarray(holds).reshape(())


def _fed(feeds: Any, carry: Any, number: Any, rows: Any, read: Read) -> list[Any]:
    """The values of the inputs of a block in one round."""
    row = iter(rows)
    return [
        carry[feed[1]]
        if feed[0] == "carry"
        else next(row)
        if feed[0] == "each"
        else read(feed[1])
        if feed[0] == "const"
        else number
        for feed in feeds
    ]


# Their derivatives


class NodeCall(Call):
    """A node as tapes see it."""

    def __init__(self, name: str, graph: Graph, node: Any, sources: dict[Slot, Tensor]) -> None:
        super().__init__(name, sources)
        self.graph = graph
        self.node = node
        self.arrays = graph.add_node(node, [node.like(o) for o in node.outputs])

    def array(self, *output: Any) -> Any:
        """The tracer of an output of the node, which gets it if it has none of this kind yet."""
        for known, array in zip(self.node.outputs, self.arrays, strict=True):
            if len(known) == len(output) and all(map(_same, known, output)):
                return array
        array = self.graph.grow_node(self.node, self.node.like(output))
        self.node.outputs.append(output)
        self.arrays.append(array)
        return array

    def pull(self, seeds: dict[Slot, Tensor]) -> dict[Slot, Any]:
        batches = [g.batch for g in seeds.values() if type(g) is BatchedTensor]
        if batches:
            return self._pull_each(max(batches, key=lambda batch: batch.depth), seeds)
        return self.pull_one(seeds)

    def pull_one(self, seeds: dict[Slot, Tensor]) -> dict[Slot, Any]:
        raise NotImplementedError

    def _pull_each(self, batch: Batch, seeds: dict[Slot, Tensor]) -> dict[Slot, Any]:
        """The cotangents for a batch of seeds: a walk over its elements, all at once."""
        inside = [s for s, g in seeds.items() if type(g) is BatchedTensor and g.batch is batch]
        from .control import walk

        slots: list[Slot] = []

        def one(unused: None, rows: Any) -> tuple[None, list[Tensor]]:
            found = self.pull(seeds | dict(zip(inside, rows, strict=True)))
            present = {slot: g for slot, g in found.items() if g is not None}
            slots[:] = present
            return None, list(present.values())

        wholes = [seeds[slot].whole for slot in inside]  # type: ignore[attr-defined]
        _, stacked = walk(self.name, one, None, wholes, together=True)
        return {slot: batch.of(g) for slot, g in zip(slots, stacked.tensors, strict=True)}


def _same(a: Any, b: Any) -> bool:
    return a is b or (isinstance(a, (str, int)) and isinstance(b, (str, int)) and a == b)


def _smooth(x: Any) -> bool:
    return x.dtype in dtypes.INEXACT


class ChoiceCall(NodeCall):
    """Slots of outputs are ("result", i), and (b, key) for what block b computes on the way."""

    node: Choice

    def __init__(
        self,
        name: str,
        graph: Graph,
        node: Choice,
        targets: list[list[int | None]],
        keys: list[dict[int, Tensor]],
    ) -> None:
        self.targets = targets  # of each block: the keys of its results
        self.keys = keys  # of each block: by the keys of what it uses, the tensors outside
        super().__init__(name, graph, node, {x._key: x for each in keys for x in each.values()})

    def results(self) -> list[Tensor]:
        """The results as tensors, recorded."""
        outputs = [Tensor(self.array("result", i)) for i in range(len(self.targets[0]))]
        slots: dict[Slot, Tensor] = {
            ("result", i): y
            for i, y in enumerate(outputs)
            if _smooth(y._array) and any(keys[i] is not None for keys in self.targets)
        }
        if slots and self.listening:
            self.record(slots)
        return outputs

    def pull_one(self, seeds: dict[Slot, Tensor]) -> dict[Slot, Any]:
        parts = [self._pull_block(b, seeds) for b in range(len(self.node.blocks))]
        slots = list(dict.fromkeys(slot for part in parts for slot in part.found))
        blocks = []
        targets = []
        for part in parts:
            # A branch on which a source has no influence gives zeros.
            results = [
                part.found[slot]._array if slot in part.found else _zeros(self.sources[slot]._array)
                for slot in slots
            ]
            old = part.block.program
            program = Program(old.graph, old.inputs, results, old.start, old.end)
            blocks.append(Block(program, part.block.feeds))
            targets.append([part.found[s]._key if s in part.found else None for s in slots])
        if not slots:
            return {}
        node = Choice(self.node.index, blocks)
        name = f"gradient of {self.name}"
        call = ChoiceCall(name, _here(self.graph), node, targets, [part.keys for part in parts])
        return dict(zip(slots, call.results(), strict=True))

    def _pull_block(self, b: int, seeds: dict[Slot, Tensor]) -> _Part:
        block, graph = self.node.blocks[b], self.node.blocks[b].graph
        given: list[tuple[int, Tensor]] = []
        for slot, g in seeds.items():
            kind, which = slot  # type: ignore[misc]
            key = self.targets[b][which] if kind == "result" else which if kind == b else None
            if key is not None:
                given.append((key, g))
        if not given:
            return _Part(Block(Program(graph, [], [], graph.mark(), graph.mark()), {}), {}, {})
        wanted = tuple(self.keys[b])
        pullback = block.program.pullback(tuple([key for key, _ in given]), wanted, dense=True)
        feeds = {
            id(t): block.feeds[id(t)] if id(t) in block.feeds else self.array("residual", b, t)
            for t in pullback.residuals
        }
        cotangents = dict(zip([c._key for c in pullback.cotangents], given, strict=True))
        feeds |= {id(c._array): cotangents[c._key][1]._array for c in pullback.cotangents}
        found = {
            self.keys[b][key]._key: g
            for key, g in zip(wanted, pullback.results, strict=True)
            if g is not None
        }
        keys: dict[int, Tensor] = {}
        for key in pullback.program.sources([g._key for g in found.values()]):
            if key in cotangents:
                outside = cotangents[key][1]
            elif key in self.keys[b]:
                outside = self.keys[b][key]
            elif key in graph.made:
                outside = self.demand((b, key), graph.tensors[key]._array)
            else:
                outside = graph.tensors[key]
            if outside._key is not None:
                keys[key] = outside
        return _Part(Block(pullback.program, feeds), found, keys)


class _Part(NamedTuple):
    """The derivative of one block of a choice."""

    block: Block
    found: dict[Slot, Tensor]  # by slot of the source: its cotangent, inside
    keys: dict[int, Tensor]


def _here(graph: Graph) -> Graph:
    """The graph that is being traced, where a derivative becomes a node."""
    now = current_graph()
    return graph if now is None else now


class WalkCall(NodeCall):
    """Slots of outputs are ("carry", i), ("each", i), ("total", i), and ("inner", key) for what a
    round computes on the way; those of sources ("start", i), ("stack", i), and keys."""

    node: Walk

    def __init__(
        self,
        name: str,
        graph: Graph,
        node: Walk,
        carries: list[tuple[int, int | None, Tensor] | None],
        stacks: list[tuple[int, Tensor]],
        consts: dict[int, Tensor],
        outs: dict[Slot, int | None],
    ) -> None:
        self.carries = carries  # of each carry: keys in a round, before and after; the start
        self.stacks = stacks  # key of a row in a round, the stack
        self.consts = consts  # by the keys of what every round uses, the tensors outside
        self.outs = outs  # of each output that is no carry, its key in a round
        sources: dict[Slot, Tensor] = {
            ("start", i): c[2] for i, c in enumerate(carries) if c is not None
        }
        sources |= {("stack", i): stack for i, (_, stack) in enumerate(stacks)}
        sources |= {x._key: x for x in consts.values()}
        super().__init__(name, graph, node, sources)

    def results(self, outputs: dict[Slot, Any]) -> dict[Slot, Tensor]:
        """The outputs in these slots as tensors, recorded; `outputs` are those of the node."""
        tensors = {slot: Tensor(self.array(*output)) for slot, output in outputs.items()}
        smooth = {s: y for s, y in tensors.items() if _smooth(y._array) and self._connected(s)}
        if smooth and self.listening:
            self.record(smooth)
        return tensors

    def _connected(self, slot: Any) -> bool:
        if slot[0] == "carry":
            return self.carries[slot[1]] is not None
        return self.outs.get(slot) is not None

    def pull_one(self, seeds: dict[Slot, Tensor]) -> dict[Slot, Any]:
        node, block = self.node, self.node.body
        if node.test is not None and node.bound is None:
            raise UnimplementedError(
                f"{self.name}: the gradient of a while loop whose number of rounds has no bound "
                "would need memory without bound. Give while_loop `maximum_iterations`; in a "
                "Python `while`, tf.autograph.experimental.set_loop_options(maximum_iterations=n); "
                "or use tf.scan, or `for i in tf.range(n)`."
            )
        carried = {i: c for i, c in enumerate(self.carries) if c is not None}
        # The cotangents that a round is given: their keys, their feeds, the tensors outside.
        given: list[tuple[int, tuple[Any, ...], Tensor]] = []
        starts: list[Tensor] = []
        numbers: dict[int, int] = {}
        for i, (_, after, start) in carried.items():
            numbers[i] = len(starts)
            seed = seeds.get(("carry", i))
            starts.append(Tensor(_zeros(start._array)) if seed is None else seed)
            if after is not None:
                given.append((after, ("carry", numbers[i]), starts[-1]))
        for slot, g in seeds.items():
            kind, which = slot  # type: ignore[misc]
            if kind == "carry":
                continue
            key = which if kind == "inner" else self.outs[slot]
            if key is not None:
                given.append((key, ("const" if kind == "total" else "each", g._array), g))
        before = [c[0] for c in carried.values()]
        rows = [key for key, _ in self.stacks]
        wanted = tuple(dict.fromkeys([*before, *rows, *self.consts]))
        pullback = block.program.pullback(tuple([key for key, *_ in given]), wanted, dense=True)
        found = dict(zip(wanted, pullback.results, strict=True))
        feeds: dict[int, Any] = {id(t): self._feed(t) for t in pullback.residuals}
        for c, (_, feed, _) in zip(pullback.cotangents, given, strict=True):
            feeds[id(c._array)] = feed
        outputs = [
            _zeros(starts[numbers[i]]._array) if found[c[0]] is None else found[c[0]]._array
            for i, c in carried.items()
        ]
        old = pullback.program
        body = Block(Program(old.graph, old.inputs, outputs, old.start, old.end), feeds)
        names: dict[Slot, Any] = {("start", i): ("carry", numbers[i]) for i in carried}
        named: dict[Slot, int | None] = {}
        slots: dict[Slot, Slot] = {("start", i): ("carry", numbers[i]) for i in carried}
        for i, (key, _) in enumerate(self.stacks):
            if found[key] is not None:
                slots["stack", i] = ("each", len(named))
                names["stack", i] = ("each", found[key]._array)
                named["each", len(named)] = found[key]._key
        for key, x in self.consts.items():
            if found[key] is not None:
                slots[x._key] = ("total", len(named))
                names[x._key] = ("total", found[key]._array)
                named["total", len(named)] = found[key]._key
        call = self._backward_call(pullback, body, starts, given, found, carried, numbers, named)
        results = call.results({slots[s]: output for s, output in names.items()})
        return {slot: results[inner] for slot, inner in slots.items()}

    def _feed(self, residual: Any) -> tuple[Any, ...]:
        """How the way back gets what a round computed: what every round is given, from there."""
        feed = self.node.body.feeds.get(id(residual))
        if feed is not None and feed[0] != "carry":
            return feed
        return ("each", self.array("each", residual))

    def _backward_call(
        self,
        pullback: Any,
        body: Block,
        starts: list[Tensor],
        given: Any,
        found: dict[int, Any],
        carried: dict[int, Any],
        numbers: dict[int, int],
        outs: dict[Slot, int | None],
    ) -> WalkCall:
        """The walk back as a call, with what it depends on: for derivatives of higher order."""
        node, graph = self.node, self.node.body.graph
        rounds = node.rounds if node.test is None else self.array("rounds")
        back = Walk(
            body,
            [s._array for s in starts],
            [],
            rounds,
            reverse=not node.reverse,
            together=node.together,
            bound=node.bound,
        )
        after = {c._key: g for c, g in zip(pullback.cotangents, given, strict=True)}
        carries: list[Any] = []
        handed = {feed[1]: key for key, (_, feed, _) in after.items() if feed[0] == "carry"}
        for i, c in carried.items():
            result = found[c[0]]
            number = numbers[i]
            key = handed.get(number, -1 - number)  # a carry that no round looks at has no key
            carries.append((key, None if result is None else result._key, starts[number]))
        targets = [found[key]._key for key in found if found[key] is not None]
        stacks: list[tuple[int, Tensor]] = []
        consts: dict[int, Tensor] = {}
        rows = dict(self.stacks)
        for key in pullback.program.sources(targets):
            if key in after:
                _, feed, g = after[key]
                if feed[0] == "each":
                    stacks.append((key, g))
                elif feed[0] == "const":
                    consts[key] = g
            elif key in rows:
                stacks.append((key, rows[key]))
            elif key in self.consts:
                consts[key] = self.consts[key]
            elif key in graph.made:
                like = self.node.like(("each", graph.tensors[key]._array))
                stacks.append((key, self.demand(("inner", key), like)))
            else:
                consts[key] = graph.tensors[key]
        stacks = [(key, x) for key, x in stacks if x._key is not None]
        consts = {key: x for key, x in consts.items() if x._key is not None}
        name = f"gradient of {self.name}"
        return WalkCall(name, _here(self.graph), back, carries, stacks, consts, outs)
