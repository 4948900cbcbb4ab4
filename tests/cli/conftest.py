"""The command line is tested from outside: each test starts real processes."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def python(tmp_path):
    """python(*args): run this interpreter in the test's own folder; what it printed, and its code.

    stdout is no terminal there.
    """

    def run(*args, cwd=tmp_path, stdin=""):
        # Warnings as errors belong to this process only; NO_COLOR, because Python 3.13 and later
        # colour tracebacks and help where FORCE_COLOR is set.
        env = {**os.environ, "NO_COLOR": "1", "PYTHON_COLORS": "0", "PYTHONUTF8": "1"}
        env.pop("FORCE_COLOR", None)
        command = [sys.executable, *map(str, args)]
        return subprocess.run(
            command,
            cwd=cwd,
            env=env,
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
        )

    return run


@pytest.fixture
def gradtape(python):
    """gradtape(*args): the command `gradtape`, as python -m gradtape."""
    return lambda *args, **options: python("-m", "gradtape", *args, **options)


@pytest.fixture
def script(tmp_path):
    """script(source, name): write a file in the folder where `python` and `gradtape` run."""

    def write(source, name="script.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source, encoding="utf-8")
        return name

    return write
