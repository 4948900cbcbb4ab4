"""Program: a stretch of a graph that can be run and differentiated.

What a later stretch uses of an earlier one are its residuals; the program of the earlier stretch
returns them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from weakref import ref

import jax
import numpy as np
from jax.errors import UnexpectedTracerError
from jax.export import Exported, export

from ..core.backward import backward
from ..core.cotangent import IndexedSlices, dense
from ..core.errors import InvalidArgumentError
from ..core.interrupts import put_back_after_error
from ..core.placement import card_of
from ..core.recorder import named
from ..core.sizes import BranchNeeded, SizesNeeded
from ..core.spec import Spec
from ..core.tensor import Tensor, key_of
from ..engines.xla.checks import not_finite
from .capacity import Capacity, Growing, growing, is_capacity
from .cut import Cut, Mark, checks_speak, with_checks
from .explain import leaked_among
from .graph import Check, Graph
from .trace import for_eager, for_xla, jit, leave_jax, numbers, var_of


class Derivative(NamedTuple):
    """The derivative of a program, backward or forward.

    A pullback takes residuals and cotangents of seeds to cotangents of sources; a pushforward
    takes residuals and tangents of sources to tangents of targets.
    """

    program: Program
    residuals: list[Any]  # tracers
    given: dict[int, Any]  # its new inputs, the cotangents or tangents in order: keys and tracers
    results: list[Any]  # each a tensor, an IndexedSlices or None
    targets: list[int | None]  # the keys of the outputs, of which the results consist
    sources: list[int]  # by what it can be differentiated itself


class Plan(NamedTuple):
    """What a program returns beyond its outputs, for its derivative."""

    residuals: tuple[Any, ...]  # tracers
    inner: tuple[int, ...]  # the keys of what derivatives of derivatives depend on


Condition = tuple[int, Callable[[Any], Any]]
"""The number of an input, and what is to hold of it."""


class Checked(NamedTuple):
    """How a program runs with its checks.

    Those that an input decides are conditions, looked at before it runs. The others are flags. The
    last output of a run, which only the counts of rounds follow, says how many failed; it is -1 if
    none did, and a result is not finite where a witness looks at that. If the program calls Python
    anyway, all checks do, and speak.
    """

    inputs: list[Any]
    cut: Cut
    conditions: list[Condition]
    flags: int = 0  # the number of outputs of the cut that are flags
    speaks: bool = False
    looked_at: int = 0  # the number of outputs that a witness looks at, the first ones

    @property
    def tells(self) -> bool:
        """Whether a run says if all is well."""
        return bool(self.flags or self.looked_at)

    def run(self, *arrays: Any) -> list[Any]:
        """The outputs of a run in the order of the program, looked at."""
        outputs = self.run_unseen(*arrays)
        return self.seen(outputs, outputs[: self.looked_at])

    def run_unseen(self, *arrays: Any) -> list[Any]:
        """The outputs of a run that are still to be looked at."""
        with with_checks(self.speaks):
            outputs = self.cut.run(self.inputs, arrays)
        if not self.tells:
            return outputs
        end = len(self.cut.outputs)
        start = end - self.flags
        return [*outputs[:start], sum(outputs[start:end], np.int32(0)), *outputs[end:]]

    def seen(self, outputs: list[Any], arrays: list[Any]) -> list[Any]:
        """The outputs of a run, which says also whether these of them are finite."""
        if self.looked_at:
            place = len(outputs) - 1 - len(self.cut.counted)
            failed = outputs[place]
            outputs[place] = jax.numpy.where(failed == 0, -not_finite(arrays), failed)
        return outputs


class Program:
    """A stretch of a graph, from inputs to outputs."""

    def __init__(
        self, graph: Graph, inputs: list[Any], outputs: list[Any], start: Mark, end: Mark
    ) -> None:
        self.graph = graph
        self.inputs = inputs  # tracers
        self.outputs = outputs  # arrays: tracers, or constants
        self.start = start
        self.end = end
        self.plans: dict[Any, Plan] = {}  # by who listens: see CompiledCall
        self._derivatives: dict[Any, Derivative] = {}
        self._cuts: dict[Any, Cut] = {}
        self._compiled: dict[Any, tuple[Callable[..., Any], Checked]] = {}
        self._reasons: dict[Any, Callable[..., Any]] = {}
        self._uses: tuple[list[int], set[int]] | None = None
        self._known: dict[int, Any] = {}

    @property
    def records(self) -> list[Any]:
        return self.graph.recorded[self.start.records : self.end.records]

    def with_outputs(self, outputs: list[Any]) -> Program:
        """The same stretch with other outputs."""
        return Program(self.graph, self.inputs, outputs, self.start, self.end)

    # Its derivative

    def sources(self, targets: Iterable[int | None]) -> list[int]:
        """The keys that records use but did not make, and by which `targets` can be differentiated.

        `targets` are the keys of outputs: one that is itself a source counts, unless it turned out
        to be constant (such as the zeros that are the gradient of `sign`).
        """
        if self._uses is None:
            made: set[int] = set()
            used: dict[int, None] = {}
            for record in named(self.records):
                used.update((key, None) for _, key in record.inputs if key not in made)
                made.update(record.output_keys)
            self._uses = list(used), made
        used_keys, made_keys = self._uses
        tracked = self.graph.tracked
        unchanged = [k for k in targets if k is not None and k in tracked and k not in made_keys]
        return list(dict.fromkeys([*used_keys, *unchanged]))

    def pullback(
        self, seeds: tuple[int, ...], wanted: tuple[int, ...], densely: bool = False
    ) -> Derivative:
        """The derivative by the keys `wanted`, of the tensors with the keys `seeds`."""
        return self._derivative(self._pull, seeds, wanted, densely)

    def pushforward(self, sources: tuple[int, ...], targets: tuple[int, ...]) -> Derivative:
        """The tangents of the tensors with the keys `targets`, from those of `sources`."""
        return self._derivative(self._push, sources, targets)

    def _derivative(self, trace: Callable[..., Any], *key: Any) -> Derivative:
        known = (trace.__name__, *key)
        if known not in self._derivatives:
            with self.graph.lock:
                if known not in self._derivatives:  # another thread may have come first
                    with sizes_left_open(self.graph):
                        found = put_back_after_error(self._trace_derivative, trace, *key)
                        self._derivatives[known] = found
        return self._derivatives[known]

    def _pull(
        self, seeds: tuple[int, ...], wanted: tuple[int, ...], densely: bool
    ) -> tuple[list[Tensor], list[Any]]:
        graph = self.graph
        inputs = [graph.tensor(graph.tensors[seed]._array) for seed in seeds]
        results = backward(reversed(self.records), zip(seeds, inputs, strict=True), wanted)
        return inputs, [None if g is None else dense(g) for g in results] if densely else results

    def _push(
        self, sources: tuple[int, ...], targets: tuple[int, ...]
    ) -> tuple[list[Tensor], list[Any]]:
        """The pullback is linear in its cotangents: its own, by these, takes tangents forward.

        What the cotangents are does not matter then, and no more is computed of the pullback than
        the tangents need.
        """
        graph = self.graph
        cotangents = [graph.stand_in(graph.tensors[key]._array) for key in targets]
        start = len(graph.recorded)
        seeds = zip(targets, cotangents, strict=True)
        pulled = backward(reversed(self.records), seeds, sources)
        pairs = [
            (g, graph.tensor(graph.tensors[key]._array))
            for key, g in zip(sources, [g if g is None else dense(g) for g in pulled], strict=True)
        ]
        linear = [(g._key, t) for g, t in pairs if g is not None and g._key in graph.tracked]
        keys = [key_of(g) for g in cotangents]
        results = backward(graph.recorded[start:][::-1], linear, keys)
        return [t for _, t in pairs], [None if t is None else dense(t) for t in results]

    def _trace_derivative(self, trace: Callable[..., Any], *key: Any) -> Derivative:
        graph = self.graph
        state = graph.checked.copy(), graph._give_key
        try:
            with graph.running():
                start = graph.mark()
                inputs, results = trace(*key)
                graph.settle(start)
                end = graph.mark()
        finally:
            # The other stretches do not run with this one.
            graph.checked, graph._give_key = state
        outputs = [x._array for g in results for x in tensors_of(g)]
        given = {x._key: x._array for x in inputs if x._key is not None}
        known_vars = set(map(var_of, given.values()))
        checks = [check.failed for check in graph.checks[start.checks : end.checks]]
        free = Cut(graph.trace, start, end, [*outputs, *checks]).free
        if graph.sizes is not None:
            known_vars.add(var_of(graph.sizes))
        residuals = [t for t in free if var_of(t) not in known_vars]
        if graph.sizes is not None:  # what the shapes inside depend on, though no value does
            residuals.append(graph.sizes)
        program = Program(graph, [*residuals, *given.values()], outputs, start, end)
        targets = [x._key for g in results for x in tensors_of(g)]
        return Derivative(program, residuals, given, results, targets, program.sources(targets))

    # Running it

    def cut(self, also: tuple[Any, ...] = (), used: tuple[bool, ...] | None = None) -> Cut:
        """The equations for the outputs (those that are `used`), and for some arrays `also`."""
        # (The cut keeps the arrays alive, for their ids.)
        key = (tuple(map(id, also)), used, checks_speak())
        if key not in self._cuts:
            outputs = [y for i, y in enumerate(self.outputs) if used is None or used[i]]
            self._cuts[key] = Cut(self.graph.trace, self.start, self.end, [*outputs, *also])
        return self._cuts[key]

    def run(
        self,
        values: list[Any],
        also: tuple[Any, ...] = (),
        axes: tuple[int | None, ...] | None = None,
    ) -> list[Any]:
        """The outputs as NumPy arrays, and the values of some more tracers, as XLA gives them.

        With `axes`, of each element along these axes of the values, stacked.
        """
        key = (tuple(map(id, also)), axes)
        if key not in self._compiled:
            checked = self.checked(also)
            self._compiled[key] = self._jitted(checked, axes), checked
        compiled, checked = self._compiled[key]
        with jax.enable_x64(True):
            if not self.met(checked, values):
                raise_if(self.spoken(values, axes))
            try:
                outputs = compiled(*for_xla(values))
            except UnexpectedTracerError:
                raise leaked_among(values) from None
            except BaseException as error:
                leave_jax(error)
                raise self.graph.what_ended(error) from None
            if checked.speaks:
                raise_if(self.graph.first_message(outputs))
            if checked.tells:
                raise_if(self.reason(np.asarray(outputs.pop()), values, axes))
            count = len(self.outputs)
            return [*for_eager(outputs[:count]), *outputs[count:]]

    def prepare(self) -> None:
        """Compile it as far as can be without its inputs: with open sizes, that may fail."""
        if self.graph.sizes is not None and ((), None) not in self._compiled:
            checked = self.checked()
            compiled = self._jitted(checked, None)
            if isinstance(compiled, Growing):
                compiled.prepare(self.graph.kept_rounds())
            self._compiled[(), None] = compiled, checked

    def _jitted(self, checked: Checked, axes: tuple[int | None, ...] | None) -> Callable[..., Any]:
        if axes is None:
            return jitted(self.graph, checked.cut, checked.run, self.inputs)
        mapped, reruns = jax.vmap(checked.run, axes), self.graph.reruns
        return growing(mapped, self.inputs, checked.cut.counted, jit, reruns)

    @property
    def counted(self) -> list[Capacity]:
        """The capacities of the loops without a bound whose rounds it keeps."""
        return self.cut().counted

    def exported(self) -> Exported:
        """Without Python and without checks: StableHLO, for the platform that it runs on.

        If rounds are counted, it takes one more array, empty, whose first sizes are the capacities,
        and gives one count for each, last.
        """
        if self.graph.left_out:  # without its check it would run the other branch
            raise self.graph.left_out[0]
        inputs, cut = [*self.inputs], self.cut()
        if cut.counted:
            inputs.append(Spec((*[c.size for c in cut.counted], 0), np.dtype(np.float32)))

        def run(*arrays: Any) -> list[Any]:
            return cut.run(self.inputs, arrays[: len(self.inputs)])

        return _exported(run, inputs)

    # Its checks

    @property
    def checks(self) -> list[Check]:
        return self.graph.checks[self.start.checks : self.end.checks]

    def checked(self, also: tuple[Any, ...] = ()) -> Checked:
        """How it runs with its checks, for its outputs and some arrays `also`."""
        others = {var_of(x._array) for x in self.graph.read_as.values()}  # on the device
        others |= {var_of(tracer) for tracer, _ in self.graph.feeds}
        places = {var_of(x): i for i, x in enumerate(self.inputs) if var_of(x) not in others}
        if not self._can_say_why:
            places = {}  # whether a part that is used lies outside could not be found out
        conditions: list[Condition] = []
        flags = []
        for check in self.checks:
            place = None if check.source is None else places.get(var_of(check.source))
            if place is None or check.holds is None:
                flags.append(check.failed)
            else:
                conditions.append((place, check.holds))
        cut = self.cut((*also, *flags))
        if cut.effects:
            with with_checks(speak=True):
                return Checked(self.inputs, self.cut(also), [], speaks=True)
        looked_at = len(self.outputs) if self.graph.is_looked_at else 0
        return Checked(self.inputs, cut, conditions, len(flags), looked_at=looked_at)

    @property
    def _can_say_why(self) -> bool:
        """Whether all sizes are known when it runs: else JAX cannot call Python."""
        sizes = [n for x in self.inputs for n in x.shape]
        return is_static([n for n in sizes if not is_capacity(n)])

    def met(self, checked: Checked, values: list[Any]) -> bool:
        """Whether its conditions hold: else a check will fail, perhaps of what is not used."""
        for place, holds in checked.conditions:
            array = values[place]
            on_card = type(array) is not np.ndarray and card_of(array) is not None
            if on_card and self._is_known(array, holds):
                continue
            if not holds(array if on_card else np.asarray(array)):
                return False
            if on_card:
                self._known[id(holds)] = ref(array)
        return True

    def _is_known(self, array: Any, holds: Any) -> bool:
        """Whether it was seen to hold of this very array: to look again waits for the GPU."""
        known = self._known.get(id(holds))
        return known is not None and known() is array

    def reason(
        self, failed: Any, values: list[Any], axes: tuple[int | None, ...] | None = None
    ) -> BaseException | None:
        """What the first check raises that fails, if this output of a run says that one does.

        Of what is not finite there may be nothing to say: it was so in the arguments.
        """
        if not failed.any():
            return None
        found = self.spoken(values, axes) if self._can_say_why else None
        if found is None and not (failed > 0).any():
            if self._can_say_why:
                return None
            if not self.start.equations:
                return SizesNeeded("a result is not finite", only_now=True)
        if found is None and self.graph.left_out and not self.start.equations:
            return SizesNeeded("a branch is to run that is not compiled", only_now=True)
        lines = " or ".join(dict.fromkeys([check.line for check in self.checks]))
        return found or InvalidArgumentError(
            f"{self.graph.name}: an op of the compiled function refused its arguments: {lines}. "
            "Run it as Python to see why: tf.config.run_functions_eagerly(True)."
        )

    def spoken(
        self, values: list[Any], axes: tuple[int | None, ...] | None = None
    ) -> BaseException | None:
        """What the first check that fails says: the program runs again, and they speak."""
        if axes not in self._reasons:
            with with_checks(speak=True):
                cut = self.cut(used=(False,) * len(self.outputs))
            checked = Checked(self.inputs, cut, [], speaks=True)
            self._reasons[axes] = self._jitted(checked, axes)
        with self.graph.lock, self.graph.reruns.speaking(), jax.enable_x64(True):
            found = self.graph.first_message(self._reasons[axes](*for_xla(values)))
        if isinstance(found, BranchNeeded) and self.start.equations:
            return found.why  # a derivative has no Python of its own to run in its place
        return found


def raise_if(error: BaseException | None) -> None:
    if error is not None:
        raise error


def tensors_of(g: Any) -> list[Tensor]:
    """The tensors of which a cotangent consists."""
    if g is None:
        return []
    return [g.values, g.indices] if isinstance(g, IndexedSlices) else [g]


def with_tensors(g: Any, tensors: Iterator[Tensor]) -> Any:
    """The cotangent `g` with other tensors in its place."""
    if g is None:
        return None
    if isinstance(g, IndexedSlices):
        return IndexedSlices(next(tensors), next(tensors), g.dense_shape)
    return next(tensors)


def is_static(shape: Sequence[Any]) -> bool:
    """Whether no size is left open."""
    return all([isinstance(n, int) for n in shape])


@contextmanager
def sizes_left_open(graph: Graph) -> Iterator[None]:
    """A block that may fail because sizes are open."""
    try:
        yield
    except Exception as error:
        if graph.root.sizes is None:
            raise
        raise SizesNeeded(str(error)) from error


def jitted(
    graph: Graph, cut: Cut, function: Callable[..., Any], inputs: Sequence[Any]
) -> Callable[..., Any]:
    """`function` of arrays like `inputs`, which runs `cut`, compiled.

    With open sizes, for any of these; for as many rounds as loops without a bound turn out to make.
    """

    def compiled(run: Callable[..., Any]) -> Callable[..., Any]:
        if all([is_static(numbers(x.shape)) for x in inputs]):
            return jit(run, of_nothing=not inputs)
        with sizes_left_open(graph):
            exported = _exported(run, inputs)
        with jax.enable_x64(True):
            return jit(exported.call)

    return growing(function, inputs, cut.counted, compiled, graph.reruns)


def _exported(function: Callable[..., Any], inputs: Sequence[Any]) -> Exported:
    with jax.enable_x64(True):
        specs = [jax.ShapeDtypeStruct(numbers(x.shape), x.dtype) for x in inputs]  # type: ignore[no-untyped-call]
        return export(jax.jit(function, keep_unused=True))(*specs)
