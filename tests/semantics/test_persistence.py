"""docs/semantics.md, section D: persistence and release."""

import gc
import weakref

import pytest

from .helpers import on_gradtape, same


def is_alive(tf, reference):
    """Whether the object is still there; gradtape frees it without the collector."""
    if not on_gradtape(tf):
        gc.collect()
    return reference() is not None


def recorded(tf, persistent):
    """A tape with an intermediate exp(x) that only the tape holds."""
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(x)
        middle = tf.exp(x)
        y = middle * middle
    return tape, x, y, weakref.ref(middle)


def test_D1_the_second_gradient_of_a_plain_tape_raises(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    same(tape.gradient(y, v), 6.0)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="non-persistent"):
            tape.gradient(y, v)


def test_D2_a_persistent_tape_may_be_asked_repeatedly(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
        z = y * v
    for _ in range(3):
        same(tape.gradient(y, v), 6.0)
        same(tape.gradient(z, v), 27.0)
        same(tape.gradient(z, y), 3.0)


def test_D3_jacobian_is_the_one_call_of_a_plain_tape(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
    tape.jacobian(y, v)
    for again in (tape.jacobian, tape.gradient):
        with pytest.raises(RuntimeError, match="non-persistent"):
            again(y, v)


def test_D3_batch_jacobian_is_the_one_call_of_a_plain_tape(tf):
    v = tf.Variable([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        y = v * v
    tape.batch_jacobian(y, v)
    for again in (tape.batch_jacobian, tape.jacobian, tape.gradient):
        with pytest.raises(RuntimeError, match="non-persistent"):
            again(y, v)


def test_D3_after_gradient_there_is_no_jacobian(tf):
    v = tf.Variable([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        y = v * v
    tape.gradient(y, v)
    for again in (tape.jacobian, tape.batch_jacobian):
        with pytest.raises(RuntimeError, match="non-persistent"):
            again(y, v)


def test_D3_a_persistent_tape_may_be_asked_repeatedly(tf):
    v = tf.Variable([[1.0, 2.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
    for _ in range(2):
        same(tape.jacobian(y, v), [[[[2.0, 0.0]], [[0.0, 4.0]]]])
        same(tape.batch_jacobian(y, v), [[[2.0, 0.0], [0.0, 4.0]]])
        same(tape.gradient(y, v), [[2.0, 4.0]])


def test_D4_a_plain_tape_holds_intermediates_until_gradient(tf):
    tape, x, y, middle = recorded(tf, persistent=False)
    assert is_alive(tf, middle)
    tape.gradient(y, x)
    assert not is_alive(tf, middle)


def test_D5_a_persistent_tape_holds_intermediates_until_deleted(tf):
    tape, x, y, middle = recorded(tf, persistent=True)
    tape.gradient(y, x)
    assert is_alive(tf, middle)
    tape.gradient(y, x)
    assert is_alive(tf, middle)
    del tape
    assert not is_alive(tf, middle)


def test_D6_a_refused_call_does_not_use_up_the_tape(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    with pytest.raises(TypeError):
        tape.gradient(None, v)
    same(tape.gradient(y, v), 6.0)
