"""What runs inside `@function`: the graph that this thread traces, if any.

A graph stands between variables and their values: while Python runs to be traced, a read gives the
symbolic value that the variable has at this line, and an assignment changes that value only.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from threading import Lock, get_ident
from typing import Any

from .errors import InvalidArgumentError
from .interrupts import keep


class _Tracing:
    def __init__(self) -> None:
        self.threads: set[int] = set()  # those that trace now; if none does, there is no graph
        self.witnesses: tuple[Any, ...] = ()  # see witness.py: told of all that happens to tensors
        self.noting = False  # whether there are any of either
        self.looking = False  # whether a witness looks into programs
        self.counting_calls = False  # whether another one has only their calls to go by

    def tell(self, *witnesses: Any, no_more: Any = None) -> None:
        """Let these witnesses, too, be told of what happens from here on, and one no more."""
        with _lock:
            self.witnesses = (*[w for w in self.witnesses if w is not no_more], *witnesses)
            _switch()


class _Functions:
    eagerly = False
    jax: bool | None = None  # whether JAX is there; None until it is looked for
    looks_on: Callable[[Any], None] | None = None  # given the trace of each function that is called
    compile = False  # True once it is known that they compile, and `looks_on` is None


tracing = _Tracing()
functions = _Functions()
"""How functions run: `function/settings.py` says it."""

switches: list[Callable[[bool], None]] = []
"""Each is called with True when someone wants to know of each op call, with False when no one does:
no thread traces, and there is no witness.
"""

_lock = Lock()
_graph: ContextVar[Any] = ContextVar("graph", default=None)

current_graph: Callable[[], Any] = _graph.get
"""The graph that this thread traces into, or None."""


def may_create() -> bool:
    """Whether a function that is first called here may create variables."""
    around = _graph.get()
    return around is None or around.root.creates


class traced_into:
    """A block whose ops become part of `graph`; of None, to compute at once as eager code does."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    def __enter__(self) -> None:
        self._around = _graph.get()
        _trace_into(self._graph)

    def __exit__(self, *error: Any) -> None:
        _trace_into(self._around)


def _trace_into(graph: Any) -> None:
    _graph.set(graph)
    with _lock:
        threads = tracing.threads
        # What is so, not what changed: so an interrupt in between has no lasting effect.
        (threads.discard if graph is None else threads.add)(get_ident())
        _switch()


def _switch() -> None:
    tracing.noting = bool(tracing.threads) or bool(tracing.witnesses)
    looks = [witness.looks_into_programs for witness in tracing.witnesses]
    tracing.looking, tracing.counting_calls = any(looks), not all(looks)
    for switch in switches:
        switch(tracing.noting)


keep(_graph.get, _trace_into)


def begin(op: Any) -> None:
    """Let the witnesses know that the kernel of an op, or a program, is about to run."""
    for witness in tracing.witnesses:
        witness.begins(op)


def end(op: Any, inputs: Any, outputs: Any) -> None:
    """Let the witnesses know that a program has run."""
    for witness in tracing.witnesses:
        witness.ran(op, inputs, outputs, {})


def note(op: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> None:
    """Let the graph that this thread traces, and the witnesses, know of an op call."""
    graph = _graph.get()
    if graph is not None and op.differentiable:
        graph.note_uses(inputs)
    for witness in tracing.witnesses:
        witness.ran(op, inputs, outputs, params)


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
