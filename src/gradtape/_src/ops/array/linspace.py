"""Numbers evenly spaced between two ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.convert import as_tensor
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ..declare.op import op
from ..declare.static import static_axis, static_int, to_tensor
from ..math.reduction import reduce_sum
from .cast import cast


@op(
    dtypes=dt.INEXACT,
    samples=lambda r: [
        ([r.normal(size=()), r.normal(size=())], {"num": 5, "axis": 0}),
        ([r.normal(size=(2, 3)), r.normal(size=(2, 3))], {"num": 4, "axis": 1}),
        ([r.normal(size=2), r.normal(size=2)], {"num": 1, "axis": 0}),
        ([r.normal(size=2), r.normal(size=2)], {"num": 0, "axis": 1}),
    ],
)
def _linspace(xp, start, stop, *, num, axis):
    if num == 1:
        return xp.expand_dims(start, axis)
    return xp.linspace(start, stop, num, axis=axis).astype(start.dtype)


def _linspace_weights(g, num, axis):
    steps = np.linspace(0, 1, num).reshape((num, *(1,) * (g.ndim - axis - 1)))
    return Tensor(steps.astype(g._array.dtype))


@_linspace.vjp("start")
def _linspace_vjp_start(g, *, num, axis):
    return reduce_sum(g * (1 - _linspace_weights(g, num, axis)), axis)


@_linspace.vjp("stop")
def _linspace_vjp_stop(g, *, num, axis):
    return reduce_sum(g * _linspace_weights(g, num, axis), axis)


@_linspace.batch
def _linspace_batch(batched, start, stop, *, num, axis):
    if batched == {"start", "stop"}:
        return _linspace(start, stop, num=num, axis=axis + 1)
    return NotImplemented


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: Any = 0) -> Tensor:
    """`num` values from `start` to `stop`, both included; differentiable in its ends."""
    start = to_tensor(start, "linspace")
    if start._array.dtype not in dt.INEXACT:
        quotient = dt.float32 if start._array.dtype.itemsize <= 2 else dt.float64  # as / gives
        start = cast(start, quotient)
        stop = cast(stop, quotient)
    stop = as_tensor(stop, start.dtype, "linspace")
    if start.shape != stop.shape:
        raise ShapeError(
            f"linspace: `start` and `stop` must have one shape, and have {tuple(start.shape)} and "
            f"{tuple(stop.shape)}."
        )
    count = static_int(num, "linspace", "num")
    if count < 0:
        raise InvalidArgumentError(f"linspace: `num` must not be negative, and is {count}.")
    return _linspace(start, stop, num=count, axis=static_axis(axis, start.ndim + 1, "linspace"))
