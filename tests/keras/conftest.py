"""Keras on gradtape, in a process of its own; beside it, in the oracle run, Keras on TensorFlow.

The folder is no package (it has no __init__.py): as `keras` it would stand before Keras itself.
"""

import os

import process
import pytest

collect_ignore = ["own"]  # for Keras' own tests, which suite.py runs


@pytest.fixture(scope="session")
def keras(tf):
    """Keras on the module under test."""
    running = process.on(tf.__name__)
    yield running
    running.close()


@pytest.fixture(scope="session")
def oracle():
    """Keras on TensorFlow."""
    python = os.environ.get("GRADTAPE_ORACLE_PYTHON")
    if not python:
        pytest.fail("set GRADTAPE_ORACLE_PYTHON to a Python that has TensorFlow")
    running = process.Keras([python])
    yield running
    running.close()
