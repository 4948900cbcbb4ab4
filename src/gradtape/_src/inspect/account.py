"""What a tape and a journal know of op calls, and why no gradient goes through one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..core.backward import backward
from ..core.cotangent import dense
from ..core.errors import NoGradientError
from ..core.recorder import Record, named
from ..tape.derivative import seeds_of
from ..tape.explanation import Cause, Explanation, Step
from .advice import INSTEAD_OF, no_rule, shown
from .journal import Block, Journal, Ran, journal_of_process, listener
from .users_code import Line, line_at, name_of


class Account:
    """What a tape and the journal know of op calls."""

    name = "the source"

    def __init__(self, tape: Any) -> None:
        self.tape = tape
        self.tape_name = name_of(tape) or "tape"
        self.journal: Journal | None = journal_of_process() or vars(tape).get("_journal")
        self.number = 0 if self.journal is None else self.journal.number_of(listener(tape))
        self.tracked = tape.tracked | tape._used_tracked
        self.calls: list[Ran] = [] if self.journal is None else list(self.journal.calls())

    def follows(self, call: Ran) -> Iterable[int]:
        """The inputs of a call that the tape follows."""
        return call.followed.get(self.number, ())

    def listened(self, call: Ran) -> bool:
        """Whether the tape was told of a call."""
        return self.number in call.followed

    def passes(self, call: Ran, given: set[int]) -> bool:
        """Whether a gradient goes through a call to one of these inputs."""
        if not call.inexact or not call.op.differentiable:
            return False
        positions = [i for i, key in enumerate(call.inputs) if key in given]
        return any(call.op.argument_at(i) not in call.op.nondiff for i in positions)

    def why_cut(
        self, call: Ran, path: list[Step], used: Iterable[int] | None = None
    ) -> Explanation:
        """Why no gradient goes through a call, to which `path` leads; `used` of it are outputs."""
        name = shown(call.op.name)
        outputs = call.outputs if used is None else tuple(used)
        if call.op.name == "stop_gradient":
            return Explanation(
                Cause.STOPPED,
                "stop_gradient gives the value and cuts the gradient here.",
                "Leave it out, or apply it to what is really to be a constant.",
                *call.line,
                path,
            )
        if set(outputs).isdisjoint(call.inexact):
            return Explanation(
                Cause.INTEGER,
                f"{name} gives {_kind(call)} here: no gradient goes through it.",
                INSTEAD_OF.get(
                    call.op.name, "Stay with floats on the way from the source to the target."
                ),
                *call.line,
                path,
            )
        if not call.op.differentiable or not self.passes(call, set(call.inputs)):
            return Explanation(Cause.NO_RULE, *no_rule(call.op.name), *call.line, path)
        if not self.listened(call):
            return self._out_of_block(call, path)
        return Explanation(
            Cause.NOT_WATCHED,
            f"The tape listened to {name}, and follows none of what it is given here.",
            f"Watch {self.name} before the first op that uses it.",
            *call.line,
            path,
        )

    def _out_of_block(self, call: Ran, path: list[Step]) -> Explanation:
        name = "The value was read" if call.op.name == "identity" else f"{shown(call.op.name)} ran"
        blocks = self._blocks()
        around = [block for block in blocks if block.number < call.number]
        if not blocks or (not around and blocks[0].begins):
            cause, what = Cause.BEFORE_TAPE, f"{name} before the tape's block began"
            advice = "Move this line into the block: a tape records what is computed inside of it."
        elif len(around) == len(blocks) and not blocks[-1].begins:
            cause, what = Cause.AFTER_TAPE, f"{name} after the tape's block had ended"
            advice = f"Move this line into the block `with tf.GradientTape() as {self.tape_name}:`."
        elif call.thread != blocks[0].thread:
            cause, what = Cause.NOT_RECORDED, f"{name} in another thread than the tape's"
            advice = (
                "Compute it in the thread of the block, or give the other thread a tape of its "
                "own: a tape listens to one thread."
            )
        else:
            cause, what = Cause.NOT_RECORDED, f"{name} while the tape was not recording"
            advice = (
                f"Move this line out of `with {self.tape_name}.stop_recording():` (or of a "
                "function that computes unheard)."
            )
        return Explanation(cause, f"{what}.", advice, *self._beside_block(call, blocks), path)

    def _beside_block(self, call: Ran, blocks: list[Block]) -> Line:
        """The line of a call in the function that has the tape's block: it is to be moved."""
        codes = {block.code for block in blocks}
        for code, instruction in call.stack:
            if code in codes:
                return code.co_filename, line_at(code, instruction)
        return call.line

    def _blocks(self) -> list[Block]:
        """When the tape began to record, and when it ended, as far as the journal knows."""
        events = () if self.journal is None else self.journal.events
        return [each for each in events if type(each) is Block and each.tape == self.number]


def _kind(call: Ran) -> str:
    if len(call.outputs) > 1:
        return "integers"
    return "no number" if call.dtype is None else np.dtype(call.dtype).name


def records_of(tape: Any) -> list[Record] | None:
    """The records, first to last; None if they are gone."""
    if tape._used_records is not None:
        return list(named(tape._used_records))
    return None if tape._used else list(tape)


# What the rules make of cotangents

See = Callable[[Record, int, Any, Any], None]
"""What is shown a record, the position of an input, the cotangent that the rule was given, and what
it made of it."""


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
                self._see(self._record, position, g, error)
                raise
            self._see(self._record, position, g, result)
            return result

        return pull


def _hashable(keys: Any) -> Any:
    return keys if isinstance(keys, int) else tuple(keys)


def norm_of(g: Any) -> float:
    """The norm of a cotangent; of several the largest."""
    if isinstance(g, (tuple, list)):
        return max([norm_of(each) for each in g if each is not None], default=0.0)
    try:
        array = np.asarray(dense(g)._array)
        return float(np.sqrt(np.sum(np.abs(array.astype(np.complex128)) ** 2).real))
    except Exception:  # a symbol, while a function is traced
        return 1.0
