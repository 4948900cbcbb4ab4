"""Random programs: what is compiled gives what eager code gives, and that is what TensorFlow gives.

compare_programs.py says how thousands of them are compared.
"""

import os
import subprocess

import pytest

from . import compare_programs, differential, run_programs
from .programs import WIDER_SEEDS, Program
from .test_live import SEED

COMPILED = [*range(12), 701009, 800399]
"""The last two: constant cotangents in the derivative of a loop; a Jacobian of a loop."""

LIVE = {SEED * 1000: 150, WIDER_SEEDS[SEED % 99_000]: 50}
"""So many programs from such seeds on run on TensorFlow: about ten seconds, and five."""


@pytest.mark.parametrize("seed", COMPILED)
def test_compiled_as_eager(tf, seed, tmp_path):
    program = Program(seed)
    eager = run_programs.run(tf, program, "eager", tmp_path)
    assert "error" not in eager, eager
    for mode in ("outside", "inside"):
        compiled = run_programs.run(tf, program, mode, tmp_path)
        assert compare_programs.disagreements(seed, mode, eager, compiled) == [], program.source


@pytest.mark.oracle
@pytest.mark.parametrize(("first", "count"), LIVE.items(), ids=["usual", "wider"])
def test_eager_as_tensorflow(tf, first, count, tmp_path):
    python = os.environ.get("GRADTAPE_ORACLE_PYTHON")
    if not python:
        pytest.fail("set GRADTAPE_ORACLE_PYTHON to a Python that has TensorFlow")
    path = tmp_path / "tensorflow.npz"
    done = subprocess.run(
        [python, run_programs.__file__, "tensorflow", path, str(first), str(count), "eager"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found = {
        f"{seed} eager": run_programs.run(tf, Program(seed), "eager", tmp_path)
        for seed in range(first, first + count)
    }
    wrong, counts = compare_programs.compare(differential.load(path), found)
    assert counts["eager"] == count
    assert wrong == {}, "\n\n".join(Program(int(name.split()[0])).source for name in wrong)


def test_a_wrong_derivative_is_found(tf, tmp_path):
    seed = 4
    right = run_programs.run(tf, Program(seed), "eager", tmp_path)
    assert any(g is not None and g.any() for g in right["first"])
    for part in ("first", "second"):
        wrong = {**right, part: [None if g is None else g + 0.01 for g in right[part]]}
        assert compare_programs.disagreements(seed, "eager", right, wrong) == [part]
        # and where TensorFlow is the one that is wrong, the differences say so
        assert compare_programs.disagreements(seed, "eager", wrong, right) == []
    dropped = {**right, "first": [None] * len(right["first"])}
    assert compare_programs.disagreements(seed, "eager", right, dropped)[-1] == "none"
    assert compare_programs.disagreements(seed, "eager", right, {"error": "E"}) == ["E"]
