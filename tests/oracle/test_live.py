"""gradtape against a live TensorFlow, with shapes and values drawn anew in each session.

    GRADTAPE_ORACLE_PYTHON=.../python pytest -m oracle tests/oracle/test_live.py

GRADTAPE_ORACLE_SEED repeats the session that printed it.
"""

import os
import random
import subprocess

import pytest

from . import cases, differential, record

pytestmark = pytest.mark.oracle

# All workers of pytest-xdist must draw the same shapes.
RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID")
SEED = int(os.environ.get("GRADTAPE_ORACLE_SEED") or random.Random(RUN).randrange(10**6))
RUNS = {
    f"{case.name} [{dtype}]": (case, dtype) for case in cases.table(SEED) for dtype in case.dtypes
}


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    python = os.environ.get("GRADTAPE_ORACLE_PYTHON")
    if not python:
        pytest.fail("set GRADTAPE_ORACLE_PYTHON to a Python that has TensorFlow")
    print(f"GRADTAPE_ORACLE_SEED={SEED}")
    path = tmp_path_factory.mktemp("oracle") / "live.npz"
    done = subprocess.run(
        [python, record.__file__, "--live", str(path), str(SEED)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return differential.load(path)


@pytest.mark.parametrize("name", RUNS)
def test_live(tf, live, name):
    case, dtype = RUNS[name]
    expected = live[name]
    actual = differential.run(tf, case, expected["inputs"])
    try:
        differential.compare(case, dtype, expected, actual)
    except AssertionError as error:
        error.add_note(f"GRADTAPE_ORACLE_SEED={SEED}")
        raise
