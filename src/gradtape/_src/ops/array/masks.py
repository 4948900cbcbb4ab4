"""Masks: elements chosen by one, and masks made of indices or lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.convert import as_tensor
from ...core.dtypes import as_dtype
from ...core.errors import DTypeError, InvalidArgumentError, NotATensorError, ShapeError
from ...core.spec import Spec
from ...core.take_over import take_over
from ...core.tensor import Tensor
from ..declare.op import op
from ..declare.static import static_axis, static_int, to_tensor, values_that_size
from .slicing import ALL, TENSOR, _select, graph_of_shapes

_INT64 = np.dtype(np.int64)


def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Tensor:
    """The elements of `tensor` where `mask` is true; the mask stands for the axes from `axis` on.

    >>> boolean_mask([[1, 2], [3, 4]], [True, False])
    <tf.Tensor: shape=(1, 2), dtype=int32, numpy=array([[1, 2]], dtype=int32)>
    """
    x = to_tensor(tensor, "boolean_mask")
    chosen = to_tensor(mask, "boolean_mask")
    if not chosen.ndim:
        raise ShapeError("boolean_mask: `mask` must not be a scalar.")
    first = 0 if axis is None else static_axis(axis, x.ndim, "boolean_mask")
    covered = x._array.shape[first : first + chosen.ndim]
    if covered != chosen._array.shape:
        raise ShapeError(
            f"boolean_mask: `mask` must have the shape of the axes of `tensor` that it stands for, "
            f"{covered}, and has {chosen.shape}."
        )
    found = _positions(chosen)
    return _select(x, *found, key=(*(ALL,) * first, *(TENSOR,) * len(found)), unique=True)


def _positions(mask: Tensor) -> list[Tensor]:
    """Where a mask is true: a vector of positions for each of its axes."""
    graph = graph_of_shapes(mask)
    if graph is not None:
        found: list[Tensor] = graph.of_unknown_length(*[Spec((), _INT64)] * mask.ndim)
        return found
    chosen = values_that_size(mask, "boolean_mask").astype(bool)
    return [Tensor(positions) for positions in np.nonzero(chosen)]


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
    try:
        places = to_tensor(indices, "one_hot")
    except NotATensorError as error:
        return take_over(error, one_hot, indices, depth, on_value, off_value, axis, dtype)
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
    batch_axes=(),
    nondiff="all",
    samples=lambda r: [
        ([np.array([1, 3, 0])], {"maxlen": 3, "dtype": np.dtype(bool)}),
        ([np.array([[1], [2]])], {"maxlen": 2, "dtype": np.dtype("float32")}),
        ([np.array(2)], {"maxlen": 4, "dtype": np.dtype(bool)}),
    ],
)
def _sequence_mask(xp, lengths, *, maxlen, dtype):
    return (xp.arange(maxlen) < xp.expand_dims(lengths, -1)).astype(dtype)


def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = dt.bool_, name: str | None = None
) -> Tensor:
    """For each length a row of `maxlen` (by default the largest length): true up to that length."""
    counts = to_tensor(lengths, "sequence_mask")
    if maxlen is None:
        values = values_that_size(counts, "sequence_mask")
        size = max(int(values.max()), 0) if values.size else 0
    else:
        size = static_int(maxlen, "sequence_mask", "maxlen")
    return _sequence_mask(counts, maxlen=size, dtype=as_dtype(dtype).numpy_dtype)
