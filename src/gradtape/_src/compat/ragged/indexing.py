"""Parts of ragged tensors, `rt[key]`; and their axes made one."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from ...ops.array.indexing import gather
from ...ops.array.shape import expand_dims, reshape
from ...ops.declare.static import known, static_int
from .row_partition import RowPartition, number

_ALL = slice(None)


def getitem(rt: Any, key: Any) -> Any:
    """What `key` selects: a RaggedTensor, or a Tensor where no ragged axis is left.

    Integers, slices, None and `...`, as for tensors. An axis that is ragged, other than the first,
    can be sliced, but not indexed by a number: not every row need have it.

    >>> tf.ragged.constant([[1, 2, 3], [4]])[:, -1:]
    <tf.RaggedTensor [[3],
     [4]]>
    """
    return _rows(rt, list(key) if isinstance(key, (list, tuple)) else [key])


def _rows(rt: Any, keys: list[Any]) -> Any:
    """`rt[keys]`: the first key is for the rows."""
    if not keys:
        return rt
    key, rest = keys[0], keys[1:]
    if key is Ellipsis:
        return _rows(rt, _spelled_out(keys, rt.shape.rank))
    if key is None:
        return expand_dims(_rows(rt, rest), 0)
    if isinstance(key, slice):
        return _columns(sliced_rows(rt, key), rest)
    count = rt._row_partition.static_nrows
    index = static_int(key, "RaggedTensor", "key")
    if count is not None and not -count <= index < count:
        raise IndexError(f"RaggedTensor: row {index} is out of range, for {count} rows.")
    splits = known(rt.row_splits, "RaggedTensor", "row_splits")
    index = index % (len(splits) - 1)
    row = rt.values[int(splits[index]) : int(splits[index + 1])]
    return row[tuple(rest)] if rest else row


def sliced_rows(rt: Any, key: slice) -> Any:
    """`rt[key]` for a slice of rows."""
    if key == _ALL:
        return rt
    splits = known(rt.row_splits, "RaggedTensor", "row_splits")
    chosen = range(len(splits) - 1)[_static(key)]
    if chosen.step == 1:
        first, last = chosen.start, max(chosen.start, chosen.stop)
        values = rt.values[int(splits[first]) : int(splits[last])]
        new = RowPartition.from_row_splits(
            Tensor(splits[first : last + 1] - splits[first]), validate=False
        )
    else:
        rows = np.asarray(chosen, splits.dtype)
        values, new = taken(rt.values, splits[rows], splits[rows + 1])
    return rt._like(values, _still_uniform(new, rt.uniform_row_length))


def taken(values: Any, starts: Any, limits: Any, step: int = 1) -> tuple[Any, RowPartition]:
    """The rows `values[starts[i] : limits[i] : step]`, and their partition."""
    places, lengths = ranges(starts, limits, step)
    partition = RowPartition.from_row_lengths(Tensor(lengths), validate=False)
    return gather(values, Tensor(places)), partition


def ranges(starts: Any, limits: Any, step: Any = 1) -> tuple[Any, Any]:
    """`range(starts[i], limits[i], step)` for all i in one array, and the length of each."""
    lengths = np.maximum((limits - starts + step - np.sign(step)) // step, 0).astype(starts.dtype)
    first = np.cumsum(lengths) - lengths
    offsets = np.arange(lengths.sum(), dtype=starts.dtype) - np.repeat(first, lengths)
    steps = np.repeat(step, lengths) if np.ndim(step) else step
    return np.repeat(starts, lengths) + offsets * steps, lengths


def _columns(rt: Any, keys: list[Any]) -> Any:
    """`rt[:, keys]`: the first key is for the axis after the rows."""
    if not keys:
        return rt
    if isinstance(rt, Tensor):
        return rt[(_ALL, *keys)]
    key, rest = keys[0], keys[1:]
    if key is Ellipsis:
        return _columns(rt, _spelled_out(keys, rt.values.shape.rank))
    if key is None:
        return expand_dims(_columns(rt, rest), 1)
    if isinstance(key, slice):
        if key == _ALL:
            return rt.with_values(_columns(rt.values, rest))
        cut = _cut_rows(rt, _static(key))
        return cut.with_values(_columns(cut.values, rest))
    if rt.uniform_row_length is None:
        raise ValueError(
            "Cannot index into an inner ragged dimension: a row may be too short. Slice it, "
            "rt[:, i:i + 1], or pad the rows first, rt.to_tensor()[:, i]."
        )
    length = static_int(rt.uniform_row_length, "RaggedTensor", "uniform_row_length")
    index = static_int(key, "RaggedTensor", "key")
    if not -length <= index < length:
        raise InvalidArgumentError(
            f"Index out of bounds when indexing into a ragged tensor: {index}, of {length}."
        )
    return _columns(rt.values[index % length :: length], rest)


def _cut_rows(rt: Any, key: slice) -> Any:
    """`rt[:, key]` for a slice of each row."""
    splits = known(rt.row_splits, "RaggedTensor", "row_splits")
    lengths = np.diff(splits)
    step = 1 if key.step is None else key.step
    if step == 0:
        raise ValueError("RaggedTensor: the step of a slice must not be 0.")
    lowest, highest = (0, lengths) if step > 0 else (-1, lengths - 1)  # what ends can be
    start = _end(key.start, lowest if step > 0 else highest, lengths, lowest, highest)
    stop = _end(key.stop, highest if step > 0 else lowest, lengths, lowest, highest)
    first = splits[:-1]
    values, new = taken(rt.values, first + start, first + stop, step)
    length = rt.uniform_row_length
    if length is not None:
        size = len(range(static_int(length, "RaggedTensor", "uniform_row_length"))[key])
        length = Tensor(np.asarray(size, splits.dtype))
    return rt._like(values, _still_uniform(new, length))


def _end(given: int | None, default: Any, lengths: Any, lowest: Any, highest: Any) -> Any:
    """An end of a slice of each row, counted from its beginning."""
    if given is None:
        return default
    return np.clip(given if given >= 0 else given + lengths, lowest, highest)


def _still_uniform(partition: RowPartition, length: Tensor | None) -> RowPartition:
    if length is None:
        return partition
    return RowPartition(
        partition.row_splits(),
        uniform_row_length=length,
        nvals=partition.nvals(),
        internal=True,
    )


def _static(key: slice) -> slice:
    ends = [
        end if end is None else static_int(end, "RaggedTensor", "key")
        for end in (key.start, key.stop, key.step)
    ]
    return slice(*map(_as_int, ends))


def _as_int(end: Any) -> int | None:
    return None if end is None else operator.index(end)


def _spelled_out(keys: list[Any], rank: int) -> list[Any]:
    """The keys with the `...` at their beginning as so many `:`."""
    count = sum(key is not None for key in keys[1:])
    if count > rank:
        raise IndexError(f"Too many indices for a RaggedTensor: {count}, for {rank} axes.")
    return [_ALL] * (rank - count) + keys[1:]


# Axes made one


def merged(value: Any, outer: int, inner: int) -> Any:
    """`value` with its axes from `outer` to `inner` made one."""
    if isinstance(value, Tensor):
        sizes = value._array.shape
        whole = math.prod(sizes[outer : inner + 1])
        return reshape(value, (*sizes[:outer], whole, *sizes[inner + 1 :]))
    if outer > 1:
        return value.with_values(merged(value.values, outer - 1, inner - 1))
    if outer == 0:
        return value.values if inner == 1 else merged(value.values, 0, inner - 1)
    partition, values = value._row_partition, value.values
    splits, length = partition.row_splits(), partition.uniform_row_length()
    for _ in range(inner - 1):
        if not isinstance(values, Tensor):
            width = values.uniform_row_length
            splits, values = gather(values.row_splits, splits), values.values
        else:
            sizes = values._array.shape
            width = number(sizes[1], splits.dtype)
            splits, values = splits * width, reshape(values, (sizes[0] * sizes[1], *sizes[2:]))
        length = None if length is None or width is None else length * width
    return value._like(values, RowPartition(splits, uniform_row_length=length, internal=True))
