"""The arguments of derivatives: targets, sources, seeds."""

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.tensor import zeros_of
from gradtape._src.tape.derivative import (
    UnconnectedGradients,
    ones_of,
    seeds_of,
    single_target,
    source_keys,
    wants_zeros,
)

X = tf.constant([1.0, 2.0])


def values(seeds):
    return [(key, np.asarray(g).tolist()) for key, g in seeds]


@pytest.mark.parametrize(
    "given, zeros",
    [
        ("none", False),
        ("zero", True),
        (UnconnectedGradients.NONE, False),
        (UnconnectedGradients.ZERO, True),
    ],
)
def test_unconnected(given, zeros):
    assert wants_zeros(given) is zeros


@pytest.mark.parametrize("given", ["zeros", None, 0, True, []])
def test_an_unknown_word_for_unconnected_is_refused(given):
    with pytest.raises(ValueError, match="unknown value for `unconnected_gradients`"):
        wants_zeros(given)


def test_seeds_are_ones_of_each_target_and_give_it_a_key():
    y = tf.identity(X)
    seeds = seeds_of({"a": y, "b": [X]}, None)
    assert values(seeds) == [(y._key, [1, 1]), (X._key, [1, 1])]


def test_what_has_no_gradient_is_no_target():
    assert seeds_of([tf.constant(1), tf.constant("a"), tf.constant(True)], None) == []
    assert values(seeds_of([tf.constant(1), X], [5.0, tf.constant([3.0, 4.0])])) == [
        (X._key, [3, 4])
    ]


def test_output_gradients_are_the_seeds_and_missing_ones_are_ones():
    a, b = tf.constant(1.0), tf.constant(2.0)
    assert values(seeds_of([a, b], [7.0])) == [(a._key, 7), (b._key, 1)]


def test_a_variable_as_a_target_is_its_value():
    v = tf.Variable([1.0])
    assert values(seeds_of(v, None)) == [(v._key, [1])]
    assert single_target(v, "jacobian")._key == v._key


def test_one_target():
    y = tf.identity(X)
    assert single_target(y, "jacobian") is y and y._key is not None
    assert single_target(tf.constant(1), "jacobian") is None


def test_keys_of_sources():
    y, v = tf.identity(X), tf.Variable(1.0)
    assert source_keys([y, v, y]) == [y._key, v._key, y._key]


@pytest.mark.parametrize("dtype", [tf.float64, tf.complex64, tf.bfloat16])
@pytest.mark.parametrize("shape", [(), (0,), (2, 1)])
def test_ones_and_zeros_are_like_their_tensor(dtype, shape):
    x = tf.zeros(shape, dtype)
    for like, value in ((ones_of, 1), (zeros_of, 0)):
        y = like(x)
        assert (y.shape, y.dtype) == (shape, dtype)
        assert np.all(np.asarray(y).astype(complex) == value)


def test_zeros_of_a_variable():
    assert zeros_of(tf.Variable([1, 2])).numpy().tolist() == [0, 0]
