"""The places of entries changed: order, shape, axes; parts, and several in one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.convert import as_tensor
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.spec import check_axis
from ...core.tensor import Tensor, zeros_of
from ...ops.array.creation import fill
from ...ops.array.indexing import gather
from ...ops.array.joining import concat as concat_dense
from ...ops.declare.static import (
    known,
    resolved_shape,
    static_axis,
    static_int,
    static_ints,
    to_tensor,
)
from ...ops.math.ordering import argsort
from .sparse_tensor import (
    SparseTensor,
    as_sparse,
    check_inside,
    count_of,
    entries,
    known_indices,
    numbered,
    picked,
    places_of,
    sizes_of,
    sizes_tensor,
    unknown_entries,
)

# Order, shape, axes


def reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The same with the places in order, row by row."""
    sparse = as_sparse(sp_input, "sparse.reorder")
    return _in_order(sparse.indices, sparse.values, sizes_of(sparse, "sparse.reorder"))


def _in_order(indices: Tensor, values: Tensor, sizes: Any) -> SparseTensor:
    order = argsort(numbered(indices, sizes), stable=True)
    return SparseTensor(entries(indices, order), entries(values, order), list(sizes))


def reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The same entries in a tensor of another shape, in which one size may be -1."""
    sparse = as_sparse(sp_input, "sparse.reshape")
    old = sizes_of(sparse, "sparse.reshape")
    sizes = resolved_shape(shape, old, "sparse.reshape")
    return SparseTensor(places_of(numbered(sparse.indices, old), sizes), sparse.values, list(sizes))


def expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """With an axis of size 1 inserted at `axis`; at the end, if that is None."""
    sparse = as_sparse(sp_input, "sparse.expand_dims")
    old = sizes_of(sparse, "sparse.expand_dims")
    at = static_axis(-1 if axis is None else axis, len(old) + 1, "sparse.expand_dims")
    column = zeros_of(sparse.indices, (count_of(sparse), 1))
    indices = concat_dense([sparse.indices[:, :at], column, sparse.indices[:, at:]], 1)
    return SparseTensor(indices, sparse.values, [*old[:at], 1, *old[at:]])


def transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """With the axes in the order `perm`, or reversed; the places are put in order."""
    sparse = as_sparse(sp_input, "sparse.transpose")
    old = sizes_of(sparse, "sparse.transpose")
    axes = list(range(len(old)))[::-1]
    if perm is not None:
        axes = [check_axis("sparse.transpose", a, len(old), "perm") for a in _ints(perm, "perm")]
    if sorted(axes) != list(range(len(old))):
        raise InvalidArgumentError(
            f"sparse.transpose: `perm` must name each axis of {list(old)} once, and is {axes}."
        )
    return _in_order(gather(sparse.indices, axes, axis=1), sparse.values, [old[a] for a in axes])


def _ints(value: Any, name: str) -> tuple[int, ...]:
    return static_ints(value, "sparse.transpose", name)


def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same entries in a larger tensor; by default, in the smallest that holds them."""
    sparse = as_sparse(sp_input, "sparse.reset_shape")
    old = sizes_of(sparse, "sparse.reset_shape")
    if new_shape is None:
        places = known_indices(sparse, "sparse.reset_shape")
        sizes: Any = (places.max(0, initial=-1) + 1).tolist()
    else:
        sizes = static_ints(new_shape, "sparse.reset_shape", "new_shape")
        if len(sizes) != len(old) or any(n < m for n, m in zip(sizes, old, strict=False)):
            raise ShapeError(
                "sparse.reset_shape: `new_shape` must have as many sizes as sp_input.shape, none "
                f"smaller. Received: {list(sizes)}, where the shape is {list(old)}."
            )
    return SparseTensor(sparse.indices, sparse.values, list(sizes))


# Several in one


