"""FuncGraph and placeholders: a trace that is entered by hand, to learn shapes.

    with FuncGraph("scratch").as_default():
        x = placeholder(tf.float32, [None, 3])
        y = layer(x)        # y.shape is (None, 4)

It is the graph of a function that nobody calls. Sizes that a placeholder leaves open are symbols,
one for each axis: the batches of two placeholders are equally large.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...core.dtypes import as_dtype
from ...core.errors import UnimplementedError
from ...core.shape import TensorShape
from ...core.sizes import any_open
from ...core.spec import Spec
from ...core.tensor import Tensor
from ...core.tracing import current_graph
from ...function.control import COMPILED
from ...function.explain import values_explained
from ...function.graph import Graph
from .by_example import results_by_example

_AXES = 8
_LARGE = 1000
_ASSUMED = [f"axis_{axis} >= {_LARGE}" for axis in range(_AXES)]
"""An open size is taken to be large: so it can be compared with numbers, and windows fit."""


class Sketch(Tensor):
    """A tensor of a FuncGraph, of which sizes are open."""

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
            known = isinstance(graph, FuncGraph)
            result = results_by_example(graph, op, plain, params) if known else None
            if result is None:
                raise
        return tuple(map(_sketched, result)) if type(result) is tuple else _sketched(result)


def _sketched(x: Any) -> Any:
    if type(x) is Tensor and any_open(x._array.shape) is not None:
        return Sketch(x._array, x._key)
    return x


class FuncGraph(Graph):
    """The graph of a function whose ops are written down between `with` and its end."""

    learns_shapes = True

    def __init__(self, name: str, **kwargs: Any) -> None:
        if kwargs:
            raise UnimplementedError(
                f"FuncGraph: the arguments {', '.join(sorted(kwargs))} are for graphs that are "
                "called. Use tf.function to make a function."
            )
        super().__init__(name, COMPILED)
        self.trace.assume(_ASSUMED)
        self._sizes: dict[str, Any] = {}
        self._unknown = 0  # how many sizes there are beside

    @contextmanager
    def as_default(self) -> Iterator[FuncGraph]:
        """A block whose ops go into this graph."""
        with self.running(), values_explained():
            yield self

    def placeholder(self, dtype: Any, shape: Any) -> Tensor:
        """A new input. Of unknown rank it cannot be: there are no such arrays."""
        if shape.rank is None:
            raise UnimplementedError(
                "placeholder: `shape` has unknown rank, and gradtape needs the number of axes. "
                "Give the shape, with None for sizes that are not known: [None, None]."
            )
        return self.tensor(Spec(self.sizes_of(shape), as_dtype(dtype).numpy_dtype))

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
        """Tensors of such rows, as many in all of them as only values could say."""
        count = self.open_size(f"entries_{len(self.tensors)}")
        return [self.tensor(Spec((count, *row.shape), row.dtype)) for row in rows]

    def open_size(self, name: str) -> Any:
        """The symbol of this name."""
        if name not in self._sizes:
            self._sizes[name] = self.trace.size(name)
        return self._sizes[name]


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor without a value, of which sizes may be open, inside `FuncGraph(...).as_default()`.

    There are no sessions that could feed it: it serves to learn the shapes of what is computed.
    """
    return graph_of_placeholders("placeholder").placeholder(dtype, TensorShape(shape))


def graph_of_placeholders(op: str) -> FuncGraph:
    graph = current_graph()
    if not isinstance(graph, FuncGraph):
        raise RuntimeError(
            f"tf.{op}() is not compatible with eager execution, and gradtape has no sessions. "
            "Write a function of the tensor, with @tf.function if it is to be compiled."
        )
    return graph
