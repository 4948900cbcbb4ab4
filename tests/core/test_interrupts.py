"""What is put back in a thread after an exception, and what blocks do that were half entered."""

from contextlib import contextmanager
from contextvars import ContextVar
from threading import Thread

import pytest
from interrupts import at_every_point

from gradtape._src.core import interrupts
from gradtape._src.core.recorder import Tape, listeners

number = ContextVar("number", default=0)


@pytest.fixture(autouse=True)
def kept(monkeypatch):
    monkeypatch.setattr(interrupts, "_kept", [*interrupts._kept])
    interrupts.keep_variable(number)


@contextmanager
def numbered(value):
    before = number.get()
    number.set(value)
    try:
        yield
    finally:
        number.set(before)


def test_without_an_error_nothing_is_put_back():
    assert interrupts.put_back_after_error(lambda x: number.set(x) and x, 3) == 3
    assert number.get() == 3
    number.set(0)


def test_after_an_error_all_is_as_before():
    tape = Tape()

    def fail():
        number.set(3)
        tape.start()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupts.put_back_after_error(fail)
    assert number.get() == 0 and not listeners()


def test_a_block_that_was_being_entered_is_closed_at_once():
    """Else its generator would go on when the exception is forgotten."""
    block = numbered(5)

    def fail():
        type(block).__enter__(_Interrupted(block))

    number.set(1)
    with pytest.raises(KeyboardInterrupt):
        interrupts.put_back_after_error(fail)
    assert block.gen.gi_frame is None  # it has ended
    assert number.get() == 1
    number.set(0)


class _Interrupted:
    """Stands for a block in whose `__enter__` an interrupt comes after the generator has begun."""

    def __init__(self, block):
        self.__dict__.update(vars(block))
        self.gen = _Generator(block.gen)


class _Generator:
    def __init__(self, gen):
        self._gen = gen
        self.close = gen.close

    def __next__(self):
        next(self._gen)
        raise KeyboardInterrupt


def test_an_interrupt_while_a_thread_is_started_stays_one():
    """Also where `Thread.start` waits with a lock, of which it would make a RuntimeError."""
    ran = []

    def step():
        interrupts.start(Thread(target=ran.append, args=[1], daemon=True))

    assert at_every_point(step, lambda: None, files=("core/interrupts.py", "threading.py")) > 1
    step()
    assert ran


def test_the_error_of_a_thread_that_cannot_start_is_raised():
    thread = Thread(target=lambda: None)
    interrupts.start(thread)
    with pytest.raises(RuntimeError, match="threads can only be started once"):
        interrupts.start(thread)
