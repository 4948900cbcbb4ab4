"""TensorArrays in loops: that a branch writes, or that are written at known places."""

import numpy as np
import pytest


def one_branch_writes(tf, n):
    array = tf.TensorArray(tf.int32, size=3)
    for i in tf.range(3):
        if i < n:
            array = array.write(i, i * 2)
    return array.stack()


def the_other_branch_writes(tf, n):
    array = tf.TensorArray(tf.int32, size=3)
    for i in tf.range(3):
        if i >= n - 4:
            array = array
        else:
            array = array.write(i, i * 2)
    array = array.write(0, 7)
    return array.stack()


def both_branches_write(tf, n):
    array = tf.TensorArray(tf.int32, size=2)
    i = tf.constant(0)
    while i < n:
        if i > 1:
            array = array.write(1, i)
        else:
            array = array.write(0, -i)
        i += 1
    return array.stack()


def a_branch_for_each_array(tf, n):
    small = tf.TensorArray(tf.int32, size=3)
    large = tf.TensorArray(tf.float32, size=3)
    for i in tf.range(3):
        if i < 1:
            small = small.write(i, n)
        else:
            large = large.write(i, 1.5)
    return small.stack(), large.stack()


def known_places(tf, n):
    array = tf.TensorArray(tf.int32, size=3, clear_after_read=False)
    for i in tf.range(n):
        array = array.write(0, i)
        array = array.write(1, i * 2)
        array = array.write(2, array.read(0) + 1)
    return array.stack()


def appended(tf, n):
    array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    for i in tf.range(n):
        array = array.write(array.size(), i * i)
    return array.stack(), array.size()


def appended_in_a_branch(tf, n):
    array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    for i in tf.range(n):
        if i % 2 == 0:
            array = array.write(array.size(), i)
    return array.stack()


def appended_to_one_of_two(tf, n):
    below = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    above = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    for i in tf.range(n):
        if i > 1:
            above = above.write(above.size(), i)
        else:
            below = below.write(below.size(), -i)
    return below.stack(), above.stack()


@pytest.mark.parametrize("n", [5, 3])
@pytest.mark.parametrize(
    "program",
    [
        one_branch_writes,
        the_other_branch_writes,
        both_branches_write,
        a_branch_for_each_array,
        known_places,
        appended,
        appended_in_a_branch,
        appended_to_one_of_two,
    ],
)
def test_compiled_as_eagerly(tf, program, n):
    expected = program(tf, tf.constant(n))
    found = tf.function(program)(tf, tf.constant(n))
    for a, b in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
        np.testing.assert_array_equal(a, b)


def test_gradients_of_an_array_that_both_branches_write(tf):
    @tf.function
    def weighted(x):
        array = tf.TensorArray(tf.float32, size=4)
        for i in tf.range(4):
            if i % 2 == 0:
                array = array.write(i, x * 2.0)
            else:
                array = array.write(i, x * x)
        return tf.reduce_sum(array.stack() * [1.0, 10.0, 100.0, 1000.0])

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = weighted(x)
    assert float(y) == 6 * 101 + 9 * 1010
    assert float(tape.gradient(y, x)) == 2 * 101 + 6 * 1010


def test_gradients_of_an_array_first_written_in_nested_branches(tf):
    def weighted(x):
        array = tf.TensorArray(tf.float32, size=6)
        for i in tf.range(6):
            if i % 3 != 0:
                if i % 3 == 1:
                    array = array.write(i, x * 2.0)
                else:
                    array = array.write(i, x * x)
        return tf.reduce_sum(array.stack() * tf.range(1.0, 7.0))

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(weighted)(x)
    assert float(y) == 6 * (2 + 5) + 9 * (3 + 6)
    assert float(tape.gradient(y, x)) == 2 * (2 + 5) + 6 * (3 + 6)
