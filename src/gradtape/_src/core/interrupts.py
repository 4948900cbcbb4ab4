"""What blocks change in a thread, put back when an interrupt comes at the wrong moment.

Python runs the handler of a signal when a function is entered, after a call of a function of C, and
when a loop begins another round. If the handler raises, at the first instruction of an `__exit__`
say, a `with` does not put back what it has changed. A `try` in a function does: so whatever runs
with many blocks around it (a trace, a derivative of one) is called by `put_back_after_error`.
"""

from __future__ import annotations

from _thread import start_new_thread
from collections.abc import Callable
from contextlib import contextmanager
from contextvars import ContextVar
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Any, TypeVar

R = TypeVar("R")

_kept: list[tuple[Callable[[], Any], Callable[[Any], Any]]] = []


def keep(read: Callable[[], Any], put_back: Callable[[Any], Any]) -> None:
    """Have what `read()` gives put back by `put_back(value)`."""
    _kept.append((read, put_back))


def keep_variable(variable: ContextVar[Any]) -> None:
    """The same of a variable of this thread that blocks set."""
    keep(variable.get, variable.set)


def put_back_after_error(function: Callable[..., R], *args: Any) -> R:
    """`function(*args)`; if an exception ends it, the state of this thread is that of before."""
    before = [(put_back, read()) for read, put_back in _kept]
    try:
        return function(*args)
    except BaseException as error:
        close_blocks(error.__traceback__)
        for put_back, value in before:
            put_back(value)
        raise


_block = type(contextmanager(lambda: iter(()))())
_ENTRANCES = {_block.__enter__.__code__, _block.__exit__.__code__}


def close_blocks(traceback: TracebackType | None) -> None:
    """End the blocks, made by @contextmanager, that were being entered or left.

    Their generators would end when the exception is forgotten, and put things back then.
    """
    frames = []
    while traceback is not None:  # (the module `traceback` takes 1 ms to import)
        if traceback.tb_frame.f_code in _ENTRANCES:
            frames.append(traceback.tb_frame)
        traceback = traceback.tb_next
    for frame in reversed(frames):
        frame.f_locals["self"].gen.close()


def start(thread: Thread) -> None:
    """Start a thread; an interrupt meanwhile stays an interrupt.

    `Thread.start` waits for the thread in Python, and its block of a lock makes "RuntimeError:
    release unlocked lock" of an interrupt that comes while the lock is not held; or it lets go of
    the lock that the new thread holds, which then dies. So a thread of C starts it, where no
    handler of a signal is run, and C waits for that.
    """
    started: SimpleQueue[BaseException | None] = SimpleQueue()

    def begin() -> None:
        try:
            thread.start()
        except BaseException as error:  # there can be no more threads
            started.put(error)
        else:
            started.put(None)

    start_new_thread(begin, ())
    error = started.get()
    if error is not None:
        raise error
