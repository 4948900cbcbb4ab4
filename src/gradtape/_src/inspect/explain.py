"""Why is this gradient None, or zero? The answer, from what a tape and a journal know.

A gradient flows along edges: an op call that a tape has recorded, from an input that it follows to
an output. Other edges carry a value and no gradient: a call that it did not record, an integer, a
number that went through NumPy, an assignment. The explanation of a None is the first edge of the
second kind on a way from the source to the target: among several ways, that of the latest such
edge, because what follows it is connected.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ..core import nest
from ..core.composite import CompositeTensor
from ..core.errors import NoGradientError
from ..core.op import Op
from ..core.recorder import Record, heard_by, named
from ..core.tensor import Tensor, is_inexact, key_of
from ..tape.derivative import components_of
from ..tape.explanation import Cause, Explanation, Step
from ..tape.variable import Variable, variable_of
from .account import backward_seen, norm_of, records_of
from .advice import CANCELS, no_rule, shown, why_zero
from .journal import Left, journal_of_process
from .search import Search, step_of
from .users_code import name_of

_ASK_BEFORE = (
    "With tf.GradientTape(explain=True), or `gradtape run --explain`, the lines are known too."
)


def explain(tape: Any, target: Any, source: Any) -> Any:
    """The Explanation of the gradient of `target` by `source`; a nest of them for a nest."""
    journal = journal_of_process()
    with heard_by([]):  # what is computed here is nobody's
        flows = _Flows(tape, source)
        if journal is None or journal.quiet:
            return _explain(tape, target, source, flows)
        journal.quiet = True
        try:
            return _explain(tape, target, source, flows)
        finally:
            journal.quiet = False


def _explain(tape: Any, target: Any, source: Any, flows: _Flows) -> Any:
    if nest.is_nested(source):
        return nest.map_structure(lambda each: _explain(tape, target, each, flows), source)
    source = variable_of(source)
    if isinstance(source, CompositeTensor):
        parts = nest.flatten(components_of(source))
        return _best([_explain(tape, target, part, flows) for part in parts])
    if not isinstance(source, (Tensor, Variable)):
        return Explanation(
            Cause.OTHER_OBJECT,
            f"The source is {source!r:.60}, of type {type(source).__name__}: no tensor.",
            "Make it a tensor once, x = tf.constant(...), watch that, and compute with it.",
        )
    targets = [t for t in nest.flatten(target, expand_composites=True) if t is not None]
    return _best([_Question(tape, variable_of(t), source, flows).answer() for t in targets])


def _best(found: list[Explanation]) -> Explanation:
    """Of several targets, what connects comes first, and what has nothing to do with it last."""
    order = {Cause.CONNECTED: 0, Cause.ZERO: 1, Cause.UNUSED: 3}
    return min(found, key=lambda each: order.get(each.cause, 2))


class _Question(Search):
    """One target and one source."""

    def __init__(self, tape: Any, target: Any, source: Any, flows: _Flows) -> None:
        super().__init__(tape)
        self.target, self.source, self.flows = target, source, flows
        self.name = name_of(source) or (_named(source) if _is_variable(source) else "the source")
        is_tensor = isinstance(self.target, (Tensor, Variable))
        self.begin(_key_of(source), _key_of(target) if is_tensor else 0)

    def answer(self) -> Explanation:
        if not isinstance(self.target, (Tensor, Variable)):
            return self._no_tensor()
        if self.key == self.target_key and not _is_integer(self.target):
            return Explanation(Cause.CONNECTED, "The source is the target: the gradient is ones.")
        way = self.flows.way(self.key, self.target_key)
        if way is not None:
            return self._connected(way)
        return self._integer_ends() or (self.found() if self.calls else self._by_records())

    # Connected

    def _connected(self, way: list[Record]) -> Explanation:
        flow = self.flows.of(self.target, self.target_key)
        path = [self._step_of(record, flow.norms) for record in way]
        gradient = flow.gradients.get(self.key)
        if gradient is None:  # a rule gave None: the argument has no gradient
            last = flow.last_of(way)
            call = self.by_output.get(last.output_keys[0])
            if call is not None and self._is_function(call):
                before = way.index(last)
                given = way[before - 1].output_keys if before else [self.key]
                return self.cut_inside(call, {*given}, set(last.output_keys), path[:before])
            return Explanation(
                Cause.NO_RULE,
                *no_rule((call or last).op.name),
                *self._line_of(last),
                path,
            )
        size = norm_of(gradient)
        if size:
            message = f"The gradient by {self.name} is connected; its norm is {size:.4g}."
            return Explanation(Cause.CONNECTED, message, path=path)
        cut, what, advice = flow.why_zero(way, self.key)
        line = self._line_of(cut)
        inside = zero_inside(cut, flow.cotangent_of(cut), {self.key, *flow.norms})
        if inside is not None:
            what, advice, line = inside
        return Explanation(
            Cause.ZERO,
            f"The gradient by {self.name} is connected, and zero everywhere: {what}.",
            advice,
            *line,
            path,
        )

    def _step_of(self, record: Record, norms: dict[int, float]) -> Step:
        key = record.output_keys[0]
        call = self.by_output.get(key)
        norm = norms.get(key)
        if call is not None:
            return step_of(call, norm)
        kept = next((s for s in record.saved if isinstance(s, Tensor)), None)
        shape = () if kept is None else tuple(kept._array.shape)
        dtype = "" if kept is None else kept.dtype.name
        return Step(shown(record.op.name), shape, dtype, norm=norm)

    def _line_of(self, record: Record) -> tuple[str, int]:
        call = self.by_output.get(record.output_keys[0])
        return ("", 0) if call is None else call.line

    # Not connected: what the two ends say by themselves

    def _no_tensor(self) -> Explanation:
        kind = type(self.target).__name__
        reached = self._reached()
        events = () if self.journal is None else self.journal.events
        outs = [each.line for each in events if type(each) is Left and each.key in reached]
        return Explanation(
            Cause.LEFT_TAPE,
            f"The target is {self.target!r:.60}, of type {kind}: no tensor, so no op has made it.",
            "Compute it with tf's functions on tensors, to the end; .numpy() and float() come "
            "after the gradient.",
            *(outs[-1] if outs else ("", 0)),
        )

    def _integer_ends(self) -> Explanation | None:
        if _is_integer(self.source):
            dtype = self.source.dtype.name
            return Explanation(
                Cause.INTEGER,
                f"{self.name} is {dtype}: only floating and complex numbers have gradients.",
                f"Make it a float: {self._made_as()}.",
                *self._first_use(),
            )
        if _is_integer(self.target):
            call = self.by_output.get(self.target_key)
            what = f" by {shown(call.op.name)}" if call else ""
            return Explanation(
                Cause.INTEGER,
                f"The target is {self.target.dtype.name}{what}: only floating and complex numbers "
                "have gradients.",
                "Differentiate what it is computed from: a loss of the logits, not the predicted "
                "class, say.",
                *(call.line if call else ("", 0)),
            )
        return None

    def _made_as(self) -> str:
        kind = "tf.Variable" if _is_variable(self.source) else "tf.constant"
        return f"{kind}(3.0), not {kind}(3); or tf.cast(x, tf.float32), and use that"

    def _first_use(self) -> tuple[str, int]:
        uses = [call for call in self.calls if self.key in call.inputs]
        first = min(uses, key=lambda call: not self.listened(call), default=None)
        return first.line if first else ("", 0)

    def not_watched(self, line: tuple[str, int] = ("", 0), late: bool = False) -> Explanation:
        """Why the tape does not follow the source, which is used at this line."""
        watch = f"{self.tape_name}.watch({self.name if self.name.isidentifier() else '...'})"
        if _is_variable(self.source):
            if not self.source.trainable:
                return Explanation(
                    Cause.NOT_TRAINABLE,
                    f"{self.name} is not trainable, so that the tape does not watch it by itself.",
                    f"Make it trainable=True, or write {watch} before this line.",
                    *line,
                )
            return Explanation(
                Cause.NOT_WATCHED,
                f"{self.name} is not watched: the tape was made with "
                "watch_accessed_variables=False.",
                f"Write {watch} before this line.",
                *line,
            )
        overwritten = self.was_a_variable()
        if overwritten is not None:
            return overwritten
        when = "when it was used here: it was watched later" if late else "by the tape"
        return Explanation(
            Cause.NOT_WATCHED,
            f"{self.name} is a tensor that is not watched {when}.",
            f"Write {watch} inside the block, before this line; or let it be a "
            "tf.Variable, which is watched by itself.",
            *line,
        )

    # Not connected, and no journal

    def _by_records(self) -> Explanation:
        if self.key not in self.tracked:
            if _is_variable(self.source) and self.source.trainable and self.tape.watches_variables:
                return Explanation(
                    Cause.UNUSED,
                    f"{self.name} was not read inside the tape's block.",
                    f"Compute the target from it there. {_ASK_BEFORE}",
                )
            return self.not_watched()
        if self.target_key not in self.tracked:
            return Explanation(
                Cause.NOT_RECORDED,
                "The target was not computed inside the tape's block from anything that it "
                "watches.",
                f"Compute it there, with ops on tensors. {_ASK_BEFORE}",
            )
        return Explanation(
            Cause.UNUSED,
            f"{self.name} is watched, and no recorded op leads from it to the target.",
            f"Is it used, in floats, without .numpy() or stop_gradient? {_ASK_BEFORE}",
        )


class _Flows:
    """The gradients of each target on their way back to all sources at once."""

    def __init__(self, tape: Any, sources: Any) -> None:
        self.records = records_of(tape)
        flat = map(variable_of, nest.flatten(sources, expand_composites=True))
        self._keys = list({_key_of(x): 0 for x in flat if isinstance(x, (Tensor, Variable))})
        self._flows: dict[int, _Flow] = {}
        self._behind: dict[int, _Behind] = {}

    def way(self, source: int, target: int) -> list[Record] | None:
        """The shortest way along records, in their order."""
        if target not in self._behind:
            self._behind[target] = _ways_to(self.records or [], target)
        return _way(self._behind[target], source, target)

    def of(self, target: Any, key: int) -> _Flow:
        if key not in self._flows:
            self._flows[key] = _Flow(self.records or [], target, self._keys)
        return self._flows[key]


class _Flow:
    """A gradient on its way back: the norms of the cotangents, and where they end."""

    def __init__(self, records: list[Record], target: Any, keys: list[int]) -> None:
        self.norms: dict[int, float] = {}  # of the cotangents of outputs
        self.zeros: list[Record] = []  # whose rule made zeros of something else
        self.ended: list[Record] = []  # that have no rule, or whose rule gave None
        self.cotangents: list[tuple[Record, Any]] = []
        self.given: dict[int, int] = {}  # how many parts of a cotangent were not zero, by key
        self.gradients: dict[int, Any] = {}
        with suppress(NoGradientError):  # the last of `ended` then
            found = backward_seen(records, target, keys, self._see)
            self.gradients = dict(zip(keys, found, strict=True))

    def _see(self, record: Record, position: int, g: Any, result: Any) -> None:
        first = record.output_keys[0]
        if first not in self.norms:
            self.norms.update(dict.fromkeys(record.output_keys, norm_of(g)))
        given = self.norms[first]
        if result is None or isinstance(result, NoGradientError):
            self.ended.append(record)
        elif given:
            self.cotangents.append((record, g))
            if norm_of(result):
                key = dict(record.inputs).get(position, 0)
                self.given[key] = self.given.get(key, 0) + 1
            else:
                self.zeros.append(record)

    def last_of(self, way: list[Record]) -> Record:
        """The record on the way from which no cotangent comes back."""
        ended = {id(record) for record in self.ended}
        return next((each for each in reversed(way) if id(each) in ended), way[0])

    def cotangent_of(self, record: Record) -> Any:
        return next((g for each, g in self.cotangents if each is record), None)

    def why_zero(self, way: list[Record], source: int) -> tuple[Record, str, str]:
        """The record that makes the gradient zero, what it does, and what to do about it."""
        for i in reversed(range(len(way))):
            record, before = way[i], way[i - 1].output_keys if i else (source,)
            if not any(map(self.norms.get, record.output_keys)):
                continue
            if any(map(self.norms.get, before)):
                continue
            if any(self.given.get(key) for key in before):
                return record, *CANCELS
            if any(each is record for each in self.zeros):
                return record, *why_zero(record)
        record = (self.zeros or way)[0]
        return record, *why_zero(record)


def zero_inside(
    record: Record, g: Any, sources: set[int]
) -> tuple[str, str, tuple[str, int]] | None:
    """What makes the gradient zero inside of a call of a function, what to do, and the line."""
    call: Any = record.op
    if g is None or not hasattr(call, "cotangents_inside"):
        return None
    seeds = call.seeds_of(g)
    records = list(named(call.program.records))
    for target in seeds:
        for source, outside in call.sources.items():
            known = outside._key in sources
            way = _way(_ways_to(records, target), source, target) if known else None
            if not way:
                continue
            keys = [each.output_keys[0] for each in way]
            cotangents = call.cotangents_inside(seeds, [source, *keys])
            norms = [norm_of(cotangents[key]) if key in cotangents else 0.0 for key in keys]
            for each, norm, before in reversed(
                list(zip(way, norms, [norm_of(cotangents.get(source)), *norms], strict=False))
            ):
                if norm and not before:
                    what, advice = why_zero(each)
                    line = call.program.graph.line_of(each.output_keys[0])
                    return f"inside of {call.name}, {what}", advice, line
    return None


# Helpers


_Behind = dict[int, tuple[Record, int]]
"""By the key of a tensor, the record that uses it on the shortest way, and what that gives."""


def _ways_to(records: list[Record], target: int) -> _Behind:
    """The shortest ways to a target along records, from wherever there is one."""
    cost: dict[int, int] = {target: 0}
    behind: dict[int, tuple[Record, int]] = {}
    for record in reversed(records):
        best = min([(cost[k], k) for k in record.output_keys if k in cost], default=None)
        if best is None:
            continue
        for position, key in record.inputs:
            if isinstance(record.op, Op) and record.op.argument_at(position) in record.op.nondiff:
                continue
            if key not in cost or cost[key] > best[0] + 1:
                cost[key] = best[0] + 1
                behind[key] = (record, best[1])
    return behind


def _way(behind: _Behind, source: int, target: int) -> list[Record] | None:
    if source not in behind:
        return None
    way, key = [], source
    while key != target:
        record, key = behind[key]
        way.append(record)
    return way


def _key_of(value: Any) -> int:
    key: int = key_of(value) if isinstance(value, Tensor) else value._key
    return key


def _named(variable: Any) -> str:
    name = variable.name.removesuffix(":0")
    return "the variable" if name.rpartition("/")[2] == "Variable" else f"the variable {name!r}"


def _is_variable(value: Any) -> bool:
    return isinstance(value, Variable)


def _is_integer(value: Any) -> bool:
    tensor = value._peek() if isinstance(value, Variable) else value
    return not is_inexact(tensor)
