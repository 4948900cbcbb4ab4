"""Prefetching: elements made ahead by a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from queue import SimpleQueue
from threading import Thread
from time import perf_counter
from typing import Any

from ...core.interrupts import start
from .seeds import here

_QUICK = 1e-3
_PATIENCE = 0.1
"""Elements that take _QUICK seconds each are made where they are asked for; _PATIENCE is how much
longer they may take, in all, until a thread makes them."""


def prefetch_if_slow(make: Callable[[], Iterator[Any]], ahead: int) -> Iterator[Any]:
    """The elements of `make()`, which a thread makes ahead if they turn out to take long.

    A thread that makes quick ones does harm: it and the program wait for each other's turn in
    Python. Keras' batches of 32 images take 20 µs, and with a thread a step of `fit` took 860 µs
    in place of 210, on two busy cores.
    """
    elements = make()
    yield from islice(elements, 1)  # this one may have filled a buffer
    left = _PATIENCE
    while left > 0:
        start = perf_counter()
        try:
            element = next(elements)
        except StopIteration:
            return
        left = min(_PATIENCE, left + _QUICK - (perf_counter() - start))
        yield element
    yield from prefetch(lambda: elements, ahead)


def prefetch(make: Callable[[], Iterator[Any]], ahead: int) -> Iterator[Any]:
    """The elements of `make()`, up to `ahead` of them made by a thread before they are asked for.

    What the thread raises is raised here, in its place. The thread ends with the elements, or
    once this iterator is closed or forgotten.
    """
    producer = _Producer(make, ahead)
    try:
        start(producer)
        while True:
            element, error = producer.results.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            producer.permits.put(None)
            yield element
    finally:
        producer.wanted = False  # (here, not in a method: an interrupt could come at its beginning)
        producer.permits.put(None)


class _Producer(Thread):
    """Makes an element for each permit.

    The queues are those that may be used at any moment: the iterator can be forgotten, and so
    dismiss this thread, while the garbage is collected in the midst of anything, even here.
    """

    def __init__(self, make: Callable[[], Iterator[Any]], ahead: int) -> None:
        super().__init__(name="gradtape-prefetch", daemon=True)
        self._make = make
        self._pass = here().through
        self.wanted = True
        self.results: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self.permits: SimpleQueue[None] = SimpleQueue()
        for _ in range(ahead):
            self.permits.put(None)

    def run(self) -> None:
        try:
            here().through = self._pass
            elements = self._make()
            while True:
                self.permits.get()
                if not self.wanted:
                    return
                self.results.put((next(elements), None))
        except BaseException as error:
            self.results.put((None, error))
