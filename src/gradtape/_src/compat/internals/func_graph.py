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

from ...core.errors import UnimplementedError
from ...core.shape import TensorShape
from ...core.tensor import Tensor
from ...core.tracing import current_graph
from ...function.explain import values_explained
from ...function.sketch import SketchGraph
from ...tape.type_specs import TensorSpec


class FuncGraph(SketchGraph):
    """The graph of a function whose ops are written down between `with` and its end."""

    def __init__(self, name: str, **kwargs: Any) -> None:
        if kwargs:
            raise UnimplementedError(
                f"FuncGraph: the arguments {', '.join(sorted(kwargs))} are for graphs that are "
                "called. Use tf.function to make a function."
            )
        super().__init__(name)

    @contextmanager
    def as_default(self) -> Iterator[FuncGraph]:
        """A block whose ops go into this graph."""
        with self.running(), values_explained():
            yield self

    def placeholder(self, dtype: Any, shape: Any) -> Tensor:
        """A new input. Its rank must be known: no array is without one."""
        if shape.rank is None:
            raise UnimplementedError(
                "placeholder: `shape` has unknown rank, and gradtape needs the number of axes. "
                "Give the shape, with None for sizes that are not known: [None, None]."
            )
        return TensorSpec(shape, dtype)._sketch(self)


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
