"""Ops about order and identity of elements: sort, top_k, searchsorted, unique."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes as dt
from ..core.dtypes import as_dtype
from ..core.errors import InvalidArgumentError, ShapeError
from ..core.pattern import across, leading
from ..core.spec import Spec
from ..core.tensor import Tensor
from ._declare import op
from ._static import static_axis, static_int, to_tensor
from ._undifferentiated import undifferentiated
from .indexing import _gather_adjoint
from .shape import _transpose

_DIRECTIONS = {"ASCENDING": False, "DESCENDING": True}


def _distinct(r, *shape):
    return (r.permutation(int(np.prod(shape))).reshape(shape) - 2.0) * 0.4


def _swapped(x: Tensor, axis: int) -> Tensor:
    """`x` with `axis` and the last axis exchanged."""
    last = x.ndim - 1
    if axis == last:
        return x
    order = list(range(x.ndim))
    order[axis], order[last] = last, axis
    return _transpose(x, perm=tuple(order))


@op(
    pattern=across("axis"),
    dtypes=dt.REAL,
    samples=lambda r: [
        ([_distinct(r, 3, 4)], {"axis": 1, "descending": False}),
        ([_distinct(r, 3, 4)], {"axis": 0, "descending": True}),
        ([_distinct(r, 2, 0)], {"axis": 1, "descending": False}),
    ],
)
def _sort(xp, values, *, axis, descending):
    ordered = xp.sort(values, axis=axis)
    return xp.flip(ordered, axis) if descending else ordered


@_sort.vjp("values")
def _sort_vjp(g, values, *, axis, descending):
    """To the places that the elements came from, found again: keeping them costs memory."""
    order = _swapped(_argsort(values, axis=axis, descending=descending), axis)
    g = _swapped(g, axis)
    last = g.ndim - 1
    back = _gather_adjoint(g, order, axis=last, batch_dims=last, shape=tuple(g._array.shape))
    return _swapped(back, axis)


@_sort.batch
def _sort_batch(batched, values, *, axis, descending):
    return _sort(values, axis=axis + 1, descending=descending)


@op(
    dtypes=dt.REAL,
    nondiff="all",
    samples=lambda r: [
        ([_distinct(r, 3, 4)], {"axis": 1, "descending": False}),
        ([np.array([2.0, 1.0, 2.0, 0.0])], {"axis": 0, "descending": True}),
    ],
)
def _argsort(xp, values, *, axis, descending):
    if not descending:
        return xp.argsort(values, axis=axis, stable=True).astype(np.int32)
    # The order of the mirror image, mirrored: descending, and equal elements still in their order.
    mirrored = xp.argsort(xp.flip(values, axis), axis=axis, stable=True)
    return xp.flip(values.shape[axis] - 1 - mirrored, axis).astype(np.int32)


@_argsort.batch
def _argsort_batch(batched, values, *, axis, descending):
    return _argsort(values, axis=axis + 1, descending=descending)


def _direction(direction: Any, op_name: str) -> bool:
    found = _DIRECTIONS.get(direction)
    if found is None:
        raise InvalidArgumentError(
            f'{op_name}: `direction` must be "ASCENDING" or "DESCENDING", not {direction!r}.'
        )
    return found


def _sortable(values: Any, axis: Any, op_name: str) -> tuple[Tensor, int]:
    x = to_tensor(values, op_name)
    if not x.ndim:
        raise ShapeError(f"{op_name}: `values` is a scalar; it needs at least one axis.")
    return x, static_axis(axis, x.ndim, op_name)


def sort(
    values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """`values` in order along `axis`; gradients go back to where the elements came from."""
    x, axis = _sortable(values, axis, "sort")
    return _sort(x, axis=axis, descending=_direction(direction, "sort"))


def argsort(
    values: Any,
    axis: Any = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """The indices (int32) that sort `values` along `axis`; equal elements keep their order."""
    x, axis = _sortable(values, axis, "argsort")
    return _argsort(x, axis=axis, descending=_direction(direction, "argsort"))


class TopK(NamedTuple):
    values: Tensor
    indices: Tensor


@op(
    pattern=leading(1),
    dtypes=dt.REAL,
    samples=lambda r: [
        ([_distinct(r, 2, 5)], {"k": 2, "index_type": np.dtype("int32")}),
        ([_distinct(r, 40)], {"k": 3, "index_type": np.dtype("int64")}),
        ([_distinct(r, 3)], {"k": 0, "index_type": np.dtype("int32")}),
    ],
)
def _top_k(xp, input, *, k, index_type):
    values, indices = xp.top_k(input, k)
    return values, indices.astype(index_type)


@_top_k.vjp("input")
def _top_k_vjp(g, out, input: Spec):
    last = len(input.shape) - 1
    return _gather_adjoint(g[0], out[1], axis=last, batch_dims=last, shape=tuple(input.shape))


@_top_k.batch
def _top_k_batch(batched, input, *, k, index_type):
    return _top_k(input, k=k, index_type=index_type)


def top_k(
    input: Any, k: Any = 1, sorted: bool = True, index_type: Any = dt.int32, name: str | None = None
) -> TopK:
    """The `k` largest elements along the last axis, largest first, and their indices.

    Of equal elements the one with the lower index comes first. They are in order also where
    `sorted=False` would allow another one.
    """
    x = to_tensor(input, "top_k")
    count = static_int(k, "top_k", "k")
    if not x.ndim or not 0 <= count <= x._array.shape[-1]:
        raise InvalidArgumentError(
            f"top_k: `k`={count} needs at least as many elements along the last axis of `input`, "
            "whose "
            f"shape is {tuple(x.shape)}."
        )
    return TopK(*_top_k(x, k=count, index_type=as_dtype(index_type).numpy_dtype))


@op(
    nondiff="all",
    samples=lambda r: [
        ([np.sort(r.normal(size=5)), r.normal(size=3)],
         {"side": "left", "dtype": np.dtype("int32")}),
        ([np.array([1.0, 2.0, 2.0]), np.array([2.0])],
         {"side": "right", "dtype": np.dtype("int64")}),
        ([np.sort(r.normal(size=(2, 4))), r.normal(size=(2, 3))],
         {"side": "left", "dtype": np.dtype("int32")}),
    ],
)  # fmt: skip
def _searchsorted(xp, sorted_sequence, values, *, side, dtype):
    rows = sorted_sequence.reshape(-1, sorted_sequence.shape[-1])
    wanted = values.reshape(rows.shape[0], -1)
    return xp.searchsorted_rows(rows, wanted, side).reshape(values.shape).astype(dtype)


@_searchsorted.batch
def _searchsorted_batch(batched, sorted_sequence, values, *, side, dtype):
    if len(batched) == 2:
        return _searchsorted(sorted_sequence, values, side=side, dtype=dtype)
    return NotImplemented


def searchsorted(
    sorted_sequence: Any,
    values: Any,
    side: str = "left",
    out_type: Any = dt.int32,
    name: str | None = None,
) -> Tensor:
    """Where `values` would be inserted into `sorted_sequence`, row by row along the last axis.

    `side` says on which side of elements equal to it.
    """
    sequence = to_tensor(sorted_sequence, "searchsorted")
    wanted = to_tensor(values, "searchsorted")
    if side not in ("left", "right"):
        raise InvalidArgumentError(f'searchsorted: `side` must be "left" or "right", not {side!r}.')
    if not sequence.ndim or sequence.shape[:-1] != wanted.shape[:-1]:
        raise ShapeError(
            "searchsorted: `sorted_sequence` and `values` must agree in all axes but the last. "
            "Received: "
            f"shapes {tuple(sequence.shape)} and {tuple(wanted.shape)}."
        )
    return _searchsorted(sequence, wanted, side=side, dtype=as_dtype(out_type).numpy_dtype)


@op(nondiff="all", dtypes=dt.INTEGER, samples=lambda r: [([np.array([2, 0, 1], np.int32)], {})])
def _invert_permutation(xp, x):
    return xp.argsort(x).astype(x.dtype)


@_invert_permutation.batch
def _invert_permutation_batch(batched, x):
    return _argsort(x, axis=1, descending=False)


def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """The permutation that undoes the permutation `x` of 0, 1, ..., n - 1."""
    order = to_tensor(x, "invert_permutation")
    if order.ndim != 1:
        raise ShapeError(f"invert_permutation: `x` must be a vector; its shape is {order.shape}.")
    inverse = _invert_permutation(order)
    if isinstance(order._array, np.ndarray):
        there_and_back = order._array[inverse._array]
        if not np.array_equal(there_and_back, np.arange(len(there_and_back))):
            raise InvalidArgumentError(
                f"invert_permutation: `x` must have each of 0, ..., {len(there_and_back) - 1} once."
            )
    return inverse


class Unique(NamedTuple):
    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]


def unique(x: Any, out_idx: Any = dt.int32, name: str | None = None) -> Unique:
    """The different elements of the vector `x` as they appear, and for each of `x` its place.

    The number of results depends on the values, so this cannot be compiled; it has no gradient.

    >>> unique([3, 1, 3]).idx
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 1, 0], dtype=int32)>
    """
    y, idx, _ = unique_with_counts(x, out_idx)
    return Unique(y, idx)


def unique_with_counts(
    x: Any, out_idx: Any = dt.int32, name: str | None = None
) -> UniqueWithCounts:
    """The different elements of the vector `x`, for each of `x` its place, and the counts."""
    x = to_tensor(x, "unique")
    array = np.asarray(x._array)
    if array.ndim != 1:
        raise ShapeError(f"unique: `x` must be a vector, and has shape {array.shape}.")
    values, first, places, counts = np.unique(
        array, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    appearance = np.argsort(first)
    rank = np.empty(len(appearance), np.intp)
    rank[appearance] = np.arange(len(appearance))
    wanted = as_dtype(out_idx).numpy_dtype
    results = values[appearance], rank[places].astype(wanted), counts[appearance].astype(wanted)
    y, idx, count = map(Tensor, results)
    return UniqueWithCounts(undifferentiated(x, y, name="unique"), idx, count)
