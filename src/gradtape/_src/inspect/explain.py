"""Why is this gradient None, or zero? The answer, from what a tape and a journal know.

A gradient flows along edges: an op call that a tape has recorded, from an input that it follows to
an output. Other edges carry a value and no gradient: a call that it did not record, an integer, a
number that went through NumPy, an assignment. The explanation of a None is the first edge of the
second kind on a way from the source to the target: among several ways, that of the latest such
edge, because what follows it is connected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from ..core import nest
from ..core.backward import backward
from ..core.composite import CompositeTensor
from ..core.cotangent import dense
from ..core.errors import NoGradientError
from ..core.op import Op
from ..core.recorder import Record, heard_by, named
from ..core.tensor import Tensor, is_inexact, key_of
from ..tape.derivative import components_of, seeds_of
from ..tape.explanation import Cause, Explanation, Step
from ..tape.variable import Variable, variable_of
from .advice import INSTEAD_OF, SHOWN, USES, why_zero
from .journal import Assigned, Journal, Left, Ran, journal_of_process, looks_of
from .users_code import name_of, reassigned

_ASK_BEFORE = (
    "With tf.GradientTape(explain=True), or `gradtape run --explain`, the lines are known too."
)


def explain(tape: Any, target: Any, source: Any) -> Any:
    """The Explanation of the gradient of `target` by `source`; a nest of them for a nest."""
    journal = journal_of_process()
    with heard_by([]):  # what is computed here is nobody's
        if journal is None or journal.quiet:
            return _explain(tape, target, source)
        journal.quiet = True
        try:
            return _explain(tape, target, source)
        finally:
            journal.quiet = False


def _explain(tape: Any, target: Any, source: Any) -> Any:
    if nest.is_nested(source):
        return nest.map_structure(lambda each: _explain(tape, target, each), source)
    source = variable_of(source)
    if isinstance(source, CompositeTensor):
        parts = nest.flatten(components_of(source))
        return _best([_explain(tape, target, part) for part in parts])
    if not isinstance(source, (Tensor, Variable)):
        return Explanation(
            Cause.OTHER_OBJECT,
            f"The source is {source!r:.60}, of type {type(source).__name__}: no tensor.",
            "Make it a tensor once, x = tf.constant(...), watch that, and compute with it.",
        )
    targets = [t for t in nest.flatten(target, expand_composites=True) if t is not None]
    return _best([_Question(tape, variable_of(t), source).answer() for t in targets])


def _best(found: list[Explanation]) -> Explanation:
    """Of several targets, what connects comes first, and what has nothing to do with it last."""
    order = {Cause.CONNECTED: 0, Cause.ZERO: 1, Cause.UNUSED: 3}
    return min(found, key=lambda each: order.get(each.cause, 2))


class Account:
    """What a tape and the journal know of op calls, and why no gradient goes through one."""

    name = "the source"

    def __init__(self, tape: Any) -> None:
        self.tape = tape
        self.journal: Journal | None = journal_of_process() or vars(tape).get("_journal")
        self.number = 0 if self.journal is None else self.journal.number_of(_listener(tape))
        self.tracked = tape.tracked | tape._used_tracked
        self.calls = [] if self.journal is None else list(self.journal.calls())

    def passes(self, call: Ran, given: set[int]) -> bool:
        if not call.floating or not call.op.differentiable:
            return False
        positions = [i for i, key in enumerate(call.inputs) if key in given]
        return any(call.op.argument_at(i) not in call.op.nondiff for i in positions)

    def why_cut(self, call: Ran, path: list[Step]) -> Explanation:
        """Why no gradient goes through a call, to which `path` leads."""
        name = call.op.name
        if name == "stop_gradient":
            return Explanation(
                Cause.STOPPED,
                "stop_gradient gives the value and cuts the gradient here.",
                "Leave it out, or apply it to what is really to be a constant.",
                *call.line,
                path,
            )
        if not call.floating:
            kind = np.dtype(call.dtype).name if call.dtype is not None else "no number"
            return Explanation(
                Cause.INTEGER,
                f"{SHOWN.get(name, name)} gives {kind} here: no gradient goes through it.",
                INSTEAD_OF.get(name, "Stay with floats on the way from the source to the target."),
                *call.line,
                path,
            )
        if not call.op.differentiable or not self.passes(call, set(call.inputs)):
            return Explanation(
                Cause.NO_RULE,
                f"{name} has no gradient with respect to what it is given here.",
                INSTEAD_OF.get(
                    name,
                    "Compute with an op that has one, or give it your own with tf.custom_gradient.",
                ),
                *call.line,
                path,
            )
        if self.number not in call.followed:
            return self._out_of_block(call, path)
        return Explanation(
            Cause.NOT_WATCHED,
            f"The tape listened to {name}, and follows none of what it is given here.",
            f"Watch {self.name} before the first op that uses it.",
            *call.line,
            path,
        )

    def _out_of_block(self, call: Ran, path: list[Step]) -> Explanation:
        heard = [each.number for each in self.calls if self.number in each.followed]
        name = call.op.name
        if heard and call.number > heard[-1]:
            cause, what = Cause.AFTER_TAPE, f"{name} ran after the tape's block had ended"
            advice = "Move this line into the block `with tf.GradientTape() as tape:`."
        elif not heard or call.number < heard[0]:
            cause, what = Cause.BEFORE_TAPE, f"{name} ran before the tape's block began"
            advice = "Move this line into the block: a tape records what is computed inside of it."
        else:
            cause, what = Cause.NOT_RECORDED, f"{name} ran while the tape was not recording"
            advice = (
                "Move this line out of `with tape.stop_recording():` (or of a function that "
                "computes unheard)."
            )
        return Explanation(cause, f"{what}.", advice, *call.line, path)


class _Question(Account):
    """One target and one source."""

    def __init__(self, tape: Any, target: Any, source: Any) -> None:
        super().__init__(tape)
        self.target, self.source = target, source
        self.records = records_of(tape)
        self.name = name_of(source) or ("the variable" if _is_variable(source) else "the source")
        self.key = key_of(source) if isinstance(source, Tensor) else source._key
        self.target_key = target._key if isinstance(target, (Tensor, Variable)) else None
        self.by_output = {key: call for call in self.calls for key in call.outputs}
        self._variables = set(tape.variables) | set(self.journal.variables if self.journal else ())

    def answer(self) -> Explanation:
        if not isinstance(self.target, (Tensor, Variable)):
            return self._no_tensor()
        if self.key == self.target_key and not _is_integer(self.target):
            return Explanation(Cause.CONNECTED, "The source is the target: the gradient is ones.")
        if self.records is not None:
            found = _follow(self.records, self.target_key, self.key)
            if found is not None:
                return self._connected(found)
        return (
            self._integer_ends()
            or (self._by_journal() if self.calls else None)
            or self._by_records()
        )

    # Connected

    def _connected(self, way: list[Record]) -> Explanation:
        norms: dict[int, float] = {}  # of the cotangents of outputs
        zeros: list[Record] = []  # whose rule made zeros of something else
        failed: list[Record] = []  # that have no rule

        def see(record: Record, g: Any, result: Any) -> None:
            given = norm_of(g)
            norms.update(dict.fromkeys(record.output_keys, given))
            if isinstance(result, NoGradientError):
                failed.append(record)
            elif given and result is not None and not norm_of(result):
                zeros.append(record)

        gradient = None
        with suppress(NoGradientError):  # the last of `failed` then
            (gradient,) = backward_seen(self.records or [], self.target, [self.key], see)
        path = [self._step_of(record, norms) for record in way]
        if gradient is None:  # a rule gave None: the argument has no gradient
            last = (failed or way)[0]
            return Explanation(
                Cause.NO_RULE,
                f"{last.op.name} has no gradient with respect to what it is given here.",
                "Compute with an op that has one, or give it your own with tf.custom_gradient.",
                *self._line_of(last),
                path,
            )
        size = norm_of(gradient)
        if size:
            message = f"The gradient by {self.name} is connected; its norm is {size:.4g}."
            return Explanation(Cause.CONNECTED, message, path=path)
        cut = _cut(way, zeros, norms) or (zeros or way)[0]
        what, advice = why_zero(cut.op.name)
        return Explanation(
            Cause.ZERO,
            f"The gradient by {self.name} is connected, and zero everywhere: {what}.",
            advice,
            *self._line_of(cut),
            path,
        )

    def _step_of(self, record: Record, norms: dict[int, float]) -> Step:
        key = record.output_keys[0]
        call = self.by_output.get(key)
        norm = norms.get(key)
        if call is None:
            kept = next((s for s in record.saved if isinstance(s, Tensor)), None)
            shape = () if kept is None else tuple(kept._array.shape)
            return Step(record.op.name, shape, "" if kept is None else kept.dtype.name, norm=norm)
        return _step(call, norm)

    def _line_of(self, record: Record) -> tuple[str, int]:
        call = self.by_output.get(record.output_keys[0])
        return ("", 0) if call is None else call.line

    # Not connected: what the two ends say by themselves

    def _no_tensor(self) -> Explanation:
        kind = type(self.target).__name__
        line = ("", 0)
        if self.journal is not None:
            outs = [e for e in self.journal.events if type(e) is Left]
            line = outs[-1].line if outs else line
        return Explanation(
            Cause.LEFT_TAPE,
            f"The target is {self.target!r:.60}, of type {kind}: no tensor, so no op has made it.",
            "Compute it with tf's functions on tensors, to the end; .numpy() and float() come "
            "after the gradient.",
            *line,
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
            call = self.by_output.get(self.target_key or -1)
            what = f" by {call.op.name}" if call else ""
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
        used = next((call for call in self.calls if self.key in call.inputs), None)
        return used.line if used else ("", 0)

    def _not_watched(self, line: tuple[str, int] = ("", 0), late: bool = False) -> Explanation:
        if _is_variable(self.source):
            if not self.source.trainable:
                return Explanation(
                    Cause.NOT_TRAINABLE,
                    f"{self.name} is not trainable, so that the tape does not watch it by itself.",
                    f"Make it trainable=True, or write tape.watch({self.name}) before this line.",
                    *line,
                )
            return Explanation(
                Cause.NOT_WATCHED,
                f"{self.name} is not watched: the tape was made with "
                "watch_accessed_variables=False.",
                f"Write tape.watch({self.name}) before this line.",
                *line,
            )
        overwritten = self._was_a_variable()
        if overwritten is not None:
            return overwritten
        when = "when it was used here: it was watched later" if late else "by the tape"
        return Explanation(
            Cause.NOT_WATCHED,
            f"{self.name} is a tensor that is not watched {when}.",
            f"Write tape.watch({self.name}) inside the block, before this line; or let it be a "
            "tf.Variable, which is watched by itself.",
            *line,
        )

    def _was_a_variable(self) -> Explanation | None:
        """Whether the source is what a line such as `x = x + 1` put in the place of a variable."""
        call = self.by_output.get(self.key)
        seen = set()
        while call is not None and call.number not in seen:
            seen.add(call.number)
            step = Explanation(Cause.OVERWRITTEN, "", "", *call.line)
            name = reassigned(step.source_line)
            if name is not None and not self._variables.isdisjoint(call.inputs):
                return Explanation(
                    Cause.OVERWRITTEN,
                    f"{name} is a tensor here: this line has put it in the place of the variable.",
                    f"Write {name}.assign(...), assign_add or assign_sub, which change the variable"
                    f" and keep it; {name} = ... gives its name to something else.",
                    *call.line,
                )
            call = next((self.by_output[k] for k in call.inputs if k in self.by_output), None)
        return None

    # Not connected: what the journal says

    def _by_journal(self) -> Explanation | None:
        assert self.journal is not None
        ways = self._edges_to_target()
        if ways:
            return self._broken(ways)
        return self._went_outside() or self._unused()

    def _edges_to_target(self) -> list[Ran]:
        """The calls on the ways from the source to the target, in order; calls of ops only."""
        reached = {self.key}
        forward = []
        for call in self.calls:
            if not reached.isdisjoint(call.inputs):
                reached.update(call.outputs)
                forward.append(call)
        if self.target_key not in reached:
            return []
        needed = {self.target_key}
        ways = []
        for call in reversed(forward):
            if not needed.isdisjoint(call.outputs):
                needed.update(call.inputs)
                ways.append(call)
        return ways[::-1]

    def _broken(self, ways: list[Ran]) -> Explanation:
        """The first call on a way that no gradient passes; of several ways, the latest."""
        flows = {self.key}  # what a gradient would come back to the source from
        broken: list[Ran] = []
        path: list[Step] = []
        for call in ways:
            given = flows.intersection(call.inputs)
            if not given:
                continue
            if self.passes(call, given.intersection(call.followed.get(self.number, ()))):
                flows.update(call.outputs)
                path.append(_step(call))
            else:
                broken.append(call)
        if not broken:  # only inside of a function, or of a gradient of the user's own, is it cut
            call = ways[0]
            return Explanation(
                Cause.NO_RULE,
                f"Inside of {call.op.name} no gradient leads from {self.name} to the result.",
                "With tf.config.run_functions_eagerly(True) it runs line by line, and the line is "
                "found.",
                *call.line,
                path[:12],
            )
        cut = broken[-1]
        found = self.why_cut(cut, path[:12])
        if found.cause is Cause.NOT_WATCHED and self.key in cut.inputs:
            return self._not_watched(cut.line, late=self.key in self.tracked)
        return found

    def _went_outside(self) -> Explanation | None:
        """Whether a value computed from the source left, or was assigned to a variable."""
        assert self.journal is not None
        reached, needed = self._reached(), self._needed()
        for event in reversed(self.journal.events):
            if type(event) is Assigned and event.value in reached and event.variable in needed:
                return Explanation(
                    Cause.OVERWRITTEN,
                    "The value was assigned to a variable here: what a variable is assigned has "
                    "no history.",
                    "Compute the target from the tensor itself, and assign it as well.",
                    *event.line,
                )
        made_outside = self._made_outside(needed)
        if made_outside is None:
            return None
        for event in reversed(self.journal.events):
            if type(event) is Left and event.key in reached:
                return Explanation(
                    Cause.LEFT_TAPE,
                    f"{USES.get(event.use, event.use)} took the value out here: a tape sees ops "
                    "on tensors only.",
                    "Use tf's function of the same name on the tensor itself (tf.square for "
                    "np.square), or leave .numpy() out.",
                    *event.line,
                )
        return None

    def _made_outside(self, needed: set[int]) -> int | None:
        """A tensor that the target is computed from, and that no op has made nor a variable is."""
        for key in needed:
            if key not in self.by_output and key not in self._variables and key != self.key:
                return key
        return None

    def _reached(self) -> set[int]:
        reached = {self.key}
        for call in self.calls:
            if not reached.isdisjoint(call.inputs):
                reached.update(call.outputs)
        return reached

    def _needed(self) -> set[int]:
        needed = {self.target_key} if self.target_key is not None else {key_of(self.target)}
        for call in reversed(self.calls):
            if not needed.isdisjoint(call.outputs):
                needed.update(call.inputs)
        return needed

    def _unused(self) -> Explanation:
        assert self.journal is not None
        used = [call for call in self.calls if self.key in call.inputs]
        if not used:
            twin = self._twin()
            if twin is not None:
                return twin
            return Explanation(
                Cause.UNUSED,
                f"No op has used {self.name}. Did a branch run that does without it?",
                "Compute the target from it; or leave it out of the sources.",
            )
        reached = self._reached()
        last = [call for call in self.calls if not reached.isdisjoint(call.inputs)][-1]
        file, line = last.line
        return Explanation(
            Cause.UNUSED,
            f"{self.name} is used, and nothing that is computed from it is used for the target: "
            "its last use is here.",
            "Compute the target from that result.",
            file,
            line,
            [_step(call) for call in used][:12],
        )

    def _twin(self) -> Explanation | None:
        """A tensor with the same values that was used in its place."""
        assert self.journal is not None
        variable = _is_variable(self.source)
        mine = looks_of(self.source._cell.array() if variable else self.source._array)
        roots, needed = self.journal.roots, self._needed()
        for call in self.calls:
            for key in needed.intersection(call.inputs):
                if mine is not None and roots.get(key) == mine and key not in self._variables:
                    return Explanation(
                        Cause.OTHER_OBJECT,
                        f"No op has used {self.name}; another tensor with the same values is used "
                        "here. tf.constant and its like make a new one at each call.",
                        "Make it once, watch that very object, and compute with it.",
                        *call.line,
                    )
        return None

    # Not connected, and no journal

    def _by_records(self) -> Explanation:
        if self.key not in self.tracked:
            if _is_variable(self.source) and self.source.trainable and self.tape.watches_variables:
                return Explanation(
                    Cause.UNUSED,
                    f"{self.name} was not read inside the tape's block.",
                    f"Compute the target from it there. {_ASK_BEFORE}",
                )
            return self._not_watched()
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


See = Callable[[Record, Any, Any], None]
"""What is shown a record, the cotangent that its rule was given, and what the rule made of it."""


def backward_seen(records: list[Record], target: Any, keys: list[int], see: See) -> list[Any]:
    """The gradients of `target` by the tensors of these keys, the rules being looked at.

    `see` is given a NoGradientError for a result where a rule raises it.
    """
    by_outputs = {_hashable(record.outputs): record for record in records}

    def rules(op: Any, inputs: Any, outputs: Any) -> Any:
        return _Pulls(by_outputs[_hashable(outputs)], see)

    return backward(map(tuple, reversed(records)), seeds_of(target, None), keys, rules)


class _Pulls:
    """The rules of an op, that are looked at."""

    def __init__(self, record: Record, see: See) -> None:
        self._record, self._see = record, see
        self._pulls = record.op.pulls

    def __getitem__(self, position: int) -> Any:
        def pull(g: Any, saved: Any, params: Any) -> Any:
            try:
                result = self._pulls[position](g, saved, params)
            except NoGradientError as error:
                self._see(self._record, g, error)
                raise
            self._see(self._record, g, result)
            return result

        return pull


# Helpers


def _listener(tape: Any) -> Any:
    return tape if tape._ledger is None else tape._ledger


def records_of(tape: Any) -> list[Record] | None:
    """The records, first to last; None if they are gone."""
    if tape._used_records is not None:
        return list(named(tape._used_records))
    return None if tape._used else list(tape)


def _follow(records: list[Record], target: int | None, source: int) -> list[Record] | None:
    """The shortest way from the source to the target along records, in their order."""
    if target is None:
        return None
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
    if source not in behind:
        return None
    way, key = [], source
    while key != target:
        record, key = behind[key]
        way.append(record)
    return way


def _cut(way: list[Record], zeros: list[Record], norms: dict[int, float]) -> Record | None:
    """The record on the way that is given a cotangent, and from which the one before gets none.

    (A rule that makes zeros need not be it: they may be those of another argument.)
    """
    for i in reversed(range(len(way))):
        given, before = way[i].output_keys, way[i - 1].output_keys if i else ()
        made_zeros = any(record is way[i] for record in zeros)
        if made_zeros and any(map(norms.get, given)) and not any(map(norms.get, before)):
            return way[i]
    return None


def _step(call: Ran, norm: float | None = None) -> Step:
    dtype = "" if call.dtype is None else str(np.dtype(call.dtype))
    shape = tuple([n if isinstance(n, int) else None for n in call.shape])
    return Step(call.op.name, shape, dtype, *call.line, norm)


def _hashable(keys: Any) -> Any:
    return keys if isinstance(keys, int) else tuple(keys)


def norm_of(g: Any) -> float:
    if isinstance(g, (tuple, list)):
        return max([norm_of(each) for each in g if each is not None], default=0.0)
    try:
        array = np.asarray(dense(g)._array)
        return float(np.sqrt(np.sum(np.abs(array.astype(np.complex128)) ** 2).real))
    except Exception:  # a symbol, while a function is traced
        return 1.0


def _is_variable(value: Any) -> bool:
    return isinstance(value, Variable)


def _is_integer(value: Any) -> bool:
    tensor = value._peek() if isinstance(value, Variable) else value
    return not is_inexact(tensor)


def explain_nones(
    tape: Any, target: Any, sources: list[Any], found: list[Any]
) -> Iterator[tuple[int, Explanation]]:
    """The keys of the sources whose gradients are None, each with its explanation."""
    for source, gradient in zip(sources, found, strict=True):
        if gradient is None:
            yield getattr(variable_of(source), "_key", None) or 0, explain(tape, target, source)
