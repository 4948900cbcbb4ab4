import importlib
import os

import pytest

# On TensorFlow the other files run too, which verifies them; these import gradtape itself.
if os.environ.get("GRADTAPE_TEST_MODULE", "gradtape") != "gradtape":
    collect_ignore = ["test_entries.py", "test_prefetch.py"]


@pytest.fixture(scope="module")
def data(tf):
    if tf.__name__ == "gradtape":
        return importlib.import_module("gradtape.data")
    return tf.data


@pytest.fixture(scope="module")
def Dataset(data):
    return data.Dataset
