"""Tests that need a GPU: `scripts/test --gpu`. Where there is none, they are not collected."""

import pytest

from gradtape._src.core.placement import placement

collect_ignore_glob = [] if placement.card is not None else ["test_*.py"]


@pytest.fixture(scope="session")
def card():
    """The engine of the GPU."""
    return placement.card
