"""The doctor: all witnesses of a run together, and the report of what they saw."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..core.errors import InvalidArgumentError
from ..core.tables import Table, place_text, short
from ..tape.explanation import Cause, Explanation
from ..tape.profile import Profile, Timing, time_text
from ..train.monitor.measurements import Track
from .asking import explain_gradients, tell_of_nones
from .memory import Largest
from .numerics import NumericsCheck, NumericsFault
from .profiler import Profiler
from .report import Finding, Report, Section
from .users_code import Line
from .vitals import Life, Vitals

_LINES = 3
"""The most expensive ones that are shown."""

_DEAD_UNITS = 0.25
"""The share of a layer's units without any gradient that is worth a word: a few are usual."""

_UNIT_STEPS = 5
"""Gradients before which units are not called dead: a batch may leave some without."""

_SMALL_CALL = 20e-6
"""Seconds below which a call is mostly Python."""


class _FirstFaults(NumericsCheck):
    """Keeps the first fault of each kind, and lets the run go on."""

    def __init__(self) -> None:
        super().__init__(None, None)
        self._faults: dict[bool, NumericsFault] = {}

    def meet_fault(self, error: InvalidArgumentError) -> None:
        fault: NumericsFault = vars(error)["fault"]
        self._faults.setdefault(_is_expected_of_scaled(fault), fault)

    def first(self, loss_is_scaled: bool) -> NumericsFault | None:
        """The first one; of a scaled loss not what its optimizer looks for, to lower the scale."""
        kinds = [False] if loss_is_scaled else self._faults
        return next((self._faults[kind] for kind in kinds if kind in self._faults), None)


def _is_expected_of_scaled(fault: NumericsFault) -> bool:
    return fault.phase == "gradient" and fault.dtype == "float16"


