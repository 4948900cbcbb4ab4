"""Reruns: a program that has to run again does not do again in Python what it did before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import RLock
from typing import Any

import numpy as np


class Reruns:
    """What the run of a program did in Python, for the case that the run has to be repeated.

    A run that cannot keep all rounds of a loop is paused there: what it computes later may be
    wrong, and nobody sees it. But its loops need what Python answers to come to an end. So answers
    are still given, and given again in the next run, if Python is asked the same.
    """

    def __init__(self) -> None:
        self.calls_python = False
        self.are_mapped = False
        self._active = False  # whether a program runs that may have to run again
        self._paused = False
        self._actions = 0  # so many were done in this run
        self._done = 0  # and so many in those before it, the same ones
        self._answers: list[tuple[list[Any], Any]] = []  # what was asked, and the answer
        self._asked = 0
        self._lock = RLock()
        self._inside: list[Reruns] = []

    def include(self, inside: Reruns) -> None:
        """Of a function that is called inside: what it does is done by the program as well."""
        self.calls_python |= inside.calls_python
        self._inside.append(inside)

    @contextmanager
    def speaking(self) -> Iterator[None]:
        """A block that compiles and runs a program that calls Python though others do not."""
        around, self.calls_python = self.calls_python, True
        try:
            yield
        finally:
            self.calls_python = around

    @contextmanager
    def call(self) -> Iterator[None]:
        """A block in which a program runs, once or several times."""
        if not self.calls_python:
            yield
            return
        with self._in_use():
            yield

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        with self._lock, ExitStack() as stack:
            for inside in self._inside:
                stack.enter_context(inside._in_use())
            self._begin(active=True)
            try:
                yield
            finally:
                self._begin(active=False)

    def _begin(self, active: bool) -> None:
        """Know of no run so far. (Also before one: an interrupt may have ended the one before.)"""
        self._active, self._paused = active, False
        self._actions = self._done = self._asked = 0
        self._answers.clear()

    def repeat(self) -> None:
        """The program is going to run again."""
        self._paused = False
        self._done = max(self._done, self._actions)
        self._actions = self._asked = 0
        for inside in self._inside:
            inside.repeat()

    @contextmanager
    def mapped(self) -> Iterator[None]:
        """A block that is written for all elements of a batch at once: Python is not called."""
        around, self.are_mapped = self.are_mapped, True
        try:
            yield
        finally:
            self.are_mapped = around

    def pause(self) -> None:
        self._paused = True
        for inside in self._inside:
            inside.pause()

    def action(self, act: Callable[..., None]) -> Callable[..., None]:
        """`act` for a program that may run again: what was done is not done twice."""
        self.calls_python = True

        def once(*values: Any) -> None:
            if not self._active:
                act(*values)
            elif not self._paused:
                self._actions += 1
                if self._actions > self._done:
                    act(*values)

        return once

    def question(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        """`ask` for a program that may run again: asked the same, it answers the same."""
        self.calls_python = True

        def once(*values: Any) -> Any:
            if not self._active:
                return ask(*values)
            number = self._asked
            self._asked += 1
            if number < len(self._answers):
                known, answer = self._answers[number]
                if all(map(_identical, known, values)):
                    return answer
                del self._answers[number:]
            answer = ask(*values)
            self._answers.append(([np.array(x) for x in values], answer))
            return answer

        return once


def _identical(a: Any, b: Any) -> bool:
    return bool(np.asarray(a).tobytes() == np.asarray(b).tobytes())
