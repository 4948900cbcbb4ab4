"""The optimizers against those of Keras: the same trajectories over 100 steps, eager and compiled.

This is the test of adam.py, sgd.py, adaptive.py, lion.py and schedules.py, number by number.

On TensorFlow (GRADTAPE_TEST_MODULE=tensorflow) this compares Keras with what was recorded of it.
"""

import numpy as np
import pytest

from .trajectories import OPTIONS, RECORDED, RULES, cases, trajectory

CASES = cases()
COMPILED = [
    *RULES,
    *[f"Adam, {option}" for option in OPTIONS],
    *[f"{name}, rows" for name in ("SGD", "Adagrad", "Adam")],
    "SGD, cosine, warm-up",
    "Adam, piecewise",
    "Adam, rate set later",
    "Adam, some without gradient",
    "dynamic scale",
    "dynamic scale, growing",
]


@pytest.fixture(scope="module")
def recorded():
    with np.load(RECORDED) as file:
        return dict(file)


def compare(recorded, name, results):
    assert f"{name}/state" in recorded, "run tests/train/optimizers/trajectories.py with TensorFlow"
    for part, actual in results.items():
        # XLA rounds elsewhere, and a slot of Ftrl is a sum of hundreds that is near 0 itself.
        tolerance = 1e-6 if part == "variables" else 1e-5
        expected = recorded[f"{name}/{part}"]
        np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=tolerance, err_msg=part)


@pytest.mark.parametrize("name", CASES)
def test_trajectory(tf, recorded, name):
    compare(recorded, name, trajectory(tf, *CASES[name]))


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_trajectory(tf, recorded, name):
    compare(recorded, name, trajectory(tf, *CASES[name], compiled=True))


def test_nothing_recorded_that_no_case_asks_for(recorded):
    assert {key.rpartition("/")[0] for key in recorded} == set(CASES)
