"""Order and identity of elements: sort, top_k and its kin, searchsorted, unique."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...core import dtypes as dt
from ...core.dtypes import as_dtype
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError
from ...core.pattern import across, leading
from ...core.spec import Spec
from ...core.tensor import Tensor
from ..array.indexing import _both_batched, _gather_adjoint
from ..array.shape import _transpose
from ..array.slicing import graph_of_shapes
from ..array.undifferentiated import undifferentiated
from ..declare.op import op
from ..declare.static import is_unknown, static_axis, static_int, to_tensor, values_that_size

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
    batch_axes="axis",
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


@op(
    batch_axes="axis",
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
    batch_axes=(),
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
            f"whose shape is {tuple(x.shape)}."
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
            f"Received: shapes {tuple(sequence.shape)} and {tuple(wanted.shape)}."
        )
    return _searchsorted(sequence, wanted, side=side, dtype=as_dtype(out_type).numpy_dtype)


@op(nondiff="all", dtypes=dt.INTEGER, samples=lambda r: [([np.array([2, 0, 1], np.int32)], {})])
def _invert_permutation(xp, x):
    return xp.inverse_permutation(x, "invert_permutation").astype(x.dtype)


@_invert_permutation.batch
def _invert_permutation_batch(batched, x):
    return _argsort(x, axis=1, descending=False)


def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """The permutation that undoes the permutation `x` of 0, 1, ..., n - 1."""
    order = to_tensor(x, "invert_permutation")
    if order.ndim != 1:
        raise ShapeError(f"invert_permutation: `x` must be a vector; its shape is {order.shape}.")
    return _invert_permutation(order)


class Unique(NamedTuple):
    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    y: Tensor
    idx: Tensor
    count: Tensor


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
    if x.ndim != 1:
        raise ShapeError(f"unique: `x` must be a vector, and has shape {x.shape}.")
    return unique_along(x, 0, out_idx)


def unique_along(x: Tensor, axis: int, out_idx: Any) -> UniqueWithCounts:
    """The different parts of `x` along an axis, for each part its place, and the counts."""
    graph = graph_of_shapes(x)
    if graph is not None:
        sizes, index = x._array.shape, as_dtype(out_idx).numpy_dtype
        count = graph.of_unknown_length(Spec((), index))[0]
        parts = (*sizes[:axis], count._array.shape[0], *sizes[axis + 1 :])
        y = graph.tensor(Spec(parts, x._array.dtype))
        return UniqueWithCounts(y, graph.tensor(Spec((sizes[axis],), index)), count)
    array = values_that_size(x, "unique")
    values, first, places, counts = np.unique(
        array,
        return_index=True,
        return_inverse=True,
        return_counts=True,
        equal_nan=False,
        axis=None if array.ndim == 1 else axis,
    )
    appearance = np.argsort(first)
    rank = np.empty(len(appearance), np.intp)
    rank[appearance] = np.arange(len(appearance))
    wanted = as_dtype(out_idx).numpy_dtype
    values = np.take(values, appearance, axis)
    places = rank[places.reshape(-1)].astype(wanted)
    y, idx, count = map(Tensor, (values, places, counts[appearance].astype(wanted)))
    return UniqueWithCounts(undifferentiated(x, y, name="unique"), idx, count)


# The largest, and membership among them


@op(
    nondiff="all",
    samples=lambda r: [
        ([np.array([1, 0, 7]), r.normal(size=(3, 4)), np.array(2)], {}),
        ([np.array([1, 0]), np.array([[0.5, 0.5], [np.nan, 1.0]]), np.array(1)], {}),
    ],
)
def _in_top_k(xp, targets, predictions, k):
    classes = predictions.shape[-1]
    known = (targets >= 0) & (targets < classes)
    chosen = xp.where(known, targets, 0)[..., None]
    own = xp.take_along_axis(predictions, chosen, -1)
    above = (predictions > own).sum(-1)
    return known & (above < k) & xp.isfinite(predictions).all(-1)


@_in_top_k.batch
def _in_top_k_batch(batched, targets, predictions, k):
    if "k" in batched:
        return NotImplemented
    targets, predictions = _both_batched(batched, targets=targets, predictions=predictions)
    return _in_top_k(targets, predictions, k)


def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> Tensor:
    """Whether the class `targets[i]` is among the `k` largest of row i of `predictions`.

    All that tie at the border are among them. False for a target that is no class, and for a row
    with an element that is not finite. No gradient.
    """
    scores, classes = to_tensor(predictions, "in_top_k"), to_tensor(targets, "in_top_k")
    if classes._array.dtype not in dt.INTEGER:
        raise DTypeError(f"in_top_k: `targets` must be integers, and are {classes.dtype.name}.")
    if scores.ndim != 2 or classes._array.shape != scores._array.shape[:1]:
        raise ShapeError(
            "in_top_k: `predictions` must be a matrix and `targets` have a class for each of its "
            f"rows. Received: predictions.shape={tuple(scores.shape)}, "
            f"targets.shape={tuple(classes.shape)}."
        )
    count = k if is_unknown(k) else to_tensor(static_int(k, "in_top_k", "k"), "in_top_k")
    return _in_top_k(classes, scores, count)


class ApproxTopK(NamedTuple):
    values: Tensor
    indices: Tensor


def approx_max_k(
    operand: Any,
    k: Any,
    reduction_dimension: Any = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """The `k` largest elements along an axis and their indices: exactly those, as on every CPU."""
    return _top_along(to_tensor(operand, "approx_max_k"), k, reduction_dimension, "approx_max_k")


def approx_min_k(
    operand: Any,
    k: Any,
    reduction_dimension: Any = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """The `k` smallest elements along an axis and their indices: exactly those."""
    x = to_tensor(operand, "approx_min_k")
    values, indices = _top_along(-x, k, reduction_dimension, "approx_min_k")
    return ApproxTopK(-values, indices)


def approx_top_k(
    input: Any,
    k: Any,
    reduction_dimension: Any = -1,
    recall_target: float = 0.95,
    is_max_k: bool = True,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """`approx_max_k` or, without `is_max_k`, `approx_min_k`."""
    return (approx_max_k if is_max_k else approx_min_k)(input, k, reduction_dimension)


def _top_along(x: Tensor, k: Any, dimension: Any, op_name: str) -> ApproxTopK:
    if not x.ndim:
        raise ShapeError(f"{op_name}: `operand` is a scalar; it needs at least one axis.")
    axis = static_axis(dimension, x.ndim, op_name, "reduction_dimension")
    count, size = static_int(k, op_name, "k"), x._array.shape[axis]
    if not 0 <= count <= size:
        raise InvalidArgumentError(
            f"{op_name}: `k`={count} needs at least as many elements along axis {axis}, which has "
            f"size {size}."
        )
    found = top_k(_swapped(x, axis), count)
    return ApproxTopK(_swapped(found.values, axis), _swapped(found.indices, axis))


# Whether elements are in order


@op(
    batch_axes=(),
    nondiff="all",
    samples=lambda r: [
        ([np.array([1.0, 2.0, 2.0])], {"strictly": False, "ndim": 1}),
        ([r.normal(size=(2, 2))], {"strictly": True, "ndim": 2}),
        ([r.normal(size=0)], {"strictly": True, "ndim": 1}),
    ],
)
def _is_increasing(xp, x, *, strictly, ndim):
    """Over the last `ndim` axes, read in order."""
    batch = x.shape[: x.ndim - ndim]
    rows = x.reshape(*batch, math.prod(x.shape[x.ndim - ndim :]))
    before, after = rows[..., :-1], rows[..., 1:]
    return (before < after if strictly else before <= after).all(-1)


def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Whether no element of `x`, read in order, is less than the one before."""
    x = to_tensor(x, "is_non_decreasing")
    return _is_increasing(x, strictly=False, ndim=x.ndim)


def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Whether each element of `x`, read in order, is greater than the one before."""
    x = to_tensor(x, "is_strictly_increasing")
    return _is_increasing(x, strictly=True, ndim=x.ndim)
