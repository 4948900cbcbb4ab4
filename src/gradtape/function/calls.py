"""Calls of programs, as tapes see them: one record, whose gradient is a call of another program.

A call has slots. To the outside, a source is the key of a tensor that it was given; an output is
the key of a tensor that it gave. A derivative may need what the program computed on the way: this
becomes one more output of the call, so that a tape around sees how the derivative depends on it.
That is all there is to higher orders.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import jax
import numpy as np
from jax.errors import UnexpectedTracerError

from ..core import dtypes
from ..core.cotangent import dense
from ..core.dispatch import record, recorders
from ..core.errors import DTypeError
from ..core.op import JointOp
from ..core.tensor import Tensor, new_key
from ..ops.joining import stack
from ..ops.shape import broadcast_to
from ..tape.batching import Batch, BatchedTensor
from .graph import Graph, Program, jitted, leaked_among, parts_of, with_parts

Slot = Hashable


class Call(JointOp):
    """The record of a call: its sources in order, its outputs, and the rule between them."""

    fills_missing = False

    def __init__(self, name: str, sources: dict[Slot, Tensor]) -> None:
        super().__init__(name, self._pull)
        self.sources = sources
        self.inputs = list(sources.values())
        self.slots: list[Slot] = []
        self.given: dict[Slot, Tensor] = {}  # the outputs by slot
        self.outputs: list[int] = []

    @property
    def listening(self) -> list[Any]:
        """The recorders that track a source."""
        keys = [x._key for x in self.inputs]
        return [r for r in recorders() if not r.tracked.isdisjoint(keys)]

    def record(self, outputs: dict[Slot, Tensor]) -> None:
        """Let the recorders that track a source know these outputs."""
        new = {slot: y for slot, y in outputs.items() if slot not in self.given}
        known_before = bool(self.given)
        for slot, y in new.items():
            if y._key is None:
                y._key = new_key()
            self.slots.append(slot)
            self.outputs.append(y._key)
            self.given[slot] = y
        tensors = tuple(new.values())
        for recorder in self.listening:
            if getattr(recorder, "computes_at_once", False):
                recorder.observe(_Part(self, list(new)), tuple(self.inputs), tensors, {})
            elif not known_before:
                record(self, self.inputs, tensors, {}, to=[recorder])  # type: ignore[arg-type]
            else:
                recorder.tracked.update([y._key for y in tensors if _inexact(y)])
                if isinstance(recorder, Graph):
                    recorder.note(tensors)

    def demand(self, slot: Slot, like: Any) -> Tensor:
        """The output in this slot, that stands for a tensor inside of the shape of `like`."""
        if slot not in self.given:
            self.record({slot: Tensor(like, new_key())})
        return self.given[slot]

    def _pull(self, gs: Any) -> list[Any]:
        given = gs if type(gs) is tuple else (gs,)
        seeds = {
            slot: self._fitted(dense(g), self.given[slot])
            for slot, g in zip(self.slots, given, strict=False)
            if g is not None
        }
        found = self.pull(seeds)
        return [found.get(slot) for slot in self.sources]

    def _fitted(self, g: Tensor, y: Tensor) -> Tensor:
        """The cotangent `g` as one of the output `y`: a user may have given it to the tape."""
        shape = y._array.shape
        if g.dtype != y.dtype:
            raise DTypeError(
                f"gradient: the output gradient of a result of {self.name} is {g.dtype.name}, and "
                f"the result is {y.dtype.name}. Cast it: tf.cast(g, tf.{y.dtype.name})."
            )
        if type(g) is not Tensor or g._array.shape == shape or not _known(shape):
            return g
        return broadcast_to(g, shape)

    def pull(self, seeds: dict[Slot, Tensor]) -> dict[Slot, Any]:
        """The cotangents of the sources from those of some outputs."""
        raise NotImplementedError


class _Part(JointOp):
    """Some of the outputs of a call, for forward mode: it needs their tangents when they appear."""

    def __init__(self, call: Call, slots: list[Slot]) -> None:
        super().__init__(call.name, self._pull)
        self._call = call
        self._slots = slots

    def _pull(self, gs: Any) -> list[Any]:
        seeds = dict(zip(self._slots, gs if type(gs) is tuple else (gs,), strict=True))
        exact = {slot for slot in seeds if not _inexact(self._call.given[slot])}
        found = self._call.pull({s: g for s, g in seeds.items() if s not in exact})
        return [found.get(slot) for slot in self._call.sources]


def _known(shape: Any) -> bool:
    """Whether no size is left open."""
    return all(isinstance(n, int) for n in shape)


def _inexact(y: Tensor) -> bool:
    return y._array.dtype in dtypes.INEXACT


class CompiledCall(Call):
    """A call of a program that XLA compiled. Slots are keys of tensors in the program's graph."""

    def __init__(
        self, name: str, program: Program, values: list[Any], sources: dict[Slot, Tensor]
    ) -> None:
        super().__init__(name, sources)
        self.program = program
        self.values = dict(zip(map(id, program.inputs), values, strict=True))
        tracked = [r.tracked for r in self.listening]
        self._wanted = tuple(
            slot for slot, x in sources.items() if any(x._key in t for t in tracked)
        )

    def run(self, targets: list[int | None]) -> list[Any]:
        """The outputs of the program, and recorded; `targets` are their keys inside of it."""
        seeds = tuple(dict.fromkeys(self._differentiable(targets)))
        kept = self._residuals(seeds)
        results = run(self.program, list(self.values.values()), kept)
        self.values |= zip(map(id, kept), results[len(targets) :], strict=True)
        outputs = [Tensor(y) for y in results[: len(targets)]]
        slots: dict[Slot, Tensor] = {}
        for i, (target, y) in enumerate(zip(targets, outputs, strict=True)):
            if target in slots:
                outputs[i] = slots[target]
            elif target in seeds:
                slots[target] = y
            elif seeds and _inexact(y):
                slots["apart", i] = y  # reached by no source; but to a tape the call is one op
        for key in self._inner:
            slots.setdefault(key, Tensor(self.program.graph.tensors[key]._array, new_key()))
        if slots:
            self.record(slots)
        return outputs

    def _differentiable(self, targets: list[int | None]) -> list[int]:
        graph = self.program.graph
        return [
            t
            for t in targets
            if t is not None and t in graph.tracked and _inexact(graph.tensors[t])
        ]

    def _residuals(self, seeds: tuple[int, ...]) -> tuple[Any, ...]:
        """What the program must return for its derivative.

        If more than one recorder listens, or the one there is can record its own gradient, also
        what the derivative needs by what it was computed from.
        """
        self._seeds = seeds
        self._inner: list[int] = []
        if not seeds:
            return ()
        listening = self.listening
        deep = len(listening) > 1 or any(getattr(r, "_persistent", True) for r in listening)
        pullback = self.program.pullback(seeds, self._wanted)
        residuals = {id(t): t for t in pullback.residuals}
        while deep:
            inner = [k for k in self._sources_of(pullback) if k not in seeds]
            if not inner:
                break
            self._inner += inner
            seeds = (*seeds, *inner)
            pullback = self.program.pullback(seeds, self._wanted)
            residuals |= {id(t): t for t in pullback.residuals}
        return tuple(t for t in residuals.values() if id(t) not in self.values)

    def _sources_of(self, pullback: Any) -> list[int]:
        """What a derivative depends on that the program itself computed."""
        given = {c._key for c in pullback.cotangents}
        targets = [x._key for g in pullback.results for x in parts_of(g)]
        made = self.program.graph.made
        return [
            k
            for k in pullback.program.sources(targets)
            if k in made and k not in given and k not in self.sources
        ]

    def pull(self, seeds: dict[Slot, Tensor]) -> dict[Slot, Any]:
        batches = [g.batch for g in seeds.values() if type(g) is BatchedTensor]
        if batches:
            return self._pull_each(max(batches, key=lambda batch: batch.depth), seeds)
        seeds = self._completed(seeds)
        pullback = self.program.pullback(tuple(seeds), self._wanted)  # type: ignore[arg-type]
        values = [self.values[id(t)] for t in pullback.residuals]
        values += [g._array for g in seeds.values()]
        sources: dict[Slot, Tensor] = {}
        cotangents = {c._key: g for c, g in zip(pullback.cotangents, seeds.values(), strict=True)}
        targets = [x._key for g in pullback.results for x in parts_of(g)]
        for key in pullback.program.sources(targets):
            if key in cotangents:
                sources[key] = cotangents[key]
            elif key in self.sources:
                sources[key] = self.sources[key]
            elif key in self.given:
                sources[key] = self.given[key]
        call = CompiledCall(f"gradient of {self.name}", pullback.program, values, sources)
        parts = iter(call.run(targets))
        found = [with_parts(g, parts) for g in pullback.results]
        return dict(zip(self._wanted, found, strict=True))

    def _completed(self, seeds: dict[Slot, Tensor]) -> dict[Slot, Tensor]:
        """The seeds, with zeros for the results that have none: the call is one op to a tape.

        What the program computed on the way is asked about at higher orders only, and then all of
        it: a call has two pullbacks, however its results are used.
        """
        keys = self._seeds
        if any(key in seeds for key in self._inner):
            keys = (*keys, *self._inner)
        return {key: seeds[key] if key in seeds else self._zeros(key) for key in keys}

    def _zeros(self, key: int) -> Tensor:
        like = self.given[key]._array
        if id(like) in self.values:  # a tracer of the program: what it was in this call
            like = self.values[id(like)]
        return Tensor(np.zeros(like.shape, like.dtype))

    def _pull_each(self, batch: Batch, seeds: dict[Slot, Tensor]) -> dict[Slot, Any]:
        """The cotangents for each element of a batch of seeds, together."""
        inside = {
            slot for slot, g in seeds.items() if type(g) is BatchedTensor and g.batch is batch
        }
        wholes = {slot: g.whole if slot in inside else g for slot, g in seeds.items()}  # type: ignore[attr-defined]
        if not recorders() and all(type(g) is Tensor for g in wholes.values()):
            return self._pull_mapped(batch, wholes, inside)
        each = [
            self.pull({slot: g[i] if slot in inside else g for slot, g in wholes.items()})
            for i in range(batch.size)
        ]
        return {
            slot: None if g is None else batch.of(stack([dense(found[slot]) for found in each]))
            for slot, g in each[0].items()
        }

    def _pull_mapped(
        self, batch: Batch, wholes: dict[Slot, Tensor], inside: set[Slot]
    ) -> dict[Slot, Any]:
        wholes = self._completed(wholes)
        pullback = self.program.pullback(tuple(wholes), self._wanted)  # type: ignore[arg-type]
        values = [self.values[id(t)] for t in pullback.residuals]
        axes = [None] * len(values) + [0 if slot in inside else None for slot in wholes]
        values += [g._array for g in wholes.values()]
        parts = (batch.of(Tensor(y)) for y in run(pullback.program, values, axes=tuple(axes)))
        found = [with_parts(g, parts) for g in pullback.results]
        return dict(zip(self._wanted, found, strict=True))


def run(
    program: Program, values: list[Any], also: tuple[Any, ...] = (), axes: Any = None
) -> list[Any]:
    """The outputs of a program as NumPy arrays, and the values of some more of its tracers.

    With `axes`, of each element along these axes of the values, stacked.
    """
    key = (tuple(map(id, also)), axes)
    compiled = program.compiled.get(key)
    if compiled is None:
        cut = program.cut(also)
        function = lambda *arrays: cut.run(program.inputs, arrays)  # noqa: E731
        if axes is None:
            compiled = jitted(function, program.inputs)
        else:
            compiled = jax.jit(jax.vmap(function, axes))
        program.compiled[key] = compiled
    with jax.enable_x64(True):
        try:
            outputs = compiled(*values)
        except UnexpectedTracerError:
            raise leaked_among(values) from None
        if program.cut(also).effects:
            program.graph.raise_messages(outputs)
        return [np.asarray(y) for y in outputs]
