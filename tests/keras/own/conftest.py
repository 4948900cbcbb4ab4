"""What Keras' own tests import of the conftest.py that its wheel leaves out."""

import keras
import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "requires_trainable_backend: not for backends that cannot")
    config.addinivalue_line("markers", "multi_device: wants several devices")


def skip_if_backend(given_backend, reason):
    """A decorator of tests that Keras itself leaves out on a backend."""
    return pytest.mark.skipif(keras.backend.backend() == given_backend, reason=reason)
