"""Starts a worker for each system, lets them take turns, and keeps the minimum of each."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.peers import ROOT, Absent, interpreter
from bench.question import Case, Question, Sample, Target
from bench.systems import ONE_THREAD

CHECKSUM_TOLERANCE = 1e-4  # of the sum of magnitudes: float32 sums in another order
DIGITS = 3

Checksum = list[tuple[float, ...]]
Progress = Callable[[str, float], None]


class WorkerFailed(Exception):
    """A program raised, or its process died."""


class Worker:
    """The process of one system; a context manager that ends it."""

    def __init__(
        self,
        name: str,
        python: str,
        source: Path | None,
        extra: Mapping[str, str | None] | None = None,
    ) -> None:
        self.name = name
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - close() closes it
        self.process = subprocess.Popen(
            [python, "-m", "bench.worker", name],
            cwd=ROOT,
            env=_environment(source, extra or {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        try:
            greeting = self._receive(lambda done: None)
        except WorkerFailed as failure:
            self.close()
            raise Absent(str(failure)) from None
        self.version = f"{greeting['version']} on Python {greeting['python']}"

    def ask(self, request: dict[str, Any], progress: Callable[[float], None]) -> dict[str, Any]:
        assert self.process.stdin
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return self._receive(progress)

    def _receive(self, progress: Callable[[float], None]) -> dict[str, Any]:
        assert self.process.stdout
        for line in self.process.stdout:
            message = json.loads(line)
            if "error" in message:
                raise WorkerFailed(message["error"].strip())
            if "progress" not in message:
                return message
            progress(message["progress"])
        self.log.seek(0)
        tail = self.log.read().decode(errors="replace").strip().splitlines()[-3:]
        raise WorkerFailed("its process ended: " + " / ".join(tail))

    def close(self) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _environment(source: Path | None, extra: Mapping[str, str | None]) -> dict[str, str]:
    """The environment of a worker that imports from `source`; None in `extra` leaves out."""
    # Without bytecode files every import would compile, and import time would measure that.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment |= ONE_THREAD | {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment["GRADTAPE_CACHE"] = "off"  # a first call compiles
    environment.pop("PYTHONPATH", None)
    if source and source.exists():
        environment["PYTHONPATH"] = str(source)
    return {k: v for k, v in (environment | dict(extra)).items() if v is not None}


@dataclass(frozen=True)
class Verdict:
    """A target beside what was measured; `ratio` (or the difference) is None where one is absent.

    Judged by the digits that the report shows, so that 1.000 is not said to be above 1.
    """

    target: Target
    ratio: float | None

    @property
    def met(self) -> bool | None:
        if self.ratio is None:
            return None
        shown = self.ratio if self.target.difference else round(self.ratio, DIGITS)
        return shown <= self.target.at_most


@dataclass
class Result:
    """What all the systems gave for one case of one question."""

    name: str
    question: Question
    case: str
    given: dict[str, Any]
    minima: dict[str, Sample] = field(default_factory=dict)
    checksums: dict[str, Checksum] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    siblings: dict[str, Result] = field(default_factory=dict, repr=False)

    @property
    def label(self) -> str:
        return self.case.format(**self.given)

    @property
    def title(self) -> str:
        return f"{self.question.title}, {self.label}"

    @property
    def figures(self) -> dict[str, float]:
        return {
            system: self.question.figure(sample)
            for system, sample in self.minima.items()
            if sample and system not in self.failures
        }

    def add(self, system: str, sample: Sample, checksum: Checksum | None) -> None:
        best = self.minima.setdefault(system, sample)
        for key, value in sample.items():
            best[key] = min(best[key], value)
        if checksum:
            self.checksums[system] = checksum

    def ratio(self, over: str | None, of: str = "gradtape") -> float | None:
        ours = self.figures.get(of)
        if over is None or ours is None:
            return ours
        theirs = self.figures.get(over)
        return None if not theirs else ours / theirs

    def verdicts(self) -> list[Verdict]:
        targets = [target for target in self.question.targets if target.case == self.case]
        return [Verdict(target, self._judged(target)) for target in targets]

    def _judged(self, target: Target) -> float | None:
        if target.over_case:
            ours, base = self.ratio(None), self.siblings[target.over_case].ratio(None)
            return None if ours is None or not base else ours / base
        if target.difference and target.over:
            ours, theirs = self.figures.get("gradtape"), self.figures.get(target.over)
            return None if ours is None or theirs is None else ours - theirs
        ratio = self.ratio(target.over, target.of)
        return ratio if ratio is None or not target.added else ratio - 1


@dataclass(frozen=True)
class Settings:
    systems: Sequence[str]
    rounds: int = 20
    seconds: float = 0.03
    iterations: int | None = None
    install: bool = True
    against: Path | None = None

    def source(self, system: str) -> Path | None:
        """Where the system is imported from, if it is a checkout of gradtape."""
        checkout = {"gradtape": ROOT, "function": ROOT, "before": self.against}.get(system)
        return checkout and checkout / "src"


class Session:
    """The workers of one run of the benchmark."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.workers: dict[str, Worker] = {}
        self.pythons: dict[str, str] = {}
        self.absent: dict[str, str] = {}

    def __enter__(self) -> Session:
        for name in self.settings.systems:
            try:
                self.pythons[name] = interpreter(name, install=self.settings.install)
                self.workers[name] = Worker(name, self.pythons[name], self.settings.source(name))
            except (Absent, OSError) as reason:
                self.absent[name] = str(reason)
        return self

    def __exit__(self, *exception: object) -> None:
        for worker in self.workers.values():
            worker.close()

    def measure(self, questions: Mapping[str, Question], progress: Progress) -> list[Result]:
        """All cases once in each round: a burst of other load falls on few samples of any case."""
        rounds = self.settings.rounds
        results = [
            result for name, question in questions.items() for result in self._empty(name, question)
        ]
        turns = [
            (f"round {number + 1} of {rounds}: {result.title}", result)
            for number in range(rounds)
            for result in results
            if number < (result.question.max_rounds or rounds)
        ]
        for turn, (title, result) in enumerate(turns):

            def within_turn(done: float, turn: int = turn, title: str = title) -> None:
                progress(f"{title} {done:.0%}" if done else title, (turn + done) / len(turns))

            within_turn(0.0)
            self._turn(result, within_turn)
        progress("measured", 1.0)
        for result in results:
            result.failures |= disagreements(result.checksums)
        return results

    def _empty(self, name: str, question: Question) -> list[Result]:
        siblings: dict[str, Result] = {}
        for case, given in question.cases.items():
            siblings[case] = Result(name, question, case, self._adjusted(given), siblings=siblings)
        return list(siblings.values())

    def _adjusted(self, case: Case) -> dict[str, Any]:
        iterations = self.settings.iterations
        changed = {"iterations": iterations} if iterations and "iterations" in case else {}
        return dict(case) | changed

    def _turn(self, result: Result, progress: Callable[[float], None]) -> None:
        question = result.question
        request = {"question": result.name, "case": result.given, "seconds": self.settings.seconds}
        for system, worker in self.workers.items():
            if system not in question.programs or system in result.failures:
                continue
            try:
                if question.own_process:
                    extra = question.own_process(result.given)
                    source = self.settings.source(system)
                    with Worker(system, self.pythons[system], source, extra) as own:
                        answer = own.ask(request, progress)
                else:
                    answer = worker.ask(request, progress)
            except (WorkerFailed, Absent, OSError) as failure:
                result.failures[system] = str(failure)
            else:
                result.add(system, answer["sample"], answer["checksum"])


