"""Parts of a tensor by position: Python's indexing and its adjoint, slices."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError
from ...core.pattern import MOVES
from ...core.placement import on_host
from ...core.sizes import size_of
from ...core.spec import Spec
from ...core.tensor import Tensor, is_symbolic, tell_left
from ...core.tracing import current_graph
from ...engines.contract import window_key
from ..declare.op import op
from ..declare.static import (
    each_int,
    is_unknown,
    static_int,
    static_ints,
    to_tensor,
    values_that_size,
)
from .shape import _transpose, insert_axes


class _Place:
    """Stands in a static key for an index that is a tensor."""

    def __repr__(self) -> str:
        return "TENSOR"


TENSOR = _Place()
ALL = builtins.slice(None)


def _getitem_samples(r):
    x = r.normal(size=(3, 4, 2))
    return [
        ([x], {"key": (1,)}),
        ([x], {"key": (builtins.slice(2, 0, -1), None, Ellipsis, -1)}),
        ([x], {"key": (builtins.slice(1, 1), 0)}),
        ([x[0, 0]], {"key": (1,)}),
    ]


@op(pattern=MOVES, linear="x", samples=_getitem_samples)
def _getitem(xp, x, *, key):
    """`x[key]` for a key of integers, slices, None and `...`: a view."""
    return xp.getitem(x, key)


@_getitem.vjp("x")
def _getitem_vjp(g, x: Spec, *, key):
    return _getitem_adjoint(g, key=key, shape=tuple(x.shape))


@_getitem.batch
def _getitem_batch(batched, x, *, key):
    return _getitem(x, key=(ALL, *key))


@op(
    pattern=MOVES,
    linear="updates",
    samples=lambda r: [
        ([np.asarray(x[params["key"]])], params | {"shape": x.shape})
        for (x,), params in _getitem_samples(r)
    ],
)
def _getitem_adjoint(xp, updates, *, key, shape):
    """Zeros of `shape` with `updates` at `[key]`: the adjoint of `getitem`."""
    return xp.index_add(shape, key, updates, True)


@_getitem_adjoint.vjp("updates")
def _getitem_adjoint_vjp(g, *, key):
    return _getitem(g, key=key)


@_getitem_adjoint.batch
def _getitem_adjoint_batch(batched, updates, *, key, shape):
    shape = (updates._array.shape[0], *shape)
    return _getitem_adjoint(updates, key=(ALL, *key), shape=shape)


def _select_samples(r):
    x = r.normal(size=(3, 4, 2))
    return [
        ([x, np.array([2, 0, 2])], {"key": (TENSOR,), "unique": False}),
        ([x, np.array(1)], {"key": (ALL, TENSOR), "unique": True}),
        ([x, np.array([[1, 0]]), np.array([3, 3])], {"key": (TENSOR, TENSOR), "unique": False}),
        ([x, np.array([0, 1, 1])], {"key": (0, ALL, TENSOR), "unique": False}),
    ]


@op(pattern=MOVES, nondiff="indices", samples=_select_samples)
def _select(xp, x, *indices, key, unique):
    """`x[key]`, the places in `key` that say TENSOR taken by `indices`; `unique`: none repeats."""
    return xp.getitem(x, _filled(key, indices))


@_select.vjp("x")
def _select_vjp(g, x: Spec, indices, *, key, unique):
    return _select_adjoint(g, *indices, key=key, unique=unique, shape=tuple(x.shape))


@_select.batch
def _select_batch(batched, x, *indices, key, unique):
    if batched == {"x"} and _adjacent(key):
        return _select(x, *indices, key=(ALL, *key), unique=unique)
    if batched == {"x"} or key[: len(indices)] != (TENSOR,) * len(indices):
        return NotImplemented
    rank = max(i.ndim - (f"indices[{n}]" in batched) for n, i in enumerate(indices))
    aligned = [
        insert_axes(i, rank - i.ndim + 1, at=1) if f"indices[{n}]" in batched else i
        for n, i in enumerate(indices)
    ]
    if "x" not in batched:
        return _select(x, *aligned, key=key, unique=False)
    size = x._array.shape[0]
    each = Tensor(np.arange(size).reshape(size, *(1,) * rank))
    return _select(x, each, *aligned, key=(TENSOR, *key), unique=False)


def _select_adjoint_samples(r):
    pairs = []
    for (x, *indices), params in _select_samples(r):
        updates = np.asarray(x[_filled(params["key"], indices)])
        pairs.append(([updates, *indices], params | {"shape": x.shape}))
    return pairs


@op(pattern=MOVES, nondiff="indices", samples=_select_adjoint_samples)
def _select_adjoint(xp, updates, *indices, key, unique, shape):
    """Zeros of `shape` with `updates` added at `[key]`: the adjoint of `select`."""
    return xp.index_add(shape, _filled(key, indices), updates, unique)


@_select_adjoint.vjp("updates")
def _select_adjoint_vjp(g, indices, *, key, unique):
    return _select(g, *indices, key=key, unique=unique)


@_select_adjoint.batch
def _select_adjoint_batch(batched, updates, *indices, key, unique, shape):
    if batched != {"updates"} or not _adjacent(key):
        return NotImplemented
    shape = (updates._array.shape[0], *shape)
    return _select_adjoint(updates, *indices, key=(ALL, *key), unique=unique, shape=shape)


def _filled(key: Any, indices: Any) -> tuple[Any, ...]:
    waiting = iter(indices)
    return tuple([next(waiting) if entry is TENSOR else entry for entry in key])


def _adjacent(key: Any) -> bool:
    """Whether the axes that arrays index are neighbours; else NumPy puts their result first."""
    if TENSOR not in key:
        return True
    places = [i for i, entry in enumerate(key) if entry is TENSOR or type(entry) is int]
    return places == list(range(places[0], places[-1] + 1))


_ndarray = np.ndarray
_BASIC = frozenset([int, builtins.slice, type(None), type(Ellipsis)])


def getitem(x: Tensor, key: Any) -> Tensor:
    """`x[key]`: integers, slices, None, `...`, and (beyond TensorFlow) integer arrays as in NumPy.

    A boolean mask stands for as many axes as it has. An index out of range is an error.
    """
    if type(key) is not tuple:
        key = tuple(key) if type(key) is list else (key,)  # TensorFlow takes a list for a tuple
    if type(x._array) is not _ndarray:  # in a trace, a bound may be an open size
        key = tuple([_sized(entry) for entry in key])
    for entry in key:
        if type(entry) not in _BASIC:
            out = _getitem_with_tensors(x, key)
            break
    else:
        out = _getitem(x, key=key)
    if type(out._array) is bytes:  # a single string
        out._array = np.array(out._array, object)
    return out


def _sized(entry: Any) -> Any:
    if type(entry) is not builtins.slice:
        return entry
    return builtins.slice(size_of(entry.start), size_of(entry.stop), size_of(entry.step))


def _getitem_with_tensors(x: Tensor, key: tuple[Any, ...]) -> Tensor:
    """Indexing with more than ints and slices: integer tensors, masks, NumPy's integers."""
    entries: list[Any] = []
    tensors: list[Tensor] = []
    unique = True
    for position, entry in enumerate(key):
        if type(entry) in _BASIC:
            entries.append(entry)
        elif isinstance(entry, np.integer):
            entries.append(int(entry))
        else:
            index = to_tensor(entry, "getitem")
            dtype = index._array.dtype
            if dtype == np.bool_ and index.ndim:
                found = _mask_indices(x, index, entries, key[position + 1 :])
                unique = unique and not tensors
                tensors += found
                entries += [TENSOR] * len(found)
            elif dtype in dt.INTEGER:
                unique = unique and not index.ndim
                tensors.append(index)
                entries.append(TENSOR)
            else:
                raise DTypeError(
                    "getitem: a tensor is indexed by integers, slices, None, `...` and boolean "
                    f"masks, not by {entry!r:.100}."
                )
    if not tensors:
        return _getitem(x, key=tuple(entries))
    return _select(x, *tensors, key=tuple(entries), unique=unique)


