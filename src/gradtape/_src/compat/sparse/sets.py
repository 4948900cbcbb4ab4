"""tf.sets: the rows of two tensors as sets of numbers or strings. The results are sparse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.convert import as_tensor
from ...core.errors import DTypeError, ShapeError
from ...core.tensor import Tensor
from ...ops.declare.static import known
from .sparse_tensor import SparseTensor, as_sparse, known_indices, sizes_of, strides

_DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "string")


def size(a: Any, validate_indices: bool = True) -> Tensor:
    """How many different values each row (along the last axis) of a SparseTensor has."""
    sparse = as_sparse(a, "sets.size", "a")
    rows, values, shape = _elements(sparse, "sets.size", validate_indices)
    numbers, _ = _as_numbers(values)
    width = int(numbers.max(initial=0)) + 1
    keys = np.unique(rows * width + numbers)
    counts = np.bincount(keys // width, minlength=math.prod(shape))
    return Tensor(counts.reshape(shape).astype(np.int32))


def intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The values that are in both of two rows, sorted: rows of a SparseTensor.

    >>> found = intersection(tf.constant([[1, 2], [3, 4]]), tf.constant([[2, 9], [5, 6]]))
    >>> found.indices.numpy().tolist(), found.values.numpy().tolist()
    ([[0, 0]], [2])
    """
    return _operation(a, b, validate_indices, "sets.intersection", lambda x, y: x & y)


def difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """The values of a row of `a` that are not in that of `b`, sorted; or the other way round."""
    if not aminusb:
        a, b = b, a
    return _operation(a, b, validate_indices, "sets.difference", lambda x, y: x & ~y)


def union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The values that are in one of two rows, sorted: rows of a SparseTensor."""
    return _operation(a, b, validate_indices, "sets.union", lambda x, y: x | y)


def _operation(a: Any, b: Any, validate_indices: bool, op: str, choose: Any) -> SparseTensor:
    first, second = [x if isinstance(x, SparseTensor) else as_tensor(x, op=op) for x in (a, b)]
    if first.dtype is not second.dtype or first.dtype.name not in _DTYPES:
        raise DTypeError(
            f"{op}: both must be integers of one dtype, or strings, and are {first.dtype.name} and "
            f"{second.dtype.name}."
        )
    rows_a, values_a, shape = _elements(first, op, validate_indices)
    rows_b, values_b, other = _elements(second, op, validate_indices)
    if shape != other:
        raise ShapeError(f"{op}: the shapes before the last axis differ: {shape} and {other}.")
    numbers, distinct = _as_numbers(np.concatenate([values_a, values_b]))
    width = max(len(distinct), 1)
    keys, where = np.unique(np.concatenate([rows_a, rows_b]) * width + numbers, return_inverse=True)
    every = np.stack(np.divmod(keys, width), 1)
    inside = np.zeros((2, len(every)), bool)
    inside[0, where.reshape(-1)[: len(rows_a)]] = True
    inside[1, where.reshape(-1)[len(rows_a) :]] = True
    found = every[choose(*inside)]
    counts = np.bincount(found[:, 0], minlength=math.prod(shape))
    begins = np.cumsum([0, *counts])[:-1]
    places = np.zeros((len(found), len(shape) + 1), np.int64)
    for axis, column in enumerate(np.unravel_index(found[:, 0], shape)):
        places[:, axis] = column
    places[:, -1] = np.arange(len(found)) - begins[found[:, 0]]
    return SparseTensor(places, distinct[found[:, 1]], [*shape, max(counts.tolist(), default=0)])


def _as_numbers(values: Any) -> tuple[Any, Any]:
    """The number of each value among the different ones, sorted, and these."""
    distinct, numbers = np.unique(values, return_inverse=True)
    return numbers.reshape(-1).astype(np.int64), distinct


def _elements(x: Any, op: str, validate_indices: bool) -> tuple[Any, Any, tuple[int, ...]]:
    """For each element the number of its row, and its value; and the shape of the rows."""
    if isinstance(x, SparseTensor):
        sizes, places = sizes_of(x, op), known_indices(x, op)
        if validate_indices and len(places) > 1:
            numbers = places @ np.asarray(strides(sizes), np.int64)
            if (numbers[1:] <= numbers[:-1]).any():
                raise ShapeError(
                    f"{op}: the indices are repeated or out of order. tf.sparse.reorder puts them "
                    "in order."
                )
        rows = places[:, :-1] @ np.asarray(strides(sizes[:-1]), np.int64)
        values = known(x.values, op, "values")
    else:
        sizes, array = tuple(x._array.shape), known(x, op, "values")
        rows = np.repeat(np.arange(math.prod(sizes[:-1])), sizes[-1] if sizes else 1)
        values = array.reshape(-1)
    if len(sizes) < 2:
        raise ShapeError(f"{op}: a rank of 2 at least is needed, and a shape is {list(sizes)}.")
    return rows.astype(np.int64), values, sizes[:-1]
