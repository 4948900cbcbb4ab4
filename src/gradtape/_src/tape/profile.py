"""Profile: where the time of a tape, or of a stretch of a program, went; as text and as files."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..core.tables import Table, Tabled, bytes_text, place_text, short
from ..version import __version__

_SHOWN = 20
_KINDS = {None: "block", "": "forward", "gradient": "backward"}


class Frame(NamedTuple):
    """A level of the picture: a function of the user, or an op."""

    name: str
    file: str = ""
    line: int = 0


class Event(NamedTuple):
    """A call of an op."""

    name: str
    start: int
    """In nanoseconds, of `time.perf_counter_ns`."""
    duration: int
    thread: int
    backward: str | None
    """The op whose gradient it is part of; "" of a forward op, None of a block with a name."""
    file: str
    line: int
    """The user's line; of a backward op, that of the forward one, if it is known."""
    stack: tuple[tuple[Hashable, Frame], ...]
    """The calls of the user's functions around it, from the outermost in, each with what it is."""
    about: dict[str, Any]


@dataclass
class Timing:
    """The calls of one op, or of one line, together."""

    name: str
    """Of the op; of a line, the line."""
    backward: bool = False
    file: str = ""
    line: int = 0
    calls: int = 0
    seconds: float = 0.0
    bytes: int = 0
    """That the calls read and wrote: the arrays given, and those made."""
    flops: float = 0.0
    """Operations on numbers, of the ops that declare how many multiplications they take."""
    timed: float = 0.0
    """The seconds of the calls that `flops` is of."""

    @property
    def gflops(self) -> float | None:
        """10**9 operations in a second, of the calls whose ops declare their work."""
        return self.flops / self.timed / 1e9 if self.flops and self.timed else None

    def add(self, other: Timing) -> None:
        self.calls += other.calls
        self.seconds += other.seconds
        self.bytes += other.bytes
        self.flops += other.flops
        self.timed += other.timed


@dataclass(frozen=True, repr=False)
class Profile(Tabled):
    """Where time went. Seconds are those of ops alone, without the Python between them."""

    seconds: float
    """From the beginning to the end, without what the profile itself took."""
    timings: list[Timing]
    """By op, line and direction."""
    events: list[Event] = field(default_factory=list)
    """Each call, in the order of their ends; the last ones, if there were very many."""

    @property
    def in_ops(self) -> float:
        """The seconds in which an op ran."""
        return sum([timing.seconds for timing in self.timings])

    @property
    def between(self) -> float:
        """The seconds in which none did: Python, of the user's and of gradtape."""
        return max(self.seconds - self.in_ops, 0.0)

    @property
    def ops(self) -> list[Timing]:
        """By op and direction, the longest first."""
        return self._by(lambda t: (t.name, t.backward), lambda t: Timing(t.name, t.backward))

    @property
    def lines(self) -> list[Timing]:
        """By line and direction, the longest first; backward ops count for the forward line."""
        return self._by(
            lambda t: (t.file, t.line, t.backward),
            lambda t: Timing(place_text(t.file, t.line), t.backward, t.file, t.line),
        )

    def _by(
        self, key: Callable[[Timing], Hashable], new: Callable[[Timing], Timing]
    ) -> list[Timing]:
        found: dict[Hashable, Timing] = {}
        for timing in self.timings:
            group = key(timing)
            if group not in found:
                found[group] = new(timing)
            found[group].add(timing)
        return sorted(found.values(), key=lambda timing: -timing.seconds)

    # Showing it

    def head(self) -> list[str]:
        """The time in all."""
        backward = sum([t.seconds for t in self.timings if t.backward])
        share = 100 * self.in_ops / self.seconds if self.seconds else 0.0
        return [
            f"{time_text(self.seconds)}, of which {share:.0f} % in ops: forward "
            f"{time_text(self.in_ops - backward)}, backward {time_text(backward)}; "
            f"{time_text(self.between)} of Python between them."
        ]

    def _tables(self) -> list[Table]:
        return [self._table("By line", self.lines), self._table("By op", self.ops)]

    def _table(self, title: str, timings: list[Timing]) -> Table:
        shown = timings[:_SHOWN]
        rest = Timing(f"{len(timings) - _SHOWN} more")
        for timing in timings[_SHOWN:]:
            rest.add(timing)
        if rest.calls:
            shown = [*shown, rest]
        whole = max(self.in_ops, 1e-12)
        rows = [
            [
                time_text(t.seconds),
                f"{100 * t.seconds / whole:.0f} %",
                str(t.calls),
                bytes_text(t.bytes),
                "-" if t.gflops is None else f"{t.gflops:.3g}",
                "backward" if t.backward else "" if t is rest else "forward",
                t.name or "(no line of yours)",
            ]
            for t in shown
        ]
        heads = ["time", "", "calls", "bytes", "GFLOP/s", "", ""]
        return Table(title, heads, 5, rows, [t.seconds / whole for t in shown])

    # Files

    def save_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write it as a trace for https://ui.perfetto.dev and chrome://tracing; .gz compresses."""
        process = os.getpid()
        written: list[dict[str, Any]] = [
            _metadata("process_name", process, 0, f"gradtape {__version__}")
        ]
        for number, (thread, events) in enumerate(self._by_thread()):
            written.append(_metadata("thread_name", process, thread, f"thread {number}"))
            for span in spans(events):
                frame, event = span.frame, span.event
                about = {} if event is None else event.about
                if frame.file:
                    about = {**about, "line": f"{short(frame.file)}:{frame.line}"}
                kind = "call" if event is None else _KINDS[event.backward and "gradient"]
                written.append(
                    {
                        "ph": "X",
                        "name": frame.name,
                        "cat": kind,
                        "ts": _micros(span.start - self._start),
                        "dur": _micros(span.end - self._start) - _micros(span.start - self._start),
                        "pid": process,
                        "tid": thread,
                        "args": about,
                    }
                )
        _write(path, {"traceEvents": written, "displayTimeUnit": "ms"})

    def save_speedscope(self, path: str | os.PathLike[str]) -> None:
        """Write it for https://www.speedscope.app; .gz compresses."""
        frames: dict[Frame, int] = {}
        profiles = []
        for number, (_, events) in enumerate(self._by_thread()):
            found = spans(events)
            last = max([span.end for span in found], default=self._start)
            profiles.append(
                {
                    "type": "evented",
                    "name": f"thread {number}",
                    "unit": "microseconds",
                    "startValue": 0,
                    "endValue": (last - self._start) / 1000,
                    "events": list(_openings(found, frames, self._start)),
                }
            )
        listed = [
            {"name": f.name, **({"file": f.file, "line": f.line} if f.file else {})} for f in frames
        ]
        content = {
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "exporter": f"gradtape {__version__}",
            "name": "gradtape",
            "activeProfileIndex": 0,
            "shared": {"frames": listed},
            "profiles": profiles,
        }
        _write(path, content)

    @property
    def _start(self) -> int:
        return min([event.start for event in self.events], default=0)

    def _by_thread(self) -> list[tuple[int, list[Event]]]:
        found: dict[int, list[Event]] = {}
        for event in sorted(self.events, key=lambda event: (event.start, -event.duration)):
            found.setdefault(event.thread, []).append(event)
        return list(found.items())


