"""Keras' own tests, as they come in its wheel, on gradtape or on TensorFlow.

    python tests/keras/suite.py                   all areas, on gradtape
    python tests/keras/suite.py layers losses     some, or files: layers/core/dense_test.py
    python tests/keras/suite.py --sample          the files of sample.txt
    python tests/keras/suite.py --record layers   on TensorFlow, in its environment: lists anew
                                                  what of these does not pass there

Of the tests that pass on TensorFlow (all but those in not_on_tensorflow.txt), those that do not
pass here are listed with a reason in known_failures.txt; any other failure is an error.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

HERE = Path(__file__).resolve().parent
ELSEWHERE = "not_on_tensorflow.txt"
KNOWN = "known_failures.txt"
SAMPLE = "sample.txt"
ALONE = "wrappers"
"""Where names of tests show where in memory a function is, on which processes do not agree."""
AREAS = [
    "activations", "callbacks", "constraints", "distillation", "dtype_policies", "export",
    "initializers", "layers", "legacy", "losses", "metrics", "models", "ops", "optimizers",
    "quantizers", "random", "regularizers", "saving", "trainers", "tree", "utils",
    "visualization", "wrappers", "backend/common",
]  # fmt: skip


def keras_folder() -> Path:
    """Where Keras' sources and tests are, found without importing it."""
    try:
        return Path(str(distribution("keras").locate_file("keras/src")))
    except PackageNotFoundError:
        raise SystemExit("Keras is not installed in this environment.") from None


def run(
    targets: list[str], *, on: str, workers: str = "auto", report: Path | None = None
) -> dict[str, str]:
    """The outcome of each test, "passed", "failed" or "skipped", by file.class::test.

    pytest's report, with the messages and the times, is left in the file `report`.
    """
    alone = [target for target in targets if target.startswith(ALONE)]
    others = [target for target in targets if target not in alone]
    if alone and others:
        beside = report and report.with_stem(f"{report.stem}_alone")
        outcomes = run(others, on=on, workers=workers, report=report)
        return outcomes | run(alone, on=on, report=beside)
    if alone:
        workers = "1"
    folder = keras_folder()
    with tempfile.TemporaryDirectory() as scratch:
        report = report.resolve() if report else Path(scratch) / "report.xml"
        pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", "-n", workers]
        pytest += ["-c", str(HERE / "own" / "pytest.ini"), f"--rootdir={folder}", "-p", "conftest"]
        pytest += [f"--junitxml={report}", *(str(folder / target) for target in targets)]
        python = [sys.executable, "-m", "gradtape", "run"] if on == "gradtape" else [sys.executable]
        paths = [str(HERE / "own"), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "KERAS_BACKEND": "tensorflow",
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        }
        subprocess.run([*python, *pytest], env=environment, cwd=scratch, check=False)
        return _outcomes(report)


def _outcomes(report: Path) -> dict[str, str]:
    outcomes = {}
    for case in ElementTree.parse(report).iter("testcase"):
        place, _, test = case.get("classname", "").rpartition(".")
        # A file that cannot be imported is one case without a class.
        name = f"{place}.{test}::{case.get('name')}".lstrip(".:")
        name = re.sub("0x[0-9a-f]+", "0x", name)
        kinds = {child.tag for child in case}
        outcomes[name] = (
            "failed" if kinds & {"failure", "error"} else "skipped" if kinds else "passed"
        )
    return outcomes


def _lines(file: str) -> list[str]:
    lines = (HERE / file).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def known_failures() -> dict[str, str]:
    """The patterns of tests that fail here, one on a line, and what stands behind each: why."""
    pairs = [line.split(None, 1) for line in _lines(KNOWN)]
    return {pattern: why for pattern, why in pairs}  # noqa: C416 (each line must have both)


def _belongs(name: str, targets: list[str]) -> bool:
    """Whether a test is in one of these folders or files."""
    return any(
        name == place or name.startswith((f"{place}.", f"{place}::"))
        for place in (target.removesuffix(".py").replace("/", ".") for target in targets)
    )


def sample() -> list[str]:
    """The files that every run of scripts/test goes through."""
    return _lines(SAMPLE)


def record(outcomes: dict[str, str], targets: list[str]) -> list[str]:
    """Lists the tests that did not pass on TensorFlow, in place of what was known of `targets`."""
    names = [name for name, outcome in outcomes.items() if outcome != "passed"]
    others = [name for name in _lines(ELSEWHERE) if not _belongs(name, targets)]
    text = "# Keras' own tests that do not pass, or do not run, on TensorFlow 2.21.\n"
    text += "".join(f"{name}\n" for name in sorted({*names, *others}))
    (HERE / ELSEWHERE).write_text(text, "utf-8")
    return names


def judge(outcomes: dict[str, str]) -> tuple[list[str], list[str], list[str]]:
    """What passes on TensorFlow; of that, what fails here as is known, and what else does."""
    elsewhere = set(_lines(ELSEWHERE))
    known = known_failures()
    absent = [name for name in elsewhere if "::" not in name]  # files that cannot be imported there
    counted = {
        name: outcome
        for name, outcome in outcomes.items()
        if name not in elsewhere and not _belongs(name, absent)
    }
    failed = [name for name, outcome in counted.items() if outcome != "passed"]
    expected = [name for name in failed if any(fnmatchcase(name, p) for p in known)]
    return list(counted), expected, sorted(set(failed) - set(expected))


def area(name: str) -> str:
    """The folder of Keras that a test belongs to."""
    return next((each for each in AREAS if _belongs(name, [each])), "others")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", default=AREAS, help="folders or files of keras/src")
    parser.add_argument("--sample", action="store_true", help=f"run the files of {SAMPLE}")
    parser.add_argument("--record", action="store_true", help="run on TensorFlow, and record")
    parser.add_argument("-n", dest="workers", default="auto", help="processes")
    parser.add_argument("--report", type=Path, metavar="FILE", help="keep pytest's report (XML)")
    options = parser.parse_args()
    on = "tensorflow" if options.record else "gradtape"
    targets = sample() if options.sample else options.targets
    outcomes = run(targets, on=on, workers=options.workers, report=options.report)
    if options.record:
        failed = record(outcomes, targets)
        print(f"{len(outcomes)} tests, {len(failed)} of which do not pass")
        return 0
    counted, expected, others = judge(outcomes)
    there, missed = Counter(map(area, counted)), Counter(map(area, [*expected, *others]))
    print(f"\n{'':20}{'pass on TensorFlow':>20}{'pass here':>12}")
    for each in sorted(there):
        print(f"{each:20}{there[each]:20}{there[each] - missed[each]:12}")
    share = 1 - missed.total() / there.total()
    print(f"{'all':20}{there.total():20}{there.total() - missed.total():12}  ({share:.2%})")
    for name in others:
        print(f"failed, and not in {KNOWN}: {name}")
    print(f"{there.total() - len(others)} passed, {len(others)} failed")
    return 1 if others else 0


if __name__ == "__main__":
    sys.exit(main())
