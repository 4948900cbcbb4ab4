"""Journal: what happened to tensors, call by call, with the user's lines; kept only when asked for.

A tape knows what it recorded. Why a gradient is None lies most often in what it did not: an op
before its block, a tensor that nobody watched, an integer, a number that went through NumPy. So
while gradients are to be explained there is one journal for the process, told by `core/dispatch.py`
of each op call, by tensors of values that leave, by variables of what is assigned, and by tapes of
the gradients that they gave. It names tensors by their keys and holds no array.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import count
from threading import get_ident
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..core.op import Op
from ..core.recorder import recorders
from ..core.tensor import Tensor, is_inexact, key_of
from ..core.tracing import current_graph, tracing
from ..core.witness import Derivative, Witness
from ..tape.scopes import get_current_name_scope
from .users_code import Line, Lines, Stack

_MOST = 200_000
"""Events that are kept, of a program that runs on and on: the last ones, some 60 MB."""


_tapes = count(1)


class Ran(NamedTuple):
    """An op call."""

    number: int
    op: Any  # of a call of its own kind, which holds tensors, what is to be known: see Joint
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    inexact: tuple[int, ...]  # the outputs that can have a gradient
    params: str  # what it was given beside tensors
    dtype: Any  # of the first output
    shape: tuple[Any, ...]
    line: Line
    followed: dict[int, list[int]]  # by the number of each tape that listened: inputs it follows
    stack: Stack  # empty on a way back to which no tape listened, as is the next
    scope: str  # the name scopes around it
    seconds: float  # since the call before: what Python did in between counts too
    thread: int
    graph: int | None  # the number of the function that is traced: of the outermost one


class Joint(NamedTuple):
    """A call that is an op of its own, of a function for instance, without what it holds."""

    name: str
    arguments: dict[int, int] | None  # of a traced function: keys inside by keys outside
    results: dict[int, int] | None
    graph: int | None  # its number
    differentiable: bool = True
    nondiff: frozenset[str] = frozenset()

    def argument_at(self, position: int) -> str:
        return "inputs"


class Block(NamedTuple):
    """A tape begins to record, or ends."""

    number: int
    tape: int
    begins: bool
    thread: int
    code: Any  # of the user's function that runs there


class Left(NamedTuple):
    """Values of a tensor that became numbers of Python or NumPy."""

    number: int
    key: int
    use: str
    line: Line


class Assigned(NamedTuple):
    """A value that was stored in a variable, or of which one was made."""

    number: int
    variable: int
    value: int | None
    line: Line
    is_new: bool = False


class Derived(NamedTuple):
    """Gradients that a tape gave."""

    number: int
    target: int | None  # if there is one
    found: tuple[int, ...]
    line: Line


class Journal(Witness):
    """The events, oldest first."""

    keeps_records = True

    def __init__(self, explain: Callable[..., None]) -> None:
        self.events: deque[Any] = deque(maxlen=_MOST)
        self.roots: dict[int, Any] = {}  # of tensors that no noted op has made, what they look like
        self.made: set[int] = set()  # keys of outputs
        self.variables: dict[int, str] = {}  # the names of those that were read, by key
        self.reasons: dict[int, Any] = {}  # why the gradient by a key was None, when last asked for
        self.asked: dict[Any, int] = {}  # how often, by line and source, a gradient was None
        self.quiet = False  # while it is itself being asked
        self._explain = explain  # the gradients that a tape gives
        self.users = 0  # those who want it: tapes, and one for all
        self.report: Callable[[Any], None] | None = None  # what is to be told of each None
        self._ways_back = 0  # gradients that are being computed
        self._numbers = count()
        self._lines = Lines()
        self._done = perf_counter()  # when the last call had been noted

    # Being told

    def ran(self, op: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> None:
        if self.quiet:
            return
        seconds = perf_counter() - self._done
        results = outputs if type(outputs) is tuple else (outputs,)
        keys = tuple([self._key_of_input(x) for x in inputs])
        out_keys = tuple(map(key_of, results))
        self.made.update(out_keys)
        graph = current_graph()
        followed = {
            self.number_of(recorder): [key for key in keys if key in recorder.tracked]
            for recorder in recorders()
        }
        first = results[0]._array if results else None
        if followed or not self._ways_back:
            (line, stack), scope = self._lines.place(2), get_current_name_scope()
        else:  # its line is enough
            line, stack, scope = self._lines.here(2), (), ""
        self.events.append(
            Ran(
                next(self._numbers),
                self._noted(op, inputs, out_keys, params),
                keys,
                out_keys,
                tuple([key for key, y in zip(out_keys, results, strict=True) if is_inexact(y)]),
                repr(params) if params else "",
                getattr(first, "dtype", None),
                getattr(first, "shape", ()),
                line,
                followed,
                stack,
                scope,
                seconds,
                get_ident(),
                None if graph is None else self.number_of(graph.root),
            )
        )
        if len(self.made) > 2 * _MOST:
            self._forget()
        self._done = perf_counter()

    def handed_on(self, name: str, pairs: list[tuple[Tensor, Tensor]]) -> None:
        graph = current_graph()
        if self.quiet or graph is None:
            return
        (line, stack), scope = self._lines.place(3), get_current_name_scope()
        op, around = Joint(name, None, None, None), self.number_of(graph.root)
        for x, y in pairs:
            key, out = key_of(x), key_of(y)
            self.made.add(out)
            flows = (out,) if is_inexact(y) else ()
            followed = {self.number_of(graph): [key]}
            self.events.append(
                Ran(
                    next(self._numbers), op, (key,), (out,), flows, "", y._array.dtype,
                    y._array.shape, line, followed, stack, scope, 0.0, get_ident(), around,
                )
            )  # fmt: skip

    def _forget(self) -> None:
        """Keep what is known of the tensors of the events that are kept."""
        calls = list(self.calls())
        self.made = {key for call in calls for key in call.outputs}
        used = {key for call in calls for key in call.inputs}
        self.roots = {key: looks for key, looks in self.roots.items() if key in used}

    def _noted(self, op: Any, inputs: Any, outputs: tuple[int, ...], params: Any) -> Op | Joint:
        if type(op) is Op:  # one that only says whose result has no gradient is called by that
            name = params.get("name")
            return op if name is None else Joint(name, None, None, None, op.differentiable)
        called = getattr(op, "called", None)
        if called is None:
            return Joint(op.name, None, None, None, op.differentiable)
        arguments, _, _ = called.inputs_outside()
        return Joint(
            op.name,
            {key_of(x): inside._key for x, inside in zip(inputs, arguments, strict=False)},
            dict(zip(outputs, called.targets, strict=False)),
            self.number_of(called.graph),
        )

    def left(self, tensor: Tensor, use: str) -> None:
        if not self.quiet and not use.startswith(("if", "str", "A pickle")):
            self.events.append(Left(next(self._numbers), key_of(tensor), use, self._lines.here(2)))

    def was_read(self, variable: Any) -> None:
        self.variables[variable._key] = variable._name

    def resumed(self, tape: Any) -> None:
        self._note_block(tape, True)

    def paused(self, tape: Any) -> None:
        self._note_block(tape, False)

    def _note_block(self, tape: Any, begins: bool) -> None:
        number = self.number_of(listener(tape))
        _, stack = self._lines.place(3)
        code = stack[0][0] if stack else None
        self.events.append(Block(next(self._numbers), number, begins, get_ident(), code))

    def deriving(self, tape: Any, derivative: Derivative) -> Derivative:
        def watched(records: Any, keys: list[int]) -> list[Any]:
            self._ways_back += 1
            try:
                return derivative(records, keys)
            finally:
                self._ways_back -= 1

        return watched

    def created(self, variable: Any, value: Any) -> None:
        if isinstance(value, Tensor):
            self._assign(variable, value, True)

    def assigned(self, variable: Any, value: Any) -> None:
        self._assign(variable, value, False)

    def _assign(self, variable: Any, value: Any, is_new: bool) -> None:
        key = key_of(value) if isinstance(value, Tensor) else None
        line = self._lines.here(3)
        self.events.append(Assigned(next(self._numbers), variable._key, key, line, is_new))

    def derived(self, tape: Any, target: Any, sources: list[Any], found: list[Any]) -> None:
        line = self._lines.here(2)
        keys = tuple([key_of(g) for g in found if isinstance(g, Tensor)])
        key = getattr(target, "_key", None)
        self.events.append(Derived(next(self._numbers), key, keys, line))
        self._explain(self, tape, target, sources, found, line)

    # Answering

    def reason_for(self, key: int) -> Any:
        return self.reasons.get(key)

    def number_of(self, recorder: Any) -> int:
        """The number of a tape. (An id may be that of another one, later.)"""
        number: int | None = vars(recorder).get("_number")
        if number is None:
            number = next(_tapes)
            recorder._number = number
        return number

    def calls(self) -> Iterator[Ran]:
        return (event for event in self.events if type(event) is Ran)

    def _key_of_input(self, x: Any) -> int:
        key = key_of(x)
        if key not in self.made and key not in self.roots:
            self.roots[key] = looks_of(x._array)
        return key


def listener(tape: Any) -> Any:
    """What listens for a tape: itself, or what drops and remakes tensors for it."""
    return tape if tape._ledger is None else tape._ledger


def journal_of_process() -> Journal | None:
    """The journal that is told now, if there is one."""
    return next((each for each in tracing.witnesses if isinstance(each, Journal)), None)


def looks_of(array: Any) -> Any:
    """What tells arrays of other values apart; None of a large one, which would take too long."""
    try:
        if array.nbytes <= 4096:
            return tuple(array.shape), array.dtype.str, hash(np.asarray(array).tobytes())
    except Exception:  # a symbol has no bytes
        pass
    return None
