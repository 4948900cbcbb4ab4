"""Prefetching: elements made ahead by a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import SimpleQueue
from threading import Thread
from typing import Any


def prefetched(make: Callable[[], Iterator[Any]], ahead: int) -> Iterator[Any]:
    """The elements of `make()`, up to `ahead` of them made by a thread before they are asked for.

    What the thread raises is raised here, in its place. The thread ends with the elements, or
    once this iterator is closed or forgotten.
    """
    producer = _Producer(make, ahead)
    producer.start()
    try:
        while True:
            element, error = producer.results.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            producer.permits.put(None)
            yield element
    finally:
        producer.dismiss()


class _Producer(Thread):
    """Makes an element for each permit.

    The queues are those that may be used at any moment: the iterator can be forgotten, and so
    dismiss this thread, while the garbage is collected in the midst of anything, even here.
    """

    def __init__(self, make: Callable[[], Iterator[Any]], ahead: int) -> None:
        super().__init__(name="gradtape-prefetch", daemon=True)
        self._make = make
        self._wanted = True
        self.results: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self.permits: SimpleQueue[None] = SimpleQueue()
        for _ in range(ahead):
            self.permits.put(None)

    def dismiss(self) -> None:
        self._wanted = False
        self.permits.put(None)

    def run(self) -> None:
        try:
            elements = self._make()
            while True:
                self.permits.get()
                if not self._wanted:
                    return
                self.results.put((next(elements), None))
        except BaseException as error:
            self.results.put((None, error))
