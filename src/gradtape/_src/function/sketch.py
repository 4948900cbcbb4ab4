"""Sketches: a function traced to learn shapes, and never run. Sizes that are open are symbols.

An op that does not understand symbols is not the end of it: what it gives is found by example.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..core import nest
from ..core.dtypes import string
from ..core.interrupts import put_back_after_error
from ..core.shape import TensorShape
from ..core.sizes import any_open
from ..core.spec import Spec, spec_of
from ..core.tensor import Tensor
from ..core.tracing import Stream, current_graph, may_create
from ..tape.scopes import get_logger
from ..tape.variable import Variable
from .by_example import results_by_example
from .control import COMPILED
from .explain import values_explained
from .graph import Graph
from .signature import Open

_AXES = 8
_LARGE = 1000
_ASSUMED = [f"axis_{axis} >= {_LARGE}" for axis in range(_AXES)]
"""An open size is taken to be large: so it can be compared with numbers, and windows fit."""


class Sketch(Tensor):
    """A tensor of a SketchGraph, of which sizes are open."""

    __slots__ = ()
    __module__ = Tensor.__module__  # wherever a tensor is said to be from

    @staticmethod
    def _intercept(op: Any, inputs: Any, params: dict[str, Any]) -> Any:
        """The op on symbols; where it does not understand them, by example."""
        plain = [Tensor(x._array, x._key) if type(x) is Sketch else x for x in inputs]
        try:
            result = op.call(*plain, **params)
        except Exception:
            graph = current_graph()
            known = isinstance(graph, SketchGraph)
            result = results_by_example(graph, op, plain, params) if known else None
            if result is None:
                raise
        return tuple(map(_sketched, result)) if type(result) is tuple else _sketched(result)


def _sketched(x: Any) -> Any:
    if type(x) is Tensor and any_open(x._array.shape) is not None:
        return Sketch(x._array, x._key)
    return x


class SketchGraph(Graph):
    """The graph of a function that nobody calls, in which tensors may have open sizes."""

    learns_shapes = True

    def __init__(self, name: str) -> None:
        super().__init__(name, COMPILED)
        self.trace.assume(_ASSUMED)
        self._sizes: dict[str, Any] = {}
        self._unknown = 0  # how many sizes there are beside

    def tensor(self, like: Any) -> Tensor:
        return _sketched(super().tensor(like))  # type: ignore[no-any-return]

    def new_size(self) -> Any:
        """A size of which nothing is known."""
        self._unknown += 1
        return self.trace.size(f"unknown_{self._unknown}")

    def sizes_of(self, shape: TensorShape) -> tuple[Any, ...]:
        """A shape with symbols for the sizes that are not known."""
        found = [self.open_size(f"axis_{i}") if n is None else n for i, n in enumerate(shape)]
        return tuple(found)

    def of_unknown_length(self, *rows: Spec) -> list[Tensor]:
        """Tensors of such rows. All have the same number of them, which only values could tell."""
        count = self.open_size(f"entries_{len(self.tensors)}")
        return [self.tensor(Spec((count, *row.shape), row.dtype)) for row in rows]

    def open_size(self, name: str) -> Any:
        """The symbol of this name."""
        if name not in self._sizes:
            self._sizes[name] = self.trace.size(name)
        return self._sizes[name]

    def in_place_of(self, leaf: Any) -> Any:
        """A leaf of the arguments: a tensor as a new input."""
        if isinstance(leaf, (Variable, Stream)):
            return leaf
        return self.tensor(spec_of((leaf.tensor if type(leaf) is Open else leaf)._array))

    def sketches_of(self, specs: Any) -> Any:
        """A nest of TypeSpecs, with what stands for such values in place of each."""
        return nest.map_structure(lambda spec: spec._sketch(self), specs)


def can_be_sketched(leaf: Any) -> bool:
    """Whether it is a stream of tensors some of whose sizes are open."""
    if not isinstance(leaf, Stream):
        return False
    try:
        specs = nest.flatten(leaf.element_spec)
    except Exception:  # of a function that makes the elements
        return False
    shapes = [spec.shape for spec in specs if hasattr(spec, "shape")]
    return (
        all([shape.rank is not None for shape in shapes])
        and not all([shape.is_fully_defined() for shape in shapes])
        and not any([getattr(spec, "dtype", None) is string for spec in specs])
    )


def create_from_sketch(
    name: str, python: Callable[[Iterator[Any]], Any], leaves: list[Any]
) -> bool:
    """Whether the first call of a function created all its variables while it was sketched.

    `python(leaves)` is the call. It is sketched if it gets a stream whose elements have open sizes:
    what is built there sees None where the last batch may be smaller, as in TensorFlow. The program
    is then traced for the sizes that come, which makes it quick.
    """
    if not any(map(can_be_sketched, leaves)):
        return False
    graph = SketchGraph(name)
    graph.creates = may_create()
    try:
        put_back_after_error(_run, graph, python, leaves)
    except Exception as error:  # the trace that follows tells, if it is not for the open sizes
        get_logger().debug("%s is not understood with open sizes: %s", name, error)
        return False
    return bool(graph.created)


def _run(graph: SketchGraph, python: Callable[[Iterator[Any]], Any], leaves: list[Any]) -> None:
    with graph.running(), values_explained():
        try:
            python(iter([graph.in_place_of(leaf) for leaf in leaves]))
        finally:
            graph.let_go()
