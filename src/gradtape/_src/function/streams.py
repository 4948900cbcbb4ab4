"""Streams: iterators as functions use them; each call, or each round of a loop, takes an element.

What a function takes outside of its branches and loops, a call takes before the program runs: the
elements are inputs of the program, and one of another shape is a case for another trace. Inside,
and after that, the program asks for elements while it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from ..core import nest
from ..core.errors import DynamicSizeError, InvalidArgumentError, OutOfRangeError, TextError
from ..core.placement import on_host
from ..core.recorder import heard_by
from ..core.sizes import SizesNeeded
from ..core.tensor import Tensor
from ..core.tracing import OtherElements, Stream, current_graph
from ..tape.cell import Loan
from ..tape.type_specs import zeros_of_spec

_MOST = 10_000
"""More elements than this are not inputs of one program: a loop of Python must have taken them."""


class Argument(NamedTuple):
    """The stream that is an argument, by its place among the leaves."""

    position: int


Source = Stream | Argument
"""Where a trace takes from. (It does not keep alive what it was first called with.)"""


class Take(NamedTuple):
    """An element that each call takes before the program runs."""

    source: Source
    inputs: list[Tensor]  # of the graph
    shapes: tuple[Any, ...]
    likes: list[Any]
    optional: bool  # then the first input says whether there is one


class Takes:
    """What a traced function takes from streams."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.before: list[Take] = []
        self._sources: dict[Source, None] = {}
        self._while_running: set[Source] = set()
        self._opened_inside: set[Source] = set()
        self._arguments: dict[int, Argument] = {}  # while tracing, by id
        self._seen: list[tuple[Stream, Any]] = []  # taken to be looked at, while tracing
        self._now: dict[Source, Stream] = {}  # in a call: what is taken from
        self._lock = RLock()

    def __bool__(self) -> bool:
        return bool(self._sources)

    # While tracing

    def arguments(self, leaves: Sequence[Any]) -> None:
        """Know which streams are arguments of the function."""
        for i, leaf in reversed(list(enumerate(leaves))):  # the first place of each
            if isinstance(leaf, Stream):
                self._arguments[id(leaf)] = Argument(i)

    def end_tracing(self) -> None:
        """Put back what was looked at: the call itself takes it."""
        _put_back(self._seen)
        for source, stream in self._now.items():
            if isinstance(source, Stream):
                source.leave(stream)
        self._now.clear()
        self._arguments.clear()

    def next(self, stream: Stream, optional: bool = False) -> tuple[Any, Any]:
        """Whether there is an element at this line of the function being traced, and which."""
        graph = current_graph()
        if graph.root.learns_shapes:
            return Tensor(np.True_), graph.root.sketches_of(stream.element_spec)
        source = self._arguments.get(id(stream), stream)
        self._sources[source] = None
        if graph.outer is None and source not in self._while_running:
            return self._next_before(graph, source, stream, optional)
        self._while_running.add(source)
        return self._next_while_running(source, stream, optional)

    def open_here(self, stream: Stream) -> None:
        """A stream is made at this line, in a branch or a loop: each time that the run comes here.

        One that is made elsewhere is made when the call begins.
        """
        from ..engines.xla.engine import engine

        self._while_running.add(stream)
        self._opened_inside.add(stream)
        done = [np.True_]

        def run() -> list[Any]:
            self._now[stream] = stream.opened()
            return done

        engine.call_python(run, done, [])  # in one order with the questions for elements

    def _next_before(
        self, graph: Any, source: Source, stream: Stream, optional: bool
    ) -> tuple[Any, Any]:
        if len(self.before) == _MOST:
            raise InvalidArgumentError(
                f"{self.name}: takes more than {_MOST} elements of an iterator while it is traced: "
                "a loop of Python does not end there. Let AutoGraph convert the loop, or take the "
                "elements outside of @function."
            )
        if source not in self._now:
            self._now[source] = stream.opened()
        actual = self._now[source]
        with graph.outside(), heard_by([]):
            element = _next(actual, self._seen)
            if element is None:
                if not optional:
                    raise _end()
                element = zeros_of_spec(stream.element_spec, 1)
        parts = _parts(element, self.name)
        found = [Tensor(np.True_), *parts] if optional else parts
        inputs = [graph.tensor(part._array) for part in found]
        likes = [part._array for part in parts]
        self.before.append(Take(source, inputs, _shapes(parts), likes, optional))
        if not optional:
            return True, nest.pack_parts(element, inputs)
        return inputs[0], nest.pack_parts(element, inputs[1:])

    def _next_while_running(
        self, source: Source, stream: Stream, optional: bool
    ) -> tuple[Any, Any]:
        from ..engines.xla.engine import engine

        with current_graph().outside(), heard_by([]):
            spec = stream.element_spec
        likes = [_like(each, self.name) for each in nest.flatten(spec, True)]
        take = partial(self._take_now, source, optional, likes)
        has, *arrays = engine.call_python(take, [np.zeros((), np.bool_), *likes], [])
        return Tensor(has), nest.pack_sequence_as(spec, [Tensor(y) for y in arrays], True)

    # In a call

    def call(self, leaves: Sequence[Any], run: Callable[[list[Tensor]], Any], loan: Loan) -> Any:
        """`run(elements)` with the tensors of what is taken before.

        They come again if an interrupt ends the call before it has changed a variable.
        """
        with self._lock:
            taken: list[tuple[Stream, Any]] = []
            changes = loan.changes
            self._now = {
                source: leaves[source.position] if isinstance(source, Argument) else source.opened()
                for source in self._sources
                if source not in self._opened_inside
            }
            begun = False
            try:
                elements = self._take_before(taken)
                begun = True
                return run(elements)
            except BaseException as error:
                undone = loan.changes == changes and not isinstance(error, Exception)
                if not begun or undone or isinstance(error, SizesNeeded):  # or nothing has run
                    _put_back(taken)
                raise
            finally:
                self._now.clear()

    def _take_before(self, taken: list[tuple[Stream, Any]]) -> list[Tensor]:
        tensors: list[Tensor] = []
        shapes = []
        for take in self.before:
            stream = self._now[take.source]
            element = _next(stream, taken)
            if element is not None:
                parts = _parts(element, self.name)
                shapes.append(_shapes(parts))
            else:
                if not take.optional:
                    raise _end()
                parts = list(map(Tensor, take.likes))
                shapes.append(take.shapes)
            if take.optional:
                tensors.append(Tensor(np.bool_(element is not None)))
            tensors += parts
        expected = tuple([take.shapes for take in self.before])
        if tuple(shapes) != expected:
            raise OtherElements(
                f"{self.name}: this trace is for elements of {_shown(expected)}, and the next ones "
                f"are of {_shown(shapes)}.",
                tuple(shapes),
            )
        return tensors

    def _take_now(self, source: Source, optional: bool, likes: list[Any]) -> list[Any]:
        """The next element, for a program that asks for it while it runs."""
        try:
            parts = _parts(next(self._now[source]), self.name)
        except StopIteration:
            if not optional:
                raise _end() from None
            return [np.False_, *likes]
        for like, part in zip(likes, parts, strict=True):
            if part._array.shape != like.shape:
                raise InvalidArgumentError(
                    f"{self.name}: the next element of the iterator holds a tensor of shape "
                    f"{part.shape}, and its element_spec says {like.shape}."
                )
        return [np.True_, *[np.asarray(on_host(part._array)) for part in parts]]