def _mask_indices(x: Tensor, mask: Tensor, before: list[Any], after: Any) -> list[Tensor]:
    """The positions of a mask, axis by axis, if the mask fits the axes that it stands for."""
    if any(entry is Ellipsis for entry in before):
        axis = x.ndim - mask.ndim - sum(_axes_taken(entry) for entry in after)
    else:
        axis = sum(entry is not None for entry in before)
    covered = x._array.shape[axis : axis + mask.ndim]
    if tuple(mask._array.shape) != covered:
        raise ShapeError(
            f"getitem: the mask has shape {tuple(mask.shape)}, and the axes that it stands for "
            f"have {covered} (x.shape={tuple(x.shape)})."
        )
    return [Tensor(positions) for positions in np.nonzero(values_that_size(mask, "getitem"))]


def _axes_taken(entry: Any) -> int:
    if entry is None or entry is Ellipsis:
        return 0
    array = None if type(entry) in _BASIC else to_tensor(entry, "getitem")._array
    return array.ndim if array is not None and array.dtype == np.bool_ else 1


def _window_samples(r):
    return [
        ([r.normal(size=(3, 4)), np.array(1), np.array(0)], {"sizes": (2, 3)}),
        ([r.normal(size=5), np.array(2, np.int32)], {"sizes": (3,)}),
        ([r.normal(size=(2, 3)), np.array(2), np.array(1)], {"sizes": (0, 2)}),
        ([r.normal(size=())], {"sizes": ()}),
    ]


