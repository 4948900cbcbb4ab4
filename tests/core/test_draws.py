"""Random draws inside a batch."""

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.draws import batches, per_element, refuse_batches
from gradtape._src.tape.batching import Batch


def counting(shape):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape)


def test_outside_of_a_batch_it_is_one_draw():
    assert per_element(counting, (2, 2)).numpy().tolist() == [[0, 1], [2, 3]]
    assert per_element(counting, ()).shape == ()


def test_each_element_has_its_own():
    with Batch(3, draws=True) as batch:
        x = per_element(counting, (2,))
        assert x.shape == (2,)
        assert batch.joined(x).numpy().tolist() == [[0, 1], [2, 3], [4, 5]]
    assert batches.get() == ()


def test_batches_nest():
    with Batch(2, draws=True) as outer, Batch(3, draws=True) as inner:
        x = per_element(counting, ())
        assert x.shape == ()
        assert outer.joined(inner.joined(x)).numpy().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_batch_without_draws_sees_one_draw():
    with Batch(3):
        assert per_element(counting, (2,)).numpy().tolist() == [0, 1]


def test_a_negative_dimension_is_refused():
    with pytest.raises(ValueError, match=r"A random draw: shape=\(2, -1\) has a negative"):
        per_element(counting, (2, -1))


def test_what_cannot_be_drawn_for_all_together_is_refused():
    refuse_batches("shuffle")
    with (
        Batch(2, draws=True),
        pytest.raises(tf.errors.InvalidArgumentError, match="shuffle: each element of a batch"),
    ):
        refuse_batches("shuffle")
