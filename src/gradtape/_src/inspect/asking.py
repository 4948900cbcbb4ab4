"""Asking for explanations: the journal is kept from the first request to the end of the last."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable
from typing import Any

from ..tape.explanation import Explanation
from ..tape.variable import Variable, variable_of
from .explain import explain
from .journal import Journal, journal_of_process
from .users_code import Line


def _begin() -> Journal:
    """The journal of the process, which `_end` must be called for as often as this."""
    journal = journal_of_process()
    if journal is None:
        journal = Journal(_explain)
        journal.begin()
    journal.users += 1
    return journal


def _explain(
    journal: Journal, tape: Any, target: Any, sources: Any, found: Any, line: Line
) -> None:
    """Keep the reason of each gradient that is None; and say it, if that was asked for.

    A step of a training asks for the same ones again and again, and to search a long journal takes
    as long as many steps: so it is answered the first time, the second, the fourth, the eighth.
    """
    for number, (source, gradient) in enumerate(zip(sources, found, strict=True)):
        if gradient is not None:
            continue
        variable = variable_of(source)
        key = getattr(variable, "_key", None) or 0
        asked = line, key if isinstance(variable, Variable) else -number
        times = journal.asked[asked] = journal.asked.get(asked, 0) + 1
        if times & (times - 1):
            continue
        journal.reasons[key] = reason = explain(tape, target, source)
        if journal.report is not None:
            journal.report(reason)


def _end(journal: Journal) -> None:
    journal.users -= 1
    if not journal.users:
        journal.end()


def explain_tape(tape: Any) -> None:
    """Keep a journal as long as `tape` lives; it stays the tape's own."""
    tape._journal = journal = _begin()
    weakref.finalize(tape, _end, journal)


def explain_gradients(enabled: bool = True) -> None:
    """Say of each gradient that is None from here on why it is, with the line; each reason once.

    What `gradtape run --explain` switches on before a script. It is told by a warning of the logger
    "gradtape"; to be asked for before what is to be explained. Op calls take about twice their
    time, and tapes hold on to what they recorded.
    """
    journal = journal_of_process()
    if not enabled:
        if journal is not None and journal.report is not None:
            journal.report = None
            _end(journal)
    elif journal is None or journal.report is None:
        tell_of_nones(_warn)


def tell_of_nones(tell: Callable[[Explanation], None]) -> Journal:
    """Have each reason for a gradient that is None told once, from here on."""
    journal = _begin()
    journal.report = _Once(tell)
    return journal


def _warn(reason: Explanation) -> None:
    logging.getLogger("gradtape").warning("A gradient is None. %s", reason)


class _Once:
    def __init__(self, tell: Callable[[Explanation], None]) -> None:
        self._tell = tell
        self._said: set[Any] = set()

    def __call__(self, reason: Any) -> None:
        said = reason.cause, reason.file, reason.line, reason.message
        if said not in self._said:
            self._said.add(said)
            self._tell(reason)
