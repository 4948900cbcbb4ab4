"""Interrupts of iterators: they go on, no element is lost, and no thread is left."""

import os
import signal
import sys
import threading

import numpy as np
import pytest
from interrupts import Interrupt, at_every_point

pytestmark = pytest.mark.gradtape_only


def elements(tf, name):
    numbers = tf.data.Dataset.from_tensor_slices(np.arange(10))
    return {
        "rows": lambda: numbers,
        "map": lambda: numbers.map(lambda x: x * 2),
        "shuffle": lambda: numbers.shuffle(4, seed=1),
        "shuffle of results": lambda: numbers.map(lambda x: x + 1).shuffle(4, seed=1),
        "batch": lambda: numbers.shuffle(4, seed=1).map(lambda x: x + 1).batch(3).repeat(2),
        "filter": lambda: numbers.filter(lambda x: x % 2 == 0).take(4),
        "interleave": lambda: numbers.interleave(
            lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2
        ),
        "generator": lambda: tf.data.Dataset.from_generator(
            lambda: iter(range(10)), output_signature=tf.TensorSpec([], tf.int64)
        ).batch(2),
        "prefetch": lambda: numbers.map(lambda x: x + 1).batch(3).prefetch(2),
        "zip": lambda: tf.data.Dataset.zip((numbers.shuffle(3, seed=2), numbers.skip(1))),
    }[name]()


NAMES = "rows", "map", "shuffle", "shuffle of results", "batch", "filter", "interleave", "generator"


def values(iterator):
    return [np.asarray(x).tolist() for x in iterator]


@pytest.mark.parametrize("name", [*NAMES, "prefetch", "zip"])
def test_an_interrupt_at_every_point_of_a_pass(tf, name):
    """Whatever it interrupts, the loop that goes on has all elements, in their order."""
    dataset = elements(tf, name)
    taken, rest = [], None

    def begin():
        nonlocal taken, rest
        tf.random.set_seed(3)
        taken, rest = [], iter(elements(tf, name))

    def step():
        for x in rest:  # (`for` takes and names an element with no moment in between)
            taken.append(x)

    begin()
    expected = values(rest)

    def check():
        step()
        assert values(taken) == expected

    assert at_every_point(step, check, begin) > 3
    assert len(list(dataset)) > 0


def test_an_interrupted_restoration_of_an_iterator_changes_nothing(tf):
    dataset = tf.data.Dataset.range(10).shuffle(5, seed=1).batch(2)
    iterator = iter(dataset)
    start = iterator.state
    next(iterator), next(iterator)
    place = iterator.state.numpy()

    def check():
        state = iterator.state.numpy()
        assert state.tolist() in ([0, *start.numpy()[1:]], place.tolist())
        iterator.reset(place)
        assert iterator.state.numpy().tolist() == place.tolist()

    assert at_every_point(lambda: iterator.reset(start), check) > 3


def test_in_a_function(tf):
    """An element that a call has taken is put back, unless the program had begun to run."""
    iterator, f = None, tf.function(lambda it: next(it) * 10 + next(it))
    f(iter(tf.data.Dataset.range(4)))

    def begin():
        nonlocal iterator
        iterator = iter(tf.data.Dataset.range(6))

    def check():
        assert int(f(iterator)) in (1, 23)

    assert at_every_point(lambda: f(iterator), check, begin) > 12


def test_tapes_hear_on(tf):
    """An interrupt while an element is made, caught inside the block of a tape."""
    x = tf.Variable(2.0)
    dataset = tf.data.Dataset.range(3).map(lambda n: tf.cast(n, tf.float32) * 2.0)

    def check():
        with tf.GradientTape() as tape:
            y = x * x
        assert float(tape.gradient(y, x)) == 4.0

    def step():
        with tf.GradientTape() as tape:
            y = x * x
            for _ in dataset:
                y = y * x
        assert float(tape.gradient(y, x)) == 5 * 2.0**4

    assert at_every_point(step, check) > 12


def prefetching():
    return [t for t in threading.enumerate() if t.name == "gradtape-prefetch"]


def test_no_thread_is_left(tf):
    numbers = tf.data.Dataset.range(6).map(lambda x: x + 1)
    others = prefetching()

    def step():
        assert sum(int(x) for x in numbers.prefetch(2)) == 21

    def check():
        for thread in prefetching():
            if thread not in others:
                thread.join(60)
        assert prefetching() == others

    assert at_every_point(step, check, stride=5) > 3


@pytest.mark.skipif(sys.platform == "win32", reason="no signals to a process")
def test_a_signal_while_a_thread_makes_an_element(tf):
    """The wait for it ends; the pass goes on where it was."""

    def handler(*_):
        if not go_on.is_set():
            raise Interrupt

    go_on = threading.Event()
    ends = []

    def make(x):
        for _ in range(10 if int(x) == 3 else 0):
            if go_on.is_set():
                break
            os.kill(os.getpid(), signal.SIGUSR1)
            go_on.wait(10)  # then once more, if it was lost: no exception leaves a finalizer
        return x

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        rest = iter(tf.data.Dataset.range(6).map(make).prefetch(1))
        taken = []
        try:
            taken.extend(rest)  # (what it has taken, C keeps)
        except Interrupt:
            go_on.set()
            ends.append("interrupt")
        taken.extend(rest)
    finally:
        go_on.set()
        signal.signal(signal.SIGUSR1, before)
    assert ends == ["interrupt"]
    assert values(taken) == [0, 1, 2, 3, 4, 5]
