"""The generated pages are what the code says; the examples in docstrings run."""

import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gradtape

ROOT = Path(__file__).parent.parent
MODULES = [
    module.name
    for module in pkgutil.walk_packages([str(ROOT / "src/gradtape/_src")], "gradtape._src.")
    if not module.name.startswith("gradtape._src.engines.cupy.")  # it needs CuPy
]


def test_the_generated_pages_are_up_to_date():
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs/generate.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


class Finder(doctest.DocTestFinder):
    """Finds the examples of public classes too, which say that they are of their public place."""

    def _from_module(self, module, thing):
        if inspect.isclass(thing):
            return f"\nclass {thing.__name__}" in inspect.getsource(module)
        return super()._from_module(module, thing)


@pytest.mark.parametrize("name", ["gradtape", *MODULES])
def test_docstrings(name):
    module = importlib.import_module(name)
    globs = {**vars(module), "tf": gradtape}
    runner = doctest.DocTestRunner()
    for test in Finder().find(module, globs=globs):
        runner.run(test)
    assert runner.failures == 0


def test_the_docstrings_of_public_classes_are_found():
    tests = Finder().find(importlib.import_module("gradtape._src.tape.variable"))
    assert "gradtape._src.tape.variable.Variable" in {test.name for test in tests if test.examples}


@pytest.mark.parametrize("package", ["function", "train.data", "train.optimizers"])
def test_the_map_of_a_package_names_each_of_its_modules(package):
    module = importlib.import_module(f"gradtape._src.{package}")
    named = re.findall(r"`(\w+)(?:\.py|/)`", module.__doc__)
    there = [each.name for each in pkgutil.iter_modules(module.__path__)]
    assert sorted(named) == sorted(there)