def disagreements(checksums: Mapping[str, Checksum]) -> dict[str, str]:
    """Who did not compute the same arrays as NumPy (the last, where NumPy takes no part)."""
    if not checksums:
        return {}
    reference = "numpy" if "numpy" in checksums else list(checksums)[-1]
    theirs = checksums[reference]
    return {
        system: f"computed something else than {reference}; (sum, sum of magnitudes) of each "
        f"array: {ours} and {theirs}"
        for system, ours in checksums.items()
        if len(ours) != len(theirs) or not all(map(_agree, ours, theirs))
    }


def _agree(ours: tuple[float, ...], theirs: tuple[float, ...]) -> bool:
    allowed = CHECKSUM_TOLERANCE * theirs[1]
    return all(
        math.isfinite(a) and abs(a - b) <= allowed for a, b in zip(ours, theirs, strict=True)
    )


class ProgressBar:
    """A bar on a terminal; elsewhere a line every few seconds."""

    def __init__(self, seconds_between_lines: float = 5.0) -> None:
        self.between = seconds_between_lines
        self.last = time.monotonic()

    def __call__(self, title: str, done: float) -> None:
        now = time.monotonic()
        if sys.stderr.isatty():
            bar = "█" * round(24 * done)
            end = "\n" if done == 1.0 else ""
            line = f"\r\033[K{bar:·<24} {done:4.0%}  {title}"
            print(line, end=end, file=sys.stderr, flush=True)
        elif now - self.last >= self.between:
            self.last = now
            print(f"{done:4.0%}  {title}", file=sys.stderr, flush=True)
