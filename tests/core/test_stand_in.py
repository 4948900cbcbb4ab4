"""Objects of other libraries that stand for a tensor, or for a variable."""

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.stand_in import StandIn


class OtherVariable(StandIn):
    """As a variable of Keras is: it holds one of ours, and knows its dtype by name."""

    def __init__(self, value):
        self._value = tf.Variable(value)

    dtype = "float32"
    shape = property(lambda self: self._value.shape)
    handle = property(lambda self: self._value.handle)

    def __tf_tensor__(self, dtype=None, name=None):
        return tf.convert_to_tensor(self._value, dtype=dtype, name=name)


class OtherTensor:
    """No class of ours, but the protocol."""

    def __tf_tensor__(self, dtype=None, name=None):
        return tf.constant([1.0, 2.0], dtype)


@pytest.fixture
def v():
    return OtherVariable([1.0, 2.0])


def test_ops_take_it(v):
    assert tf.is_tensor(v)
    for result in (tf.add(v, v), v._value + v, tf.multiply(2.0, v), tf.multiply(v, 2.0)):
        np.testing.assert_array_equal(result, [2.0, 4.0])
    np.testing.assert_array_equal(tf.stack([v, v]), [[1, 2], [1, 2]])
    np.testing.assert_array_equal(tf.square(v), [1.0, 4.0])
    np.testing.assert_array_equal(tf.gather(v, [1]), [2.0])


def test_an_object_with_the_protocol_alone():
    np.testing.assert_array_equal(tf.convert_to_tensor(OtherTensor()), [1.0, 2.0])
    np.testing.assert_array_equal(tf.constant([1.0, 1.0]) + OtherTensor(), [2.0, 3.0])
    np.testing.assert_array_equal(tf.add(1.0, OtherTensor()), [2.0, 3.0])


def test_a_class_that_does_not_say_which_tensor():
    class Unfinished(StandIn):
        pass

    with pytest.raises(NotImplementedError, match="Unfinished stands for a tensor, and must say"):
        tf.square(Unfinished())


def test_gradients_by_it(v):
    other = OtherVariable([3.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(tf.multiply(v, v))
    assert tape.watched_variables()[0] is v._value
    np.testing.assert_array_equal(tape.gradient(y, v), [2.0, 4.0])
    np.testing.assert_array_equal(tape.gradient(y, {"a": [v._value, v]})["a"][1], [2.0, 4.0])
    np.testing.assert_array_equal(tape.jacobian(y, v), [2.0, 4.0])
    assert tape.gradient(y, other) is None
    zeros = tape.gradient(y, other, unconnected_gradients="zero")
    np.testing.assert_array_equal(zeros, [0.0, 0.0])


def test_a_tape_watches_it(v):
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(v)
        y = tf.square(v)
    np.testing.assert_array_equal(tape.gradient(y, v), [2.0, 4.0])


def test_as_a_target(v):
    with tf.GradientTape() as tape:
        tf.square(v)
    np.testing.assert_array_equal(tape.gradient(v, v), [1.0, 1.0])


def test_forward_mode(v):
    with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.0])) as accumulator:
        y = tf.square(v)
    np.testing.assert_array_equal(accumulator.jvp(y), [2.0, 0.0])


def test_inside_a_function(v):
    @tf.function(jit_compile=True)
    def step():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.square(v))
        v._value.assign_add([1.0, 1.0])
        return tape.gradient(y, v)

    np.testing.assert_array_equal(step(), [2.0, 4.0])
    np.testing.assert_array_equal(step(), [4.0, 6.0])


def test_optimizers_update_it_beside_our_own(v):
    own = tf.Variable(1.0)
    optimizer = tf.optimizers.SGD(0.5)
    for _ in range(2):
        optimizer.apply_gradients([(tf.constant([1.0, 1.0]), v), (tf.constant(1.0), own)])
    np.testing.assert_array_equal(v._value, [0.0, 1.0])
    assert float(own) == 0.0


def test_notes_on_tensors():
    x = tf.constant(1.0)
    x._keras_mask = "mask"
    assert x._keras_mask == "mask"
    assert not hasattr(tf.constant(1.0), "_keras_mask")
