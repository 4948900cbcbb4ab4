"""Vitals: what variables and their gradients do during a run, noted without a change to it.

Gradients are measured where tapes give them, by a GradientMonitor. Inside of a function they have
no values while it is traced: its program then calls Python with them, each time that it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from gc import get_referrers
from threading import RLock
from typing import Any
from weakref import ref

import numpy as np

from ..core.cotangent import IndexedSlices
from ..core.engine import engine_of
from ..core.recorder import Tape, heard_by, recorders
from ..core.tensor import Tensor, is_symbolic
from ..core.tracing import current_graph
from ..core.witness import Witness
from ..tape.budget import Ledger
from ..tape.explanation import Cause, Explanation
from ..tape.variable import Variable, variable_of
from ..train.monitor.measurements import Track
from ..train.monitor.monitor import GradientMonitor
from .explain import explain
from .journal import journal_of_process
from .users_code import Line, Lines


class _Monitor(GradientMonitor):
    """Its findings are read at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[tuple[str, str], str] = {}  # by variable and condition

    def _warn(self, track: Track, condition: str) -> None:
        super()._warn(track, condition)
        self.texts[track.name, condition] = self.problems[-1]

    def _tell(self, text: str) -> None:
        pass


class Life:
    """What has happened to a variable."""

    def __init__(self, variable: Any, line: Line) -> None:
        self._variable = ref(variable)
        self.name = variable.name.removesuffix(":0")
        self.is_trained = variable.trainable and variable._is_inexact  # or is to be
        self.track: Track | None = None  # what is measured of its gradients
        self.line = line  # where it was made
        self.was_read = False
        self.was_taped = False  # read while a tape was listening
        self.was_assigned = False
        self.was_asked_for = False  # a gradient by it
        self.gradients = 0  # that were no None
        self.zeros = 0  # of these
        self.why_zero: Explanation | None = None  # of the first
        self.units: Any = None  # along the last axis: whether any gradient was not zero

    def is_frozen(self) -> bool:
        """Whether Keras does not train it: `layer.trainable = False` changes its own variable.

        That holds this one, and nothing else knows of it.
        """
        variable = self._variable()
        owners = [] if variable is None else get_referrers(variable)
        for owner in owners:
            own = owner if isinstance(owner, dict) else getattr(owner, "__dict__", {})
            if own.get("_value") is variable and own.get("_trainable") is False:
                return True
        return False


class Vitals(Witness):
    """Of each variable that is made from here on, its life; and what was told of functions."""

    def __init__(self) -> None:
        self.monitor = _Monitor()
        self.lives: dict[int, Life] = {}  # by the key of the variable
        self.retraces: list[tuple[str, str, list[str], Line]] = []  # function, argument, values
        self.copies: list[tuple[str, Line]] = []
        self.loss_is_scaled = False  # by a LossScaleOptimizer, Keras' or ours
        self._lines = Lines()
        self._lock = RLock()
        self._is_measuring = False

    # Being told

    def created(self, variable: Any, value: Any) -> None:
        self.lives[variable._key] = life = Life(variable, self._lines.here(2))
        self.loss_is_scaled |= life.name.rpartition("/")[2] == "dynamic_scale"

    def was_read(self, variable: Any) -> None:
        life = self.lives.get(variable._key)
        if life is not None and not self._is_measuring:
            life.was_read = True
            life.was_taped = life.was_taped or any(map(_is_tape, recorders()))

    def assigned(self, variable: Any, value: Any) -> None:
        life = self.lives.get(variable._key)
        if life is not None:
            life.was_assigned = True

    def retraced(self, function: Any, argument: str, values: list[str]) -> None:
        self.retraces.append((function.name, argument, values, self._lines.here(2)))

    def copied(self, file: str, line: int, text: str) -> None:
        self.copies.append((text, (file, line)))

    def derived(self, tape: Any, target: Any, sources: list[Any], found: list[Any]) -> None:
        graph = current_graph()
        if graph is not None and graph.root.learns_shapes:
            return
        for source, gradient in zip(sources, found, strict=True):
            variable = variable_of(source)
            life = self.lives.get(getattr(variable, "_key", None) or 0)
            if life is None:
                continue
            life.was_asked_for = True
            if gradient is None or not isinstance(variable, Variable):
                continue
            arrays, remake = _taken_apart(gradient)
            if not any(map(is_symbolic, arrays)):
                why = partial(_why, tape, target, variable)
                self._measure(life, variable, gradient, why)
            elif graph is not None:
                self._measure_later(life, variable, arrays, remake)

    # Measuring

    def _measure_later(
        self, life: Life, variable: Any, arrays: list[Any], remake: Callable[..., Any]
    ) -> None:
        """Let the program that is being traced measure a gradient, when it has it."""

        def call(*values: Any) -> list[Any]:
            self._measure(life, variable, remake(*values), lambda: None)
            return [np.True_]

        engine_of(type(next(filter(is_symbolic, arrays)))).call_python(call, [np.True_], arrays)

    def _measure(
        self, life: Life, variable: Any, gradient: Any, why_zero: Callable[[], Explanation | None]
    ) -> None:
        with self._lock, self._unheard():
            values = np.asarray(
                gradient.values if isinstance(gradient, IndexedSlices) else gradient
            )
            life.gradients += 1
            if not values.any():
                life.zeros += 1
                if life.zeros == 1:
                    life.why_zero = why_zero()
                if life.why_zero is not None and life.why_zero.cause is not Cause.ZERO:
                    return  # asked for, in the place of None
            if values.ndim > 1 and not isinstance(gradient, IndexedSlices):
                alive = values.any(axis=tuple(range(values.ndim - 1)))
                known = life.units is not None and life.units.shape == alive.shape
                life.units = life.units | alive if known else alive
            self.monitor.update([(gradient, variable)])
            life.track = self.monitor[variable]

    @contextmanager
    def _unheard(self) -> Iterator[None]:
        """What is done here is no part of the program."""
        journal = journal_of_process()
        was_quiet = journal is not None and journal.quiet
        self._is_measuring = True
        if journal is not None:
            journal.quiet = True
        try:
            with heard_by([]):
                yield
        finally:
            self._is_measuring = False
            if journal is not None:
                journal.quiet = was_quiet


def _is_tape(recorder: Any) -> bool:
    return isinstance(recorder, (Tape, Ledger))


def _why(tape: Any, target: Any, variable: Any) -> Explanation | None:
    found = explain(tape, target, variable)
    return found if isinstance(found, Explanation) else None


def _taken_apart(gradient: Any) -> tuple[list[Any], Callable[..., Any]]:
    """The arrays of a gradient, and what makes it of them again."""
    if isinstance(gradient, IndexedSlices):
        shape = gradient.dense_shape
        arrays = [gradient.values._array, gradient.indices._array]
        return arrays, lambda values, indices: IndexedSlices(Tensor(values), Tensor(indices), shape)
    return [gradient._array], Tensor
