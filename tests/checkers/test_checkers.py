"""What mypy and pyright, both strict, say about users' programs."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gradtape

HERE = Path(__file__).parent
SOURCE = Path(gradtape.__file__).parent.parent
FILES = "program.py", "mistakes.py"

# Strict, but for what is said of any expression whose value is not used.
PYRIGHT = {
    "include": list(FILES),
    "extraPaths": [str(SOURCE)],
    "typeCheckingMode": "strict",
    "reportUnusedExpression": False,
    "reportUnusedImport": False,
}


def output_of(*command, folder, environment):
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=environment, timeout=600
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def by_mypy(folder, environment):
    """{(file, line): message} for all errors that mypy finds."""
    text = output_of(
        sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=",
        f"--cache-dir={folder}", *FILES,
        folder=HERE, environment=environment | {"MYPYPATH": str(SOURCE)},
    )  # fmt: skip
    errors = re.findall(r"^(\w+\.py):(\d+): error: (.*)$", text, re.MULTILINE)
    return {(file, int(line)): message for file, line, message in errors}


def by_pyright(folder, environment):
    """The same by pyright."""
    for file in FILES:
        (folder / file).write_bytes((HERE / file).read_bytes())
    (folder / "pyrightconfig.json").write_text(json.dumps(PYRIGHT))
    text = output_of(
        sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable,
        folder=folder, environment=environment | {"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
    )  # fmt: skip
    found = json.loads(text)["generalDiagnostics"]
    return {
        (Path(each["file"]).name, each["range"]["start"]["line"] + 1): each["message"]
        for each in found
    }


@pytest.fixture(scope="module", params=[by_mypy, by_pyright], ids=["mypy", "pyright"])
def found(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp("checked"), dict(os.environ))


def test_a_program_that_is_right_passes(found):
    assert {place: message for place, message in found.items() if place[0] == "program.py"} == {}


def test_the_mistakes_are_found_and_nothing_else(found):
    lines = (HERE / "mistakes.py").read_text(encoding="utf-8").splitlines()
    marked = {i for i, line in enumerate(lines, 1) if line.endswith("# expected: error")}
    reported = {line for file, line in found if file == "mistakes.py"}
    assert len(marked) > 50
    assert {lines[i - 1] for i in marked - reported} == set()
    assert {lines[i - 1] for i in reported - marked} == set()


def test_the_program_runs():
    done = subprocess.run(
        [sys.executable, HERE / "program.py"], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
