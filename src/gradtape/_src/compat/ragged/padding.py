"""Ragged rows padded to one length, and padded rows made ragged again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.convert import as_tensor
from ...core.dtypes import DType
from ...core.engine import common_engine
from ...core.errors import ShapeError
from ...core.placement import on_host
from ...core.shape import TensorShape
from ...core.tensor import Tensor
from ...ops.array.indexing import gather
from ...ops.array.shape import broadcast_to, reshape
from ...ops.declare.static import known, static_int
from ...ops.math.arithmetic import maximum
from ...ops.math.logic import where
from ...ops.math.reduction import reduce_max
from .row_partition import RowPartition, number


def padded(rt: Any, default_value: Any, shape: Any) -> Tensor:
    """`rt.to_tensor(default_value, shape)`."""
    flat = rt.flat_values
    sizes = _target_shape(rt, shape)
    outer, inner = sizes[: rt.ragged_rank + 1], flat._array.shape[1:]
    default = _default(default_value, flat)
    filled = broadcast_to(default, (*outer, *inner))
    if _is_zero(flat._array.shape[0]) or _is_zero(math.prod(outer)):
        return filled
    place, inside = _places(rt._nested_row_partitions, outer)
    mask = reshape(inside, (*outer, *(1,) * len(inner)))
    return where(mask, gather(flat, place), default if not default.ndim else filled)


def _is_zero(size: Any) -> bool:
    return isinstance(size, int) and size == 0  # not so for an open one


def _places(partitions: tuple[RowPartition, ...], outer: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Which value stands at each place of a tensor with axes `outer`, and whether one does.

    Written on arrays, of NumPy or of a trace, as nothing here has a gradient: `to_tensor` of 100
    rows takes 0.2 ms, with ops 0.35.
    """
    arrays = [partition.row_splits()._array for partition in partitions]
    xp = common_engine(arrays)
    place = xp.arange(outer[0])
    inside = place < len(arrays[0]) - 1
    for splits, width in zip(arrays, outer[1:], strict=True):
        column = xp.arange(width)
        row = xp.where(inside, place, 0)
        ends = xp.asarray(splits)[xp.minimum(row + 1, len(splits) - 1)]
        starts = xp.asarray(splits)[row]
        place = starts[..., None] + column
        inside = inside[..., None] & (place < ends[..., None])
    return Tensor(xp.where(inside, place, 0)), Tensor(inside)


def longest_row(partition: RowPartition) -> Tensor:
    """The length of the longest row; 0 if there is none."""
    length = partition.uniform_row_length()
    if length is not None:
        return length
    zero = number(0, partition.dtype)
    if partition.static_nrows == 0:
        return zero
    return maximum(reduce_max(partition.row_lengths()), zero)


def _target_shape(rt: Any, wanted: Any) -> tuple[int, ...]:
    """The sizes of `rt.to_tensor(shape=wanted)`."""
    rank = rt._rank
    if wanted is None:
        given: list[Any] = [None] * rank
    elif isinstance(wanted, TensorShape):
        given = [None] * rank if wanted.rank is None else list(wanted)
    elif isinstance(wanted, Tensor):
        given = [None if n < 0 else n for n in known(wanted, "to_tensor", "shape").tolist()]
    else:
        ints = [None if n is None else static_int(n, "to_tensor", "shape") for n in wanted]
        given = [None if n is None or n < 0 else n for n in ints]
    if len(given) != rank:
        raise ShapeError(
            f"to_tensor: `shape` has {len(given)} entries, and the ragged tensor {rank} axes."
        )
    inner = rt.flat_values._array.shape[1:]
    own: list[Any] = list(rt.shape)
    own[0] = rt.row_splits._array.shape[0] - 1  # may be open, in a trace
    own[rank - len(inner) :] = inner
    if not TensorShape(given[rank - len(inner) :]).is_compatible_with(own[rank - len(inner) :]):
        raise ShapeError(
            f"to_tensor: `shape`={given} does not fit: values have shape {tuple(inner)}, and only "
            "axes of rows are cut and padded."
        )
    sizes = [m if n is None else n for n, m in zip(given, own, strict=True)]
    if None in sizes:
        bounds = known(rt.bounding_shape(), "to_tensor", "row_splits").tolist()
        sizes = [m if n is None else n for n, m in zip(sizes, bounds, strict=True)]
    return tuple(sizes)


def _default(value: Any, flat: Tensor) -> Tensor:
    if value is None:
        empty = b"" if flat.dtype is dt.string else 0
        return Tensor(np.full((), empty, flat._array.dtype))
    default = as_tensor(value, flat.dtype, "to_tensor")
    inner = flat._array.shape[1:]
    fits = default.ndim <= len(inner) and all(
        n in (1, m) for n, m in zip(default._array.shape[::-1], inner[::-1], strict=False)
    )
    if not fits:
        raise ShapeError(
            f"to_tensor: `default_value` of shape {default.shape} does not fit the values, of "
            f"shape {tuple(inner)}."
        )
    return default


def row_ends(x: Tensor, lengths: Any, padding: Any, dtype: DType) -> Any:
    """How many of the columns of each row of `x` belong to it."""
    rows, columns = x._array.shape[:2]
    if lengths is not None:
        ends = known(as_tensor(lengths, op="from_tensor"), "from_tensor", "lengths")
        if ends.shape != (rows,):
            raise ShapeError(
                f"from_tensor: `lengths` must have an entry for each of the {rows} rows, and has "
                f"shape {ends.shape}."
            )
        return np.clip(ends, 0, columns).astype(dtype.numpy_dtype)
    pad = as_tensor(padding, x.dtype, "from_tensor")
    inner = tuple(x._array.shape[2:])
    if tuple(pad._array.shape) != inner:
        raise ShapeError(
            f"from_tensor: `padding` must have the shape of a value, {inner}, and has {pad.shape}."
        )
    values = known(x, "from_tensor", "tensor")
    differs = (
        np.asarray(values != np.asarray(on_host(pad._array))).reshape(rows, columns, -1).any(-1)
    )
    last = np.where(differs, np.arange(1, columns + 1), 0).max(1, initial=0)
    return last.astype(dtype.numpy_dtype)