def concat(
    axis: Any, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """The sparse tensors one after the other along `axis`, the places in order.

    The other sizes must agree; with `expand_nonconcat_dims` the largest are taken.
    """
    op = "sparse.concat"
    if not isinstance(sp_inputs, (list, tuple)):
        raise TypeError(f"{op}: `sp_inputs` must be a list, not {sp_inputs!r:.100}.")
    if not sp_inputs:
        raise InvalidArgumentError(f"{op}: `sp_inputs` is empty; it needs one tensor at least.")
    parts = [as_sparse(each, op, "sp_inputs") for each in sp_inputs]
    if len(parts) == 1:
        return parts[0]
    shapes = [sizes_of(each, op) for each in parts]
    if len(set(map(len, shapes))) > 1:
        raise ShapeError(f"{op}: the ranks differ: {list(map(list, shapes))}.")
    along = static_axis(axis, len(shapes[0]), op)
    sizes = [
        n if all(m == n for m in rest) else max(n, *rest) for n, *rest in zip(*shapes, strict=True)
    ]
    sizes[along] = sum(shape[along] for shape in shapes)
    for shape in shapes:
        others = [n for i, n in enumerate(shape) if i != along]
        if not expand_nonconcat_dims and others != [n for i, n in enumerate(sizes) if i != along]:
            raise ShapeError(
                f"{op}: the shapes must agree but along axis {along}, and are "
                f"{list(map(list, shapes))}. expand_nonconcat_dims=True takes the largest sizes."
            )
    moved, start = [], 0
    for part, shape in zip(parts, shapes, strict=True):
        offset = [start if axis == along else 0 for axis in range(len(sizes))]
        moved.append(part.indices + sizes_tensor(offset))
        start += shape[along]
    return _in_order(concat_dense(moved, 0), concat_dense([p.values for p in parts], 0), sizes)


# Parts


def split(
    sp_input: Any = None, num_split: Any = None, axis: Any = None, name: str | None = None
) -> list[SparseTensor]:
    """`num_split` parts along `axis`, equally large, or the first of them larger by one."""
    sparse = as_sparse(sp_input, "sparse.split")
    sizes = sizes_of(sparse, "sparse.split")
    count = static_int(num_split, "sparse.split", "num_split")
    along = static_axis(axis, len(sizes), "sparse.split")
    if not 1 <= count <= sizes[along]:
        raise InvalidArgumentError(
            f"sparse.split: `num_split` must be between 1 and the size {sizes[along]} of axis "
            f"{along}, and is {count}."
        )
    small, larger = divmod(sizes[along], count)
    ends = np.cumsum([small + (i < larger) for i in range(count)]).tolist()
    return [
        _part(sparse, sizes, {along: (start, end)}, "sparse.split")
        for start, end in zip([0, *ends], ends, strict=False)
    ]


def slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """The part that begins at `start` and is at most of `size`."""
    sparse = as_sparse(sp_input, "sparse.slice")
    sizes = sizes_of(sparse, "sparse.slice")
    begin = static_ints(start, "sparse.slice", "start")
    wanted = static_ints(size, "sparse.slice", "size")
    if not len(begin) == len(wanted) == len(sizes):
        raise ShapeError(
            f"sparse.slice: `start` and `size` must have an entry for each axis of {list(sizes)}, "
            f"and are {list(begin)} and {list(wanted)}."
        )
    if min([*begin, *wanted], default=0) < 0:
        raise InvalidArgumentError(
            f"sparse.slice: `start` and `size` must not be negative, and are {list(begin)} and "
            f"{list(wanted)}."
        )
    ranges = {
        axis: (min(first, n), min(first + many, n))
        for axis, (first, many, n) in enumerate(zip(begin, wanted, sizes, strict=True))
    }
    return _part(sparse, sizes, ranges, "sparse.slice")


def _part(
    sparse: SparseTensor, sizes: tuple[int, ...], ranges: dict[int, tuple[int, int]], op: str
) -> SparseTensor:
    """The entries between two bounds along some axes."""
    places, new = known_indices(sparse, op), list(sizes)
    inside, offset = np.ones(len(places), bool), np.zeros(len(sizes), np.int64)
    for axis, (start, end) in ranges.items():
        inside &= (places[:, axis] >= start) & (places[:, axis] < end)
        new[axis], offset[axis] = end - start, start
    return picked(sparse, np.flatnonzero(inside), places - offset, new)


def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The entries for which the vector of bools `to_retain` is True."""
    sparse = as_sparse(sp_input, "sparse.retain")
    chosen = to_tensor(to_retain, "sparse.retain")
    unknown = unknown_entries(sizes_of(sparse, "sparse.retain"), sparse.dtype, chosen)
    if unknown is not None:
        return unknown
    kept = known(chosen, "sparse.retain", "to_retain")
    if kept.shape != (count_of(sparse),):
        raise ShapeError(
            f"sparse.retain: `to_retain` must have a bool for each of the {count_of(sparse)} "
            f"entries, and has shape {kept.shape}."
        )
    which = np.flatnonzero(kept)
    indices = entries(sparse.indices, which)
    return SparseTensor(indices, entries(sparse.values, which), sparse.dense_shape)


def fill_empty_rows(
    sp_input: Any, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """With an entry `default_value` in the first place of each row that has none; and which had.

    >>> st = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])
    >>> filled, was_empty = fill_empty_rows(st, -1.0)
    >>> filled.values.numpy().tolist(), was_empty.numpy().tolist()
    ([1.0, -1.0, 2.0], [False, True, False])
    """
    op = "sparse.fill_empty_rows"
    sparse = as_sparse(sp_input, op)
    sizes = sizes_of(sparse, op)
    unknown = unknown_entries(sizes, sparse.dtype, sparse.indices)
    if unknown is not None:
        return unknown, fill(sizes[:1], False)
    places = known_indices(sparse, op)
    check_inside(places, sizes, op)
    default = as_tensor(default_value, sparse.dtype, op)
    if default.ndim:
        raise ShapeError(f"{op}: `default_value` must be a scalar, and has shape {default.shape}.")
    empty = np.setdiff1d(np.arange(sizes[0]), places[:, 0])
    added = np.zeros((len(empty), len(sizes)), np.int64)
    added[:, 0] = empty
    every = np.concatenate([places, added])
    order = np.argsort(every[:, 0], kind="stable")
    # Each new entry is the default: of the values with it at their end, the last.
    source = np.concatenate([np.arange(len(places)), np.full(len(empty), len(places))])[order]
    values = concat_dense([sparse.values, default[None]], 0)
    is_empty = np.zeros(sizes[0], bool)
    is_empty[empty] = True
    filled = SparseTensor(every[order], entries(values, source, unique=False), sparse.dense_shape)
    return filled, Tensor(is_empty)
