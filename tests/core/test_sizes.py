"""Open sizes: what is computed with them, and what is known of it."""

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.sizes import SizeTensor, any_open, is_open, size_of

pytest.importorskip("jax")


def seen_inside(python):
    """What `python` returns of a tensor with an open size, while it is traced."""
    seen = []

    def f(x):
        seen.append(python(x))
        return x

    tf.function(f).get_concrete_function(tf.TensorSpec([None, 3]))
    return seen[0]


def shown(value):
    assert type(value) is SizeTensor, value
    return str(value.sizes.tolist())


@pytest.mark.parametrize(
    "python, sizes",
    [
        (lambda x: tf.shape(x), "[size_0, 3]"),
        (lambda x: tf.shape(x)[0], "size_0"),
        (lambda x: tf.shape(x)[:1], "[size_0]"),
        (lambda x: tf.size(x), "3*size_0"),
        (lambda x: tf.shape(x)[0] * 2 + 1, "2*size_0 + 1"),
        (lambda x: 7 - tf.shape(x)[0], "- size_0 + 7"),
        (lambda x: tf.shape(x)[0] // 2, "floordiv(size_0, 2)"),
        (lambda x: tf.reduce_prod(tf.shape(x)), "3*size_0"),
        (lambda x: tf.cast(tf.shape(x)[0], tf.int64), "size_0"),
        (lambda x: tf.concat([tf.shape(x)[:1], [3, 1]], 0), "[size_0, 3, 1]"),
        (lambda x: tf.stack([tf.shape(x)[0], 4]), "[size_0, 4]"),
        (lambda x: tf.reshape(tf.shape(x)[0], [1]), "[size_0]"),
    ],
)
def test_what_is_computed_of_sizes_is_a_size(python, sizes):
    assert shown(seen_inside(python)) == sizes


def test_what_is_known_is_a_constant():
    width = seen_inside(lambda x: tf.shape(x)[1])
    assert type(width) is tf.Tensor and width.numpy() == 3


@pytest.mark.parametrize(
    "python",
    [
        lambda x: tf.shape(x)[0] > 2,
        lambda x: tf.minimum(tf.shape(x)[0], 2),
        lambda x: tf.cast(tf.shape(x)[0], tf.float32),
        lambda x: tf.shape(x)[0] * tf.cast(x[0, 0], tf.int32),
    ],
)
def test_what_is_no_size_is_a_tensor(python):
    assert type(seen_inside(python)) is tf.Tensor


def test_open_sizes_are_told_from_numbers():
    size = seen_inside(lambda x: x._array.shape[0])
    assert is_open(size)
    assert any_open([1, (2, slice(0, size))]) is size
    for other in (3, np.int32(3), None, "a", tf.constant(3), np.ones(2), slice(0, 2)):
        assert not is_open(other)
        assert any_open([other]) is None
        assert size_of(other) is other
