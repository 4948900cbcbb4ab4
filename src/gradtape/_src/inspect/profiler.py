"""A profiler: the witness that times each op call, and knows the user's line of it.

A backward op is told from the others while a tape reads its records: it is part of the gradient of
the record that was read last, and its time counts for the line of that.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator
from threading import get_ident, local
from time import perf_counter_ns
from typing import Any

from ..core.errors import InvalidArgumentError
from ..core.op import Op
from ..core.placement import card_of
from ..core.recorder import Record
from ..core.tracing import current_graph
from ..core.witness import Derivative
from ..tape.profile import Event, Profile, Timing
from .places import NOWHERE, Place, Places
from .users_code import Line

_MOST = 200_000
"""Events that are kept for a picture, the last ones. (The tables are of all.)"""


_UNKNOWN = "the tape", ("", 0)
"""In the place of a record: where a derivative goes over all of them at once."""


class _Thread(local):
    """What a thread is in the midst of."""

    def __init__(self) -> None:
        self.begun: list[list[Any]] = []  # ops, when they began, what ran inside of them
        self.backward: tuple[str, Line] | None = None  # the record whose gradient is computed


class Profiler(Places):
    """Times op calls: all of the process, or those of one tape's block and derivatives."""

    def __init__(self, of_tape: bool = False) -> None:
        super().__init__()
        self._of_tape = of_tape
        self._thread = _Thread()
        self._timings: dict[tuple[str, bool, Line], Timing] = {}
        self._events: deque[Event] = deque(maxlen=_MOST)
        self._own = 0  # nanoseconds that it took itself
        self._wall = 0  # nanoseconds of the stretches that have ended
        self._since: int | None = None  # when the present one began
        self._only: int | None = None  # the thread that is timed; None for all

    # What is timed

    def start(self) -> None:
        """Time what runs from here on."""
        if self._since is None:
            self._only = get_ident() if self._of_tape else None
            self._since = perf_counter_ns()

    def stop(self) -> None:
        """Time no more, for now."""
        if self._since is not None:
            self._wall += perf_counter_ns() - self._since
            self._since = None
            self._thread.begun.clear()  # ops that have failed
            self.running.forget()

    def resumed(self, tape: Any) -> None:
        if self._of_tape and vars(tape).get("_profiler") is self:
            self.start()

    def paused(self, tape: Any) -> None:
        if not self._of_tape:
            super().paused(tape)
        elif vars(tape).get("_profiler") is self:
            super().paused(tape)
            self.stop()

    def deriving(self, tape: Any, derivative: Derivative) -> Derivative:
        if self._of_tape and not self._is_timed() and vars(tape).get("_profiler") is not self:
            return derivative

        def timed(records: Any, keys: list[int]) -> list[Any]:
            thread, was_on = self._thread, self._since is not None
            around, thread.backward = thread.backward, _UNKNOWN
            self.start()
            try:
                return derivative(self._followed(records), keys)
            finally:
                thread.backward = around
                if not was_on:
                    self.stop()

        return timed

    def _followed(self, records: Any) -> Iterator[Any]:
        """The records; what is computed after one was read is part of its gradient."""
        for record in records:
            op, keys = record[0], Record._make(record).output_keys
            place = self.of.get(keys[0], NOWHERE) if keys else NOWHERE
            self._thread.backward = op.name, place.line
            yield record
        self._thread.backward = _UNKNOWN

    # Being told

    def begins(self, op: Any) -> None:
        if self._is_timed():
            begun = [op, 0, 0]
            self._thread.begun.append(begun)
            begun[1] = perf_counter_ns()

    def ran(self, op: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> None:
        if not self._is_timed():
            return
        results = outputs if type(outputs) is tuple else (outputs,)
        for y in results[:1]:
            card = card_of(y._array)
            if card is not None:
                card.wait()
        now = perf_counter_ns()
        begun = self._thread.begun
        while begun and begun[-1][0] is not op and any(each[0] is op for each in begun):
            begun.pop()  # it has failed
        if not begun or begun[-1][0] is not op:
            return  # of ops that are noted themselves, such as those of a custom gradient
        _, start, inside = begun.pop()
        duration = now - start
        place = self.running.now()
        self.note(outputs, place)
        backward = self._thread.backward
        self._add(op, [*inputs], results, params, start, duration, inside, place, backward)
        spent = perf_counter_ns() - now
        self._own += spent
        if begun:
            begun[-1][2] += duration + spent

    def _is_timed(self) -> bool:
        if self._since is None or current_graph() is not None:
            return False
        return self._only is None or self._only == get_ident()

    def _add(
        self,
        op: Any,
        inputs: list[Any],
        results: tuple[Any, ...],
        params: dict[str, Any],
        start: int,
        duration: int,
        inside: int,
        place: Place,
        backward: tuple[str, Line] | None,
    ) -> None:
        line = place.line if backward is None or not backward[1][0] else backward[1]
        moved = sum([int(x._array.nbytes) for x in (*inputs, *results)])
        seconds = (duration - inside) * 1e-9
        flops = 0.0
        if isinstance(op, Op) and op.multiplies:
            each = 8 if results[0]._array.dtype.kind == "c" else 2
            flops = each * op.work(*inputs, results if len(results) > 1 else results[0], **params)
        key = op.name, backward is not None, line
        timing = self._timings.get(key)
        if timing is None:
            timing = self._timings[key] = Timing(op.name, backward is not None, *line)
        timing.calls += 1
        timing.seconds += seconds
        timing.bytes += moved
        if flops:
            timing.flops += flops
            timing.timed += seconds
        about: dict[str, Any] = {"shapes": [x._array.shape for x in inputs], "bytes": moved}
        if results:
            about["result"] = results[0]._array.dtype, results[0]._array.shape
        if flops:
            about["GFLOP/s"] = flops / max(duration, 1)
        self._events.append(
            Event(
                op.name,
                start,
                duration,
                get_ident(),
                "" if backward is None else backward[0],
                *line,
                () if place.call is None else place.call.stack,
                about,
            )
        )

    def add_block(self, name: str, start: int, about: dict[str, Any]) -> None:
        """Note a stretch of the program that has a name of its own, and ends now."""
        if self._is_timed():
            end, place = perf_counter_ns(), self.running.now()
            stack = () if place.call is None else place.call.stack
            event = Event(name, start, end - start, get_ident(), None, *place.line, stack, about)
            self._events.append(event)

    # Answering

    def profile(self) -> Profile:
        """What was timed so far."""
        now = 0 if self._since is None else perf_counter_ns() - self._since
        seconds = max(self._wall + now - self._own, 0) * 1e-9
        return Profile(seconds, list(self._timings.values()), list(self._events))


# Of a tape


def profile_tape(tape: Any) -> None:
    """Time the ops of a tape's block and of its derivatives; it stays the tape's own."""
    tape._profiler = profiler = Profiler(of_tape=True)
    profiler.begin()
    weakref.finalize(tape, profiler.end)


def profile_of(tape: Any) -> Profile:
    """Where the time of a tape went."""
    profiler: Profiler | None = vars(tape).get("_profiler")
    if profiler is None:
        raise InvalidArgumentError(
            "profile: the ops of this tape were not timed. Ask for it beforehand: "
            "tf.GradientTape(profile=True)."
        )
    return profiler.profile()
