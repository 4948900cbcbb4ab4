"""Models saved here are read by TensorFlow, and the other way round."""

import numpy as np
import pytest
import record

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("writer", ["gradtape", "TensorFlow"])
@pytest.mark.parametrize("name", record.load("curves"))
def test_a_model_goes_over(keras, oracle, tmp_path, name, writer):
    write, read = (keras, oracle) if writer == "gradtape" else (oracle, keras)
    prediction, losses = write("models.save", name, str(tmp_path))
    (found, more), from_weights = read("models.load", name, str(tmp_path))
    np.testing.assert_allclose(found, prediction, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(from_weights, prediction, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(more, losses, rtol=0, atol=1e-4)  # the optimizer went over as well
