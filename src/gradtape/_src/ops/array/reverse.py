"""Tensors turned round: reverse, roll, reverse_sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import NotATensorError, ShapeError
from ...core.pattern import MOVES
from ...core.take_over import take_over
from ...core.tensor import Tensor
from ..declare.op import op
from ..declare.static import (
    each_int,
    is_unknown,
    static_axes,
    static_axis,
    static_ints,
    to_tensor,
)
from .joining import concat
from .slicing import slice as slice_


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

    size = x.shape[seq_axis]
    seq_lengths = xp.valid_indices(seq_lengths, size + 1, "reverse_sequence")
    lengths = along(batch_axis, seq_lengths)
    steps = along(seq_axis, xp.arange(size))
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
            f"`batch_axis`={batch}, another than `seq_axis`={seq}. Received: input.shape={shape}, "
            f"seq_lengths.shape={tuple(lengths.shape)}."
        )
    return _reverse_sequence(x, lengths, seq_axis=seq, batch_axis=batch)


@op(
    batch_axes="axis",
    pattern=MOVES,
    linear="x",
    samples=lambda r: [
        ([r.normal(size=(3, 2))], {"shift": (1,), "axis": (0,)}),
        ([r.normal(size=(2, 3))], {"shift": (-7, 1), "axis": (1, 0)}),
        ([r.normal(size=(0, 2))], {"shift": (1,), "axis": (0,)}),
    ],
)
def _roll(xp, x, *, shift, axis):
    return xp.roll(x, shift, axis)


@_roll.vjp("x")
def _roll_vjp(g, *, shift, axis):
    return _roll(g, shift=tuple([-s for s in shift]), axis=axis)


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """`input` with its elements moved by `shift` along `axis`; what leaves comes in again."""
    x = to_tensor(input, "roll")
    shifts = each_int(shift, "roll", "shift")
    axes = tuple([static_axis(a, x.ndim, "roll") for a in static_ints(axis, "roll", "axis")])
    if len(shifts) != len(axes):
        raise ShapeError(
            f"roll: `shift` and `axis` must have as many entries, and have {len(shifts)} and "
            f"{len(axes)}."
        )
    if not is_unknown(shifts):
        return _roll(x, shift=tuple(shifts), axis=axes)
    for along, by in zip(axes, shifts, strict=True):
        x = _rolled_by(x, by, along)
    return x


def _rolled_by(x: Tensor, shift: Any, axis: int) -> Tensor:
    """The part of two copies that begins where the last `shift` elements of the first do."""
    shape = x._array.shape
    if not shape[axis]:
        return x
    begin = [0] * len(shape)
    begin[axis] = -shift % shape[axis]
    return slice_(concat([x, x], axis), begin, shape)


@op(
    batch_axes="axis",
    pattern=MOVES,
    linear="x",
    samples=lambda r: [
        ([r.normal(size=(2, 3))], {"axis": (0, 1)}),
        ([r.normal(size=(2, 3))], {"axis": (1,)}),
        ([r.normal(size=())], {"axis": ()}),
    ],
)
def _reverse(xp, x, *, axis):
    return xp.flip(x, axis)


@_reverse.vjp("x")
def _reverse_vjp(g, *, axis):
    return _reverse(g, axis=axis)


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """`tensor` with the order of its elements reversed along the axes in the list `axis`."""
    try:
        x = to_tensor(tensor, "reverse")
    except NotATensorError as error:
        return take_over(error, reverse, tensor, axis)
    return _reverse(x, axis=static_axes(static_ints(axis, "reverse", "axis"), x.ndim, "reverse"))
