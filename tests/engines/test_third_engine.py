"""An engine that defines nothing but what the contract demands computes what NumPy does."""

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.engine import common_engine
from gradtape._src.core.tensor import Tensor
from gradtape._src.engines.numpy.engine import engine as host
from gradtape._src.testing import all_ops
from gradtape._src.testing.samples import samples_of

from .boxes import Box, engine

OPS = all_ops()


@pytest.mark.parametrize("name", OPS)
def test_kernel_on_boxes_is_that_on_numpy(name):
    op = OPS[name]
    for inputs, params in samples_of(op):
        arrays = [np.asarray(x) for x in inputs]
        boxes = [Box(x.copy()) for x in arrays]
        with np.errstate(all="ignore"):
            wanted, found = op.on(host)(*arrays, **params), op.on(engine)(*boxes, **params)
        assert same_values(wanted, found), f"{name} of {arrays}, {params}: {found}, not {wanted}"
        assert all(same_values(*pair) for pair in zip(arrays, boxes, strict=True)), "input changed"


def same_values(wanted, found):
    if isinstance(wanted, (tuple, list)):
        return all(same_values(*pair) for pair in zip(wanted, found, strict=True))
    assert type(found) is Box
    values = found._values
    assert values.dtype == wanted.dtype and values.shape == wanted.shape
    return np.allclose(values, wanted, rtol=1e-6, atol=1e-9, equal_nan=True)


def on_boxes(values):
    return Tensor(Box(np.asarray(values, np.float32)))


def test_tape_on_boxes():
    """A dense layer and a loss, with constants that are NumPy's: all gradients stay in boxes."""
    r = np.random.default_rng(0)
    data, weights = r.normal(size=(5, 3)), r.normal(size=(3, 4))

    def gradients(x, w):
        labels = tf.constant([0, 1, 2, 3, 0])
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            hidden = tf.nn.relu(x @ w * 2.0 + tf.ones([4]))
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, hidden)
            total = tf.reduce_mean(loss) + tf.reduce_sum(w**2) * 0.1
        return total, *tape.gradient(total, [x, w])

    found = gradients(on_boxes(data), on_boxes(weights))
    wanted = gradients(tf.constant(data, tf.float32), tf.constant(weights, tf.float32))
    for a, b in zip(found, wanted, strict=True):
        assert type(a._array) is Box
        np.testing.assert_allclose(a._array._values, b._array, rtol=1e-5)


def test_second_derivative_of_a_convolution_on_boxes():
    r = np.random.default_rng(0)
    image, filters = r.normal(size=(1, 5, 5, 2)), r.normal(size=(3, 3, 2, 2))

    def second(x, f):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.nn.conv2d(x, f, 2, "SAME") ** 3)
            g = inner.gradient(y, x)
        return outer.gradient(g, x)

    found = second(on_boxes(image), on_boxes(filters))._array._values
    wanted = second(tf.constant(image, tf.float32), tf.constant(filters, tf.float32))
    np.testing.assert_allclose(found, wanted._array, rtol=1e-4, atol=1e-5)


def test_arrays_of_numpy_follow_those_of_another_engine():
    assert common_engine([np.ones(2), Box(np.ones(2))]) is engine
    for y in (
        on_boxes([1, 2]) + tf.constant([3.0, 4.0]),
        tf.constant([3.0, 4.0]) + on_boxes([1, 2]),
    ):
        assert type(y._array) is Box and y._array._values.tolist() == [4, 6]


def test_error_of_an_op_on_boxes_names_the_op():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"gather: indices\[1\] = 7"):
        tf.gather(on_boxes([1, 2]), [0, 7])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"check_numerics: here: .* Inf and NaN"
    ):
        tf.debugging.check_numerics(on_boxes([np.inf, np.nan]), "here")
