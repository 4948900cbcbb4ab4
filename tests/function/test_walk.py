"""Walks and choices: what goes into a round and comes out, and how a cotangent changes sides."""

import numpy as np
import pytest

from gradtape._src.function.choice import Residual, Result
from gradtape._src.function.node import Constant, Run
from gradtape._src.function.walk import (
    OTHER_SIDE,
    Carried,
    Course,
    Final,
    RoundNumber,
    Row,
    Stack,
    Total,
)

pytestmark = pytest.mark.gradtape_only


def test_where_operands_get_their_values():
    table = np.arange(6.0).reshape(3, 2)
    row, constant = Row(table), Constant(table)
    run = Run(lambda array: array + 1, 2, ["first", "second"], {row: table[2]})
    assert Carried(1).value(run) == "second"
    assert row.value(run) is run.rows[row]
    assert RoundNumber().value(run) == 2
    np.testing.assert_array_equal(constant.value(run), table + 1)
    assert Carried(0).array is None and RoundNumber().array is None


def test_a_cotangent_comes_out_where_a_value_went_in():
    assert OTHER_SIDE[Constant] is Total
    assert OTHER_SIDE[Row] is Stack
    assert OTHER_SIDE[Carried] is Final
    assert all(OTHER_SIDE[OTHER_SIDE[role]] is role for role in OTHER_SIDE)


def test_the_same_array_is_the_same_output():
    a, b = np.zeros(2), np.zeros(2)
    assert Stack(a) == Stack(a) and len({Stack(a), Stack(a)}) == 1
    assert Stack(a) != Stack(b) and Stack(a) != Total(a)
    assert Final(1) == Final(1) != Final(2)
    assert Residual(0, a) == Residual(0, a) != Result(0)


def test_the_way_back():
    course = Course(5)
    assert course.room == 5
    assert course.back(5) == Course(5, reverse=True)
    assert course.back(5).back(5) == course
    bounded = Course(bound=7, test="a block")
    assert bounded.room == 7
    assert bounded.back("counted") == Course("counted", bound=7, reverse=True)
    assert Course(5, together=True).back(5).together


# Every role, to the third order, against Python's loops


def fold(tf, a, b):
    """The constants are `a` and `b`, the rows `[1.5, 2.0]`; the product is carried."""
    rows = tf.constant([1.5, 2.0])
    return tf.foldl(lambda c, x: c * a * a * b * x, rows, tf.constant(1.0))


def choice(tf, a, b):
    return tf.cond(a > 0.0, lambda: a * a * a * b * b, lambda: a)


def bounded(tf, a, b):
    def body(i, y):
        return i + 1, y * a + b * y * y

    start = (tf.constant(0), a * b)
    return tf.while_loop(lambda i, y: i < 2, body, start, maximum_iterations=3)[1]


def mapped(tf, a, b):
    rows = tf.stack([a, b, a * b])
    return tf.reduce_sum(tf.map_fn(lambda x: x * x * a * b, rows))


def branch_in_a_loop(tf, a, b):
    def body(c, x):
        return tf.cond(x > 1.0, lambda: c * a * x * b, lambda: c * b * a * a)

    return tf.foldl(body, tf.constant([0.5, 1.5, 2.0]), tf.constant(1.0))


@pytest.mark.parametrize("program", [fold, choice, bounded, mapped, branch_in_a_loop])
def test_a_cotangent_that_is_given_twice_counts_twice(tf, program):
    """The sum `da + db` gives the same tensor to two results of the derivative."""

    def f(a, b, s):
        with tf.GradientTape() as third:
            third.watch(s)
            with tf.GradientTape() as second:
                second.watch([a, b])
                with tf.GradientTape() as first:
                    first.watch([a, b])
                    y = program(tf, a, b)
                da, db = first.gradient(y, [a, b])
                z = s * (da + db)
            along = second.gradient(z, [a, b])
        return along, third.gradient(along[0], s)

    arguments = [tf.constant(value) for value in (1.2, 0.7, 2.0)]
    eager = tf.nest.flatten(f(*arguments))
    compiled = tf.nest.flatten(tf.function(f)(*arguments))
    for expected, found in zip(eager, compiled, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)
