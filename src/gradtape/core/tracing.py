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


class _Tracing:
    threads = 0  # how many traces run now, in all threads: 0 spares eager code to look further
    explain: Any = None  # says of a symbolic array what to do; installed by `gradtape.function`


tracing = _Tracing()
_lock = Lock()
_graph: ContextVar[Any] = ContextVar("graph", default=None)

current_graph: Callable[[], Any] = _graph.get
"""The graph that this thread traces into, or None."""


@contextmanager
def traced_into(graph: Any) -> Iterator[None]:
    """A block whose ops become part of `graph`; of None, to compute at once as eager code does."""
    with _lock:
        tracing.threads += 1
    token = _graph.set(graph)
    try:
        yield
    finally:
        _graph.reset(token)
        with _lock:
            tracing.threads -= 1
