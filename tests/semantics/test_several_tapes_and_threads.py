"""docs/semantics.md, section P: several tapes, threads."""

import threading

import pytest

from .helpers import grad, in_thread, in_threads, refs, same


def test_P1_two_tapes_record_separately(tf):
    x, v = tf.constant(3.0), tf.Variable(4.0)
    with tf.GradientTape() as one, tf.GradientTape() as two:
        one.watch(x)
        y = x * v
    gx, gv = two.gradient(y, [x, v])
    assert gx is None
    same(gv, 3.0)
    with pytest.raises(RuntimeError):
        two.gradient(y, v)
    gx, gv = one.gradient(y, [x, v])
    same(gx, 4.0)
    same(gv, 3.0)


def test_P2_tapes_may_close_in_any_order(tf):
    v = tf.Variable(3.0)
    one, two = tf.GradientTape(), tf.GradientTape()
    one.__enter__()
    two.__enter__()
    y = v * v
    one.__exit__(None, None, None)
    z = y * v
    two.__exit__(None, None, None)
    same(two.gradient(z, v), 27.0)
    assert one.gradient(z, v) is None


def test_P3_a_tape_records_only_its_own_thread(tf):
    x, v = tf.constant(3.0), tf.Variable(4.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        elsewhere = in_thread(lambda: x * v)
        assert tape.watched_variables() == ()
        here = x * v
    same(elsewhere, 12.0)
    assert tape.gradient(elsewhere, x) is None
    assert tape.gradient(elsewhere, v) is None
    same(tape.gradient(here, x), 4.0)


def test_P4_tapes_in_several_threads_at_once(tf):
    x, v = tf.constant(3.0), tf.Variable(4.0)
    n = 8
    barrier = threading.Barrier(n, timeout=30)

    def task(k):
        with tf.GradientTape() as tape:
            barrier.wait()
            tape.watch(x)
            y = v * 0.0
            for _ in range(100):
                y = y + float(k) * x * v
            barrier.wait()
        return tape.gradient(y, [x, v]), tape.watched_variables()

    for k, (grads, watched) in enumerate(in_threads([lambda k=k: task(k) for k in range(n)])):
        same(grads[0], 400.0 * k)
        same(grads[1], 300.0 * k)
        assert [u.ref() for u in watched] == [v.ref()]


def test_P4_one_thread_does_not_disturb_the_tape_of_another(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
        same(in_thread(grad, tf, lambda v: v**3, v), 27.0)
        z = y * v
    same(tape.gradient(z, v), 27.0)


def test_P5_gradient_may_be_called_in_another_thread(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    same(in_thread(tape.gradient, y, v), 6.0)
    with pytest.raises(RuntimeError):
        tape.gradient(y, v)


def test_a_tape_made_here_and_used_there(tf):
    v, here = tf.Variable(3.0), tf.Variable(1.0)
    tape = tf.GradientTape()

    def there():
        with tape:
            return v * v

    y = in_thread(there)
    here * 2.0
    assert refs(tape.watched_variables()) == [v.ref()]
    same(tape.gradient(y, v), 6.0)


def test_entering_a_tape_that_records_in_another_thread(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
        with pytest.raises(ValueError):
            in_thread(tape.__enter__)
        z = y * v
    same(tape.gradient(z, v), 27.0)


def test_watching_from_another_thread_does_no_harm(tf):
    x, v = tf.constant(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        in_thread(tape.watch, x)
        y = x * v
    gx, gv = tape.gradient(y, [x, v])
    assert gx is None or float(gx) == 4.0  # TensorFlow ignores it: no tape is active over there
    same(gv, 3.0)


def test_asking_a_recording_persistent_tape_from_another_thread(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
        with tape.stop_recording():
            same(in_thread(tape.gradient, y, v), 6.0)
        z = y * v
    same(tape.gradient(z, v), 27.0)


def test_a_thread_that_dies_inside_its_tape(tf):
    v = tf.Variable(3.0)
    tapes = []

    def there():
        with tf.GradientTape() as tape:
            tapes.append((tape, v * v))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        in_thread(there)
    tape, y = tapes[0]
    same(tape.gradient(y, v), 6.0)
    same(grad(tf, lambda v: v * v, v), 6.0)
