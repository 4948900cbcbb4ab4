"""The engine of CuPy and the placement of values, on the stand-in: see card.py for what it covers.

Each test is a process of its own, since with a GPU all variables are elsewhere.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def run_on_card(*arguments):
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "engines.installed", "-p",
               "no:cacheprovider", *arguments]  # fmt: skip
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=TESTS.parent
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


@pytest.mark.parametrize(
    "files",
    [
        ["gpu/test_devices.py"],
        ["gpu/test_ops.py", "-k", "is_that_of_numpy"],  # NumPy rounds products of half precision
        ["semantics/test_variables.py", "semantics/test_variables_in_functions.py"],
    ],
    ids=str,
)
def test_as_with_a_gpu(files):
    run_on_card(*[str(TESTS / file) if file.endswith(".py") else file for file in files])
