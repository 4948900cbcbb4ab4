"""Keras' own tests, as they come in its wheel, on gradtape or on TensorFlow.

    python tests/keras/suite.py                   all areas, on gradtape
    python tests/keras/suite.py layers losses     some, or files: layers/core/dense_test.py
    python tests/keras/suite.py --record          on TensorFlow, in its environment

Of the tests that pass on TensorFlow (all but those in not_on_tensorflow.txt), those that do not
pass here are listed with a reason in known_failures.txt; any other failure is an error.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
AREAS = [
    "activations", "callbacks", "constraints", "distillation", "dtype_policies", "export",
    "initializers", "layers", "legacy", "losses", "metrics", "models", "ops", "optimizers",
    "quantizers", "random", "regularizers", "saving", "trainers", "tree", "utils",
    "visualization", "wrappers", "backend/common",
]  # fmt: skip


def keras_folder() -> Path:
    """Where Keras' sources and tests are, found without importing it."""
    spec = find_spec("keras")
    if spec is None or spec.origin is None:
        raise SystemExit("Keras is not installed in this environment.")
    return Path(spec.origin).parent / "src"


def run(targets: list[str], *, on: str, workers: str = "auto") -> dict[str, str]:
    """The outcome of each test, "passed", "failed" or "skipped", by file::class::test."""
    folder = keras_folder()
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
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
        name = f"{place}.{test}::{case.get('name')}".lstrip(".")
        kinds = {child.tag for child in case}
        outcomes[name] = (
            "failed" if kinds & {"failure", "error"} else "skipped" if kinds else "passed"
        )
    return outcomes


def patterns(file: str) -> dict[str, str]:
    """The patterns of tests in a file, one on a line, and what stands behind each: its reason."""
    lines = (HERE / file).read_text("utf-8").splitlines()
    pairs = [line.split(None, 1) for line in lines if line and not line.startswith("#")]
    return {pair[0]: pair[1] if len(pair) > 1 else "" for pair in pairs}


def judge(outcomes: dict[str, str]) -> tuple[int, list[str], list[str]]:
    """How many tests pass on TensorFlow; of these, what fails here as is known, and what else."""
    elsewhere = set(patterns("not_on_tensorflow.txt"))
    known = patterns("known_failures.txt")
    counted = {name: outcome for name, outcome in outcomes.items() if name not in elsewhere}
    failed = [name for name, outcome in counted.items() if outcome != "passed"]
    expected = [name for name in failed if any(fnmatchcase(name, p) for p in known)]
    return len(counted), expected, sorted(set(failed) - set(expected))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", default=AREAS, help="folders or files of keras/src")
    parser.add_argument("--record", action="store_true", help="run on TensorFlow, and record")
    parser.add_argument("-n", dest="workers", default="auto", help="processes")
    options = parser.parse_args()
    if options.record:
        outcomes = run(options.targets, on="tensorflow", workers=options.workers)
        names = sorted(name for name, outcome in outcomes.items() if outcome != "passed")
        text = "# Keras' own tests that do not pass, or do not run, on TensorFlow 2.21.\n"
        (HERE / "not_on_tensorflow.txt").write_text(text + "\n".join(names) + "\n", "utf-8")
        print(f"{len(outcomes)} tests, {len(names)} of which do not pass")
        return 0
    count, expected, others = judge(run(options.targets, on="gradtape", workers=options.workers))
    passed = count - len(expected) - len(others)
    print(f"\nOf {count} tests that pass on TensorFlow, {passed} pass here ({passed / count:.2%}).")
    for name in others:
        print(f"failed, and not in known_failures.txt: {name}")
    print(f"{count - len(others)} passed, {len(others)} failed")
    return 1 if others else 0


if __name__ == "__main__":
    sys.exit(main())
