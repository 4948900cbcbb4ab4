"""gradtape's GradBench programs on small data, beside finite differences of their definitions."""

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


def load(name):
    return importlib.import_module(f"bench.gradbench.{name}")


def run(tf, name, **case):
    return [np.asarray(a) for a in load(name).question.programs["gradtape"](tf, **case)()]


def differences(f, *args, h=1e-5):
    """The Jacobian of `f` by each of `args`: shape of the value, then that of the argument."""
    found = []
    for i, x in enumerate(args):
        columns = []
        for unit in np.eye(x.size).reshape((x.size, *x.shape)):
            ends = [f(*args[:i], x + s * h * unit, *args[i + 1 :]) for s in (1, -1)]
            columns.append((np.asarray(ends[0]) - ends[1]) / (2 * h))
        found.append(np.stack(columns, -1).reshape((*columns[0].shape, *x.shape)))
    return found


def assert_close(ours, expected):
    assert len(ours) == len(expected)
    for a, b in zip(ours, expected, strict=True):
        assert a.shape == np.shape(b) and a.dtype == np.float64
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("name", "case", "constants"),
    [
        ("lse", {"n": 10}, {}),
        ("llsq", {"n": 7, "m": 5}, {"n": 7}),
        ("ode", {"n": 3, "s": 10}, {"s": 10}),
    ],
)
def test_gradient_by_one_array(tf, name, case, constants):
    module = load(name)
    x = module.make_data(**case)
    f = lambda x: module.objective(np, x, **constants)  # noqa: E731
    assert_close(run(tf, name, **case), [f(x), *differences(f, x)])


@pytest.mark.parametrize("scalars", [True, False])
def test_det(tf, scalars):
    a = load("det").make_data(4)
    expected = np.linalg.det(a), np.linalg.det(a) * np.linalg.inv(a).T
    assert_close(run(tf, "det", size=4, scalars=scalars), expected)


def test_gmm(tf):
    module, case = load("gmm"), {"d": 3, "k": 2, "n": 5}
    *parameters, x = module.make_data(**case)
    f = lambda *p: module.objective(np, *p, x)  # noqa: E731
    assert_close(run(tf, "gmm", **case), [f(*parameters), *differences(f, *parameters)])


def test_kmeans(tf):
    module, case = load("kmeans"), {"k": 3, "n": 20, "d": 2}
    points, centroids = module.make_data(**case)
    squares = ((points[:, None] - centroids) ** 2).sum(2)
    nearest = np.eye(3)[squares.argmin(1)]
    means = nearest.T @ points / nearest.sum(0)[:, None]
    # Newton's step leads to the mean of each cluster.
    assert_close(run(tf, "kmeans", **case), [squares.min(1).sum(), centroids - means])


def test_lstm(tf):
    module, case = load("lstm"), {"layers": 2, "length": 4}
    main, extra, *constants = module.make_data(**case)
    f = lambda *p: module.objective(np, *p, *constants)  # noqa: E731
    assert_close(run(tf, "lstm", **case), [f(main, extra), *differences(f, main, extra)])


def test_ba(tf):
    module, case = load("ba"), {"n": 2, "m": 3, "p": 5}
    z, features = module.make_data(**case)
    f = lambda z: module.objective(np, z, features)  # noqa: E731
    (jacobian,) = differences(f, z)
    blocks = jacobian[np.arange(5), :, np.arange(5)]
    w = z[:, 14]
    assert_close(run(tf, "ba", **case), [f(z), 1 - w**2, blocks, -2 * w])


@pytest.mark.parametrize("variant", ["simple", "complicated"])
def test_ht(tf, variant):
    module = load("ht")
    hand = module.make_data(variant, 4)
    f = lambda z: module.objective(np, z, hand)  # noqa: E731
    assert_close(run(tf, "ht", variant=variant, n=4), differences(f, module.start(hand)))


def landing_cost(w):
    """particle in plain NumPy, with the gradient of its potential by hand."""
    x, v = np.array([0.0, 8.0]), np.array([0.75, 0.0])
    while (new := x + 0.1 * v)[1] > 0:
        away = [x - (10, 10 - w), x - (10, 0)]
        x, v = new, v + 0.1 * sum(a / np.linalg.norm(a) ** 3 for a in away)
    return (x[0] - x[1] / v[1] * v[0]) ** 2


@pytest.mark.parametrize("modes", ["rr", "fr"])
def test_particle(tf, modes):
    w = np.zeros(())
    expected = [landing_cost(w), *differences(landing_cost, w)]
    assert_close(run(tf, "particle", modes=modes), expected)


@pytest.mark.parametrize("modes", ["rr", "rf", "fr", "ff"])
def test_saddle(tf, modes):
    solution = np.full(2, load("saddle").SOLUTION)
    value, gradient, y = run(tf, "saddle", modes=modes)
    np.testing.assert_allclose(y, solution, rtol=1e-12)
    assert_close([value, gradient], [2.0 - (y**2).sum(), [2.0, 2.0]])


SMALL = {
    "lse": {"n": 10},
    "llsq": {"n": 7, "m": 5},
    "ode": {"n": 3, "s": 4},
    "det": {"size": 4, "scalars": False},
    "gmm": {"d": 3, "k": 2, "n": 5},
    "kmeans": {"k": 3, "n": 20, "d": 2},
    "lstm": {"layers": 2, "length": 4},
    "ba": {"n": 2, "m": 3, "p": 5},
    "ht": {"variant": "simple", "n": 4},
    "particle": {"modes": "rr"},
    "saddle": {"modes": "fr"},
}


@pytest.mark.parametrize("name", SMALL)
def test_compiled_as_eager(tf, name):
    compiled = load(name).question.programs["function"](tf, **SMALL[name])
    assert_close([np.asarray(a) for a in compiled()], run(tf, name, **SMALL[name]))
