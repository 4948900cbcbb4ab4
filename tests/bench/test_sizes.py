"""The programs of `bench sizes` compute what they say, and their figure is drawn."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.gradtape_only


@pytest.fixture(autouse=True)
def bench_is_found(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


def run(tf, line, n):
    sizes = importlib.import_module("bench.questions.sizes")
    step = sizes.question.programs["gradtape"](tf, line=line, n=n)
    return [np.asarray(a) for a in step()], sizes.make_data(line, n)


def test_a_chain_of_ops(tf):
    (y, g), (x, c) = run(tf, "op on a tape", 50)
    np.testing.assert_allclose(y, x + 50 * c, rtol=1e-5)
    assert g.tolist() == [1.0] * 16


def test_elements(tf):
    (y, g), (x,) = run(tf, "element of an array", 300)
    t = np.tanh(x)
    np.testing.assert_allclose(y, t * x, rtol=1e-5)
    np.testing.assert_allclose(g, t + x * (1 - t * t), rtol=1e-4, atol=1e-6)


def test_variables(tf):
    (y, *found), values = run(tf, "variable", 20)
    np.testing.assert_allclose(y, np.sum([v * v for v in values], axis=0), rtol=1e-5)
    np.testing.assert_allclose(found, [2 * v for v in values])


def test_leaves(tf):
    (last,), (leaf,) = run(tf, "leaf of a nest", 25)
    assert last.tolist() == leaf.tolist()
    nest = importlib.import_module("bench.questions.sizes").nest_of(0, 25)
    assert len(tf.nest.flatten(nest)) == 25 and len(nest) == 10


def test_rows(tf):
    (y, found), (x, a, b) = run(tf, "row of a Jacobian", 30)
    h = np.tanh(x @ a)
    np.testing.assert_allclose(y, np.tanh(h @ b), rtol=1e-4, atol=1e-6)
    slopes = (1 - y * y)[:, None] * (b.T * (1 - h * h)) @ a.T
    np.testing.assert_allclose(found, slopes, rtol=1e-3, atol=1e-5)


def test_the_figure(tmp_path):
    driver, figure, sizes = (
        importlib.import_module(f"bench.{name}") for name in ("driver", "figure", "questions.sizes")
    )
    question = sizes.question
    results = [
        driver.Result("sizes", question, case, dict(given), {"gradtape": {"value": 1e-6}})
        for case, given in question.cases.items()
    ]
    figure.draw(results, tmp_path / "growth.png")
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="no question here has cases"):
        figure.draw([], tmp_path / "nothing.png")
