"""Derivatives that are taken inside of a branch or a loop, or of a batch of seeds, differentiated.

They need what control flow computed on the way: so does the derivative of a Jacobian of a loop.
"""

import numpy as np
import pytest

pytestmark = pytest.mark.gradtape_only


def looped(tf, x, rounds=2):
    y = x * 0.5
    for _ in tf.range(rounds):
        y = tf.tanh(y * x)
    return y


def jacobian_of_a_loop(tf, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = looped(tf, x)
    return tf.reduce_sum(tape.jacobian(y, x) ** 2, 0)


def jacobian_of_a_branch(tf, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        if x[0] > 0.0:
            y = tf.sin(x) * x[0]
        else:
            y = x
    return tf.reduce_sum(tape.jacobian(y, x) ** 2, 0)


def jacobian_of_scan(tf, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.scan(lambda state, row: tf.tanh(state * row + x[0]), x)
    return tf.reduce_sum(tape.jacobian(y, x) ** 2, 0)


def batch_jacobian_of_a_loop(tf, x):
    rows = tf.stack([x, x * 2.0])
    with tf.GradientTape() as tape:
        tape.watch(rows)
        y = looped(tf, rows)
    return tf.reduce_sum(tape.batch_jacobian(y, rows) ** 2, [0, 1])


def hessian_of_a_loop(tf, x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = looped(tf, x)
        g = tape.gradient(y, x)
    return tf.reduce_sum(outer.jacobian(g, x) ** 2, 0)


def gradient_in_a_branch(tf, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = looped(tf, x)
    if x[0] > 0.0:
        g = tape.gradient(y, x) ** 2
    else:
        g = x
    return g


def gradients_in_a_loop(tf, x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = looped(tf, x)
    total = x
    for _ in tf.range(2):
        total = total + tape.gradient(y, x, total) ** 2
    return total


def jacobian_of_a_call(tf, x):
    function = tf.function(lambda x: looped(tf, x))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x) * x
    return tf.reduce_sum(tape.jacobian(y, x) ** 2, 0)


def tangent_of_a_jacobian(tf, x):
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 2.0], tf.float64)) as accumulator:
        y = jacobian_of_a_loop(tf, x)
    return accumulator.jvp(y)


PROGRAMS = [
    jacobian_of_a_loop,
    jacobian_of_a_branch,
    jacobian_of_scan,
    batch_jacobian_of_a_loop,
    hessian_of_a_loop,
    gradient_in_a_branch,
    gradients_in_a_loop,
    jacobian_of_a_call,
    tangent_of_a_jacobian,
]


def first(tf, function, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(function(x) * tf.constant([1.0, 2.0], tf.float64))
    return tape.gradient(y, x)


def second(tf, function, x):
    return first(tf, lambda x: first(tf, function, x), x)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_eagerly(tf, program):
    x = tf.constant([0.4, 0.7], tf.float64)

    def f(x):
        return program(tf, x)

    compiled = tf.function(f)
    np.testing.assert_allclose(compiled(x), f(x), rtol=1e-10)
    for derivative in (first, second):
        expected = derivative(tf, f, x)
        inside = tf.function(lambda x, d=derivative: d(tf, f, x))
        np.testing.assert_allclose(inside(x), expected, rtol=1e-10)
        np.testing.assert_allclose(derivative(tf, compiled, x), expected, rtol=1e-10)
