"""Progbar: how far a loop is, how long it will take, and the metrics on the way."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

_LINES_APART = 5.0  # seconds between the lines in a file or a pipe, where none can be written over
_GREEN, _GREY, _PLAIN = "\033[32m", "\033[37m", "\033[0m"


class _Mean(NamedTuple):
    """A weighted mean in the making."""

    total: float = 0.0
    weight: float = 0.0

    def plus(self, value: float, weight: float) -> _Mean:
        return _Mean(self.total + value * weight, self.weight + weight)

    def __str__(self) -> str:
        value = self.total / self.weight
        return f"{value:.4f}" if abs(value) > 1e-3 else f"{value:.4e}"


class Progbar:
    """A progress bar with Keras' arguments.

        bar = Progbar(target=100)
        for step in range(100):
            bar.update(step + 1, [("loss", train_step())])

        100/100 ━━━━━━━━━━━━━━━━━━━━ 3s - 31ms/step - loss: 0.0123

    On a terminal it is one line that changes; in a file or a pipe, a line every few seconds.
    `verbose=2` prints only the last line, `verbose=0` nothing. Metrics are averaged over the steps;
    those named in `stateful_metrics` (or, with `stateless_metrics`, all but those) are shown as
    they come. As in Keras the last update shows what it is given: the metrics of the epoch.
    """

    def __init__(
        self,
        target: int | None,
        width: int = 20,
        verbose: int = 1,
        interval: float = 0.05,
        stateful_metrics: Iterable[str] | None = None,
        stateless_metrics: Iterable[str] | None = None,
        unit_name: str = "step",
    ) -> None:
        if stateful_metrics is not None and stateless_metrics is not None:
            raise ValueError(
                "Progbar: give `stateful_metrics` (the others are averaged) or "
                "`stateless_metrics` (the others are not), not both."
            )
        self.target = target
        self.width = width
        self.verbose = verbose
        self.interval = interval
        self.unit_name = unit_name
        self.stateful_metrics = None if stateful_metrics is None else set(stateful_metrics)
        self.stateless_metrics = None if stateless_metrics is None else set(stateless_metrics)
        self._metrics: dict[str, _Mean] = {}
        self._seen = 0
        self._start = time.monotonic()
        self._first_step_done: float | None = None
        self._shown = self._start if _is_log() else -1.0

    def update(
        self,
        current: Any,
        values: Iterable[tuple[str, Any]] | None = None,
        finalize: bool | None = None,
    ) -> None:
        """Show that `current` steps are done, with the `values` (name, value) of the last ones.

        `finalize` says that this is the last update; by default that of step `target`.
        """
        if finalize is None:
            finalize = self.target is not None and current >= self.target
        steps = max(current - self._seen, 1)
        for name, value in values or ():
            number = float(np.mean(np.asarray(value)))
            averaged = self._is_averaged(name) and not finalize
            before = self._metrics.get(name, _Mean()) if averaged else _Mean()
            self._metrics[name] = before.plus(number, steps)
        self._seen = current
        now = time.monotonic()
        if current == 1:
            self._first_step_done = now
        self._show(now, finalize)

    def add(self, n: int, values: Iterable[tuple[str, Any]] | None = None) -> None:
        """Show that `n` more steps are done."""
        self.update(self._seen + n, values)

    def _is_averaged(self, name: str) -> bool:
        if self.stateless_metrics is not None:
            return name in self.stateless_metrics
        return name not in (self.stateful_metrics or ())

    # Showing

    def _show(self, now: float, finalize: bool) -> None:
        log = _is_log()
        apart = max(self.interval, _LINES_APART) if log else self.interval
        if finalize:
            due = self.verbose in (1, 2)
        else:
            due = self.verbose == 1 and now - self._shown >= apart
        if not due:
            return
        if log or self.verbose == 2:
            line = " - ".join([self._count(), *self._facts(now, finalize)]) + "\n"
        else:
            line = f"\r{self._bar(now, finalize)}\033[K" + ("\n" if finalize else "")
        sys.stdout.write(line)
        sys.stdout.flush()
        self._shown = now

    def _count(self) -> str:
        if not self.target:
            return f"{self._seen}/Unknown"
        return f"{self._seen:>{len(str(self.target))}}/{self.target}"

    def _facts(self, now: float, finalize: bool) -> list[str]:
        """The time that is left (at the end, that it took), the time of a step, the metrics."""
        step = self._step_seconds(now)
        if self.target and not finalize:
            time_left = f"{_clock(step * (self.target - self._seen))} left"
        else:
            time_left = _clock(now - self._start)
        metrics = [f"{name}: {mean}" for name, mean in self._metrics.items()]
        return [time_left, f"{_brief(step)}/{self.unit_name}", *metrics]

    def _bar(self, now: float, finalize: bool) -> str:
        """The line for a terminal, cut to its width."""
        info = " - ".join(self._facts(now, finalize))
        width = self.width if self.target else 0
        count = self._count()
        info = info[: max(0, _columns() - len(count) - width - 3)]
        if not self.target:
            return f"{count} {info}"
        done = min(width, int(width * self._seen / self.target))
        full, empty = _marks()
        bar = f"{_GREEN}{full * done}{_GREY}{empty * (width - done)}{_PLAIN}"
        return f"{count} {bar} {info}"

    def _step_seconds(self, now: float) -> float:
        """The mean time of a step; without the first, which is often the slowest."""
        if self._first_step_done is not None and self._seen > 1:
            return (now - self._first_step_done) / (self._seen - 1)
        return (now - self._start) / max(self._seen, 1)


def _is_log() -> bool:
    """Whether what is printed stays: a file or a pipe, no terminal and no notebook."""
    return not (sys.stdout.isatty() or "ipykernel" in sys.modules)


def _columns() -> int:
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):  # a notebook, or a stream without a file
        columns = 0
    return columns or 120


def _marks() -> tuple[str, str]:
    """What a bar is drawn with, as far as the output can show it."""
    try:
        "━".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return "#", "."
    return "━", "━"


def _clock(seconds: float) -> str:
    """42s, 3:07 or 1:02:03."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02d}:{rest:02d}"
    return f"{minutes}:{rest:02d}" if minutes else f"{rest}s"


def _brief(seconds: float) -> str:
    """3s, 14ms or 250us."""
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.0f}{unit}"
    return f"{seconds * 1e6:.0f}us"
