"""gradtape doctor: a program is run as `gradtape run` does, and looked at from all sides."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from concurrent.futures import thread as executors
from pathlib import Path

from ..inspect.doctor import Doctor
from ..inspect.report import Report
from . import run


def examine(kind: str | None, target: str, args: Sequence[str], page: str | None) -> int:
    """Run a program and report on it; the exit code, if the program itself ends well."""
    if page is not None and not Path(page).absolute().parent.is_dir():
        print(f"gradtape: can't write {page!r}: there is no such folder", file=sys.stderr)
        return 2
    shown = {"-c": "the given code", "-m": f"module {target}"}.get(kind or "", target)
    doctor = Doctor()
    doctor.begin()
    try:
        try:
            run.runner(kind)(target, args)
        except SystemExit as exiting:
            if exiting.code not in (None, 0):
                raise
        _wait_for_threads()
    except run.NoScript:
        raise
    except BaseException as error:
        doctor.end()
        _show(doctor.report(shown, _ending(error)), page)
        raise
    doctor.end()
    report = doctor.report(shown)
    _show(report, page)
    return 1 if report.findings else 0


def _wait_for_threads() -> None:
    """As Python does at its end. Those of executors wait for work until then, and are let be."""
    for thread in threading.enumerate():
        idle = getattr(executors, "_threads_queues", {})
        if thread is not threading.current_thread() and not thread.daemon and thread not in idle:
            thread.join()


def _ending(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"It ended with sys.exit({error.code!r}); what it did until then was looked at."
    if isinstance(error, KeyboardInterrupt):
        return "It was interrupted; what it did until then was looked at."
    message = str(error).strip().partition("\n")[0]
    what = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return f"It ended with {what.rstrip('. ')}. What it did until then was looked at."


def _show(report: Report, page: str | None) -> None:
    sys.stdout.flush()
    print(report)
    if page is not None:
        Path(page).write_text(report.page(), encoding="utf-8")
        print(f"\nThe page is in {page}.")
    sys.stdout.flush()
