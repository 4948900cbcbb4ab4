"""A sparse tensor in a graph that only learns shapes."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import float32
from ...core.errors import UnimplementedError
from ...core.shape import TensorShape
from ..internals.func_graph import graph_of_placeholders
from .sparse_tensor import SparseTensor, SparseTensorSpec


def sparse_placeholder(
    dtype: Any = float32, shape: Any = None, name: str | None = None
) -> SparseTensor:
    """A SparseTensor without values, inside `FuncGraph(...).as_default()`: see `placeholder`.

    Nobody knows how many entries it has.
    """
    graph = graph_of_placeholders("sparse_placeholder")
    known = TensorShape(shape)
    if known.rank is None:
        raise UnimplementedError(
            "sparse_placeholder: `shape` has unknown rank, and gradtape needs the number of axes. "
            "Give the shape, with None for sizes that are not known: [None, None]."
        )
    return SparseTensorSpec(known, dtype)._sketch(graph)
