"""Parts of a tensor by position: Python's indexing and its adjoint, slices, pads, masks."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from ..core import dtypes as dt
from ..core.convert import as_tensor
from ..core.dtypes import as_dtype
from ..core.errors import DTypeError, InvalidArgumentError, ShapeError
from ..core.pattern import MOVES
from ..core.spec import Spec
from ..core.tensor import Tensor
from ._declare import op
from ._static import static_axis, static_int, static_ints, to_tensor
from .shape import insert_axes


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


_BASIC = frozenset([int, builtins.slice, type(None), type(Ellipsis)])


def getitem(x: Tensor, key: Any) -> Tensor:
    """`x[key]`: integers, slices, None, `...`, and (beyond TensorFlow) integer arrays as in NumPy.

    A boolean mask stands for as many axes as it has. An index out of range is an error.
    """
    if type(key) is not tuple:
        key = tuple(key) if type(key) is list else (key,)  # TensorFlow takes a list for a tuple
    for entry in key:
        if type(entry) not in _BASIC:
            out = _getitem_with_tensors(x, key)
            break
    else:
        out = _getitem(x, key=key)
    if type(out._array) is bytes:  # a single string
        out._array = np.array(out._array, object)
    return out


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
                    "masks, "
                    f"not by {entry!r:.100}."
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
            "have "
            f"{covered} (x.shape={tuple(x.shape)})."
        )
    return [Tensor(positions) for positions in np.nonzero(np.asarray(mask._array))]


def _axes_taken(entry: Any) -> int:
    if entry is None or entry is Ellipsis:
        return 0
    array = None if type(entry) in _BASIC else to_tensor(entry, "getitem")._array
    return array.ndim if array is not None and array.dtype == np.bool_ else 1


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """The part of `input_` that starts at `begin` and has shape `size` (-1: all that is left)."""
    x = to_tensor(input_, "slice")
    shape = x._array.shape
    starts, sizes = static_ints(begin, "slice", "begin"), static_ints(size, "slice", "size")
    if not len(starts) == len(sizes) == len(shape):
        raise ShapeError(
            f"slice: `begin` and `size` must have one entry for each of the {len(shape)} axes of "
            f"`input_`, and have {len(starts)} and {len(sizes)}."
        )
    key = []
    for axis, (start, count, total) in enumerate(zip(starts, sizes, shape, strict=True)):
        stop = total if count == -1 else start + count
        if not 0 <= start <= stop <= total:
            raise InvalidArgumentError(
                f"slice: `begin`={list(starts)}, `size`={list(sizes)} reach outside of `input_`: "
                "axis "
                f"{axis} has size {total}."
            )
        key.append(builtins.slice(start, stop))
    return _getitem(x, key=tuple(key))


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
    starts = static_ints(begin, "strided_slice", "begin")
    stops = static_ints(end, "strided_slice", "end")
    steps = (
        (1,) * len(starts) if strides is None else static_ints(strides, "strided_slice", "strides")
    )
    if not len(starts) == len(stops) == len(steps):
        raise ShapeError(
            "strided_slice: `begin`, `end` and `strides` must be of one length, and have "
            f"{len(starts)}, "
            f"{len(stops)} and {len(steps)} entries."
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


@op(
    pattern=MOVES,
    nondiff="value",
    samples=lambda r: [
        ([r.normal(size=(2, 3)), np.array(0.5)], {"paddings": ((1, 0), (0, 2))}),
        ([r.normal(size=(2, 0)), np.array(0.0)], {"paddings": ((0, 0), (1, 1))}),
        ([r.normal(size=()), np.array(0.0)], {"paddings": ()}),
    ],
)
def _pad(xp, x, value, *, paddings):
    return xp.pad_constant(x, paddings, value.astype(x.dtype))


@_pad.vjp("x")
def _pad_vjp(g, *, paddings):
    shape = g._array.shape
    ends = zip(paddings, shape, strict=True)
    key = tuple([builtins.slice(low, size - high) for (low, high), size in ends])
    return _getitem(g, key=key)


@_pad.batch
def _pad_batch(batched, x, value, *, paddings):
    return _pad(x, value, paddings=((0, 0), *paddings)) if batched == {"x"} else NotImplemented


@op(
    pattern=MOVES,
    samples=lambda r: [
        ([r.normal(size=(3, 4))], {"paddings": ((1, 2), (3, 0)), "edge": 0}),
        ([r.normal(size=(3, 4))], {"paddings": ((1, 2), (3, 0)), "edge": 1}),
        ([r.normal(size=(2, 1))], {"paddings": ((2, 2), (0, 1)), "edge": 1}),
    ],
)
def _mirror_pad(xp, x, *, paddings, edge):
    """`x` continued by its mirror image, with (`edge` 1) or without (0) the border itself."""
    return xp.pad(x, paddings, "symmetric" if edge else "reflect")


@_mirror_pad.vjp("x")
def _mirror_pad_vjp(g, *, paddings, edge):
    return _mirror_pad_adjoint(g, paddings=paddings, edge=edge)


@_mirror_pad.batch
def _mirror_pad_batch(batched, x, *, paddings, edge):
    return _mirror_pad(x, paddings=((0, 0), *paddings), edge=edge)


@op(
    pattern=MOVES,
    samples=lambda r: [
        ([r.normal(size=(6, 7))], {"paddings": ((1, 2), (3, 0)), "edge": 0}),
        ([r.normal(size=(6, 2))], {"paddings": ((2, 2), (0, 1)), "edge": 1}),
    ],
)
def _mirror_pad_adjoint(xp, x, *, paddings, edge):
    """The mirror images folded back onto what they are images of: the adjoint of `mirror_pad`."""
    for axis, (low, high) in enumerate(paddings):
        size = x.shape[axis] - low - high
        before = (ALL,) * axis
        folded = x[(*before, builtins.slice(low, low + size))]
        for count, image, start in (
            (low, builtins.slice(0, low), 1 - edge),
            (high, builtins.slice(low + size, None), size - high - 1 + edge),
        ):
            if count:
                widths = [(0, 0)] * x.ndim
                widths[axis] = (start, size - start - count)
                folded = folded + xp.pad_constant(xp.flip(x[(*before, image)], axis), widths, 0)
        x = folded
    return x


@_mirror_pad_adjoint.vjp("x")
def _mirror_pad_adjoint_vjp(g, *, paddings, edge):
    return _mirror_pad(g, paddings=paddings, edge=edge)


@_mirror_pad_adjoint.batch
def _mirror_pad_adjoint_batch(batched, x, *, paddings, edge):
    return _mirror_pad_adjoint(x, paddings=((0, 0), *paddings), edge=edge)


def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    constant_values: Any = 0,
    name: str | None = None,
) -> Tensor:
    """`tensor` with `paddings[i] = (before, after)` elements added along axis i.

    `mode` "CONSTANT" adds `constant_values` (which get no gradient), "REFLECT" the mirror image
    without the border, "SYMMETRIC" with it.
    """
    x = to_tensor(tensor, "pad")
    shape = x._array.shape
    widths = np.asarray(paddings)
    if widths.size == 0:
        widths = widths.reshape(0, 2).astype(int)
    if widths.shape != (len(shape), 2) or widths.dtype.kind not in "iu" or (widths < 0).any():
        raise ShapeError(
            f"pad: `paddings` must be a pair of integers >= 0 for each of the {len(shape)} axes of "
            f"`tensor`. Received: {widths.tolist()}."
        )
    pairs = tuple(map(tuple, widths.tolist()))
    mode = mode.upper()
    if mode == "CONSTANT":
        plain = type(constant_values) in (int, float)
        value = Tensor(np.asarray(constant_values)) if plain else to_tensor(constant_values, "pad")
        return _pad(x, value, paddings=pairs)
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise InvalidArgumentError(
            f'pad: `mode` must be "CONSTANT", "REFLECT" or "SYMMETRIC", not {mode!r}.'
        )
    edge = int(mode == "SYMMETRIC")
    for axis, (pair, size) in enumerate(zip(pairs, shape, strict=True)):
        if max(pair) > size - 1 + edge:
            raise InvalidArgumentError(
                f"pad: in mode {mode} no padding may exceed {size - 1 + edge} along axis {axis}, "
                "which "
                f"has size {size}. Received: {list(pair)}."
            )
    return _mirror_pad(x, paddings=pairs, edge=edge)


def nonzero_indices(condition: Any) -> Tensor:
    """The positions of the elements that are not zero, in order: int64 of shape [count, rank]."""
    return Tensor(np.argwhere(np.asarray(to_tensor(condition, "where")._array)))


def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Tensor:
    """The elements of `tensor` where `mask` is true; the mask stands for the axes from `axis` on.

    >>> boolean_mask([[1, 2], [3, 4]], [True, False])
    <tf.Tensor: shape=(1, 2), dtype=int32, numpy=array([[1, 2]], dtype=int32)>
    """
    x = to_tensor(tensor, "boolean_mask")
    chosen = np.asarray(to_tensor(mask, "boolean_mask")._array).astype(bool)
    if not chosen.ndim:
        raise ShapeError("boolean_mask: `mask` must not be a scalar.")
    first = 0 if axis is None else static_axis(axis, x.ndim, "boolean_mask")
    covered = x._array.shape[first : first + chosen.ndim]
    if covered != chosen.shape:
        raise ShapeError(
            f"boolean_mask: `mask` must have the shape of the axes of `tensor` that it stands for, "
            f"{covered}, and has {chosen.shape}."
        )
    found = [Tensor(positions) for positions in np.nonzero(chosen)]
    return _select(x, *found, key=(*(ALL,) * first, *(TENSOR,) * len(found)), unique=True)


@op(
    nondiff="all",
    samples=lambda r: [
        ([np.array([0, 2, -1]), np.array(1.0), np.array(0.0)], {"depth": 3, "axis": 1}),
        ([np.array([[0, 2]]), np.array(5.0), np.array(-1.0)], {"depth": 2, "axis": 0}),
        ([np.array(1), np.array(1.0), np.array(0.0)], {"depth": 3, "axis": 0}),
    ],
)
def _one_hot(xp, indices, on_value, off_value, *, depth, axis):
    classes = xp.arange(depth).reshape((depth, *(1,) * (indices.ndim - axis)))
    return xp.where(xp.expand_dims(indices, axis) == classes, on_value, off_value)


@_one_hot.batch
def _one_hot_batch(batched, indices, on_value, off_value, *, depth, axis):
    if batched == {"indices"}:
        return _one_hot(indices, on_value, off_value, depth=depth, axis=axis + 1)
    return NotImplemented


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """A new axis of size `depth`, with `on_value` (1) at each index and `off_value` (0) elsewhere.

    An index outside of [0, depth) gives `off_value` only. Nothing here has a gradient.

    >>> one_hot([0, 2], 3)
    <tf.Tensor: shape=(2, 3), dtype=float32, numpy=
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)>
    """
    places = to_tensor(indices, "one_hot")
    if places._array.dtype not in dt.INTEGER:
        raise DTypeError(f"one_hot: `indices` must be integers, and are {places.dtype.name}.")
    given = [to_tensor(v, "one_hot") for v in (on_value, off_value) if v is not None]
    wanted = as_dtype(dtype) if dtype is not None else given[0].dtype if given else dt.float32
    on = as_tensor(1 if on_value is None else on_value, _loose(on_value, wanted), "one_hot")
    off = as_tensor(0 if off_value is None else off_value, _loose(off_value, wanted), "one_hot")
    at = places.ndim if axis is None else static_axis(axis, places.ndim + 1, "one_hot")
    size = static_int(depth, "one_hot", "depth")
    if size < 0:
        raise InvalidArgumentError(f"one_hot: `depth` must not be negative, and is {size}.")
    if wanted.is_bool:
        on = Tensor(np.asarray(True)) if on_value is None else on
        off = Tensor(np.asarray(False)) if off_value is None else off
    return _one_hot(places, on, off, depth=size, axis=at)


def _loose(value: Any, wanted: Any) -> Any:
    """The dtype to ask for when converting: none for the default 1 and 0 of a boolean result."""
    return None if value is None and wanted.is_bool else wanted


@op(
    nondiff="all",
    samples=lambda r: [
        ([np.array([1, 3, 0])], {"maxlen": 3, "dtype": np.dtype(bool)}),
        ([np.array([[1], [2]])], {"maxlen": 2, "dtype": np.dtype("float32")}),
        ([np.array(2)], {"maxlen": 4, "dtype": np.dtype(bool)}),
    ],
)
def _sequence_mask(xp, lengths, *, maxlen, dtype):
    return (xp.arange(maxlen) < xp.expand_dims(lengths, -1)).astype(dtype)


@_sequence_mask.batch
def _sequence_mask_batch(batched, lengths, *, maxlen, dtype):
    return _sequence_mask(lengths, maxlen=maxlen, dtype=dtype)


def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = dt.bool_, name: str | None = None
) -> Tensor:
    """For each length a row of `maxlen` (by default the largest length): true up to that length."""
    counts = to_tensor(lengths, "sequence_mask")
    if maxlen is None:
        values = np.asarray(counts._array)
        size = max(int(values.max()), 0) if values.size else 0
    else:
        size = static_int(maxlen, "sequence_mask", "maxlen")
    return _sequence_mask(counts, maxlen=size, dtype=as_dtype(dtype).numpy_dtype)


@op(
    pattern=MOVES,
    nondiff="seq_lengths",
    samples=lambda r: [
        ([r.normal(size=(2, 4)), np.array([3, 0])], {"seq_axis": 1, "batch_axis": 0}),
        ([r.normal(size=(4, 3, 2)), np.array([3, 1, 4])], {"seq_axis": 0, "batch_axis": 1}),
    ],
)
def _reverse_sequence(xp, x, seq_lengths, *, seq_axis, batch_axis):
    def along(axis, values):
        return values.reshape([-1 if a == axis else 1 for a in range(x.ndim)])

    lengths = along(batch_axis, seq_lengths)
    steps = along(seq_axis, xp.arange(x.shape[seq_axis]))
    return xp.take_along_axis(x, xp.where(steps < lengths, lengths - 1 - steps, steps), seq_axis)


@_reverse_sequence.vjp("x")
def _reverse_sequence_vjp(g, seq_lengths, *, seq_axis, batch_axis):
    return _reverse_sequence(g, seq_lengths, seq_axis=seq_axis, batch_axis=batch_axis)


@_reverse_sequence.batch
def _reverse_sequence_batch(batched, x, seq_lengths, *, seq_axis, batch_axis):
    if batched == {"x"}:
        return _reverse_sequence(x, seq_lengths, seq_axis=seq_axis + 1, batch_axis=batch_axis + 1)
    return NotImplemented


def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: Any = None,
    batch_axis: Any = None,
    name: str | None = None,
) -> Tensor:
    """`input` with the first `seq_lengths[b]` elements along `seq_axis` reversed, for each b."""
    x = to_tensor(input, "reverse_sequence")
    lengths = to_tensor(seq_lengths, "reverse_sequence")
    seq = static_axis(0 if seq_axis is None else seq_axis, x.ndim, "reverse_sequence", "seq_axis")
    batch = static_axis(
        0 if batch_axis is None else batch_axis, x.ndim, "reverse_sequence", "batch_axis"
    )
    shape = x._array.shape
    if seq == batch or tuple(lengths._array.shape) != (shape[batch],):
        raise ShapeError(
            "reverse_sequence: `seq_lengths` must have one entry for each of axis "
            f"`batch_axis`={batch}, "
            f"another than `seq_axis`={seq}. Received: input.shape={shape}, "
            f"seq_lengths.shape={tuple(lengths.shape)}."
        )
    return _reverse_sequence(x, lengths, seq_axis=seq, batch_axis=batch)


def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Tensor:
    """The coordinates, in an array of shape `dims`, of flat positions: one column for each."""
    places = to_tensor(indices, "unravel_index")
    shape = static_ints(dims, "unravel_index", "dims")
    flat = np.asarray(places._array)
    if flat.size and not 0 <= flat.min() <= flat.max() < math.prod(shape):
        raise InvalidArgumentError(
            f"unravel_index: an index is not in [0, {math.prod(shape)}), the size of "
            f"dims={list(shape)}."
        )
    return Tensor(np.stack(np.unravel_index(flat, shape)).astype(flat.dtype))
