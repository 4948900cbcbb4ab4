"""gradtape doctor looks into the training of a model."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.gradtape_only

FIT = """
import keras
import numpy as np

x = np.random.default_rng(0).normal(size=(16, 4)).astype("float32")
layer = keras.layers.Dense(8, activation="relu")
model = keras.Sequential([keras.Input((4,)), layer, keras.layers.Dense(1)])
layer.bias.assign([BIAS] * 8)
model.compile("sgd", "mse")
model.fit(x, x.sum(1, keepdims=True), verbose=0)
"""


@pytest.mark.parametrize("bias, code", [("0.1", 0), ("-1e3", 1)])
def test_a_model(tmp_path, bias, code):
    (tmp_path / "fit.py").write_text(FIT.replace("BIAS", bias))
    done = subprocess.run(
        [sys.executable, "-m", "gradtape", "doctor", "fit.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1", "KERAS_BACKEND": "tensorflow"},
    )
    assert done.returncode == code, done.stdout + done.stderr
    if code:
        assert "The gradient of 'sequential/dense/kernel' is zero\n" in done.stdout
        assert "     fit.py:7: model = keras.Sequential" in done.stdout
