"""The generated pages are what the code says; the examples in docstrings run."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import gradtape

ROOT = Path(__file__).parent.parent
MODULES = [
    module.name
    for package in ("core", "ops", "tape", "function", "train", "testing")
    for module in pkgutil.walk_packages(
        [str(ROOT / "src/gradtape" / package)], f"gradtape.{package}."
    )
]


def test_the_generated_pages_are_up_to_date():
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs/generate.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["gradtape", *MODULES])
def test_docstrings(name):
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, extraglobs={"tf": gradtape})
    assert failed == 0
