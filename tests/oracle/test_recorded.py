"""gradtape against the numbers that TensorFlow gave (recorded/*.npz, made by record.py)."""

from dataclasses import replace

import numpy as np
import pytest

from . import cases, differential
from .record import RECORDED

RUNS = {f"{case.name} [{dtype}]": (case, dtype) for case in cases.table() for dtype in case.dtypes}
DIFFERENT = {case.name: case for case in cases.table() if case.differs}


@pytest.fixture(scope="module")
def recorded():
    results = {}
    for path in RECORDED.glob("*.npz"):
        results |= differential.load(path)
    return results


@pytest.mark.parametrize("name", RUNS)
def test_recorded(tf, recorded, name):
    assert name in recorded, "not recorded: run tests/oracle/record.py with TensorFlow"
    case, dtype = RUNS[name]
    expected = recorded[name]
    actual = differential.run(tf, case, expected["inputs"])
    differential.compare(case, dtype, expected, actual)


def test_nothing_recorded_that_no_case_asks_for(recorded):
    assert set(recorded) == set(RUNS)


@pytest.mark.gradtape_only
@pytest.mark.parametrize("name", DIFFERENT)
def test_right_where_tensorflow_is_not(tf, name):
    case = replace(DIFFERENT[name], order=2)
    arrays = case.draw(case.dtypes[0])
    # The errors of the differences, with derivatives of up to some hundred; in single precision
    # (ops that know no other) the step must be large, and with it the error of truncation.
    step, tolerance = (1e-5, 1e-6) if case.dtypes[0] == "float64" else (2.0**-6, 1e-3)
    actual = differential.run(tf, case, arrays)
    for order, f in {"first": differential.loss, "second": differential.slope}.items():
        expected = differential.differences(lambda xs, f=f: f(tf, case, xs), arrays, step)
        for a, e in zip(*differential.fill_none(expected, actual[order]), strict=True):
            differential.compare_numbers(f"{order} order", tolerance, np.asarray(a), np.asarray(e))
