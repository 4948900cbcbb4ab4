"""Arithmetic on entries: sums, larger and smaller ones, products with dense tensors, softmax."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import nest
from ...core.convert import as_tensor, operand
from ...core.errors import DTypeError, ShapeError
from ...core.tensor import Tensor
from ...ops.array.indexing import gather_nd, scatter_nd
from ...ops.array.shape import broadcast_to
from ...ops.effects.debugging import assert_equal
from ...ops.math import arithmetic
from ...ops.math.exponential import exp
from ...ops.math.segment import unsorted_segment_max, unsorted_segment_sum
from .sparse_tensor import (
    SparseTensor,
    as_sparse,
    check_inside,
    check_same_shape,
    entries,
    is_sparse,
    known_indices,
    numbered,
    picked,
    places_of,
    sizes_of,
    strides,
    unknown_entries,
)

# Two sparse tensors


def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """The sum, sparse if both are. Entries that are smaller than `threshold` are left out."""
    if not is_sparse(a) and not is_sparse(b):
        raise TypeError(
            "sparse.add: at least one argument must be a SparseTensor. Did you mean tf.add?"
        )
    if not is_sparse(a):
        a, b = b, a
    a = as_sparse(a, "sparse.add", "a")
    if not is_sparse(b):
        return _add_dense(a, as_tensor(b, op="sparse.add"))
    b = as_sparse(b, "sparse.add", "b")
    total = _united(a, b, arithmetic.add, "sparse.add")
    least = np.asarray(as_tensor(threshold)._values("sparse.add: `threshold`"))
    if not least > 0:
        return total
    large = np.abs(np.asarray(total.values._values("sparse.add: `threshold`"))) >= least
    return picked(total, np.flatnonzero(large))


def _add_dense(sparse: SparseTensor, dense: Tensor) -> Tensor:
    sizes = sizes_of(sparse, "sparse.add")
    if dense._array.shape != sizes:
        raise ShapeError(
            f"sparse.add: the shapes must be the same, and are {list(sizes)} and "
            f"{list(dense._array.shape)}."
        )
    return dense + scatter_nd(sparse.indices, sparse.values, sizes)


def maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The larger of the two at each place where one has an entry; none counts as 0."""
    a, b = as_sparse(sp_a, "sparse.maximum", "sp_a"), as_sparse(sp_b, "sparse.maximum", "sp_b")
    return _united(a, b, arithmetic.maximum, "sparse.maximum")


def minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The smaller of the two at each place where one has an entry; none counts as 0."""
    a, b = as_sparse(sp_a, "sparse.minimum", "sp_a"), as_sparse(sp_b, "sparse.minimum", "sp_b")
    return _united(a, b, arithmetic.minimum, "sparse.minimum")


def _united(
    a: SparseTensor, b: SparseTensor, function: Callable[[Tensor, Tensor], Tensor], op: str
) -> SparseTensor:
    """`function` of the entries at each place where one of two sparse tensors has an entry."""
    sizes = check_same_shape(a, b, op)
    if a.dtype is not b.dtype:
        raise DTypeError(
            f"{op}: the dtypes differ: {a.dtype.name} and {b.dtype.name}. Convert one with tf.cast."
        )
    unknown = unknown_entries(sizes, a.dtype, a.indices, b.indices)
    if unknown is not None:
        return unknown
    numbers = [_numbers(each, sizes, op) for each in (a, b)]
    earlier = [_occurrences(each) for each in numbers]
    # Places that are there twice meet one by one, the first with the first.
    most = 1 + max(int(each.max(initial=0)) for each in earlier)
    keys = [n * most + m for n, m in zip(numbers, earlier, strict=True)]
    every, where = np.unique(np.concatenate(keys), return_inverse=True)
    values = [
        unsorted_segment_sum(each.values, place, len(every))
        for each, place in zip((a, b), np.split(where.reshape(-1), [len(keys[0])]), strict=True)
    ]
    return SparseTensor(places_of(Tensor(every // most), sizes), function(*values), list(sizes))


def _numbers(sparse: SparseTensor, sizes: tuple[int, ...], op: str) -> Any:
    places = known_indices(sparse, op)
    check_inside(places, sizes, op)
    return places @ np.asarray(strides(sizes), np.int64)


def _occurrences(numbers: Any) -> Any:
    """How often each number was there before."""
    if (numbers[1:] > numbers[:-1]).all():
        return np.zeros_like(numbers)
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    found = np.empty_like(numbers)
    found[order] = np.arange(len(numbers)) - np.searchsorted(ordered, ordered)
    return found


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> SparseTensor:
    """`op` of the entries of the sparse tensors among its arguments, at their places.

    All of them must have entries at the same places.

    >>> st = tf.sparse.from_dense([[1.0, 0.0], [0.0, 4.0]])
    >>> tf.sparse.to_dense(map_values(tf.sqrt, st)).numpy().tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    found = [x for x in nest.flatten((args, kwargs)) if isinstance(x, SparseTensor)]
    if not found:
        raise ValueError("sparse.map_values: there is no SparseTensor among the arguments.")
    first = found[0]
    for other in found[1:]:
        check_same_places(first, other, "sparse.map_values")
    inner, options = nest.map_structure(
        lambda x: x.values if isinstance(x, SparseTensor) else x, (args, kwargs)
    )
    return first.with_values(op(*inner, **options))


