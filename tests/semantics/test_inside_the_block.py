"""docs/semantics.md, section E: gradient() inside the block, stop_recording, reset."""

import pytest

from .helpers import logged, same


def refs(variables):
    return [v.ref() for v in variables]


@pytest.mark.parametrize("persistent", [False, True])
def test_E1_gradient_may_be_called_inside_the_block(tf, persistent):
    v = tf.Variable(3.0)
    with tf.GradientTape(persistent=persistent) as tape:
        y = v * v
        g = tape.gradient(y, v)
    same(g, 6.0)


def test_E2_on_a_plain_tape_it_ends_the_recording(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
        tape.gradient(y, v)
        z = v * y
        with pytest.raises(RuntimeError):
            tape.gradient(z, v)
    with pytest.raises(RuntimeError):
        tape.gradient(z, v)


def test_E3_on_a_persistent_tape_it_is_recorded(tf):
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x**4
        first = tape.gradient(y, x)
        second = tape.gradient(first, x)
    same(first, 32.0)
    same(second, 48.0)
    same(tape.gradient(first, x), 48.0)
    same(tape.gradient(second, x), 48.0)


def test_E4_after_the_block_it_is_not_recorded(tf):
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x**4
    first = tape.gradient(y, x)
    same(first, 32.0)
    assert tape.gradient(first, x) is None


def test_E5_inside_a_persistent_block_the_first_call_logs_a_warning(tf):
    messages = logged(
        tf,
        """
        v = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            tape.gradient(v * v, v)
        with tf.GradientTape(persistent=True) as tape:
            y = v * v
            with tape.stop_recording():
                tape.gradient(y, v)
        tape.gradient(y, v)
        assert not messages, messages
        with tf.GradientTape(persistent=True) as tape:
            y = v * v
            for _ in range(3):
                tape.gradient(y, v)
        """,
    )
    assert len(messages) == 1
    level, text = messages[0]
    assert level == "WARNING"
    assert "persistent" in text and "less efficient" in text


def test_E6_stop_recording_pauses(tf):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            paused = x * x
        z = y * paused * x
    assert tape.gradient(paused, x) is None
    same(tape.gradient(y, x), 6.0)
    same(tape.gradient(z, x), 9.0 * 27.0)


def test_E7_variables_read_while_stopped_are_not_watched(tf):
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        v * 1.0
        with tape.stop_recording():
            w * 1.0
    assert refs(tape.watched_variables()) == [v.ref()]


def test_E8_stopping_an_inner_tape_leaves_outer_ones_recording(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        with inner.stop_recording():
            y = v * v
        z = y * v
    same(outer.gradient(z, v), 27.0)
    same(inner.gradient(z, v), 9.0)


def test_E8_stopping_an_outer_tape_leaves_inner_ones_recording(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        with outer.stop_recording():
            y = v * v
        z = y * v
    same(inner.gradient(z, v), 27.0)
    same(outer.gradient(z, v), 9.0)


def test_E9_stop_recording_needs_a_recording_tape(tf):
    with pytest.raises(RuntimeError), tf.GradientTape().stop_recording():
        pytest.fail("never entered")
    with tf.GradientTape() as tape:
        pass
    with pytest.raises(ValueError), tape.stop_recording():
        pytest.fail("has been left")


@pytest.mark.parametrize("persistent", [False, True])
def test_E10_gradient_under_stop_recording(tf, persistent):
    v = tf.Variable(3.0)
    with tf.GradientTape(persistent=persistent) as tape:
        y = v * v
        with tape.stop_recording():
            first = tape.gradient(y, v)
        z = v * first
    same(first, 6.0)
    if persistent:
        same(tape.gradient(z, v), 6.0)
        assert tape.gradient(first, v) is None


def test_E11_reset_drops_recording_and_watches(tf):
    x, v = tf.constant(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * v
        tape.reset()
        assert tape.watched_variables() == ()
        z = x * v + y
    assert refs(tape.watched_variables()) == [v.ref()]
    gx, gv, gy = tape.gradient(z, [x, v, y])
    assert gx is None and gy is None
    same(gv, 3.0)


def test_E11_later_watches_count(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        tape.reset()
        tape.watch(x)
        z = x * y
    same(tape.gradient(z, x), 9.0)


def test_E12_reset_needs_a_recording_tape(tf):
    with pytest.raises(ValueError):
        tf.GradientTape().reset()
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
        with tape.stop_recording(), pytest.raises(ValueError):
            tape.reset()
    with pytest.raises(ValueError):
        tape.reset()
    same(tape.gradient(y, v), 6.0)