@op(pattern=MOVES, nondiff="starts", samples=_window_samples)
def _window(xp, x, *starts, sizes):
    """The part of `x` of shape `sizes` from `starts` on, which must lie inside of `x`."""
    return xp.window(x, starts, sizes)


@_window.vjp("x")
def _window_vjp(g, x: Spec, starts):
    return _window_adjoint(g, *starts, shape=tuple(x.shape))


@_window.batch
def _window_batch(batched, x, *starts, sizes):
    if batched != {"x"}:
        return NotImplemented
    return _window(x, _ZERO, *starts, sizes=(x._array.shape[0], *sizes))


@op(
    pattern=MOVES,
    nondiff="starts",
    samples=lambda r: [
        ([r.normal(size=params["sizes"]), *starts], {"shape": x.shape})
        for (x, *starts), params in _window_samples(r)
    ],
)
def _window_adjoint(xp, updates, *starts, shape):
    """Zeros of `shape` with `updates` from `starts` on: the adjoint of `window`."""
    return xp.framed(updates, starts, shape)


@_window_adjoint.vjp("updates")
def _window_adjoint_vjp(g, updates: Spec, starts):
    return _window(g, *starts, sizes=tuple(updates.shape))


@_window_adjoint.batch
def _window_adjoint_batch(batched, updates, *starts, shape):
    if batched != {"updates"}:
        return NotImplemented
    return _window_adjoint(updates, _ZERO, *starts, shape=(updates._array.shape[0], *shape))


_ZERO = Tensor(np.zeros((), np.int64))


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """The part of `input_` that starts at `begin` and has shape `size` (-1: all that is left)."""
    x = to_tensor(input_, "slice")
    shape = x._array.shape
    sizes = static_ints(size, "slice", "size")
    unknown = is_unknown(begin)
    starts = each_int(begin, "slice", "begin")
    if not len(starts) == len(sizes) == len(shape):
        raise ShapeError(
            f"slice: `begin` and `size` must have one entry for each of the {len(shape)} axes of "
            f"`input_`, and have {len(starts)} and {len(sizes)}."
        )
    counts = [
        count if count != -1 else total - static_int(start, "slice", "begin")
        for start, count, total in zip(starts, sizes, shape, strict=True)
    ]
    if unknown:
        return _window(x, *[to_tensor(x, "slice") for x in starts], sizes=tuple(counts))
    return _getitem(x, key=window_key(starts, counts, shape))


