"""The comparison itself: it must be able to fail."""

import numpy as np
import pytest

from . import differential
from .inputs import case

CASE = case("nothing", None)


def result(**changes):
    """What `run` might give for a case with two inputs, the second unconnected."""
    fine = {
        "value": [np.array([1.0, np.nan])],
        "first": [np.array([2.0, np.inf]), None],
        "second": [np.array([3.0, 0.0]), None],
        "sparse": [False, False],
    }
    return fine | changes


WRONG = {
    "value": {"value": [np.array([1.0 + 1e-9, np.nan])]},
    "dtype": {"value": [np.array([1.0, np.nan], np.float32)]},
    "shape": {"value": [np.array([[1.0, np.nan]])]},
    "place of nan": {"value": [np.array([np.nan, 1.0])]},
    "number of outputs": {"value": []},
    "gradient": {"first": [np.array([2.1, np.inf]), None]},
    "sign of inf": {"first": [np.array([2.0, -np.inf]), None]},
    "connected": {"first": [np.array([2.0, np.inf]), np.zeros(2)]},
    "unconnected": {"first": [None, None]},
    "no gradient": {"first": "LookupError"},
    "sparse": {"sparse": [True, False]},
    "second order": {"second": [np.array([3.1, 0.0]), None]},
    "second order missing": {"second": [None, None]},
}


def test_accepts_the_same():
    differential.compare(CASE, "float64", result(), result())


def test_accepts_zeros_for_none_in_second_order():
    zeros = result(second=[np.array([3.0, 0.0]), np.zeros(2)])
    differential.compare(CASE, "float64", result(), zeros)


@pytest.mark.parametrize("what", WRONG)
def test_rejects_another(what):
    with pytest.raises(AssertionError):
        differential.compare(CASE, "float64", result(), result(**WRONG[what]))


def test_saved_results_come_back(tmp_path):
    results = {"a [bfloat16]": result(value=[np.ones([2, 0]).astype("bfloat16"), np.array(1.5)])}
    differential.save(tmp_path / "results.npz", results)
    back = differential.load(tmp_path / "results.npz")
    differential.compare(CASE, "bfloat16", results["a [bfloat16]"], back["a [bfloat16]"])
    assert back["a [bfloat16]"]["value"][0].dtype == "bfloat16"


def test_differences_of_a_complex_function():
    z = np.array([3.0 + 4.0j])
    (g,) = differential.differences(lambda xs: float(np.abs(xs[0][0])), [z])
    np.testing.assert_allclose(g, z / 5, rtol=1e-8)
