"""Fixtures shared by all tests.

The tests run on gradtape; GRADTAPE_TEST_MODULE=tensorflow runs the same files on TensorFlow, which
is how the tests themselves are verified.
"""

import importlib
import os
import random
import sys

import numpy as np
import pytest
from hypothesis import settings

MODULE = os.environ.get("GRADTAPE_TEST_MODULE", "gradtape")
ON_GRADTAPE = MODULE == "gradtape"


settings.register_profile("shared machines", deadline=None)  # no absolute time in a test
settings.load_profile("shared machines")


def pytest_configure(config):
    config.addinivalue_line("markers", "gradtape_only: a promise that TensorFlow does not make")
    if ON_GRADTAPE:
        config.addinivalue_line("filterwarnings", "error")


def pytest_collection_modifyitems(items):
    if ON_GRADTAPE:
        return
    for item in items:
        if item.get_closest_marker("gradtape_only"):
            item.add_marker(pytest.mark.skip(reason=f"not a promise of {MODULE}"))


@pytest.fixture(scope="session")
def tf():
    return importlib.import_module(MODULE)


@pytest.fixture(autouse=True)
def seed():
    random.seed(0)
    np.random.seed(0)


@pytest.fixture(autouse=True)
def no_tape_left_active(request):
    yield
    recorders = active_recorders()
    if recorders:
        left = list(recorders)
        recorders.clear()
        pytest.fail(f"{request.node.name} left a tape active: {left}")


def active_recorders():
    """The active tapes of this thread, or None where there is no gradtape to ask."""
    dispatch = sys.modules.get("gradtape.core.dispatch")
    return dispatch and dispatch.listeners()
