"""Calls of programs, as tapes see them: one record, whose gradient is a call of another program.

A call has slots. A source is the slot of a tensor that it was given; an output that of a tensor
that it gave. A derivative may need what the program computed on the way: this becomes one more
output of the call, so that a tape around sees how the derivative depends on it. That is all there
is to higher orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.cotangent import IndexedSlices, dense
from ..core.dispatch import record
from ..core.errors import DTypeError
from ..core.op import JointOp, as_tuple
from ..core.recorder import heard_by, recorders
from ..core.spec import Spec
from ..core.tensor import Tensor, is_inexact, new_key, zeros_of
from ..core.tracing import begin, current_graph, end, tracing
from ..ops.array.joining import stack
from ..ops.array.shape import broadcast_to
from ..tape.batching import Batch, BatchedTensor, innermost
from .capacity import Sizes
from .graph import Graph
from .program import Derivative, Plan, Program, is_static, with_tensors
from .trace import Var, is_tracer, numbers, sized, var_of

Slot = Any
"""The name of a source or output within a call: any hashable."""


class Call(JointOp):
    """The record of a call: its sources in order, its outputs, and the rule between them."""

    fills_missing = False

    def __init__(self, name: str, sources: Mapping[Slot, Tensor]) -> None:
        super().__init__(name, self._in_order)
        self.sources = sources
        self.inputs = list(sources.values())
        self.outputs_by_slot: dict[Slot, Tensor] = {}  # the outputs by slot
        self.outputs: list[int] = []

    @property
    def listening(self) -> list[Any]:
        """The recorders that track a source."""
        return self._following(recorders())

    def _following(self, listening: Iterable[Any]) -> list[Any]:
        keys = [x._key for x in self.inputs]
        return [r for r in listening if not r.tracked.isdisjoint(keys)]

    def record(self, outputs: Mapping[Slot, Tensor]) -> None:
        """Let the recorders that track a source know these outputs."""
        new = {slot: y for slot, y in outputs.items() if slot not in self.outputs_by_slot}
        known_before = bool(self.outputs_by_slot)
        for slot, y in new.items():
            if y._key is None:
                y._key = new_key()
            self.outputs.append(y._key)
            self.outputs_by_slot[slot] = y
        if known_before:
            self._tell_around(new)
        for recorder in self.listening:
            if recorder.computes_at_once:
                self._observed_by(recorder, new)
            elif not known_before:
                record(self, self.inputs, tuple(new.values()), {}, to=[recorder])
            else:
                self._tracked_by(recorder, new)

    def _tell_around(self, outputs: dict[Slot, Tensor]) -> None:
        """Let those that listen around the blocks being traced follow more outputs of this call.

        A derivative may be traced inside of a block, as that of a batch of seeds is.
        """
        graph = current_graph()
        while graph is not None and graph.outer is not None:
            for recorder in self._following(graph.recorders_around):
                if not recorder.computes_at_once:
                    self._tracked_by(recorder, outputs)
                elif not _follows(recorder, outputs):
                    with graph.outer.running(), heard_by(graph.recorders_around):
                        self._observed_by(recorder, outputs)
            graph = graph.outer

    def _observed_by(self, recorder: Any, new: dict[Slot, Tensor]) -> None:
        op, tensors = _NewOutputs(self, list(new)), tuple(new.values())
        recorder.observe(op, tuple(self.inputs), tensors, {})

    def _tracked_by(self, recorder: Any, new: dict[Slot, Tensor]) -> None:
        recorder.tracked.update([y._key for y in new.values() if is_inexact(y)])
        if isinstance(recorder, Graph):
            recorder.note(tuple(new.values()))

    def demand(self, slot: Slot, like: Any) -> Tensor:
        """The output in this slot, that stands for a tensor inside of the shape of `like`."""
        if slot not in self.outputs_by_slot:
            self.record({slot: Tensor(like, new_key())})
        else:  # forward mode does not listen when it asks for an output itself
            known = {slot: self.outputs_by_slot[slot]}
            self._tell_around(known)
            for recorder in self.listening:
                if recorder.computes_at_once and not _follows(recorder, known):
                    self._observed_by(recorder, known)
        return self.outputs_by_slot[slot]

    def _in_order(self, gs: Any) -> list[Any]:
        found = self.pull(self.seeds_of(gs))
        return [found.get(slot) for slot in self.sources]

    def seeds_of(self, gs: Any) -> dict[Slot, Tensor]:
        """The cotangents of the outputs, as a tape gives them, by slot."""
        return {
            slot: self._fitted(dense(g), y)
            for (slot, y), g in zip(self.outputs_by_slot.items(), as_tuple(gs), strict=False)
            if g is not None
        }

    def _fitted(self, g: Tensor, y: Tensor) -> Tensor:
        """The cotangent `g` as one of the output `y`: a user may have given it to the tape."""
        shape = y._array.shape
        if g.dtype != y.dtype:
            raise DTypeError(
                f"gradient: the output gradient of a result of {self.name} is {g.dtype.name}, and "
                f"the result is {y.dtype.name}. Cast it: tf.cast(g, tf.{y.dtype.name})."
            )
        if type(g) is not Tensor or g._array.shape == shape or not is_static(shape):
            return g
        return broadcast_to(g, shape)

    def pull(self, seeds: dict[Slot, Tensor]) -> dict[Slot, Any]:
        """The cotangents of the sources from those of some outputs."""
        batch = innermost(seeds.values())
        if batch is None:
            return self.pull_one(seeds)
        wholes = {
            slot: g.whole
            for slot, g in seeds.items()
            if isinstance(g, BatchedTensor) and g.batch is batch
        }
        return self.pull_batch(batch, seeds, wholes)

    def pull_one(self, seeds: dict[Slot, Tensor]) -> dict[Slot, Any]:
        raise NotImplementedError

    def pull_batch(
        self, batch: Batch, seeds: dict[Slot, Tensor], wholes: dict[Slot, Tensor]
    ) -> dict[Slot, Any]:
        """The same for each element of a batch of seeds, of which `wholes` are stacked."""
        raise NotImplementedError

    push_to: Callable[[Sequence[Slot], dict[Slot, Tensor]], dict[Slot, Tensor | None]] | None = None
    """Gives the tangents of some outputs from those of sources; None: `pull` is transposed."""


def _follows(recorder: Any, outputs: dict[Slot, Tensor]) -> bool:
    return not recorder.tracked.isdisjoint([y._key for y in outputs.values()])


class _NewOutputs(JointOp):
    """Some of the outputs of a call, for forward mode: it needs their tangents when they appear."""

    def __init__(self, call: Call, slots: list[Slot]) -> None:
        super().__init__(call.name, self._in_order)
        self._call = call
        self._slots = slots
        if call.push_to is not None:
            self.push = self._push

    def _in_order(self, gs: Any) -> list[Any]:
        seeds = dict(zip(self._slots, as_tuple(gs), strict=True))
        given = self._call.outputs_by_slot
        found = self._call.pull({slot: g for slot, g in seeds.items() if is_inexact(given[slot])})
        return [found.get(slot) for slot in self._call.sources]

    def _push(self, tangents: dict[int, Tensor]) -> tuple[Tensor | None, ...]:
        assert self._call.push_to is not None
        sources = list(self._call.sources)
        given = {sources[i]: t for i, t in tangents.items()}
        found = self._call.push_to(self._slots, given)
        return tuple([found.get(slot) for slot in self._slots])


class Apart(NamedTuple):
    """A result without a gradient.

    It has a slot because a tape sees the call as one op with all its outputs.
    """

    number: int


class CompiledCall(Call):
    """A call of a program that XLA compiled. Slots are keys of tensors in the program's graph."""

    def __init__(
        self, name: str, program: Program, values: list[Any], sources: Mapping[int, Tensor]
    ) -> None:
        super().__init__(name, sources)
        self.is_looked_at = program.graph.is_looked_at
        self.program = program
        self.values: dict[Var, Any] = dict(zip(map(var_of, program.inputs), values, strict=True))
        self._seeds: tuple[int, ...] = ()  # the results that can be differentiated
        self._inner: tuple[int, ...] = ()  # and what the program computes on the way
        tracked = [r.tracked for r in self.listening]
        self._wanted: tuple[int, ...] = tuple(
            [slot for slot, x in sources.items() if any([x._key in t for t in tracked])]
        )

    def run(self, targets: list[int | None]) -> list[Tensor]:
        """The outputs of the program, and recorded; `targets` are their keys inside of it."""
        self._seeds = tuple(dict.fromkeys(filter(self._is_differentiable, targets)))  # type: ignore[arg-type]
        residuals: tuple[Any, ...] = ()
        if self._seeds and self._wanted:
            residuals, self._inner = self._plan()
        results = self.program.run(list(self.values.values()), residuals)
        self.values |= zip(map(var_of, residuals), results[len(targets) :], strict=True)
        outputs = [Tensor(y) for y in results[: len(targets)]]
        slots: dict[Slot, Tensor] = {}
        for i, (target, y) in enumerate(zip(targets, outputs, strict=True)):
            if target in slots:
                outputs[i] = slots[target]
            elif target in self._seeds:
                slots[target] = y
            elif self._seeds and is_inexact(y):
                slots[Apart(i)] = y
        if self._inner:
            graph = self.program.graph
            sizes = graph.kept_rounds()
            if sizes:
                sizes |= Sizes(residuals).among(results[len(targets) :])
            with sized(sizes | self._open_sizes()):
                for key in self._inner:
                    like = _numbered(graph.tensors[key]._array)
                    slots.setdefault(key, Tensor(like, new_key()))
        if slots:
            self.record(slots)
        return outputs

    def _open_sizes(self) -> dict[str, int]:
        """What the sizes that the program leaves open are in this call, by name."""
        sizes = self.program.graph.sizes
        if sizes is None:
            return {}
        return dict(zip(map(str, sizes.shape[:-1]), self.values[var_of(sizes)].shape, strict=False))

    def _is_differentiable(self, target: int | None) -> bool:
        graph = self.program.graph
        return target is not None and target in graph.tracked and is_inexact(graph.tensors[target])

    def _plan(self) -> Plan:
        """What the program must return for its derivatives.

        If more than one recorder listens, or the one there is can record its own gradient, also
        what the derivatives' own derivatives need.
        """
        listening = self.listening
        deep = len(listening) > 1 or any([r.persistent for r in listening])
        pushed = tuple([self._sources_of(r) for r in listening if r.computes_at_once])
        pulls = [r.persistent for r in listening if not r.computes_at_once]
        key = (self._seeds, self._wanted, pushed, deep, len(pulls), any(pulls))
        plan = self.program.plans.get(key)
        if plan is None:
            plan = self._planned(deep, pushed, bool(pulls), len(pulls) > 1 or any(pulls))
            self.program.plans[key] = plan
        return plan

    def _planned(
        self, deep: bool, pushed: Iterable[tuple[Slot, ...]], pulls: bool, pulls_deeply: bool
    ) -> Plan:
        asked = self._seeds
        derivatives = [self.program.pullback(asked, self._wanted)] if pulls else []
        residuals: dict[Var, Any] = {}
        while True:
            derivatives += [self.program.pushforward(sources, asked) for sources in pushed]
            for derivative in derivatives:
                derivative.program.prepare()  # now: once the program has run, it is too late
                residuals |= {var_of(t): t for t in derivative.residuals}
            inside = [key for d in derivatives for key in self._sources_inside(d)] if deep else []
            more = tuple([key for key in dict.fromkeys(inside) if key not in asked])
            if not more:
                break
            asked = (*asked, *more)
            derivatives = [self.program.pullback(asked, self._wanted)] if pulls_deeply else []
        missing = tuple([t for var, t in residuals.items() if var not in self.values])
        return Plan(missing, asked[len(self._seeds) :])

    def _sources_of(self, recorder: Any) -> tuple[Slot, ...]:
        """The sources that a recorder tracks, as far as they have elements."""
        return tuple(
            [
                slot
                for slot, x in self.sources.items()
                if x._key in recorder.tracked and 0 not in x._array.shape
            ]
        )

    def _sources_inside(self, derivative: Derivative) -> list[int]:
        """What a derivative depends on that the program itself computed."""
        made = self.program.graph.made
        return [
            key
            for key in derivative.sources
            if key in made and key not in derivative.given and key not in self.sources
        ]

    def pull_one(self, seeds: dict[Slot, Tensor]) -> dict[Slot, Any]:
        seeds = self._completed(seeds)
        pullback = self.program.pullback(tuple(seeds), self._wanted)
        return self._by_source(pullback, self._run("gradient", pullback, list(seeds.values())))

    def cotangents_inside(self, seeds: dict[Slot, Tensor], keys: Sequence[int]) -> dict[int, Any]:
        """Those of tensors that the program computes on the way, to look at: it runs once more."""
        seeds = self._completed(seeds)
        pullback = self.program.pullback(tuple(seeds), tuple(keys), densely=True)
        missing = tuple([t for t in pullback.residuals if var_of(t) not in self.values])
        inputs = [self.values[var_of(t)] for t in self.program.inputs]
        computed = self.program.run(inputs, missing)[len(self.program.outputs) :]
        known = self.values | dict(zip(map(var_of, missing), computed, strict=True))
        arrays = [known[var_of(t)] for t in pullback.residuals]
        found = iter(pullback.program.run(arrays + [g._array for g in seeds.values()]))
        return {
            key: Tensor(next(found))
            for key, g in zip(keys, pullback.results, strict=True)
            if g is not None
        }

    def _run(self, name: str, derivative: Derivative, given: list[Tensor]) -> Iterator[Tensor]:
        """The outputs of a derivative, as a call of its program."""
        new = dict(zip(derivative.given, given, strict=True))
        known_outside = {**self.outputs_by_slot, **self.sources, **new}
        captured = self.program.graph.captured
        sources = {
            key: known_outside[key] if key in known_outside else captured[key].twin
            for key in derivative.sources
            if key in known_outside or key in captured
        }
        values = self._values_for(derivative, given)
        call = CompiledCall(f"{name} of {self.name}", derivative.program, values, sources)
        op = None
        if tracing.witnesses:
            op = JointOp(call.name, tuple)
            begin(op)
        outputs = call.run(derivative.targets)
        if op is not None:
            end(op, call.inputs, tuple(outputs))
        return iter(outputs)

    def _values_for(self, derivative: Derivative, given: list[Tensor]) -> list[Any]:
        """The values of the inputs of a derivative."""
        return [self.values[var_of(t)] for t in derivative.residuals] + [x._array for x in given]

    def _by_source(self, pullback: Derivative, outputs: Iterator[Tensor]) -> dict[Slot, Any]:
        found = dict(
            zip(self._wanted, [with_tensors(g, outputs) for g in pullback.results], strict=True)
        )
        if self.program.graph.sizes is not None:  # open inside, known here
            for slot, g in found.items():
                if isinstance(g, IndexedSlices):
                    shape = np.array(self.sources[slot]._array.shape, np.int32)
                    found[slot] = IndexedSlices(g.values, g.indices, Tensor(shape))
        return found

    def _completed(self, seeds: dict[Slot, Tensor]) -> dict[int, Tensor]:
        """The seeds, with zeros for the results that have none: the call is one op to a tape.

        Inner results are differentiated at higher orders only, and then all together. So a call has
        at most two pullbacks.
        """
        keys = self._seeds
        if any([key in seeds for key in self._inner]):
            keys = (*keys, *self._inner)
        return {key: seeds[key] if key in seeds else self._zeros(key) for key in keys}

    def _zeros(self, key: int) -> Tensor:
        like = self.program.graph.trace.content(self.outputs_by_slot[key]._array)
        if is_tracer(like):  # of the program: what it was in this call, if it was returned
            like = self.values.get(var_of(like), like)
        return zeros_of(like)

    def pull_batch(
        self, batch: Batch, seeds: dict[Slot, Tensor], wholes: dict[Slot, Tensor]
    ) -> dict[Slot, Any]:
        stacks = seeds | wholes
        if self._can_be_mapped(stacks):
            return self._pull_mapped(batch, self._completed(stacks), set(wholes))
        each = [
            self.pull({slot: g[i] if slot in wholes else g for slot, g in stacks.items()})
            for i in range(batch.size)
        ]
        return {
            slot: None if g is None else batch.of(stack([dense(found[slot]) for found in each]))
            for slot, g in each[0].items()
        }

    def _pull_mapped(
        self, batch: Batch, seeds: dict[int, Tensor], batched: set[Slot]
    ) -> dict[Slot, Any]:
        """The cotangents for all elements at once: the pullback, mapped over them by JAX."""
        pullback = self.program.pullback(tuple(seeds), self._wanted)
        return self._by_source(pullback, self._run_mapped(batch, pullback, seeds, batched))

    def _run_mapped(
        self, batch: Batch, derivative: Derivative, given: dict[Slot, Tensor], batched: set[Slot]
    ) -> Iterator[Tensor]:
        """The outputs of a derivative for all elements of a batch, mapped over them by JAX."""
        values = self._values_for(derivative, list(given.values()))
        axes = [None] * len(derivative.residuals) + [0 if s in batched else None for s in given]
        outputs = derivative.program.run(values, axes=tuple(axes))
        return (batch.of(Tensor(y)) for y in outputs)

    # Forward

    def push_to(
        self, slots: Sequence[Slot], tangents: dict[Slot, Tensor]
    ) -> dict[Slot, Tensor | None]:
        tangents = {slot: t for slot, t in tangents.items() if 0 not in t._array.shape}
        targets = tuple([slot for slot in slots if not isinstance(slot, Apart)])
        batch = innermost(tangents.values())
        push = self.program.pushforward(tuple(tangents), targets)
        if batch is None:
            outputs = self._run("tangent", push, list(tangents.values()))
            return dict(zip(targets, [with_tensors(t, outputs) for t in push.results], strict=True))
        wholes = {
            slot: t.whole
            for slot, t in tangents.items()
            if isinstance(t, BatchedTensor) and t.batch is batch
        }
        stacks = tangents | wholes
        if self._can_be_mapped(stacks):
            outputs = self._run_mapped(batch, push, stacks, set(wholes))
            return dict(zip(targets, [with_tensors(t, outputs) for t in push.results], strict=True))
        each = [
            self.push_to(slots, {s: t[i] if s in wholes else t for s, t in stacks.items()})
            for i in range(batch.size)
        ]
        return {
            slot: None if t is None else batch.of(stack([found[slot] for found in each]))
            for slot, t in each[0].items()
        }

    def _can_be_mapped(self, given: dict[Slot, Tensor]) -> bool:
        """Whether JAX can map a derivative: no size is open, and no recorder listens."""
        is_closed = self.program.graph.sizes is None
        return is_closed and not recorders() and all([type(g) is Tensor for g in given.values()])


def _numbered(like: Any) -> Any:
    """What a tensor of a program is like in a run of it, which knows all sizes."""
    if is_static(like.shape):
        return like
    return Spec(numbers(like.shape), like.dtype)
