"""The optimizers against those of Keras: the same trajectories over 100 steps.

On TensorFlow (GRADTAPE_TEST_MODULE=tensorflow) this compares Keras with what was recorded of it.
"""

import numpy as np
import pytest

from .record_optimizers import RECORDED, cases, trajectory

CASES = cases()


@pytest.fixture(scope="module")
def recorded():
    with np.load(RECORDED) as file:
        return dict(file)


@pytest.mark.parametrize("name", CASES)
def test_trajectory(tf, recorded, name):
    assert f"{name}/state" in recorded, "run tests/train/record_optimizers.py with TensorFlow"
    for part, actual in trajectory(tf, *CASES[name]).items():
        expected = recorded[f"{name}/{part}"]
        np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6, err_msg=part)


def test_nothing_recorded_that_no_case_asks_for(recorded):
    assert {key.rpartition("/")[0] for key in recorded} == set(CASES)
