"""Counting: bincount, histograms, the confusion matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.convert import operand
from ...core.dtypes import as_dtype
from ...core.engine import common_engine
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError
from ...core.take_over import lends_itself
from ...core.tensor import Tensor, is_symbolic
from ...core.tracing import current_graph
from ..array.cast import cast
from ..array.shape import _reshape
from ..declare.op import op
from ..declare.static import known, static_int, to_tensor
from .segment import _segment_size, _segment_sum


@lends_itself
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
    least = 0 if minlength is None else _length(minlength, "minlength")
    most = None if maxlength is None else _length(maxlength, "maxlength")
    if least == most and is_symbolic(x._array):
        length, values = most, _bins_of(x, most)  # the values decide on nothing
    else:
        values = _whole(x, "bincount", "arr")
        lowest = values.min() if values.size else 0
        if lowest < 0:
            raise InvalidArgumentError(f"bincount: `arr` must not be negative, and has {lowest}.")
        length = max(int(values.max()) + 1 if values.size else 0, least)
        length = length if most is None else min(length, most)
    rows = values if axis == -1 and x.ndim == 2 else values.reshape(1, -1)
    xp = common_engine([rows])
    ids = xp.where(rows < length, rows + length * xp.arange(rows.shape[0])[:, None], -1)
    places, count = Tensor(ids), length * rows.shape[0]
    shape = (rows.shape[0], length) if rows is values else (length,)
    if weights is None or binary_output:
        wanted = as_dtype(dtype).numpy_dtype
        counts = _segment_size(places, count=count, dtype=wanted)
        if binary_output:
            counts = Tensor((counts._array > 0).astype(wanted))
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


def _bins_of(x: Tensor, length: int) -> Any:
    """Symbolic values as integers, all that are not below `length` as `length`."""
    array = cast(x, dt.int64)._array
    xp = common_engine([array])
    return xp.valid_indices(xp.minimum(array, length), length + 1, "bincount: `arr`")


def _whole(x: Tensor, op_name: str, argument: str) -> Any:
    """The values of a tensor as integers, for an op whose result has a shape that they decide."""
    values = known(x, op_name, argument)
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


def _check(say: Callable[[Any], None], x: Tensor, holds: Callable[[Any], Any]) -> None:
    """Let `say(x)` raise, now or when the program runs, unless `holds(x)` everywhere."""
    graph, known = current_graph(), isinstance(x._array, np.ndarray)
    if known and (graph is None or graph.always_runs or bool(holds(x._array).all())):
        say(x._array)
    elif graph is not None and x._intercept is None and (known or is_symbolic(x._array)):
        graph.check(lambda found: found.all(), holds(x._array), say, x._array)


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

    def check_range(pair: Any) -> None:
        if not pair[0] < pair[1]:
            raise InvalidArgumentError(
                f"{op_name}: `value_range` must be [low, high] with low < high, and is "
                f"{pair.tolist()}."
            )

    def check_values(values: Any) -> None:
        if (values != values).any():
            raise InvalidArgumentError(f"{op_name}: `values` contain NaN, which belongs to no bin.")

    _check(check_range, bounds, lambda pair: pair[:1] < pair[1:])
    if x.dtype.is_floating:
        _check(check_values, x, lambda values: values == values)
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


def _classes(x: Tensor, count: int, argument: str) -> Tensor:
    """A tensor of labels as int64, if all are numbers of classes."""
    array = cast(x, dt.int64)._array
    what = f"confusion_matrix: `{argument}`"
    return Tensor(common_engine([array]).valid_indices(array, count, what))


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
    if num_classes is None:
        known = [
            _whole(true, "confusion_matrix", "labels"),
            _whole(predicted, "confusion_matrix", "predictions"),
        ]
        count = int(np.max(known)) + 1 if known[0].size else 0
    else:
        count = static_int(num_classes, "confusion_matrix", "num_classes")
    rows, columns = _classes(true, count, "labels"), _classes(predicted, count, "predictions")
    places = rows * count + columns
    wanted = as_dtype(dtype)
    if weights is None:
        found = _segment_size(places, count=count * count, dtype=wanted.numpy_dtype)
        return _reshape(found, shape=(count, count))
    w = cast(to_tensor(weights, "confusion_matrix"), wanted)
    if w._array.shape != true._array.shape:
        raise ShapeError(
            "confusion_matrix: `weights` must be a vector with one number for each label. "
            f"Received: weights.shape={tuple(w.shape)}, labels.shape={tuple(true.shape)}."
        )
    return _reshape(_segment_sum(w, places, count=count * count), shape=(count, count))