def check_same_places(a: SparseTensor, b: SparseTensor, op: str) -> None:
    """Raise, where it runs, unless two sparse tensors have entries at the same places."""
    if a.dense_shape is not b.dense_shape:
        check_same_shape(a, b, op)
    if a.indices is b.indices:
        return
    if a.indices._array.shape != b.indices._array.shape:
        raise ShapeError(
            f"{op}: the sparse tensors have {a.indices.shape[0]} and {b.indices.shape[0]} entries, "
            "and must have them at the same places."
        )
    assert_equal(a.indices, b.indices, f"{op}: the sparse tensors have entries at other places.")


# With dense tensors


def multiply(x: Any, y: Any) -> SparseTensor:
    """`x * y` of a sparse and a dense tensor, which is broadcast to the sparse one."""
    sparse, dense = (x, y) if isinstance(x, SparseTensor) else (y, x)
    return sparse.with_values(sparse.values * _at_entries(sparse, dense, "multiply"))


def divide(x: Any, y: Any) -> SparseTensor:
    """`x / y` for a dense `y`, which is broadcast to `x`."""
    if not isinstance(x, SparseTensor):
        raise DTypeError(
            "divide: a dense tensor cannot be divided by a SparseTensor, whose zeros it would meet."
        )
    return x.with_values(x.values / _at_entries(x, y, "divide"))


def _at_entries(sparse: SparseTensor, dense: Any, op: str) -> Tensor:
    """The values of a dense tensor at the places of the entries."""
    if isinstance(dense, SparseTensor):
        raise DTypeError(
            f"{op}: both are SparseTensors, and one must be dense. Make it so with "
            "tf.sparse.to_dense; tf.sparse.map_values computes with entries at the same places."
        )
    y = dense if isinstance(dense, Tensor) else operand(dense, sparse.values._array.dtype, op)
    if not y.ndim:
        return y
    sizes = sizes_of(sparse, op)
    try:
        return gather_nd(broadcast_to(y, sizes), sparse.indices)
    except ShapeError:
        raise ShapeError(
            f"{op}: the dense tensor is broadcast to the sparse one, and its shape {y.shape} does "
            f"not fit {list(sizes)}."
        ) from None


def softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The softmax of the entries of each row (along the last axis); the rest counts as -inf."""
    sparse = as_sparse(sp_input, "sparse.softmax")
    sizes = sizes_of(sparse, "sparse.softmax")
    if len(sizes) < 2:
        raise ShapeError(
            f"sparse.softmax: `sp_input` must have rank 2 at least, and has shape {list(sizes)}."
        )
    rows, count = numbered(sparse.indices[:, :-1], sizes[:-1]), math.prod(sizes[:-1])
    largest = unsorted_segment_max(sparse.values, rows, count)
    powers = exp(sparse.values - entries(largest, rows, unique=False))
    sums = unsorted_segment_sum(powers, rows, count)
    return sparse.with_values(powers / entries(sums, rows, unique=False))
