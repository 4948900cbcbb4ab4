"""The command line: `python -m bench overhead`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bench.driver import ProgressBar, Session, Settings
from bench.peers import override_variable
from bench.question import Question, find_questions
from bench.report import Report
from bench.soak import soak
from bench.systems import SYSTEMS

EPILOG = f"""\
A peer is installed into .venvs/bench-<system> on the first run (pip's own settings apply, such as
PIP_EXTRA_INDEX_URL for PyTorch's CPU wheels); {override_variable("torch")}=/path/to/python, and so
on for the others, uses an interpreter that has it instead. What cannot be installed is reported as
absent. A new benchmark is one more file in bench/questions/.
"""


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def arguments(questions: dict[str, Question]) -> argparse.Namespace:
    suites = sorted({question.suite for question in questions.values()})
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measures gradtape beside its peers, as ratios, and prints them with targets.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "what",
        choices=[*suites, *questions, "gpu", "soak"],
        help="a suite of questions, one question, gpu, or soak: all at once, with interrupts",
    )
    parser.add_argument(
        "--minutes", type=float, default=30, metavar="N", help="how long to soak (30)"
    )
    parser.add_argument("--only", type=names, metavar="A,B", help="only these questions")
    parser.add_argument(
        "--systems", type=names, metavar="A,B", help=f"only these of {', '.join(SYSTEMS)}"
    )
    parser.add_argument(
        "--against", type=Path, metavar="FOLDER", help="another checkout of gradtape, beside this"
    )
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds of measuring (20)")
    parser.add_argument(
        "--iterations", type=int, metavar="N", help="steps of the memory growth run (20000)"
    )
    parser.add_argument("--full", action="store_true", help="memory growth over a million steps")
    parser.add_argument(
        "--quick", action="store_true", help="a smoke test: short, installs nothing"
    )
    parser.add_argument("--no-install", action="store_true", help="leave out what is not installed")
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the results")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw sizes, by matplotlib")
    chosen = parser.parse_args()
    asked = None if chosen.what == "gpu" else chosen.only  # there, parts of titles
    for given, known in ((asked, questions), (chosen.systems, SYSTEMS)):
        if unknown := set(given or ()) - set(known):
            parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(known)}")
    return chosen


def make_settings(chosen: argparse.Namespace, selected: dict[str, Question]) -> Settings:
    asked = {system for question in selected.values() for system in question.programs}
    if chosen.against is None:
        asked.discard("before")
    iterations = 1_000_000 if chosen.full else 3_000 if chosen.quick else None
    return Settings(
        systems=[name for name in chosen.systems or SYSTEMS if name in asked],
        rounds=chosen.rounds or (2 if chosen.quick else 20),
        seconds=0.005 if chosen.quick else 0.03,
        iterations=chosen.iterations or iterations,
        install=not (chosen.quick or chosen.no_install),
        against=chosen.against,
    )


def main() -> int:
    questions = find_questions()
    chosen = arguments(questions)
    if chosen.what == "gpu":
        from bench.gpu import run

        return run(chosen.rounds or 7, chosen.only, chosen.systems)
    if chosen.what == "soak":
        return soak(chosen.minutes)
    selected = {
        name: question
        for name, question in questions.items()
        if chosen.what in (name, question.suite) and name in (chosen.only or questions)
    }
    settings = make_settings(chosen, selected)
    with Session(settings) as session:
        results = session.measure(selected, ProgressBar())
        versions = {name: worker.version for name, worker in session.workers.items()}
        report = Report(settings, results, versions, session.absent)
    if chosen.json:
        chosen.json.write_text(json.dumps(report.json(), indent=2) + "\n")
    if chosen.figure:
        from bench.figure import draw

        draw(results, chosen.figure)
    print(report.markdown() if chosen.markdown else report.text())
    for result in results:
        for system, failure in result.failures.items():
            print(f"\n{result.title}, {system}:\n{failure}", file=sys.stderr)
    failed = "gradtape" in report.absent or any(result.failures for result in results)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