def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """`input_[begin[0]:end[0]:strides[0], ...]`; bit i of a mask says what else entry i stands for.

    `begin_mask`, `end_mask`: that bound is left out; `ellipsis_mask`: `...`; `new_axis_mask`: a new
    axis; `shrink_axis_mask`: the single index `begin[i]`, its axis dropped.
    """
    # What an index that is a tensor needs as its end has no meaning.
    known = [not shrink_axis_mask >> i & 1 for i in range(32)]
    starts = [
        static_int(x, "strided_slice", "begin") if known[i] or not is_unknown(x) else x
        for i, x in enumerate(each_int(begin, "strided_slice", "begin"))
    ]
    stops = [
        static_int(x, "strided_slice", "end") if known[i] else 0
        for i, x in enumerate(each_int(end, "strided_slice", "end"))
    ]
    steps = (
        (1,) * len(starts) if strides is None else static_ints(strides, "strided_slice", "strides")
    )
    if not len(starts) == len(stops) == len(steps):
        raise ShapeError(
            "strided_slice: `begin`, `end` and `strides` must be of one length, and have "
            f"{len(starts)}, {len(stops)} and {len(steps)} entries."
        )
    if 0 in steps:
        raise InvalidArgumentError("strided_slice: `strides` must not be 0.")
    key: list[Any] = []
    for i, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(start)
        else:
            first = None if begin_mask & bit else start
            key.append(builtins.slice(first, None if end_mask & bit else stop, step))
    return getitem(to_tensor(input_, "strided_slice"), tuple(key))


def nonzero_indices(condition: Any) -> Tensor:
    """The positions of the elements that are not zero, in order: int64 of shape [count, rank]."""
    x = to_tensor(condition, "where")
    graph = graph_of_shapes(x)
    if graph is not None:
        tell_left(x, "where")
        found: Tensor = graph.of_unknown_length(Spec((x.ndim,), np.dtype(np.int64)))[0]
        return found
    return Tensor(np.argwhere(values_that_size(x, "where")))


def graph_of_shapes(*tensors: Tensor) -> Any:
    """The graph being traced, if it only learns shapes and values of these are not known there.

    An op whose sizes depend on them has a result of unknown length then.
    """
    graph = current_graph()
    if graph is None or not graph.learns_shapes:
        return None
    return graph if any([is_symbolic(x._array) for x in tensors]) else None


@op(nondiff="all", samples=lambda r: [([np.array([5, 0])], {"shape": (2, 3)})])
def _unravelled(xp, places, *, shape):
    left = xp.valid_indices(places, math.prod(shape), "unravel_index").astype(places.dtype)
    found = []
    for size in reversed(shape):
        found.append(left % size)
        left = left // size
    return xp.stack(found[::-1], 0)


@_unravelled.batch
def _unravelled_batch(batched, places, *, shape):
    found = _unravelled(places, shape=shape)
    return _transpose(found, perm=(1, 0, *range(2, found.ndim)))


def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Tensor:
    """The coordinates, in an array of shape `dims`, of flat positions: one column for each."""
    places = to_tensor(indices, "unravel_index")
    shape = static_ints(dims, "unravel_index", "dims")
    if is_symbolic(places._array):
        return _unravelled(places, shape=shape)
    flat = np.asarray(on_host(places._array))
    if flat.size and not 0 <= flat.min() <= flat.max() < math.prod(shape):
        raise InvalidArgumentError(
            f"unravel_index: an index is not in [0, {math.prod(shape)}), the size of "
            f"dims={list(shape)}."
        )
    return Tensor(np.stack(np.unravel_index(flat, shape)).astype(flat.dtype))
