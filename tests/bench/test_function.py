"""The compiled training steps that `bench function` measures, beside what JAX makes of them."""

from __future__ import annotations

import importlib
from pathlib import Path

import jax
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.gradtape_only

SMALL = {
    "mlp": {"batch": 8, "sizes": [6, 5, 4, 3]},
    "cnn": {"batch": 2},
    "transformer": {"batch": 2, "length": 5, "width": 8, "blocks": 2},
    "lstm": {"batch": 3, "steps": 6, "width": 4},
}


@pytest.fixture(autouse=True)
def bench_is_found(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.mark.parametrize("model", SMALL)
def test_two_training_steps(tf, model):
    question = importlib.import_module("bench.function.step").question
    steps = [
        question.programs[system](module, model=model, **SMALL[model])
        for system, module in (("gradtape", tf), ("jax", jax))
    ]
    for _ in range(2):
        ours, theirs = ([np.array(array) for array in step()] for step in steps)
        assert len(ours) == len(theirs) > 1
        for a, b in zip(ours, theirs, strict=True):
            assert a.dtype == b.dtype == np.float32
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("what", ["hvp", "jacobian"])
def test_derivatives_inside(tf, what):
    question = importlib.import_module("bench.function.second_order").question
    case = {"what": what, "model": "mlp", **SMALL["mlp"]}
    ours, theirs = (
        question.programs[system](module, **case)()
        for system, module in (("gradtape", tf), ("jax", jax))
    )
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_the_gradient_of_a_tape_outside(tf):
    question = importlib.import_module("bench.function.outer_tape").question
    ours, theirs = (
        question.programs[system](module, model="mlp", **SMALL["mlp"])()
        for system, module in (("gradtape", tf), ("jax", jax))
    )
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_a_loop_without_a_bound(tf):
    question = importlib.import_module("bench.function.unbounded").question
    case = {"rounds": 12, "width": 5}
    theirs = question.programs["jax"](jax, bounded=True, **case)()
    for bounded in (True, False):
        ours = question.programs["gradtape"](tf, bounded=bounded, **case)()
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
