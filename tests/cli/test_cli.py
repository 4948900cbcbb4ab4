"""gradtape --version, --help, info, and the two ways to call it."""

import importlib.metadata
import importlib.util
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy
import pytest

import gradtape as package
from gradtape._src.command import cli, info


def test_version(gradtape):
    done = gradtape("--version")
    assert (done.returncode, done.stdout) == (0, f"gradtape {package.__version__}\n")


def test_the_version_is_that_of_the_distribution():
    assert package.__version__ == importlib.metadata.version("gradtape")


def test_help_names_the_commands(gradtape):
    done = gradtape("--help")
    assert done.returncode == 0
    assert all(f" {command} " in done.stdout for command in ("run", "doctor", "info"))


@pytest.mark.parametrize("args", [(), ("walk",), ("run",), ("doctor",), ("info", "--dev")])
def test_a_wrong_command_line_exits_with_2_and_shows_the_usage(gradtape, args):
    done = gradtape(*args)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: gradtape")


def test_the_console_script_is_the_same_command():
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="gradtape")
    assert entry.load() is cli.main
    name = "gradtape.exe" if sys.platform == "win32" else "gradtape"
    console_script = Path(sys.executable).with_name(name)
    if not console_script.exists():
        pytest.skip("gradtape is not installed beside this interpreter")
    shown = subprocess.check_output([console_script, "--version"], text=True)
    assert shown == f"gradtape {package.__version__}\n"


def test_info_lists_versions_and_what_is_not_there(gradtape):
    done = gradtape("info")
    assert done.returncode == 0, done.stderr
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line}
    assert (
        rows["gradtape"]
        == f"gradtape {package.__version__}, with the API of TensorFlow 2.21.0".split()
    )
    assert rows["Python"][1] == sys.version.split()[0]
    assert rows["numpy"][1] == numpy.__version__
    assert rows.keys() >= {"platform", "jax", "scipy", "ml_dtypes", "malt", "matplotlib"}


def test_info_advises_the_extras_that_there_are():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    for_users = set(project["project"]["optional-dependencies"]) - {"test", "oracle", "dev"}
    assert {library.extra for library in info.LIBRARIES} - {""} == for_users


def test_info_imports_no_engine(python):
    code = """
import sys
from gradtape._src.command import cli
cli.main(["info"])
print("imported:", {"jax", "malt", "matplotlib", "scipy"} & set(sys.modules))
"""
    assert python("-c", code).stdout.endswith("imported: set()\n")


def test_info_with_a_library_absent(python):
    code = """
import importlib.util
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name == "jax" else find_spec(name)
from gradtape._src.command import cli
cli.main(["info", "--devices"])
"""
    done = python("-c", code)
    (jax,) = (line for line in done.stdout.splitlines() if line.startswith("jax"))
    assert jax.split() == ["jax", "not", "installed", "engine", "xla", "-"]
    (remedy,) = (line for line in done.stdout.splitlines() if line.startswith("To add"))
    assert "xla" in remedy


def test_info_devices(gradtape):
    done = gradtape("info", "--devices")
    assert done.returncode == 0, done.stderr
    (numpy_row,) = (line for line in done.stdout.splitlines() if line.startswith("numpy"))
    assert "CPU" in numpy_row
    jax = importlib.util.find_spec("jax")
    (jax_row,) = (line for line in done.stdout.splitlines() if line.startswith("jax"))
    assert not jax or not jax_row.endswith("-")


def test_a_device_that_fails_is_reported_in_its_row(python):
    code = """
from gradtape._src.command import info as _info

def broken():
    raise RuntimeError("no driver\\nsecond line")

_info.LIBRARIES[:] = [_info.Library("numpy", "engine", "numpy", devices=broken)]
print(_info.report(devices=True))
"""
    assert "RuntimeError: no driver\n" in python("-c", code).stdout
