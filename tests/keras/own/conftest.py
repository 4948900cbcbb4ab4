"""What Keras' own tests import of the conftest.py that its wheel leaves out, and their seed."""

import random

import keras
import numpy as np
import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "requires_trainable_backend: not for backends that cannot")
    config.addinivalue_line("markers", "multi_device: wants several devices")


@pytest.fixture(autouse=True)
def _same_draws():
    """Some compare sums of random numbers to the last digits: a failure is to mean a change."""
    random.seed(0)  # where Keras takes seeds from
    np.random.seed(0)


def skip_if_backend(given_backend, reason):
    """A decorator of tests that Keras itself leaves out on a backend."""
    return pytest.mark.skipif(keras.backend.backend() == given_backend, reason=reason)
