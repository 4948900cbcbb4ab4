"""An interrupt of `fit` leaves a model that can be saved, and trained on."""

import signal

import pytest

pytestmark = [
    pytest.mark.gradtape_only,
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers of Unix"),
]


def test_a_model_that_is_interrupted_learns_on(keras):
    first, last = keras("interrupted_fit.run", 12)
    assert last < first / 100
