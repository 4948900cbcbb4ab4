"""The interpreters of the systems: peers get virtual environments of their own in `.venvs/`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bench.systems import SYSTEMS

ROOT = Path(__file__).resolve().parent.parent
VENVS = ROOT / ".venvs"


class Absent(Exception):
    """This system cannot be measured here; the message says why."""


def override_variable(name: str) -> str:
    return f"GRADTAPE_BENCH_PYTHON_{name.upper()}"


def interpreter(name: str, *, install: bool) -> str:
    """The Python that runs the system `name`; makes its environment first if `install`."""
    if override := os.environ.get(override_variable(name)):
        return override
    requirements = SYSTEMS[name].requirements
    if not requirements:
        return sys.executable
    environment = VENVS / f"bench-{name}"
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = environment / "installed.txt"
    wanted = "\n".join((sys.version, *requirements))
    if stamp.exists() and stamp.read_text() == wanted:
        return str(python)
    if not install:
        raise Absent("not installed")
    print(f"installing {' '.join(requirements)} into {environment}", file=sys.stderr)
    VENVS.mkdir(exist_ok=True)
    (VENVS / ".gitignore").write_text("*\n")
    _execute([sys.executable, "-m", "venv", "--clear", str(environment)])
    _execute([str(python), "-m", "pip", "install", "--quiet", *requirements])
    stamp.write_text(wanted)
    return str(python)


def _execute(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
        errors = [line for line in lines if line.startswith("ERROR")]
        raise Absent(f"cannot be installed: {(errors or lines)[-1]}")
