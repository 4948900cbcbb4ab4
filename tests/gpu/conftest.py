"""Tests that need a GPU: `scripts/test --gpu`. Elsewhere they are skipped, with the reason."""

import pytest

from gradtape._src.core.placement import placement


@pytest.fixture(autouse=True, scope="session")
def card():
    """The engine of the GPU."""
    if placement.card is None:
        pytest.skip(f"no GPU: {placement.reason}")
    return placement.card
