"""What runs inside `@function`: the graph that this thread traces, if any.

A graph stands between variables and their values: while Python runs to be traced, a read gives the
symbolic value that the variable has at this line, and an assignment changes that value only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

from .errors import InvalidArgumentError


class _Tracing:
    threads = 0  # how many traces run now, in all threads: 0 spares eager code to look further


tracing = _Tracing()
switches: list[Callable[[bool], None]] = []
"""Each is called with True when the first trace of all threads begins, with False when none runs.
"""

_lock = Lock()
_graph: ContextVar[Any] = ContextVar("graph", default=None)

current_graph: Callable[[], Any] = _graph.get
"""The graph that this thread traces into, or None."""


@contextmanager
def traced_into(graph: Any) -> Iterator[None]:
    """A block whose ops become part of `graph`; of None, to compute at once as eager code does."""
    _count(1)
    token = _graph.set(graph)
    try:
        yield
    finally:
        _graph.reset(token)
        _count(-1)


def _count(change: int) -> None:
    with _lock:
        before = tracing.threads
        tracing.threads += change
        if not before or not tracing.threads:
            for switch in switches:
                switch(not before)


def note_uses(inputs: Any) -> None:
    """Let the graph that this thread traces, if any, know the tensors that an op uses."""
    graph = _graph.get()
    if graph is not None:
        graph.note_uses(inputs)


# What is taken from the outside


class Stream:
    """An iterator, as functions know it."""

    described: tuple[Any, ...] | None = None  # what of it belongs to a signature
    is_unrolled = False  # whether its elements are known while a function is traced

    @property
    def element_spec(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        """The next element, of those put back first; StopIteration at the end."""
        raise NotImplementedError

    def put_back(self, element: Any) -> None:
        raise NotImplementedError

    def opened(self) -> Stream:
        """The iterator to take from in a call: one made in a function is made at each call."""
        return self

    def leave(self, opened: Stream) -> None:
        """Let the next call begin with an iterator that was opened to look at its elements."""


class OtherElements(InvalidArgumentError):
    """The elements that a call takes are not of the shapes for which its trace is."""

    def __init__(self, message: str, shapes: tuple[Any, ...]) -> None:
        super().__init__(message)
        self.shapes = shapes  # of what is taken