class Doctor:
    """Looks on from `begin` to `end`."""

    def __init__(self) -> None:
        self._nones: list[Explanation] = []
        self._numerics = _FirstFaults()
        self._vitals = Vitals()
        self._largest = Largest()
        self._profiler = Profiler()

    def begin(self) -> None:
        """Look on from here."""
        tell_of_nones(self._nones.append)
        for each in (self._numerics, self._vitals, self._largest, self._profiler):
            each.begin()
        self._profiler.start()

    def end(self) -> None:
        """Look no more."""
        self._profiler.stop()
        for each in (self._profiler, self._largest, self._vitals, self._numerics):
            each.end()
        explain_gradients(False)

    def report(self, program: str, ending: str = "") -> Report:
        """What was seen."""
        findings = [
            *self._none_findings(),
            *self._numerics_findings(),
            *self._zero_findings(),
            *self._unit_findings(),
            *self._monitor_findings(),
            *self._unused_findings(),
            *self._function_findings(),
            *self._copy_findings(),
        ]
        profile = self._profiler.profile()
        sections = [*_expensive(profile), *self._memory_sections()]
        return Report(program, findings, sections, ending)

    # Findings

    def _none_findings(self) -> Iterator[Finding]:
        for reason in self._nones:
            yield Finding(
                "A gradient is None", reason.message, reason.suggestion, reason.file, reason.line
            )

    def _numerics_findings(self) -> Iterator[Finding]:
        fault = self._fault()
        if fault is None:
            return
        what = " and ".join(
            [
                f"{count} {name}"
                for name, count in (
                    ("NaN", fault.nan),
                    ("+Inf", fault.positive_infinite),
                    ("-Inf", fault.negative_infinite),
                )
                if count
            ]
        )
        phase = "" if fault.of is None else f", in the {fault.phase} of {fault.of}"
        others = []
        if fault.forward_file is not None and fault.forward_line is not None:
            others.append((fault.forward_file, fault.forward_line))
        yield Finding(
            "NaN or Inf",
            f"The first are of {fault.op}{phase}: {what} among {math.prod(fault.shape)} elements, "
            f"and what it was given had none ({fault.dtype} {list(fault.shape)}).",
            f"Instead: {fault.suggestion}"
            if fault.suggestion
            else "`gradtape run --check-numerics` shows the elements that it was given.",
            fault.file,
            fault.line,
            others,
        )

    def _zero_findings(self) -> Iterator[Finding]:
        for life in self._lives():
            if _is_always_zero(life):
                reason = life.why_zero
                others = [] if reason is None or not reason.file else [(reason.file, reason.line)]
                times = "once" if life.gradients == 1 else f"{life.gradients} times"
                message = f"It was computed {times}, and was 0 everywhere each time."
                if reason is not None:
                    message = f"{message}\n{reason.message}"
                yield Finding(
                    f"The gradient of {life.name!r} is zero",
                    message,
                    reason.suggestion if reason is not None else _ZERO_ADVICE,
                    *life.line,
                    others,
                )

    def _unit_findings(self) -> Iterator[Finding]:
        for life in self._lives():
            if life.units is None or life.gradients < _UNIT_STEPS or _is_always_zero(life):
                continue
            dead, count = int((~life.units).sum()), life.units.size
            if dead >= max(_DEAD_UNITS * count, 1):
                yield Finding(
                    f"Dead units behind {life.name!r}",
                    f"{dead} of {count} units never got a gradient, in {life.gradients} steps.",
                    "Behind a relu, they are off for all inputs: try leaky_relu, a lower learning "
                    "rate, or another initialization.",
                    *life.line,
                )

    def _monitor_findings(self) -> Iterator[Finding]:
        tracks = [
            (life, life.track)
            for life in self._lives()
            if life.track is not None and not _is_always_zero(life)
        ]
        # Where all gradients are small, the training has converged.
        others_flow = any([not {"dead", "vanishing"} & {*t.conditions()} for _, t in tracks])
        for life, track in tracks:
            for condition in track.problems:
                at_end = condition in track.conditions()
                small = condition in ("dead", "vanishing")
                if small and not (at_end and (others_flow or not _was_ever_large(track))):
                    continue
                if "finite" in condition and self._fault() is not None:
                    continue  # what has become of that
                if condition in _SCALED and self._vitals.loss_is_scaled:
                    continue  # the gradient that is measured is the scale times the real one
                earlier = self._vitals.monitor.texts[track.name, condition]
                text = track.explain(condition) if at_end else earlier
                what, _, advice = text.partition(". ")
                if "finite" in condition:  # and no op has made it
                    advice = _GIVEN_ADVICE
                message = f"{what[:1].upper()}{what[1:]}."
                yield Finding(_TITLES[condition], message, advice, *life.line)

    def _unused_findings(self) -> Iterator[Finding]:
        trains = any([life.was_asked_for for life in self._lives()])
        for life in self._lives():
            if not life.is_trained or life.was_assigned:
                continue
            if not life.was_read and not life.was_asked_for:
                yield Finding(
                    "A variable is not used",
                    f"{life.name!r} was made, and nothing has read it.",
                    "Compute with it, or leave it out.",
                    *life.line,
                )
            elif life.was_taped and trains and not life.was_asked_for and not life.is_frozen():
                yield Finding(
                    "A variable is not trained",
                    f"{life.name!r} is used while a tape records, and is trainable; no gradient by "
                    "it was asked for.",
                    "Add it to the sources of tape.gradient and to apply_gradients; or make it "
                    "with trainable=False.",
                    *life.line,
                )

    def _function_findings(self) -> Iterator[Finding]:
        groups: dict[tuple[str, str, Line], list[str]] = {}
        for name, argument, values, line in self._vitals.retraces:
            groups.setdefault((name, argument, line), []).extend(values)
        for (name, argument, line), group in groups.items():
            values = list(dict.fromkeys(group))
            shown = ", ".join(values[:5]) + (", ..." if len(values) > 5 else "")
            yield Finding(
                f"{name} is traced again and again",
                f"{len(values)} times at least, because `{argument}` differs from call to call: "
                f"{shown}.",
                "Pass numbers as tensors, and tensors of one shape (or reduce_retracing=True); "
                "create the function once, outside of the loop.",
                *line,
            )

    def _copy_findings(self) -> Iterator[Finding]:
        for text, line in self._vitals.copies:
            yield Finding(
                "Copies between the host and the card",
                text,
                "Keep the tensor where it is used: make it in a block `with tf.device(...)`, or "
                "let the dataset bring it there (tf.data.experimental.prefetch_to_device).",
                *line,
            )

    def _fault(self) -> NumericsFault | None:
        return self._numerics.first(self._vitals.loss_is_scaled)

    def _lives(self) -> list[Life]:
        return list(self._vitals.lives.values())

    # What is only to know

    def _memory_sections(self) -> Iterator[Section]:
        memory = self._largest.memory
        if memory is not None:
            where = next((held for held in memory.tensors if held.file), None)
            text = [memory.head()[0]]
            if memory.file:
                text.append(place_text(memory.file, memory.line))
            if where is not None:
                text.append(
                    f"The largest array whose line is known: {where.what}, "
                    f"{place_text(where.file, where.line)}"
                )
            advice = " ".join(memory.head()[1:])
            yield Section("The largest tape", text, None, advice)
        program = self._largest.largest_program()
        if program is not None:
            yield Section("The largest compiled function", program.head())


