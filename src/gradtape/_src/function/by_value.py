"""Signatures in which some arguments count by value, because sizes are computed from them.

As in TensorFlow, where XLA compiles once more for each value of such an argument: for a function
that must be compiled, with jit_compile=True.
"""

from __future__ import annotations

from typing import Any

from ..core import nest
from ..core.dtypes import INTEGER
from ..core.errors import DynamicSizeError
from ..core.tensor import Tensor
from .cut import Cut, Mark
from .graph import Graph
from .trace import var_of


class ByValue:
    """Among the traces of a function: a signature that has one for each value of some arguments.

    It counts as outdated, so that each call comes by with its arguments.
    """

    resizable = is_outdated = True

    def __init__(self, places: frozenset[int]) -> None:
        self.places = places  # the numbers of these leaves

    def values(self, leaves: list[Any]) -> tuple[bytes, ...]:
        """What of the values belongs to the signature; an error inside of another trace."""
        return tuple([leaves[i]._values("A size").tobytes() for i in sorted(self.places)])

    def __repr__(self) -> str:
        return f"<for each value of {len(self.places)} arguments>"


def check_left_out(graph: Graph, symbols: list[Any], by_value: bool | None) -> None:
    """Raise why a branch is left out of the program, where no call can do without it.

    A program that calls Python cannot be given up for plain Python: what it did would be done
    twice. And a branch that can be compiled `by_value` need not be left out.
    """
    for error in graph.left_out:
        if graph.reruns.calls_python or (by_value and deciding(error, graph, symbols)):
            raise error


def deciding(error: DynamicSizeError, graph: Graph, symbols: list[Any]) -> frozenset[int]:
    """The integer arguments that decide on a size, by number; none if other things do as well."""
    missed = [x._array for x in nest.flatten(error.missed) if isinstance(x, Tensor)]
    missed = [array for array in missed if graph.trace.owns(array)]
    cut = Cut(graph.trace, Mark(0, 0), graph.mark(), missed)
    places = {
        var_of(x._array): i
        for i, x in enumerate(symbols)
        if isinstance(x, Tensor) and x._array.dtype in INTEGER and graph.trace.owns(x._array)
    }
    found = [places.get(var_of(tracer)) for tracer in cut.free]
    return frozenset([i for i in found if i is not None] if None not in found else [])
