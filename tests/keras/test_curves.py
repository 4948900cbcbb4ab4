"""Five models, trained for 50 steps in each of Keras' ways, learn as they do on TensorFlow.

On TensorFlow the ways agree to 1e-6, so one recorded curve stands for all of them.
"""

import numpy as np
import pytest
import record

RECORDED = record.load("curves")
TOLERANCE = 1e-4
ORDINARY = ["fit", "fit_eagerly", "train_on_batch", "loop"]
"""The others run in the oracle run, which also asks a live TensorFlow."""
OTHERS = ["fit_with_xla", "fit_several_steps", "compiled_loop"]


def compare(expected, actual):
    if actual["loss"].size:
        np.testing.assert_allclose(actual["loss"], expected["loss"], rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(actual["prediction"], expected["prediction"], rtol=0, atol=TOLERANCE)


def test_the_models_learn():
    for name, curve in RECORDED.items():
        assert len(curve["loss"]) == 50
        assert np.abs(curve["loss"][-1] - curve["loss"][0]).max() > 0.1, name


@pytest.mark.parametrize("way", ORDINARY)
@pytest.mark.parametrize("name", RECORDED)
def test_recorded(keras, name, way):
    compare(RECORDED[name], keras("models.train", name, way))


@pytest.mark.oracle
@pytest.mark.parametrize("name", RECORDED)
def test_live(keras, oracle, name):
    expected = oracle("models.train", name, "fit")
    compare(RECORDED[name], expected)
    for way in OTHERS:
        compare(expected, keras("models.train", name, way))
