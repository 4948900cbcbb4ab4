"""Counting: bincount, histograms, the confusion matrix, top-k membership, order."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes as dt
from ..core.convert import operand
from ..core.dtypes import as_dtype
from ..core.errors import DTypeError, InvalidArgumentError, ShapeError, UnimplementedError
from ..core.tensor import Tensor
from ._declare import op
from ._static import static_axis, static_int, to_tensor
from .creation import cast
from .indexing import _both_batched
from .ordering import _swapped, top_k
from .segment import _segment_size, _segment_sum
from .shape import _reshape


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dt.int32,
    name: str | None = None,
    axis: Any = None,
    binary_output: bool = False,
) -> Tensor:
    """How often each integer from 0 to the largest occurs in `arr`; with `weights`, their sums.

    The result has at least `minlength` and at most `maxlength` entries; larger integers do not
    count. With `axis=-1` each row of `arr` is counted by itself. `binary_output` says whether an
    integer occurs (1 or 0), and ignores weights. Differentiable by `weights`.

    >>> bincount([1, 1, 3])
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([0, 2, 0, 1], dtype=int32)>
    """
    x = to_tensor(arr, "bincount")
    if axis not in (None, 0, -1):
        raise InvalidArgumentError(f"bincount: `axis` must be None, 0 or -1, and is {axis!r}.")
    if axis == -1 and not 1 <= x.ndim <= 2:
        raise ShapeError(
            "bincount: with axis=-1 `arr` must be a vector or a matrix. "
            f"arr.shape={tuple(x.shape)}."
        )
    values = _whole(x, "bincount", "arr")
    if values.size and values.min() < 0:
        raise InvalidArgumentError(f"bincount: `arr` must not be negative, and has {values.min()}.")
    length = int(values.max()) + 1 if values.size else 0
    if minlength is not None:
        length = max(length, _length(minlength, "minlength"))
    if maxlength is not None:
        length = min(length, _length(maxlength, "maxlength"))
    rows = values if axis == -1 and x.ndim == 2 else values.reshape(1, -1)
    ids = np.where(rows < length, rows + length * np.arange(len(rows))[:, None], -1)
    places, count = Tensor(ids), length * len(rows)
    shape = (len(rows), length) if rows is values else (length,)
    if weights is None or binary_output:
        wanted = as_dtype(dtype).numpy_dtype
        counts = _segment_size(places, count=count, dtype=wanted)
        if binary_output:
            counts = Tensor((np.asarray(counts._array) > 0).astype(wanted))
        return _reshape(counts, shape=shape)
    w = to_tensor(weights, "bincount")
    if w._array.shape != x._array.shape:
        raise ShapeError(
            "bincount: `weights` must have the shape of `arr`. Received: "
            f"weights.shape={tuple(w.shape)}, arr.shape={tuple(x.shape)}."
        )
    return _reshape(_segment_sum(_reshape(w, shape=ids.shape), places, count=count), shape=shape)


def _length(value: Any, argument: str) -> int:
    length = static_int(value, "bincount", argument)
    if length < 0:
        raise InvalidArgumentError(f"bincount: `{argument}` must be >= 0, and is {length}.")
    return length


def _whole(x: Tensor, op_name: str, argument: str) -> Any:
    """The values of a tensor as integers, for an op whose result has a shape that they decide."""
    if not isinstance(x._array, (np.ndarray, np.generic)):
        raise UnimplementedError(
            f"{op_name}: `{argument}` is not known while the program is compiled, and the shape of "
            "the result depends on it."
        )
    values = np.asarray(x._array)
    if values.dtype not in dt.REAL:
        raise DTypeError(f"{op_name}: `{argument}` must be integers, and is {x.dtype.name}.")
    return values.astype(np.int64)


# Histograms


@op(
    nondiff="all",
    dtypes=dt.REAL,
    samples=lambda r: [
        ([r.normal(size=(2, 5)), np.array([-1.0, 1.0])], {"nbins": 4, "dtype": np.dtype("int32")}),
        ([np.array([0, 3, 9]), np.array([0, 5])], {"nbins": 5, "dtype": np.dtype("int64")}),
    ],
)
def _bins(xp, values, value_range, *, nbins, dtype):
    low, high = value_range[0], value_range[1]
    wide = np.float64 if values.dtype == np.float64 or values.dtype.kind in "iu" else np.float32
    scaled = (values - low).astype(wide) / (high - low).astype(wide)
    return xp.clip(xp.floor(scaled * nbins), 0, nbins - 1).astype(dtype)


@_bins.batch
def _bins_batch(batched, values, value_range, *, nbins, dtype):
    if batched == {"values"}:
        return _bins(values, value_range, nbins=nbins, dtype=dtype)
    return NotImplemented


def _binned(x: Tensor, value_range: Any, nbins: Any, dtype: Any, op_name: str) -> tuple[Any, int]:
    bounds = value_range if isinstance(value_range, Tensor) else operand(
        value_range, x._array.dtype, op_name
    )  # fmt: skip
    if bounds._array.shape != (2,):
        raise ShapeError(
            f"{op_name}: `value_range` must be a pair [low, high], and has shape "
            f"{tuple(bounds.shape)}."
        )
    count = static_int(nbins, op_name, "nbins")
    if count < 1:
        raise InvalidArgumentError(f"{op_name}: `nbins` must be at least 1, and is {count}.")
    if as_dtype(dtype).numpy_dtype not in dt.INTEGER:
        raise DTypeError(f"{op_name}: `dtype` must be an integer dtype, not {dtype!r}.")
    if isinstance(bounds._array, np.ndarray) and not bounds._array[0] < bounds._array[1]:
        raise InvalidArgumentError(
            f"{op_name}: `value_range` must be [low, high] with low < high, and is "
            f"{bounds._array.tolist()}."
        )
    if isinstance(x._array, np.ndarray) and x.dtype.is_floating and np.isnan(x._array).any():
        raise InvalidArgumentError(f"{op_name}: `values` contain NaN, which belongs to no bin.")
    return _bins(x, bounds, nbins=count, dtype=as_dtype(dtype).numpy_dtype), count


def histogram_fixed_width_bins(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dt.int32, name: str | None = None
) -> Tensor:
    """For each of `values` the number of its bin, of `nbins` equal ones from low to high.

    What lies outside of `value_range` belongs to the first or the last bin. No gradient.
    """
    op_name = "histogram_fixed_width_bins"
    return _binned(to_tensor(values, op_name), value_range, nbins, dtype, op_name)[0]


def histogram_fixed_width(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dt.int32, name: str | None = None
) -> Tensor:
    """How many of `values` fall into each of `nbins` equal bins from low to high. No gradient.

    What lies outside of `value_range` counts in the first or the last bin.

    >>> histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0], [0.0, 5.0], nbins=5)
    <tf.Tensor: shape=(5,), dtype=int32, numpy=array([2, 1, 1, 0, 1], dtype=int32)>
    """
    x = to_tensor(values, "histogram_fixed_width")
    places, count = _binned(x, value_range, nbins, dtype, "histogram_fixed_width")
    return _segment_size(places, count=count, dtype=as_dtype(dtype).numpy_dtype)


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    weights: Any = None,
    dtype: Any = dt.int32,
    name: str | None = None,
) -> Tensor:
    """How often each label (row) was predicted as each class (column); with `weights`, their sums.

    Without `num_classes` there are as many classes as the largest label or prediction asks for.
    Differentiable by `weights`, if `dtype` is floating.
    """
    true, predicted = (to_tensor(v, "confusion_matrix") for v in (labels, predictions))
    if true.ndim - predicted.ndim == 1 and true._array.shape[-1] == 1:
        true = _reshape(true, shape=true._array.shape[:-1])
    elif predicted.ndim - true.ndim == 1 and predicted._array.shape[-1] == 1:
        predicted = _reshape(predicted, shape=predicted._array.shape[:-1])
    if true.ndim != 1 or true._array.shape != predicted._array.shape:
        raise ShapeError(
            "confusion_matrix: `labels` and `predictions` must be vectors of the same length. "
            f"Received: labels.shape={tuple(true.shape)}, "
            f"predictions.shape={tuple(predicted.shape)}."
        )
    rows = _whole(true, "confusion_matrix", "labels")
    columns = _whole(predicted, "confusion_matrix", "predictions")
    count = int(max(rows.max(), columns.max())) + 1 if rows.size else 0
    if num_classes is not None:
        count = static_int(num_classes, "confusion_matrix", "num_classes")
    for values, argument in ((rows, "labels"), (columns, "predictions")):
        if values.size and not 0 <= values.min() <= values.max() < count:
            raise InvalidArgumentError(
                f"confusion_matrix: `{argument}` must lie in [0, {count}), and go from "
                f"{values.min()} to {values.max()}."
            )
    places = Tensor(rows * count + columns)
    wanted = as_dtype(dtype)
    if weights is None:
        found = _segment_size(places, count=count * count, dtype=wanted.numpy_dtype)
        return _reshape(found, shape=(count, count))
    w = cast(to_tensor(weights, "confusion_matrix"), wanted)
    if w._array.shape != rows.shape:
        raise ShapeError(
            "confusion_matrix: `weights` must be a vector with one number for each label. "
            "Received: "
            f"weights.shape={tuple(w.shape)}, labels.shape={rows.shape}."
        )
    return _reshape(_segment_sum(w, places, count=count * count), shape=(count, count))


# Among the largest


@op(
    nondiff="all",
    samples=lambda r: [
        ([np.array([1, 0, 7]), r.normal(size=(3, 4))], {"k": 2}),
        ([np.array([1, 0]), np.array([[0.5, 0.5], [np.nan, 1.0]])], {"k": 1}),
    ],
)
def _in_top_k(xp, targets, predictions, *, k):
    classes = predictions.shape[-1]
    known = (targets >= 0) & (targets < classes)
    chosen = xp.where(known, targets, 0)[..., None]
    own = xp.take_along_axis(predictions, chosen, -1)
    above = (predictions > own).sum(-1)
    return known & (above < k) & xp.isfinite(predictions).all(-1)


@_in_top_k.batch
def _in_top_k_batch(batched, targets, predictions, *, k):
    targets, predictions = _both_batched(batched, targets=targets, predictions=predictions)
    return _in_top_k(targets, predictions, k=k)


def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> Tensor:
    """Whether the class `targets[i]` is among the `k` largest of row i of `predictions`.

    All that tie at the border are among them. False for a target that is no class, and for a row
    with an element that is not finite. No gradient.
    """
    scores, classes = to_tensor(predictions, "in_top_k"), to_tensor(targets, "in_top_k")
    if classes._array.dtype not in dt.INTEGER:
        raise DTypeError(f"in_top_k: `targets` must be integers, and are {classes.dtype.name}.")
    if scores.ndim != 2 or classes._array.shape != scores._array.shape[:1]:
        raise ShapeError(
            "in_top_k: `predictions` must be a matrix and `targets` have a class for each of its "
            "rows. "
            f"Received: predictions.shape={tuple(scores.shape)}, "
            f"targets.shape={tuple(classes.shape)}."
        )
    return _in_top_k(classes, scores, k=static_int(k, "in_top_k", "k"))


class ApproxTopK(NamedTuple):
    values: Tensor
    indices: Tensor


def approx_max_k(
    operand: Any,
    k: Any,
    reduction_dimension: Any = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """The `k` largest elements along an axis and their indices: exactly those, as on every CPU."""
    return _top_along(to_tensor(operand, "approx_max_k"), k, reduction_dimension, "approx_max_k")


def approx_min_k(
    operand: Any,
    k: Any,
    reduction_dimension: Any = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """The `k` smallest elements along an axis and their indices: exactly those."""
    x = to_tensor(operand, "approx_min_k")
    values, indices = _top_along(-x, k, reduction_dimension, "approx_min_k")
    return ApproxTopK(-values, indices)


def approx_top_k(
    input: Any,
    k: Any,
    reduction_dimension: Any = -1,
    recall_target: float = 0.95,
    is_max_k: bool = True,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """`approx_max_k` or, without `is_max_k`, `approx_min_k`."""
    return (approx_max_k if is_max_k else approx_min_k)(input, k, reduction_dimension)


def _top_along(x: Tensor, k: Any, dimension: Any, op_name: str) -> ApproxTopK:
    if not x.ndim:
        raise ShapeError(f"{op_name}: `operand` is a scalar; it needs at least one axis.")
    axis = static_axis(dimension, x.ndim, op_name, "reduction_dimension")
    count, size = static_int(k, op_name, "k"), x._array.shape[axis]
    if not 0 <= count <= size:
        raise InvalidArgumentError(
            f"{op_name}: `k`={count} needs at least as many elements along axis {axis}, which has "
            f"size {size}."
        )
    found = top_k(_swapped(x, axis), count)
    return ApproxTopK(_swapped(found.values, axis), _swapped(found.indices, axis))


# Order


@op(
    nondiff="all",
    samples=lambda r: [
        ([np.array([1.0, 2.0, 2.0])], {"strictly": False, "ndim": 1}),
        ([r.normal(size=(2, 2))], {"strictly": True, "ndim": 2}),
        ([r.normal(size=0)], {"strictly": True, "ndim": 1}),
    ],
)
def _is_increasing(xp, x, *, strictly, ndim):
    """Over the last `ndim` axes, read in order."""
    batch = x.shape[: x.ndim - ndim]
    rows = x.reshape(*batch, math.prod(x.shape[x.ndim - ndim :]))
    before, after = rows[..., :-1], rows[..., 1:]
    return (before < after if strictly else before <= after).all(-1)


@_is_increasing.batch
def _is_increasing_batch(batched, x, *, strictly, ndim):
    return _is_increasing(x, strictly=strictly, ndim=ndim)


def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Whether no element of `x`, read in order, is less than the one before."""
    x = to_tensor(x, "is_non_decreasing")
    return _is_increasing(x, strictly=False, ndim=x.ndim)


def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Whether each element of `x`, read in order, is greater than the one before."""
    x = to_tensor(x, "is_strictly_increasing")
    return _is_increasing(x, strictly=True, ndim=x.ndim)
