"""GradientTape: recording, and one way in which derivatives are taken from the records."""

import ast
import gc
import inspect
import textwrap
import weakref

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.recorder import Record, recorders

DERIVATIVES = [
    "gradient",
    "jacobian",
    "batch_jacobian",
    "per_example_gradient",
    "sparse_jacobian",
    "jacobian_structure",
]


def square(persistent=False, **options):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent, **options) as tape:
        tape.watch(x)
        y = tf.exp(x) * x
    return tape, y, x


@pytest.mark.parametrize("budget", [None, 0, "1MB"])
def test_a_tape_can_be_read(budget):
    tape, y, x = square(memory_budget=budget)
    records = list(tape)
    assert [type(r) for r in records] == [Record, Record]
    assert [r.op.name for r in records] == ["exp", "multiply"]
    assert records[0].inputs == ((0, x._key),) and records[-1].output_keys == (y._key,)
    assert len(list(tape)) == 2  # reading uses nothing up


@pytest.mark.parametrize("budget", [None, 0])
def test_what_it_says_of_itself(budget):
    tape = tf.GradientTape(memory_budget=budget)
    assert repr(tape) == "<GradientTape: not recording, 0 records>"
    x = tf.constant(1.0)
    with tape:
        tape.watch(x)
        y = tf.exp(x)
        assert repr(tape) == "<GradientTape: recording, 1 records>"
    tape.gradient(y, x)
    assert repr(tape) == "<GradientTape: used, 0 records>"
    assert "persistent" in repr(tf.GradientTape(persistent=True))


@pytest.mark.parametrize("budget", [None, 0])
def test_a_used_tape_holds_nothing_and_can_be_entered_again(budget):
    tape, y, x = square(memory_budget=budget)
    tape.gradient(y, x)
    assert list(tape) == []
    with tape:
        assert tape.watched_variables() == ()
        tape.watch(x)
        y = 3.0 * x
    assert tape.gradient(y, x).numpy().tolist() == [3, 3]


def test_a_second_block_goes_on_where_the_first_ended():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with tape:
        z = y * x
    assert float(tape.gradient(z, x)) == 12


@pytest.mark.parametrize("budget", [None, 0])
def test_reset_forgets_and_goes_on(budget):
    x = tf.constant(2.0)
    with tf.GradientTape(memory_budget=budget) as tape:
        tape.watch(x)
        before = x * x
        tape.reset()
        assert list(tape) == []
        tape.watch(x)
        after = before * x
    assert float(tape.gradient(after, x)) == 4


@pytest.mark.parametrize("budget", [None, 0])
def test_stop_recording_even_if_the_block_raises(budget):
    x = tf.constant(2.0)
    with tf.GradientTape(memory_budget=budget) as tape:
        tape.watch(x)
        with pytest.raises(KeyError), tape.stop_recording():
            assert list(recorders()) == []
            _ = x * x
            raise KeyError
        y = 3.0 * x
    assert len(list(tape)) == 1 and float(tape.gradient(y, x)) == 3


def test_an_exception_inside_the_block_ends_the_recording():
    with pytest.raises(KeyError), tf.GradientTape():
        raise KeyError
    assert list(recorders()) == []


def test_variables_are_listed_in_the_order_of_their_making():
    a, b, c = (tf.Variable(float(i)) for i in range(3))
    with tf.GradientTape() as tape:
        _ = c + a
        tape.watch(b)
    assert [v.ref() for v in tape.watched_variables()] == [a.ref(), b.ref(), c.ref()]


def test_accessed_variables_are_watched_only_if_asked():
    v = tf.Variable(2.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = v * v
    assert tape.watched_variables() == () and tape.gradient(y, v) is None


def test_a_tape_that_is_not_persistent_lets_go_of_each_record_as_it_is_used():
    alive = []

    @tf.custom_gradient
    def seen(x):
        def grad(g):
            gc.collect()
            alive.append(later() is not None)
            return g

        return tf.identity(x), grad

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = seen(x)
        big = tf.constant(np.ones(1000, np.float32))
        later = weakref.ref(big)
        z = tf.reduce_sum(y * big)
    del big
    tape.gradient(z, x)
    assert alive == [False]


def test_no_cycle_keeps_a_tape_alive():
    gc.disable()
    try:
        for options in ({}, {"memory_budget": 0}, {"persistent": True}):
            tape, y, x = square(**options)
            tape.gradient(y, x)
            died = weakref.ref(tape)
            del tape
            assert died() is None, options
    finally:
        gc.enable()


def test_structure_does_not_use_the_tape_up():
    tape, y, x = square()
    tape.jacobian_structure(y, x)
    assert tape.sparse_jacobian(y, x).shape == (2, 2)
    with pytest.raises(RuntimeError, match="one set of gradients"):
        tape.jacobian_structure(y, x)


@pytest.mark.parametrize("name", DERIVATIVES)
def test_a_derivative_of_a_used_tape_is_refused(name):
    tape, y, x = square()
    tape.gradient(y, x)
    losses = tf.ones([2])
    target = tf.ones([2, 2]) if name == "batch_jacobian" else losses
    source = tf.ones([2, 2]) if name == "batch_jacobian" else x
    with pytest.raises(RuntimeError, match="can only be used to compute one set of gradients"):
        getattr(tape, name)(target, source)


@pytest.mark.parametrize("name", DERIVATIVES)
def test_each_derivative_is_one_call_into_its_module(name):
    method = ast.parse(textwrap.dedent(inspect.getsource(getattr(tf.GradientTape, name))))
    statements = [
        s for s in method.body[0].body if not isinstance(s, (ast.ImportFrom, ast.Expr, ast.Assign))
    ]
    (last,) = statements
    if isinstance(last, ast.Try):  # around the whole, for its handler
        last = last.body[-1]
    assert last.value.func.attr == "_derive"


def test_inside_its_own_block_a_persistent_tape_records_its_gradient():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * x
        first = tape.gradient(y, x)
    assert float(tape.gradient(first, x)) == 18


def test_inside_its_own_block_another_one_stops_recording():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        assert float(tape.gradient(y, x)) == 6
        assert list(recorders()) == []


def test_a_tape_whose_block_was_left_without_its_exit_listens_no_more(tf):
    """An interrupt may come at the first instruction of `__exit__`."""
    from gradtape._src.core.recorder import recorders

    x = tf.constant(2.0)
    tf.GradientTape().__enter__()
    with tf.GradientTape(), tf.GradientTape() as tape:  # the first is known to its `with` only
        assert len(recorders()) == 2
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x).numpy() == 4.0
    assert not recorders()
