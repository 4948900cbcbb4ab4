"""docs/semantics.md, section A: making a tape; entering and leaving it."""

import pytest

from .helpers import same


@pytest.mark.parametrize(
    "args, kwargs, persistent, watches",
    [
        ((), {}, False, True),
        ((True,), {}, True, True),
        ((False, False), {}, False, False),
        ((True, False), {}, True, False),
        ((), {"persistent": True}, True, True),
        ((), {"watch_accessed_variables": False}, False, False),
        ((), {"watch_accessed_variables": False, "persistent": True}, True, False),
    ],
)
def test_A1_arguments(tf, args, kwargs, persistent, watches):
    v = tf.Variable(3.0)
    with tf.GradientTape(*args, **kwargs) as tape:
        y = v * v
    g = tape.gradient(y, v)
    if watches:
        same(g, 6.0)
    else:
        assert g is None
    if persistent:
        tape.gradient(y, v)
    else:
        with pytest.raises(RuntimeError):
            tape.gradient(y, v)


def test_A1_no_other_arguments(tf):
    with pytest.raises(TypeError):
        tf.GradientTape(True, True, True)
    with pytest.raises(TypeError):
        tf.GradientTape(name="tape")


def test_A2_autodiff_name_is_the_same_class(tf):
    assert tf.autodiff.GradientTape is tf.GradientTape
    assert isinstance(tf.GradientTape, type)


def test_A3_with_binds_the_tape_itself(tf):
    tape = tf.GradientTape()
    with tape as bound:
        pass
    assert bound is tape


def test_A4_operations_outside_the_block_are_not_recorded(tf):
    x = tf.constant(3.0)
    before = x * x
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        inside = x * x
    after = x * x
    assert tape.gradient(before, x) is None
    assert tape.gradient(after, x) is None
    assert tape.gradient(inside * 1.0, x) is None
    same(tape.gradient(inside, x), 6.0)


def test_A4_variables_too(tf):
    v = tf.Variable(3.0)
    before = v * v
    with tf.GradientTape(persistent=True) as tape:
        inside = v * v
    after = v * v
    assert tape.gradient([before, after], v) is None
    same(tape.gradient(inside, v), 6.0)


@pytest.mark.parametrize("persistent", [False, True])
def test_A5_reentering_goes_on_with_the_same_recording(tf, persistent):
    x = tf.constant(3.0)
    tape = tf.GradientTape(persistent=persistent)
    with tape:
        tape.watch(x)
        y = x * x
    between = x * y
    with tape:
        z = y * x
    same(tape.gradient([z, between], x), 27.0)


def test_A5_what_ran_between_the_blocks_is_not_recorded(tf):
    x = tf.constant(3.0)
    tape = tf.GradientTape()
    with tape:
        tape.watch(x)
    between = x * x
    with tape:
        z = between * x
    same(tape.gradient(z, x), 9.0)


def test_A6_entering_a_recording_tape_raises(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
        with pytest.raises(ValueError, match="record"):
            tape.__enter__()
        with pytest.raises(ValueError), tape:
            pytest.fail("entered twice")
        z = y * v
    same(tape.gradient(z, v), 27.0)


def test_A7_an_exception_is_not_swallowed_and_stops_the_recording(tf):
    v = tf.Variable(3.0)
    with pytest.raises(ZeroDivisionError), tf.GradientTape(persistent=True) as tape:
        y = v * v
        raise ZeroDivisionError
    later = y * v
    w = tf.Variable(1.0)
    w * 2.0
    same(tape.gradient(y, v), 6.0)
    assert tape.gradient(later, v) is None
    assert [u.ref() for u in tape.watched_variables()] == [v.ref()]


def test_A8_a_used_tape_starts_empty_when_entered_again(tf):
    x, old = tf.constant(3.0), tf.constant(5.0)
    tape = tf.GradientTape()
    with tape:
        tape.watch([x, old])
        y = x * old
    same(tape.gradient(y, x), 5.0)
    with tape:
        tape.watch(x)
        z = x * x + old * y
    gx, gold, gy = tape.gradient(z, [x, old, y])
    same(gx, 6.0)
    assert gold is None and gy is None
    with pytest.raises(RuntimeError):
        tape.gradient(z, x)


def test_A9_gradient_on_a_tape_never_entered_raises(tf):
    x = tf.constant(3.0)
    for persistent in False, True:
        with pytest.raises(RuntimeError):
            tf.GradientTape(persistent=persistent).gradient(x * x, x)
