"""What CONTRIBUTING says is so: its ops, its table of tests, its rules."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gradtape._src.core.op import registry
from gradtape._src.testing import all_ops, check_op
from tests.test_imports import LAYERS

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture
def declared():
    """The ops of the page by name; the registry is as before afterwards."""
    before = all_ops()  # with those of modules that are imported late
    names = {"__name__": "example", "__package__": "gradtape._src.ops.math"}
    for block in re.findall(r"```python\n(.*?)```", TEXT, re.S):
        exec(compile(block, "CONTRIBUTING.md", "exec"), names)
    yield {name: op for name, op in registry.items() if name not in before}
    registry.clear()
    registry.update(before)


def test_the_ops_keep_all_contracts(declared):
    assert sorted(declared) == ["hypot", "rotate"]
    for op in declared.values():
        check_op(op)


def test_the_layers_are_those_that_are_tested():
    (named,) = re.findall(
        r"^Imports point one way: (.*?), then the public namespaces", TEXT, re.M | re.S
    )
    assert re.findall(r"`(\w+)`", named) == LAYERS[:-1]


def test_the_table_names_every_folder_of_tests():
    named = set(re.findall(r"^\| `tests/(\w+)/` \|", TEXT, re.M))
    tests = ROOT / "tests"
    folders = {path.relative_to(tests).parts[0] for path in tests.glob("*/**/test_*.py")}
    assert named == folders


@pytest.mark.parametrize("package", ["core", "tape"])
def test_every_file_has_a_test_file(package):
    assert f"`tests/{package}/` | one file for each file of `_src/{package}` |" in TEXT
    files = {path.stem for path in (ROOT / "src/gradtape/_src" / package).glob("*.py")}
    tests = {path.stem for path in (ROOT / "tests" / package).glob("test_*.py")}
    assert {f"test_{name}" for name in files - {"__init__"}} - tests == set()


def test_the_tests_are_found_by_pytest_itself():
    """`.venv/bin/pytest`, unlike `python -m pytest`, does not look into the current folder."""
    files = [
        path for path in (ROOT / "tests").rglob("test_*.py") if "from tests" in path.read_text()
    ]
    command = [sys.executable, "-P", "-m", "pytest", "-q", "--collect-only", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-2000:]


def test_no_module_is_longer_than_the_page_says():
    (limit,) = map(int, re.findall(r"no module of `src` has more than (\d+) lines", TEXT))
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / "src").rglob("*.py")
    }
    assert {path: n for path, n in lengths.items() if n > limit} == {}


def test_the_changelog_says_nothing_twice():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    entries = [" ".join(entry.split()) for entry in re.split(r"^(?:- |### )", text, flags=re.M)]
    assert len(entries) > 50
    assert [entry for entry in set(entries) if entries.count(entry) > 1] == []
