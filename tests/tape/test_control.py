"""Control flow as functions, called eagerly. (Compiled: tests/function.)"""

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.tape.control import EAGER, EagerForms, forms, pack_like


class Counting(EagerForms):
    """Counts how often each form is asked for."""

    def __init__(self):
        self.asked = []

    def cond(self, *args):
        self.asked.append("cond")
        return super().cond(*args)

    def switch(self, *args):
        self.asked.append("switch")
        return super().switch(*args)

    def loop(self, *args):
        self.asked.append("loop")
        return super().loop(*args)

    def walk(self, *args):
        self.asked.append("walk")
        return super().walk(*args)


X = tf.constant([1.0, 2.0, 3.0])


def test_all_comes_down_to_four_forms():
    counting = Counting()
    token = forms.set(counting)
    try:
        one, two = (lambda: tf.constant(1)), (lambda: tf.constant(2))
        tf.cond(tf.constant(True), one, two)
        tf.case([(tf.constant(False), one), (tf.constant(True), two)], default=one)
        tf.switch_case(tf.constant(0), [one, two])
        tf.while_loop(lambda i: i < 1, lambda i: i + 1, [tf.constant(0)])
        tf.map_fn(lambda x: x, X)
        tf.scan(lambda a, x: a + x, X)
        tf.foldl(lambda a, x: a + x, X)
    finally:
        forms.reset(token)
    assert counting.asked == ["cond", "cond", "cond", "switch", "loop", "walk", "walk", "walk"]
    assert forms.get() is EAGER


def test_only_the_chosen_function_runs():
    ran = []
    tf.cond(tf.constant(False), lambda: ran.append(1), lambda: ran.append(2))
    tf.case(
        [(tf.constant(True), lambda: ran.append(3)), (tf.constant(True), lambda: ran.append(4))]
    )
    assert ran == [2, 3]


@pytest.mark.parametrize("index, chosen", [(0, 10), (1, 20), (2, 20), (-1, 20)])
def test_an_index_that_there_is_none_for_takes_the_last(index, chosen):
    branches = [lambda: tf.constant(10), lambda: tf.constant(20)]
    assert int(tf.switch_case(tf.constant(index), branches)) == chosen
    pairs = {1: branches[1], 0: branches[0]}
    assert int(tf.switch_case(tf.constant(index), pairs)) == chosen


def test_switch_case_with_a_default():
    assert int(tf.switch_case(tf.constant(5), [lambda: 1], default=lambda: 7)) == 7


def test_loops_are_differentiable_and_bounded():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        _, y = tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (tf.constant(0), tf.constant(1.0))
        )
    assert float(tape.gradient(y, x)) == 12
    (i,) = tf.while_loop(
        lambda i: True, lambda i: (i + 1,), (tf.constant(0),), maximum_iterations=4
    )
    assert int(i) == 4


def test_no_round_at_all_gives_the_variables_as_tensors():
    (y,) = tf.while_loop(lambda y: False, lambda y: (y,), [3.0])
    assert isinstance(y, tf.Tensor) and float(y) == 3


@pytest.mark.parametrize(
    "result, variables, expected",
    [
        (5, [1], [5]),
        (5, (1,), (5,)),
        ([5], [1], [5]),
        ((5, 6), [1, 2], (5, 6)),
        ([5, 6], [[1, 2]], [[5, 6]]),
    ],
)
def test_what_a_body_returns_becomes_the_variables(result, variables, expected):
    assert pack_like(result, variables) == expected


def test_a_result_that_is_cut_from_tapes():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        (y,) = tf.while_loop(lambda y: y < 10.0, lambda y: (y * x,), (x,), back_prop=False)
    assert float(y) == 16 and tape.gradient(y, x) is None


def test_map_fn_of_nests_dtypes_and_no_elements():
    found = tf.map_fn(
        lambda p: p["a"] + p["b"], {"a": X, "b": 2.0 * X}, fn_output_signature=tf.float32
    )
    assert found.numpy().tolist() == [3, 6, 9]
    assert tf.map_fn(lambda x: int(x), X, dtype=tf.int32).dtype == tf.int32
    empty = tf.map_fn(lambda x: x, tf.zeros([0, 2]), fn_output_signature=tf.TensorSpec([2]))
    assert empty.shape == (0, 2)


def test_scan_both_ways():
    def add(total, x):
        return total + x

    assert tf.scan(add, X).numpy().tolist() == [1, 3, 6]
    assert tf.scan(add, X, reverse=True).numpy().tolist() == [6, 5, 3]
    assert tf.scan(add, X, 10.0).numpy().tolist() == [11, 13, 16]
    assert tf.scan(add, X, 10.0, reverse=True).numpy().tolist() == [16, 15, 13]
    assert tf.scan(add, X[:1]).numpy().tolist() == [1]
    assert tf.scan(add, X[:0], 1.0).shape == (0,)


def test_folds_go_from_their_side():
    subtract = lambda a, x: x - a  # noqa: E731
    assert float(tf.foldl(subtract, X)) == 3 - (2 - 1)
    assert float(tf.foldr(subtract, X)) == 1 - (2 - 3)
    assert float(tf.foldl(subtract, X[:0], 4.0)) == 4


def test_the_gradient_of_a_walk():
    x = tf.constant(np.arange(1.0, 5.0))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.foldl(lambda a, e: a * e, x)
    assert tape.gradient(y, x).numpy().tolist() == [24, 12, 8, 6]