_ZERO_ADVICE = (
    "Look for a relu that is given negative numbers only, a saturated sigmoid, a mask or weights "
    "of zeros on the way; tape.explain(loss, variable) outside of a function names the op."
)

_GIVEN_ADVICE = (
    "No op was seen to make it of finite numbers: look at what the program is given. Is "
    "np.isfinite(x).all() true of the data, the labels and the initial values?"
)

_SCALED = ("exploding", "not finite")
"""What is usual of the gradients of a loss that a LossScaleOptimizer scales."""

_TITLES = {
    "not finite": "A gradient is not finite",
    "weights not finite": "A variable is not finite",
    "dead": "A gradient has become zero",
    "vanishing": "A gradient vanishes",
    "exploding": "A gradient explodes",
}


def _is_always_zero(life: Life) -> bool:
    if life.why_zero is not None and life.why_zero.cause is not Cause.ZERO:
        return False
    return bool(life.gradients) and life.zeros == life.gradients


def _was_ever_large(track: Track) -> bool:
    """Whether a gradient was once of the size of healthy ones."""
    size = math.sqrt(track.gradient_size or 1)
    return bool((track.history.gradient_norm > track.vanishing * size).any())


def _expensive(profile: Profile) -> Iterator[Section]:
    """The most expensive lines."""
    merged: dict[tuple[str, int], Timing] = {}
    ops: dict[tuple[str, int], dict[str, float]] = {}
    for timing in profile.timings:
        key = timing.file, timing.line
        if not timing.file:
            continue
        merged.setdefault(key, Timing("", False, *key)).add(timing)
        of_line = ops.setdefault(key, {})
        of_line[timing.name] = of_line.get(timing.name, 0.0) + timing.seconds
    lines = sorted(merged.values(), key=lambda timing: -timing.seconds)[:_LINES]
    if not lines:
        return
    whole = max(profile.in_ops, 1e-12)
    rows = [
        [
            time_text(t.seconds),
            f"{100 * t.seconds / whole:.0f} %",
            str(t.calls),
            max(ops[t.file, t.line].items(), key=lambda op: op[1])[0],
            place_text(t.file, t.line),
        ]
        for t in lines
    ]
    table = Table(
        "", ["time", "", "calls", "mostly", "line"], 3, rows, [t.seconds / whole for t in lines]
    )
    first = lines[0]
    where = f"{short(first.file)}:{first.line}"
    if first.seconds / first.calls < _SMALL_CALL:
        advice = (
            f"The calls of {where} take {time_text(first.seconds / first.calls)} each, which is "
            "mostly Python: compile the step with @tf.function, or work on larger batches."
        )
    else:
        advice = "`gradtape run --profile` shows all lines and ops, and writes a picture."
    yield Section("The most expensive lines, forward and backward", profile.head(), table, advice)