def _next(stream: Stream, taken: list[tuple[Stream, Any]]) -> Any:
    """The next element of a stream, which is noted in `taken`; None at the end.

    C does both: no interrupt comes in between, which would lose the element.
    """
    before = len(taken)
    taken.extend(zip((stream,), stream, strict=False))  # type: ignore[call-overload]
    return taken[-1][1] if len(taken) > before else None


def _put_back(taken: list[tuple[Stream, Any]]) -> None:
    """Let the streams give again what was taken, and forget it; to be called again if need be."""
    while taken:
        stream, element = taken[-1]
        stream.put_back(element)
        del taken[-1]  # (an interrupt comes before both of these lines, or after them)


def _end() -> OutOfRangeError:
    return OutOfRangeError(
        "get_next: there are no more elements. iter(dataset) begins anew; repeat() goes on."
    )


def _parts(element: Any, name: str) -> list[Tensor]:
    """The tensors of an element, if a program can have them."""
    if type(element) is tuple and {*map(type, element)} == _ONLY_TENSORS:
        parts = [*element]  # 2 µs less than to look into it
    else:
        parts = nest.parts(element)
        if not all([type(part) is Tensor for part in parts]):
            raise _unfit(name, "hold datasets, which XLA has not")
    if any([part._array.dtype.kind == "O" for part in parts]):
        raise _text(name)
    return parts


_ONLY_TENSORS = {Tensor}


def _shapes(parts: list[Tensor]) -> tuple[Any, ...]:
    return tuple([(part._array.dtype, part._array.shape) for part in parts])


def _like(spec: Any, name: str) -> Any:
    shape = getattr(spec, "shape", None)
    if shape is None or not shape.is_fully_defined():
        error = _unfit(name, f"are of {spec}, and a loop of XLA needs their sizes")
        error.advice = (
            "make all of one size: if the last batch is smaller, use batch(n, drop_remainder=True)."
            " What it calls that is itself a @function is compiled for itself."
        )
        raise error
    if spec.dtype.name == "string":
        raise _text(name)
    return np.zeros(tuple(shape), spec.dtype.numpy_dtype)


def _text(name: str) -> TextError:
    return TextError(f"{name}: the elements of the iterator hold text, which XLA has not.")


def _unfit(name: str, reason: str) -> DynamicSizeError:
    return DynamicSizeError(f"{name}: the elements of the iterator {reason}.")


def _shown(shapes: Sequence[Any]) -> str:
    return ", ".join([f"{dtype}{list(shape)}" for each in shapes for dtype, shape in each])


# While a function is traced


def next_in_trace(stream: Stream, optional: bool = False) -> tuple[Any, Any]:
    """Whether there is a next element, and which, in the function being traced."""
    found: tuple[Any, Any] = current_graph().root.takes.next(stream, optional)
    return found


def reduce_in_trace(stream: Stream, state: Any, reduce_func: Callable[[Any, Any], Any]) -> Any:
    """The last state of `state = reduce_func(state, element)`, as a loop of the program."""
    from ..tape.control import forms

    def step(_: Any, state: Any) -> tuple[Any, Any]:
        more, element = next_in_trace(stream, optional=True)
        return more, forms.get().cond(more, lambda: reduce_func(state, element), lambda: state)

    # (The last round finds no element.)
    return forms.get().loop(lambda more, _: more, step, (Tensor(np.True_), state), None)[1]
