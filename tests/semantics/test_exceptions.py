"""An exception that passes through a tape leaves everything in order (A7 and beyond)."""

import pytest

from .helpers import refs, same


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_exception_leaves_no_tape_active(tf, error):
    v, later = tf.Variable(3.0), tf.Variable(1.0)
    outer, inner = tf.GradientTape(), tf.GradientTape(persistent=True)
    with pytest.raises(error), outer, inner:
        y = v * v
        raise error
    after = later * y
    for tape in outer, inner:
        assert refs(tape.watched_variables()) == [v.ref()]
        gv, glater = tape.gradient([y, after], [v, later])
        same(gv, 6.0)
        assert glater is None


def test_an_exception_under_stop_recording_resumes_the_recording(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        with pytest.raises(ZeroDivisionError), tape.stop_recording():
            raise ZeroDivisionError
        y = v * v
    v * 2.0
    same(tape.gradient(y, v), 6.0)


def test_an_exception_through_stop_recording_and_tape(tf):
    v, later = tf.Variable(3.0), tf.Variable(1.0)
    with pytest.raises(ZeroDivisionError), tf.GradientTape() as tape:
        y = v * v
        with tape.stop_recording():
            raise ZeroDivisionError
    later * 2.0
    assert refs(tape.watched_variables()) == [v.ref()]
    same(tape.gradient(y, v), 6.0)


def test_an_exception_inside_gradient_leaves_outer_tapes_recording(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = v * v
        with pytest.raises(tf.errors.InvalidArgumentError):
            inner.gradient(y, v, output_gradients=tf.ones(3))
        z = y * v
    same(outer.gradient(z, v), [3.0, 12.0])


def test_an_exception_inside_gradient_leaves_a_persistent_tape_usable(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
        with tape.stop_recording(), pytest.raises(tf.errors.InvalidArgumentError):
            tape.gradient(y, v, output_gradients=tf.ones(3))
        z = y * v
    same(tape.gradient(y, v), [2.0, 4.0])
    same(tape.gradient(z, v), [3.0, 12.0])


def test_a_generator_closed_early_closes_its_tape(tf):
    v, later = tf.Variable(3.0), tf.Variable(1.0)

    def steps():
        with tf.GradientTape() as tape:
            while True:
                yield tape, v * v

    generator = steps()
    tape, y = next(generator)
    generator.close()
    later * 2.0
    assert refs(tape.watched_variables()) == [v.ref()]
    same(tape.gradient(y, v), 6.0)
