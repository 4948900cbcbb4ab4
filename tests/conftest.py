"""Fixtures shared by all tests.

The tests run on gradtape; GRADTAPE_TEST_MODULE=tensorflow runs the same files on TensorFlow, which
is how the tests themselves are verified.
"""

import importlib
import os
import random
import signal
import sys
import tempfile

import numpy as np
import pytest
from hypothesis import settings

MODULE = os.environ.get("GRADTAPE_TEST_MODULE", "gradtape")
ON_GRADTAPE = MODULE == "gradtape"

# Compiled programs are kept there, by the processes that tests start too, not where the user's are.
_cache = tempfile.TemporaryDirectory(prefix="gradtape-cache-", ignore_cleanup_errors=True)
os.environ.setdefault("GRADTAPE_CACHE", _cache.name)

if ON_GRADTAPE:
    # The tests themselves run as where Keras is not installed. With it, tf.keras is Keras, and the
    # name tensorflow is taken for good: tests/keras starts processes of its own for that.
    sys.modules["keras"] = None

settings.register_profile("shared machines", deadline=None)  # no absolute time in a test
settings.load_profile("shared machines")


def pytest_configure(config):
    # A shell starts what runs in the background with SIGINT ignored, and so would be the processes
    # that tests start: interrupts would be lost in all of them.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "gradtape_only: a promise that TensorFlow does not make")
    if ON_GRADTAPE:
        config.addinivalue_line("filterwarnings", "error")
        # A test that fails shows where in gradtape. Users see less: core/test_tracebacks.py.
        importlib.import_module(MODULE).debugging.disable_traceback_filtering()


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
    recorder = sys.modules.get("gradtape._src.core.recorder")
    return recorder and recorder.listeners()
