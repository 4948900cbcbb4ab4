"""Cut: the equations of a trace that some outputs need, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from ..core.interrupts import keep_variable
from .explain import leaked
from .trace import Equation, Read, Trace, Var, is_tracer, larger, var_of


class Mark(NamedTuple):
    """A place in a graph: how many equations, records and checks stand before it."""

    equations: int
    records: int
    checks: int = 0


_speaking: ContextVar[bool] = ContextVar("checks speak", default=False)
keep_variable(_speaking)

checks_speak = _speaking.get
"""Whether a check that fails calls Python, to say why; else it only gives a number."""


@contextmanager
def with_checks(speak: bool) -> Iterator[None]:
    """A block in which cuts are made, and run, whose checks speak or do not."""
    token = _speaking.set(speak)
    try:
        yield
    finally:
        _speaking.reset(token)


class Cut:
    """The equations between two marks of a graph that `outputs` need, and what they need of others.

    `free` are the tracers of its trace that are made before `start`, inputs included; `foreign`
    those of the graphs around.
    """

    def __init__(self, trace: Trace, start: Mark, end: Mark, outputs: Sequence[Any]) -> None:
        self.trace = trace
        self.outputs = outputs
        self.equations: list[tuple[Equation, list[bool]]] = []  # which results are used
        needed: dict[Var, Any] = {}
        foreign: dict[Var, Any] = {}
        self._note(outputs, needed, foreign)
        for equation in reversed(trace.equations(start.equations, end.equations)):
            used = [var in needed for var in equation.results]
            if any(used) or equation.has_effects:
                self.equations.append((equation, used))
                for var in equation.results:
                    needed.pop(var, None)
                self._note(equation.needs(used), needed, foreign)
        self.equations.reverse()
        self.free = list(needed.values())
        self.foreign = list(foreign.values())
        self.effects = any([equation.has_effects for equation, _ in self.equations])
        # The capacities of the loops whose rounds have to be counted.
        self.counted = list(
            dict.fromkeys([c for equation, used in self.equations for c in equation.counted(used)])
        )

    def _note(self, arrays: Sequence[Any], needed: dict[Var, Any], foreign: dict[Var, Any]) -> None:
        for array in map(self.trace.content, arrays):
            if self.trace.owns(array):
                needed.setdefault(var_of(array), array)
            elif is_tracer(array):
                foreign.setdefault(var_of(array), array)

    def run(
        self, inputs: Sequence[Any], values: Sequence[Any], outer: Read | None = None
    ) -> list[Any]:
        """The values of the outputs, flags of checks last; then the rounds that are counted.

        `outer` looks up what belongs to the graphs around.
        """
        known = {var_of(x): value for x, value in zip(inputs, values, strict=True)}

        def read(array: Any) -> Any:
            array = self.trace.content(array)
            if self.trace.owns(array):
                return known[var_of(array)]
            if not is_tracer(array):
                return array
            if outer is None:
                raise leaked(array)
            return outer(array)

        rounds: dict[Any, Any] = {}
        for equation, used in self.equations:
            values = equation.emit(read, used)
            known.update(zip(equation.results, values, strict=False))
            counts = values[len(equation.results) :]
            for capacity, count in zip(equation.counted(used), counts, strict=True):
                rounds[capacity] = larger(rounds.get(capacity, 0), count)
        return [*[read(array) for array in self.outputs], *[rounds[c] for c in self.counted]]
