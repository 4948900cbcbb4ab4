"""What TensorFlow 1 has of ragged tensors besides: values outside of a graph, and placeholders."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ...core.dtypes import as_dtype, int64
from ...core.shape import TensorShape
from ..internals.func_graph import graph_of_placeholders
from .creation import taken_apart
from .ragged_tensor import RaggedTensor
from .row_partition import RowPartition


class RaggedTensorValue:
    """The values and the row splits of a ragged tensor as NumPy arrays."""

    def __init__(self, values: Any, row_splits: Any) -> None:
        if not isinstance(row_splits, (np.ndarray, np.generic)) or row_splits.dtype not in (
            np.int32,
            np.int64,
        ):
            raise TypeError("RaggedTensorValue: `row_splits` must be an array of int32 or int64.")
        if row_splits.ndim != 1:
            raise ValueError(f"RaggedTensorValue: `row_splits` has shape {row_splits.shape}.")
        self._values = values
        self._row_splits: Any = row_splits

    @property
    def values(self) -> Any:
        return self._values

    @property
    def row_splits(self) -> Any:
        return self._row_splits

    @property
    def flat_values(self) -> Any:
        inner = self._values
        return inner.flat_values if isinstance(inner, RaggedTensorValue) else inner

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        inner = self._values
        rest = inner.nested_row_splits if isinstance(inner, RaggedTensorValue) else ()
        return (self._row_splits, *rest)

    @property
    def ragged_rank(self) -> int:
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> Any:
        return self._values.dtype

    @property
    def shape(self) -> tuple[Any, ...]:
        return (len(self._row_splits) - 1, None, *self._values.shape[1:])

    def to_list(self) -> list[Any]:
        """The values as nested lists."""
        inner = self._values
        listed = inner.to_list() if isinstance(inner, RaggedTensorValue) else inner.tolist()
        ends = self._row_splits.tolist()
        return [listed[i:j] for i, j in pairwise(ends)]

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"


def constant_value(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """`tf.ragged.constant` as a RaggedTensorValue; without ragged axes, a NumPy array.

    >>> constant_value([[1, 2], [3]]).to_list()
    [[1, 2], [3]]
    """
    flat, nested, inner = taken_apart(pylist, ragged_rank, inner_shape)
    wanted = None if dtype is None else as_dtype(dtype).numpy_dtype
    values: Any = np.array(flat, wanted)
    if isinstance(flat, (list, tuple)):
        values = values.reshape(len(flat), *inner)
    for splits in reversed(nested):
        encoded = np.asarray(splits, as_dtype(row_splits_dtype).numpy_dtype)
        values = RaggedTensorValue(values, encoded)
    return values


def placeholder(
    dtype: Any, ragged_rank: int, value_shape: Any = None, name: str | None = None
) -> Any:
    """A ragged tensor without values, inside `FuncGraph(...).as_default()`."""
    graph = graph_of_placeholders("ragged.placeholder")
    if not ragged_rank:
        return graph.placeholder(as_dtype(dtype), TensorShape(value_shape))
    inner = [] if value_shape is None else list(TensorShape(value_shape))
    values: Any = graph.placeholder(as_dtype(dtype), TensorShape([None, *inner]))
    for _ in range(ragged_rank):
        splits = graph.placeholder(int64, TensorShape([None]))
        values = RaggedTensor._like(values, RowPartition(splits, internal=True))
    return values
