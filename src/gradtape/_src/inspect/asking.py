"""Asking for explanations: the journal begins with the first who wants one, ends with the last."""

from __future__ import annotations

import logging
import weakref
from typing import Any

from ..core.tracing import set_journal, tracing
from .explain import explain_nones
from .journal import Journal


def begin() -> Journal:
    """The journal of the process, which `end` must be called for as often as this."""
    journal: Journal = tracing.journal or Journal(_derived)
    journal.users += 1
    set_journal(journal)
    return journal


def _derived(tape: Any, target: Any, sources: Any, found: Any) -> None:
    """Keep the reason of each gradient that is None; and say it, if that was asked for."""
    journal = tracing.journal
    for key, reason in explain_nones(tape, target, sources, found):
        journal.reasons[key] = reason
        if journal.report is not None:
            journal.report(reason)


def end() -> None:
    journal = tracing.journal
    journal.users -= 1
    if not journal.users:
        set_journal(None)


def explain_tape(tape: Any) -> None:
    """Keep a journal as long as `tape` lives; it stays the tape's own."""
    tape._journal = begin()
    weakref.finalize(tape, end)


def explain_gradients(enabled: bool = True) -> None:
    """Say of each gradient that is None from here on why it is, with the line; each reason once.

    What `gradtape run --explain` switches on before a script. It is told by a warning of the logger
    "gradtape"; to be asked for before what is to be explained. Op calls take about twice their
    time, and tapes hold on to what they recorded.
    """
    journal = tracing.journal
    if not enabled:
        if journal is not None and journal.report is not None:
            journal.report = None
            end()
    elif journal is None or journal.report is None:
        begin().report = _Reporter()


class _Reporter:
    def __init__(self) -> None:
        self._said: set[Any] = set()

    def __call__(self, reason: Any) -> None:
        said = reason.cause, reason.file, reason.line, reason.message
        if said not in self._said:
            self._said.add(said)
            logging.getLogger("gradtape").warning("A gradient is None. %s", reason)
