"""Every layer, activation and loss of Keras: values and gradients are those of TensorFlow.

The numbers of TensorFlow are in recorded/ (record.py makes them); the oracle run draws other inputs
and weights and asks a live TensorFlow. Keras' own tests do not notice a lost gradient; these do.
"""

import math

import pytest
import record
from oracle import differential
from oracle.test_live import SEED

RECORDED = record.load("gradients")
RANDOM = [name for name, result in RECORDED.items() if result["statistics"]]
SMOOTH = [name for name, result in RECORDED.items() if result["smooth"]]
CALLS = 16
"""What the statistics of gradients.py are taken over."""
COMPILED = list({name.split(" ")[0]: name for name in RECORDED}.values())
"""One case for each layer, activation and loss; the oracle run compiles them all."""


def compare(expected, actual):
    """Raise AssertionError where results of `gradients.run` differ.

    float32, relative to the largest element: 1e-5, a hundred roundings, since the two systems add
    in other orders (differential.TOLERANCE).
    """
    differential.compare_arrays("value", "float32", expected["value"], actual["value"])
    differential.compare_arrays("state", "float32", expected["state"], actual["state"])
    assert list(expected["gradients"]) == list(actual["gradients"])
    for source, gradient in expected["gradients"].items():
        label = f"gradient by {source}"
        differential.compare_arrays(label, "float32", [gradient], [actual["gradients"][source]])


# That nothing is missing


def test_every_layer_activation_and_loss_has_a_case(keras):
    assert keras("gradients.without_cases") == []
    assert keras("gradients.unknown") == []


def test_every_case_is_recorded(keras):
    names = keras("gradients.names")
    assert [n for n in names if n not in RECORDED] == [], "not recorded: run scripts/record"
    assert [n for n in RECORDED if n not in names] == []


def test_what_has_no_gradient_is_listed(keras):
    without = {
        name.split(" ")[0]
        for name, result in RECORDED.items()
        if not any(g is not None for g in result["gradients"].values())
    }
    assert without == set(keras("gradients.no_gradient"))


# The numbers


@pytest.mark.parametrize("name", RECORDED)
def test_eager(keras, name):
    actual = keras("gradients.run", name, "eager")
    compare(RECORDED[name], actual)
    assert actual["sparse"] == RECORDED[name]["sparse"], "IndexedSlices in one of the two only"


def check(keras, name, mode, expected, seed=0):
    """A case gives what is expected; what has no compiled form raises and says so."""
    if mode == "jit" and name.split(" ")[0] in keras("gradients.no_xla"):
        with pytest.raises(RuntimeError, match="jit_compile=True"):
            keras("gradients.run", name, mode, seed)
    else:
        compare(expected, keras("gradients.run", name, mode, seed))


@pytest.mark.parametrize("name", COMPILED)
def test_function(keras, name):
    check(keras, name, "function", RECORDED[name])


@pytest.mark.gradtape_only  # TensorFlow cannot compile all of them with XLA
@pytest.mark.parametrize("name", COMPILED[::10])
def test_jit(keras, name):
    check(keras, name, "jit", RECORDED[name])


@pytest.mark.oracle
@pytest.mark.parametrize("name", RECORDED)
def test_live(keras, oracle, name):
    seed = SEED + 1
    expected = oracle("gradients.run", name, "eager", seed)
    for mode in ("eager", "function", "jit"):
        try:
            check(keras, name, mode, expected, seed)
        except (AssertionError, RuntimeError) as error:
            error.add_note(f"{mode}; GRADTAPE_ORACLE_SEED={SEED}")
            raise


# Random layers in training: the numbers drawn are others, their distribution is the same


@pytest.mark.parametrize("name", RANDOM)
def test_statistics(keras, name):
    actual = keras("gradients.statistics", name)
    for wanted, got in zip(RECORDED[name]["statistics"], actual, strict=True):
        assert wanted["shape"] == got["shape"]
        for part in ("mean", "spread"):
            (a, s), (b, t) = wanted[part], got[part]
            # Five standard errors of the difference of two means over so many calls.
            error = math.sqrt((s * s + t * t) / CALLS)
            assert abs(a - b) <= 5 * error + 1e-5 * max(1, abs(a)), part
            assert (s > 1e-5) == (t > 1e-5), f"{part}: random in one of the two only"


@pytest.mark.parametrize("name", SMOOTH)
def test_what_was_drawn_is_differentiated(keras, name):
    slope, difference = keras("gradients.slopes", name)
    assert slope == pytest.approx(difference, rel=1e-5, abs=1e-5)


# The test of the test


@pytest.mark.parametrize("mode", ["eager", "function"])
@pytest.mark.parametrize("name", ["layers.Dense", "layers.LSTM", "layers.Add"])
@pytest.mark.parametrize(
    "plant",
    [
        "the gradient by the input is lost",
        "all gradients are lost",
        "gradients are wrong by a thousandth",
    ],
)
def test_a_planted_error_is_found(keras, name, plant, mode):
    actual = keras("gradients.run_planted", name, plant, mode)
    differential.compare_arrays("value", "float32", RECORDED[name]["value"], actual["value"])
    with pytest.raises(AssertionError, match="gradient by"):
        compare(RECORDED[name], actual)
