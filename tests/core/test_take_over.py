"""Composites take over the functions that meet them; calls with tensors pay nothing for it."""

import pytest

import gradtape as tf
from gradtape._src.core.composite import CompositeTensor
from gradtape._src.core.errors import NotATensorError
from gradtape._src.core.pattern import ELEMENTWISE
from gradtape._src.core.take_over import lends_itself
from gradtape._src.ops.declare.static import to_tensor


class Pair(CompositeTensor):
    _to_make_tensors = "Use pair.parts."

    def __init__(self, *parts):
        self.parts = parts


@Pair._takes_over(tf.concat, tf.stack)
def _joined(values, axis=0):
    return "joined", axis


@Pair._takes_over(tf.reduce_sum)
def _summed(pair, axis=None, keepdims=False):
    return "summed", axis


@lends_itself
def doubled(x, times=2):
    return to_tensor(x, "doubled") * times


class Elements(CompositeTensor):
    pass


@Elements._takes_over(ELEMENTWISE)
def _elementwise(op, *args):
    return op.__name__, len(args)


def test_a_function_is_taken_over_wherever_the_composite_stands():
    pair = Pair(1, 2)
    assert tf.concat([pair, pair], 1) == ("joined", 1)
    assert tf.concat([tf.ones([2]), pair], axis=0) == ("joined", 0)
    assert tf.stack([1.0, pair]) == ("joined", 0)
    assert tf.reduce_sum(pair, axis=1) == ("summed", 1)


def test_a_subclass_inherits_what_its_base_takes_over():
    class Sub(Pair):
        pass

    assert tf.reduce_sum(Sub()) == ("summed", None)
    Sub._takes_over(tf.reduce_sum)(lambda pair, axis, keepdims: "its own")
    assert tf.reduce_sum(Sub()) == "its own"
    assert tf.reduce_sum(Pair()) == ("summed", None)


def test_what_is_not_taken_over_is_refused_by_name():
    with pytest.raises(NotATensorError, match=r"reshape takes no Pair\. Use pair\.parts\."):
        tf.reshape(Pair(), [2])
    with pytest.raises(TypeError, match="tanh takes no Pair"):
        tf.tanh(Pair())
    with pytest.raises(ValueError, match="det takes no Pair"):
        tf.linalg.det(Pair())
    with pytest.raises(ValueError, match="constant takes no Pair"):
        tf.constant([Pair(), Pair()])
    with pytest.raises(ValueError, match="convert_to_tensor takes no Pair"):
        tf.convert_to_tensor(Pair())


def test_elementwise_ops_share_one_rule():
    x = Elements()
    assert tf.tanh(x) == ("tanh", 1)
    assert tf.add(1.0, x) == ("add", 2)
    assert tf.nn.relu(x) == ("_relu", 1)
    with pytest.raises(TypeError, match="matmul takes no Elements"):
        tf.matmul(x, x)


def test_the_decorator_does_the_same():
    assert float(doubled(3.0)) == 6
    Pair._takes_over(doubled)(lambda x, times=2: times)
    assert doubled(Pair(), times=7) == 7
    with pytest.raises(TypeError, match="doubled takes no Elements"):
        doubled(Elements())
