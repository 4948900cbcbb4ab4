"""Recorders: what listens to the op calls of a thread.

An op call is offered to each recorder that listens and tracks one of its inputs: see dispatch.py.
A `Tape` keeps a record of it, for the chain rule. An `Observer` is handed the tensors: forward mode
computes with them at once, a graph of `@function` remembers them, a budget drops and remakes them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from sys import getrefcount
from typing import Any, NamedTuple

from .interrupts import keep
from .op import JointOp, Op


class Record(NamedTuple):
    """An executed op: all that the chain rule needs of it, and no more.

    `inputs` are pairs (position, key) of the inputs that the tape tracks; `outputs` is the key of
    the output, or a tuple of the keys of several. `saved` has a slot for each argument and one for
    the output: the tensor if a rule needs its values, its Spec if a rule needs only that, else
    None.

    On a tape lie bare tuples in this order: to make a named one takes 0.2 µs more, a sixth of what
    a recorded op takes. All readers but the chain rule take them by name, from `named(records)`.
    """

    op: Op | JointOp
    inputs: tuple[tuple[int, int], ...]
    outputs: int | tuple[int, ...]
    saved: tuple[Any, ...]
    params: dict[str, Any]

    @property
    def output_keys(self) -> Sequence[int]:
        """The keys of the outputs, however many there are."""
        return (self.outputs,) if isinstance(self.outputs, int) else self.outputs


def named(records: Iterable[Any]) -> Iterator[Record]:
    """The entries of a tape with names for their fields."""
    return map(Record._make, records)


class Recorder:
    """What listens to op calls: a Tape or an Observer. These are all the members others use."""

    tracked: set[int | None]
    """The keys of the tensors and variables that it follows. An op that has one among its inputs is
    offered to it, and the keys of the outputs are added."""

    records: list[Any] | None
    """The list that a Tape's records are appended to; None for an Observer."""

    watches_variables: bool = False
    """Whether a trainable variable that is read, and is not tracked yet, calls `watch_variable`."""

    variables: dict[int, Any]
    """The variables that were watched, by key."""

    persistent: bool = True
    """Whether it can be asked again, and so can record the gradient that it is asked for."""

    computes_at_once: bool = False
    """Whether it needs the derivative of an op at the op call itself, as forward mode does."""

    _listeners: list[Recorder] = []  # noqa: RUF012 (never changed: each start gives it another)
    """The recorders of the thread that it was started in, itself among them."""

    def __init__(self) -> None:
        self.tracked = set()
        self.variables = {}

    def watch_variable(self, variable: Any) -> None:
        """Follow `variable`; called by itself when it is read."""
        self.variables[variable._key] = variable
        if variable._is_inexact:
            self.tracked.add(variable._key)

    def start(self) -> None:
        """Listen to this thread."""
        self._listeners = listeners()
        if self._listeners:
            _drop_orphans(self._listeners)
        self._listeners.append(self)

    def stop(self) -> None:
        """Listen no more, if it does; to be called in any thread."""
        if self in self._listeners:
            self._listeners.remove(self)


def _drop_orphans(listening: list[Recorder]) -> None:
    """Remove recorders that nothing else knows, not even a `with`: it would never stop them.

    An interrupt can come at the first instruction of `__exit__`.
    """
    references = list(map(getrefcount, listening))
    if min(references) <= _ORPHAN:
        pairs = zip(listening, references, strict=True)
        listening[:] = [recorder for recorder, count in pairs if count > _ORPHAN]


_ORPHAN = max(map(getrefcount, [object()]))


class Tape(Recorder):
    """A recorder with a list of records in the order of execution."""

    records: list[Any]

    def __init__(self) -> None:
        super().__init__()
        self.records = []


class Observer(Recorder):
    """A recorder that is handed the tensors of an op, and keeps what it likes.

    The loops of dispatch.py tell it from a Tape by its `records`, which they load anyway: asking
    for the type takes 0.09 µs, 2 % of a recorded reduce_sum. All others ask for the type.
    """

    records: None = None

    def observe(self, op: Op, inputs: Any, outputs: Any, params: dict[str, Any]) -> None:
        """Take note of an executed op; the keys of its outputs are tracked already."""


_listening: ContextVar[Any] = ContextVar("recorders", default=())

recorders: Callable[[], Any] = _listening.get
"""The recorders of this thread. (A ContextVar answers in 17 ns, a threading.local in 51.)"""


def _in_context() -> list[Recorder]:
    found = _listening.get()
    if type(found) is not list:
        found = []
        _listening.set(found)
    return found


listeners: Callable[[], list[Recorder]] = _in_context
"""The same, as the list to which a recorder adds itself and from which it removes itself."""

if getattr(sys.flags, "thread_inherit_context", False):
    # Python 3.14 without the GIL hands the context on to new threads; tapes must not go with it.
    import threading

    _local = threading.local()

    def _in_thread() -> list[Recorder]:
        return _local.__dict__.setdefault("recorders", [])  # type: ignore[no-any-return]

    recorders = listeners = _in_thread


class heard_by:
    """A block that only the recorders in `only` listen to.

    (Not a generator: one that an interrupt leaves in the middle would put things back when it is
    forgotten, in the midst of something else.)
    """

    def __init__(self, only: list[Any]) -> None:
        self._only = only

    def __enter__(self) -> Any:
        active = listeners()
        self._active, self._around = active, active[:]
        active[:] = self._only

    def __exit__(self, *error: Any) -> None:
        self._active[:] = self._around


def _put_back(around: list[Recorder]) -> None:
    listeners()[:] = around


keep(lambda: listeners()[:], _put_back)
