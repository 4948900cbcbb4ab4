"""What a benchmark is: a question, its cases, its targets, and a program for each system."""

from __future__ import annotations

import importlib
import pkgutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Case = Mapping[str, Any]
Step = Callable[[], Any]
Program = Callable[..., Step | None]
Sample = dict[str, float]


@dataclass(frozen=True)
class Run:
    """What a measure is told besides the step: its loop count, the case, where progress goes."""

    loops: int
    case: Case
    report: Callable[[float], None]


_timed: set[Callable[[Step, Run], Sample]] = set()


def timed(measure: Callable[[Step, Run], Sample]) -> Callable[[Step, Run], Sample]:
    """A measure of how long steps take: of steps that return the arrays they computed."""
    _timed.add(measure)
    return measure


@timed
def seconds_per_step(step: Step, run: Run) -> Sample:
    """Wall time of one step. The garbage collector stays on: its work is part of the cost."""
    start = time.perf_counter()
    for _ in range(run.loops):
        step()
    return {"value": (time.perf_counter() - start) / run.loops}


@timed
def quickest_step(step: Step, run: Run) -> Sample:
    """Wall time of the quickest of the steps: for those that are long beside reading the clock.

    On a machine with other load, the one that was disturbed least.
    """
    times = []
    for _ in range(run.loops):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return {"value": min(times)}


def quickest_of(least: int) -> Callable[[Step, Run], Sample]:
    """The same of so many steps at least: for a process of its own, which is dear to start."""

    @timed
    def quickest(step: Step, run: Run) -> Sample:
        return quickest_step(step, replace(run, loops=max(run.loops, least)))

    return quickest


def returned(step: Step, run: Run) -> Sample:
    """The step measures by itself and returns named figures, none where it cannot measure."""
    return step()


@dataclass(frozen=True)
class Target:
    """gradtape's figure in `case` over that of the system `over` is at most `at_most`.

    With `of` it is the figure of another system, as gradtape compiled. Without `over` the figure
    itself is the ratio; with `over_case` it is that over gradtape's own figure in another case;
    with `added` the ratio is that of the difference, (gradtape - over) / over; with `difference`
    it is gradtape - over, in the question's unit.
    """

    case: str
    over: str | None
    at_most: float
    added: bool = False
    difference: bool = False
    over_case: str | None = None
    of: str = "gradtape"


@dataclass
class Question:
    """One file of `bench/questions/`; the driver and the worker need to know no more than this.

    A program is `prepare(module, **case)` and returns a step, or None for a case that its system
    cannot do. In a timed question a step returns the arrays it computed, and the driver compares
    their sums between the systems; with `ordered`, sums that see the place of each element. The
    driver keeps the minimum over the rounds of each name in a sample; `figure` makes one number of
    these minima.
    With `own_process` each case has a new worker, with the environment variables it returns (None:
    without this one).
    """

    title: str
    cases: Mapping[str, Case]
    targets: tuple[Target, ...] = ()
    suite: str = "overhead"
    unit: str = "s"
    note: str = ""
    measure: Callable[[Step, Run], Sample] = seconds_per_step
    figure: Callable[[Sample], float] = lambda minima: minima["value"]
    max_rounds: int | None = None
    ordered: bool = False
    own_process: Callable[[Case], Mapping[str, str | None]] | None = None
    programs: dict[str, Program] = field(default_factory=dict)

    @property
    def timed(self) -> bool:
        return self.measure in _timed

    def program(self, *systems: str) -> Callable[[Program], Program]:
        if "gradtape" in systems:
            systems += ("before",)

        def register(prepare: Program) -> Program:
            self.programs.update(dict.fromkeys(systems, prepare))
            return prepare

        return register


def find_questions() -> dict[str, Question]:
    """All questions by file name; each module of the packages here has one, called `question`."""
    from bench import function, gradbench, keras, questions

    found = {
        module.name: importlib.import_module(f"{package.__name__}.{module.name}").question
        for package in (questions, gradbench, function, keras)
        for module in pkgutil.iter_modules(package.__path__)
        if not module.name.startswith("_")
    }
    return dict(sorted(found.items(), key=lambda item: not item[1].timed))