class Span:
    """What ran, the op call if it is one, and from when to when, in nanoseconds."""

    def __init__(self, key: Hashable, frame: Frame, event: Event | None, start: int) -> None:
        self.key, self.frame, self.event = key, frame, event
        self.start = self.end = start


def spans(events: list[Event]) -> list[Span]:
    """The op calls of a thread, given by their beginnings, and the calls of functions around them.

    What is inside of one comes after it. A call of a function lasts from its first op to its last.
    """
    found: list[Span] = []
    levels: list[Span] = []
    for event in events:
        stack: list[tuple[Hashable, Frame, Event | None]] = [(*each, None) for each in event.stack]
        if event.backward:
            what = Frame(f"gradient of {event.backward}", event.file, event.line)
            stack.append((what, what, None))
        stack.append((id(event), Frame(event.name), event))
        keys = {key for key, _, _ in stack}
        kept = 0
        for i, level in enumerate(levels):
            runs = level.event is not None and event.start < level.end  # it calls Python, say
            if runs or (kept == i and level.key in keys):
                kept = i + 1
        del levels[kept:]
        known = {level.key for level in levels}
        new = [Span(key, frame, op, event.start) for key, frame, op in stack if key not in known]
        levels += new
        found += new
        for level in levels:
            level.end = max(level.end, event.start + event.duration)
    return found


def _openings(found: list[Span], frames: dict[Frame, int], origin: int) -> Iterator[dict[str, Any]]:
    """The spans as openings and closings in the order of time, with the numbers of the frames."""
    opened: list[Span] = []
    for span in [*found, None]:
        while opened and (span is None or opened[-1].end <= span.start):
            last = opened.pop()
            at = (last.end - origin) / 1000
            yield {"type": "C", "frame": frames[last.frame], "at": at}
        if span is not None:
            number = frames.setdefault(span.frame, len(frames))
            yield {"type": "O", "frame": number, "at": (span.start - origin) / 1000}
            opened.append(span)


def _micros(nanoseconds: int) -> float:
    """Microseconds, in parts of 1024: a beginning and a duration add up to the last bit.

    (A reader that finds an op to end after what is around it, by a rounding, nests all that follows
    wrongly: that of speedscope does.)
    """
    return round(nanoseconds * 1.024) / 1024


def _metadata(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}


def _write(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    opened = gzip.open if os.fspath(path).endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8") as file:
        json.dump(content, file, default=str)  # dtypes


def time_text(seconds: float) -> str:
    """A time to read: "1.21 ms"."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.9995 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"
