"""Interrupts of tapes: none is left recording, and what they give next is right."""

import numpy as np
import pytest
from interrupts import at_every_point

from gradtape._src.core.recorder import listeners

pytestmark = pytest.mark.gradtape_only


def forget_tapes(tf):
    """What an interrupt at the first instruction of `__exit__` leaves goes with the next tapes."""
    for _ in range(2):
        with tf.GradientTape():
            pass
    assert not listeners()


def check_gradient(tf, x):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x * x)
    np.testing.assert_array_equal(tape.gradient(y, x), 2 * x.numpy())
    forget_tapes(tf)


def gradient(tf, x):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x * x * x)
    tape.gradient(y, x)


def second_order(tf, x):
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(x * x * x)
        g = inner.gradient(y, x)
    outer.gradient(g, x)
    outer.jacobian(g, x)


def stopped(tf, x):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x * x)
        with tape.stop_recording():
            tf.reduce_sum(x)
        y *= 2.0
    tape.gradient(y, x)


def budget(tf, x):
    with tf.GradientTape(memory_budget=8) as tape:
        y = tf.reduce_sum(tf.sin(tf.exp(x)) * x)
    tape.gradient(y, x)


def forward(tf, x):
    with tf.autodiff.ForwardAccumulator(x, tf.ones(3)) as acc:
        y = tf.reduce_prod(tf.sin(x) * x)
    acc.jvp(y)
    with tf.autodiff.BatchForwardAccumulator(x, tf.eye(3)) as batch:
        y = tf.reduce_sum(x * x)
    batch.jvp(y)


def custom(tf, x):
    @tf.custom_gradient
    def cube(t):
        return t * t * t, lambda g: g * 3.0 * t * t

    @tf.recompute_grad
    def noisy(t):
        return t * tf.random.normal([3])

    with tf.GradientTape() as tape:
        y = tf.reduce_sum(cube(noisy(x)))
    tape.gradient(y, x)


def mapped(tf, x):
    tf.vectorized_map(lambda t: t * tf.random.normal([2]), x)
    with tf.GradientTape() as tape:
        y = x * x
    tape.batch_jacobian(tf.reshape(y, [3, 1]), tf.reshape(x, [3, 1]))


@pytest.mark.parametrize("step", [gradient, second_order, stopped, budget, forward, custom, mapped])
def test_an_interrupt_at_every_point(tf, step):
    x = tf.Variable([1.0, 2.0, 3.0])

    def check():
        check_gradient(tf, x)
        assert tf.random.normal([2]).shape == [2]  # drawn for no batch

    assert at_every_point(lambda: step(tf, x), check) > 12


def test_a_tape_in_use_is_left_alone(tf):
    """An interrupt inside the block of a tape, caught there: it records on, and alone."""
    x = tf.Variable([1.0, 2.0, 3.0])
    results = []

    def check():
        assert [type(each) for each in listeners()] == [tf.GradientTape]
        results.append(x * x)

    def step():
        y = tf.sin(x) * x
        tf.reduce_sum(y)

    with tf.GradientTape() as tape:
        at_every_point(step, check)
        y = tf.add_n(results)
    np.testing.assert_array_equal(tape.gradient(y, x), 2 * len(results) * x.numpy())


def test_a_persistent_tape_is_asked_again(tf):
    x = tf.Variable([1.0, 2.0, 3.0])
    for options in ({}, {"memory_budget": 8}):
        with tf.GradientTape(persistent=True, **options) as tape:
            y = tf.reduce_sum(tf.exp(x) * x)
        expected = tape.gradient(y, x).numpy()

        def check(tape=tape, y=y, expected=expected):
            np.testing.assert_array_equal(tape.gradient(y, x), expected)

        assert at_every_point(lambda tape=tape, y=y: tape.gradient(y, x), check) > 12


def test_a_tape_that_an_interrupt_kept_out_can_be_entered_again(tf):
    """The same tape, made outside of the step."""
    x = tf.Variable([1.0, 2.0, 3.0])
    tape = None

    def begin():
        nonlocal tape
        tape = tf.GradientTape(persistent=True)

    def step():
        with tape:
            tf.reduce_sum(x * x)

    def check():
        nonlocal tape
        tape.__exit__(None, None, None)  # if it has just begun, this is what was interrupted
        with tape:
            y = tf.reduce_sum(x * x)
        np.testing.assert_array_equal(tape.gradient(y, x), 2 * x.numpy())
        assert not listeners()

    assert at_every_point(step, check, begin) > 5


def test_draws_of_what_is_computed_again_are_not_repeated_after_an_interrupt(tf):
    """The common sequence goes on as if there had been no gradient."""

    @tf.recompute_grad
    def noisy(t):
        return t * tf.random.normal([])

    x = tf.Variable(1.0)
    tape, y = None, None

    def begin():
        nonlocal tape, y
        tf.random.set_seed(7)
        with tf.GradientTape() as tape:
            y = noisy(x)

    begin()
    expected = float(tf.random.normal([]))

    def check():
        assert float(tf.random.normal([])) == expected

    assert at_every_point(lambda: tape.gradient(y, x), check, begin) > 12


def test_a_draw_was_made_or_was_not(tf):
    """Of the common sequence, of one with a seed, and of a Generator."""
    generator = tf.random.Generator.from_seed(1)
    draws = {
        "common": lambda: tf.random.normal([2]),
        "seeded": lambda: tf.random.uniform([2], seed=5),
        "generator": lambda: generator.normal([2]),
    }

    def begin():
        tf.random.set_seed(1)
        generator.reset_from_seed(1)

    for draw in draws.values():
        begin()
        expected = [draw().numpy().tolist() for _ in range(2)]

        def check(draw=draw, expected=expected):
            assert draw().numpy().tolist() in expected

        assert at_every_point(draw, check, begin) > 5


def test_no_name_scope_is_left(tf):
    def step():
        with tf.name_scope("a"), tf.name_scope("b"):
            assert tf.Variable(1.0).name == "a/b/Variable:0"

    def check():
        assert tf.Variable(1.0).name == "Variable:0"
        with tf.name_scope("c"):
            assert tf.Variable(1.0).name == "c/Variable:0"

    assert at_every_point(step, check) > 5
