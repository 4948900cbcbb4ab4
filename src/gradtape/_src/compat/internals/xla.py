"""What TensorFlow has of XLA's own ops: a part of a tensor, replaced at a computed place."""

from __future__ import annotations

from typing import Any

from ...core.convert import as_tensor
from ...core.errors import ShapeError
from ...core.tensor import Tensor
from ...ops.array.at import At
from ...ops.array.creation import range as numbers_from
from ...ops.array.shape import reshape
from ...ops.math.arithmetic import clip_by_value


def dynamic_update_slice(operand: Any, update: Any, indices: Any) -> Tensor:
    """`operand` with `update` in place of the part that begins at `indices`, one for each axis.

    As in XLA, a part that would reach beyond the end is moved back to fit.
    """
    x, part = as_tensor(operand), as_tensor(update)
    starts = as_tensor(indices)
    if part.ndim != x.ndim or list(starts.shape) != [x.ndim]:
        raise ShapeError(
            "dynamic_update_slice: `update` must have the rank of `operand`, and `indices` one "
            f"number for each axis. Received: operand.shape={x.shape}, update.shape={part.shape}, "
            f"indices.shape={starts.shape}."
        )
    key = []
    for axis, (size, taken) in enumerate(zip(x._array.shape, part._array.shape, strict=True)):
        begin = clip_by_value(starts[axis], 0, size - taken)
        places = begin + numbers_from(taken, dtype=starts.dtype)
        key.append(reshape(places, [-1 if i == axis else 1 for i in range(x.ndim)]))
    return At(x)[tuple(key)].set(part) if key else part
