"""Turns results into a text table, a Markdown table, or JSON."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.driver import DIGITS, Result, Settings, Verdict
from bench.peers import ROOT
from bench.question import Target
from bench.systems import SYSTEMS

Row = list[str]

STEPS = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "B": ((1e6, "MB"), (1e3, "kB"), (1.0, "B")),
}


def quantity(value: float, unit: str) -> str:
    """Three significant digits with a fitting prefix: 0.00271 s is "2.71 ms"."""
    if not unit:
        return f"{value:.4f}"
    scale, name = next((s for s in STEPS[unit] if abs(value) >= s[0]), STEPS[unit][-1])
    return f"{number(value / scale)} {name}"


def number(value: float) -> str:
    digits = 3 if abs(value) < 1 else 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f}"


@dataclass
class Report:
    settings: Settings
    results: Sequence[Result]
    versions: Mapping[str, str]
    absent: Mapping[str, str]

    def figures(self) -> list[Row]:
        """Each system's own figure, and in brackets gradtape's ratio to it."""
        systems = self.settings.systems
        rows = [["", *(SYSTEMS[name].label for name in systems)]]
        for result in self.results:
            rows.append([result.title, *(self._cell(result, name) for name in systems)])
        return rows

    def _cell(self, result: Result, system: str) -> str:
        if system in self.absent:
            return "absent"
        if system in result.failures:
            return "failed"
        if system not in result.figures:
            return "–"
        text = quantity(result.figures[system], result.question.unit)
        ratio = None if system == "gradtape" else result.ratio(system)
        return text if ratio is None else f"{text} ({number(ratio)})"

    def targets(self) -> list[Row]:
        rows = [["target", "measured", "at most", ""]]
        for result in self.results:
            rows += [self._target_row(result, verdict) for verdict in result.verdicts()]
        return rows

    def _target_row(self, result: Result, verdict: Verdict) -> Row:
        target, ratio = verdict.target, verdict.ratio
        measured, at_most = f"{ratio or 0:.{DIGITS}f}", f"{target.at_most:g}"
        if target.difference:
            unit = result.question.unit
            measured, at_most = quantity(ratio or 0, unit), quantity(target.at_most, unit)
        return [
            f"{result.title}{comparison(target)}",
            "–" if ratio is None else measured,
            at_most,
            {True: "met", False: "MISSED", None: "not measured"}[verdict.met],
        ]

    def notes(self) -> list[str]:
        questions = {id(result.question): result.question for result in self.results}.values()
        notes = [f"{q.title}: {q.note}" for q in questions if q.note]
        notes.append(
            f"Minimum of {self.settings.rounds} interleaved rounds (fewer where a case is slow), "
            "one process for each system, one thread each. In brackets: gradtape / that system."
        )
        if "numpy" in self.settings.systems:
            notes.append("NumPy is the limit: the same arithmetic written by hand, without a tape.")
        versions = (f"{SYSTEMS[n].label} {version}" for n, version in self.versions.items())
        notes.append("; ".join(versions) + ".")
        notes.append(f"{machine()['cpu']}, {machine()['system']}, {datetime.date.today()}.")
        notes += [f"{SYSTEMS[n].label} is absent: {why}" for n, why in self.absent.items()]
        for result in self.results:
            for system, error in result.failures.items():
                last_line = error.splitlines()[-1]
                notes.append(f"{result.title}, {system} failed: {last_line}")
        return notes

    def text(self) -> str:
        return self._laid_out(aligned)

    def markdown(self) -> str:
        return self._laid_out(piped)

    def _laid_out(self, table: Callable[[Sequence[Row]], str]) -> str:
        tables = [table(rows) for rows in (self.figures(), self.targets()) if len(rows) > 1]
        return "\n\n".join([*tables, "\n".join(f"- {note}" for note in self.notes())])

    def json(self) -> dict[str, Any]:
        return {
            "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "commit": commit(),
            "machine": machine(),
            "settings": asdict(self.settings)
            | {"against": str(self.settings.against), "threads": 1},
            "versions": dict(self.versions),
            "absent": dict(self.absent),
            "results": [
                {
                    "question": result.question.title,
                    "case": result.label,
                    "unit": result.question.unit,
                    "figures": result.figures,
                    "ratios": {
                        name: result.ratio(name) for name in result.figures if name != "gradtape"
                    },
                    "targets": [
                        asdict(verdict.target) | {"ratio": verdict.ratio, "met": verdict.met}
                        for verdict in result.verdicts()
                    ],
                    "failures": result.failures,
                }
                for result in self.results
            ],
        }


def comparison(target: Target) -> str:
    if target.over_case:
        return f": over {target.over_case}"
    if target.over is None:
        return ""
    over = SYSTEMS[target.over].label
    if target.difference:
        return f": gradtape - {over}"
    of = SYSTEMS[target.of].label
    return f": (gradtape - {over}) / {over}" if target.added else f": {of} / {over}"


def aligned(rows: Sequence[Row]) -> str:
    """Columns of equal width: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in rows
    ]
    return "\n".join([lines[0], "─" * max(map(len, lines)), *lines[1:]])


def piped(rows: Sequence[Row]) -> str:
    header, *body = [f"| {' | '.join(row)} |" for row in rows]
    rule = "|".join(["", "---", *["---:"] * (len(rows[0]) - 1), ""])
    return "\n".join([header, rule, *body])


def machine() -> dict[str, Any]:
    return {"cpu": cpu_name(), "cores": os.cpu_count(), "system": platform.platform()}


def cpu_name() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def commit() -> str | None:
    """The commit that was measured, marked where the working tree differs from it."""
    try:
        command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() or None
