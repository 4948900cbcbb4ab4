"""Isotonic regression: the nearest sequence that does not increase."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...core import dtypes as dt
from ...core.errors import ShapeError
from ...core.tensor import Tensor
from ..array.cast import cast
from ..array.shape import _reshape
from ..declare.op import op
from ..declare.static import static_axis, to_tensor
from ..math.ordering import _swapped
from ..math.segment import _segment_size, _segment_spread, _segment_sum


class IsotonicRegression(NamedTuple):
    output: Tensor
    segments: Tensor


@op(
    batch_axes=(),
    dtypes=dt.FLOATING,
    samples=lambda r: [([r.normal(size=(2, 5))], {}), ([r.normal(size=3)], {})],
)
def _isotonic(xp, x):
    """Along the last axis the nearest values that do not increase, and their blocks."""
    rows = x.astype(np.float64).reshape(math.prod(x.shape[:-1]), x.shape[-1])
    fitted = xp.isotonic(rows)
    # A block ends where the sum of what was taken away and added so far is nothing.
    drift = xp.cumsum(rows - fitted, axis=1)
    size = xp.abs(rows).max(axis=1, keepdims=True) if x.shape[-1] else 0
    tolerance = 4 * x.shape[-1] * np.finfo(np.float64).eps * size
    ends = (xp.abs(drift) <= tolerance).astype(np.int32)
    segments = xp.cumsum(ends, axis=1) - ends
    return fitted.reshape(x.shape).astype(x.dtype), segments.reshape(x.shape).astype(np.int32)


@_isotonic.vjp("x")
def _isotonic_vjp(g, out):
    """The mean over each block."""
    g, segments = g[0], out[1]
    shape = segments._array.shape
    length = shape[-1]
    rows = math.prod(shape[:-1])
    first = Tensor((np.arange(rows, dtype=np.int32) * length)[:, None])
    ids = _reshape(segments, shape=(rows, length)) + first
    count = rows * length
    sizes = _segment_size(ids, count=count, dtype=g._array.dtype)
    sums = _segment_sum(_reshape(g, shape=(rows, length)), ids, count=count)
    means = _segment_spread(sums, ids) / _segment_spread(sizes, ids)
    return _reshape(means, shape=shape)


def isotonic_regression(inputs: Any, decreasing: bool = True, axis: Any = -1) -> IsotonicRegression:
    """Along `axis` the nearest values (in the sum of squares) that only decrease, or increase.

    The values are constant on blocks, which `segments` numbers; each is the mean of the inputs of
    its block, and so is its gradient. Integers of 8 and 16 bits become float32, others float64.
    """
    x = to_tensor(inputs, "isotonic_regression")
    if x._array.dtype in dt.INTEGER:
        x = cast(x, dt.float32 if x._array.dtype.itemsize <= 2 else dt.float64)
    if not x.ndim:
        raise ShapeError("isotonic_regression: `inputs` is a scalar; it needs at least one axis.")
    along = static_axis(axis, x.ndim, "isotonic_regression")
    output, segments = _isotonic(_swapped(x if decreasing else -x, along))
    output, segments = _swapped(output, along), _swapped(segments, along)
    return IsotonicRegression(output if decreasing else -output, segments)
