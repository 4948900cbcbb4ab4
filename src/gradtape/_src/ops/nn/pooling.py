"""Pooling: the maximum or the mean of windows, over 1, 2 or 3 axes.

A pool over several axes is one over each axis, the last one first, so that the primitives know one
axis only: a window of h x w takes `h + w` steps, and the first of equal elements is the first one
in the order of memory. Windows never reach into the padding: what lies there does not exist.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...core import dtypes as dt
from ...core.dtypes import as_dtype
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError, UnimplementedError
from ...core.spec import Spec
from ...core.tensor import Tensor
from ...engines.windows import Window
from ..array.cast import cast
from ..array.indexing import _both_batched, gather
from ..array.shape import _broadcast_to, _transpose
from ..declare.op import op
from ..declare.reduction import HALVES, in_float32
from ..declare.static import static_ints, to_tensor
from ..linalg.einsum import tensordot
from ..random.sequence import generator_for
from .geometry import Ints, amounts, channels_first, explicit, hashable, per_axis

# The primitives


def _samples(r, *shapes):
    """For each array of `shapes` ("in", "out"): distinct elements, so that no two are largest."""
    cases = [
        ((2, 4), 1, Window(2, 2, 0, 2)),
        ((2, 5), 1, Window(3, 2, 1, 3)),
        ((3, 2), 0, Window(2, 1, 0, 1, dilation=2)),
        ((2, 3), 1, Window(2, 2, 0, 2)),
        ((1, 2), 1, Window(3, 1, 0, 0)),
    ]
    result = []
    for shape, axis, window in cases:
        reduced = tuple([window.count if i == axis else n for i, n in enumerate(shape)])
        arrays = []
        for which in shapes:
            dims = shape if which == "in" else reduced
            arrays.append(r.permutation(math.prod(dims)).reshape(dims) * 0.5 - 1)
        spread = {"length": shape[axis]} if shapes == ("out",) else {}
        result.append((arrays, {"axis": axis, "window": window, **spread}))
    return result


@op(batch_axes="axis", dtypes=dt.REAL, samples=lambda r: _samples(r, "in"))
def _window_max(xp, x, *, axis, window):
    """The largest element of each window along `axis`; NaN if one of them is."""
    return xp.windows.window_max(x, axis, window)


@_window_max.vjp("x")
def _window_max_vjp(g, x, *, axis, window):
    return _window_max_adjoint(g, x, axis=axis, window=window)


@op(linear="y", zero="x", dtypes=dt.FLOATING, samples=lambda r: _samples(r, "out", "in"))
def _window_max_adjoint(xp, y, x, *, axis, window):
    """`y` added at the first largest element of each window of `x`, zeros elsewhere."""
    return xp.windows.window_max_adjoint(y, x, axis, window)


@_window_max_adjoint.vjp("y")
def _window_max_adjoint_vjp_y(g, x, *, axis, window):
    return _window_pick(g, x, axis=axis, window=window)


@_window_max_adjoint.batch
def _window_max_adjoint_batch(batched, y, x, *, axis, window):
    return _window_max_adjoint(*_both_batched(batched, y=y, x=x), axis=axis + 1, window=window)


@op(linear="values", zero="x", dtypes=dt.FLOATING, samples=lambda r: _samples(r, "in", "in"))
def _window_pick(xp, values, x, *, axis, window):
    """What `values` has at the first largest element of each window of `x`."""
    return xp.windows.window_pick(values, x, axis, window)


@_window_pick.vjp("values")
def _window_pick_vjp_values(g, x, *, axis, window):
    return _window_max_adjoint(g, x, axis=axis, window=window)


@_window_pick.batch
def _window_pick_batch(batched, values, x, *, axis, window):
    return _window_pick(*_both_batched(batched, values=values, x=x), axis=axis + 1, window=window)


@op(
    nondiff="all",
    samples=lambda r: [
        ([a.astype(np.int64), b], params) for (a, b), params in _samples(r, "in", "in")
    ],
)
def _window_places(xp, places, x, *, axis, window):
    """What the integers `places` are at the first largest element of each window of `x`."""
    return xp.windows.window_pick(places, x, axis, window)


@_window_places.batch
def _window_places_batch(batched, places, x, *, axis, window):
    return _window_places(*_both_batched(batched, places=places, x=x), axis=axis + 1, window=window)


@op(batch_axes="axis", linear="x", dtypes=dt.REAL, samples=lambda r: _samples(r, "in"))
@in_float32
def _window_sum(xp, x, *, axis, window):
    """The sum of each window along `axis`."""
    return xp.windows.window_sum(x, axis, window)


@_window_sum.vjp("x")
def _window_sum_vjp(g, x: Spec, *, axis, window):
    return _window_sum_adjoint(g, axis=axis, length=x.shape[axis], window=window)


@op(batch_axes="axis", linear="y", dtypes=dt.REAL, samples=lambda r: _samples(r, "out"))
@in_float32
def _window_sum_adjoint(xp, y, *, axis, length, window):
    """Each element of `y` added to all elements of its window, in an axis of `length`."""
    return xp.windows.window_sum_adjoint(y, axis, length, window)


@_window_sum_adjoint.vjp("y")
def _window_sum_adjoint_vjp(g, *, axis, window):
    return _window_sum(g, axis=axis, window=window)


# From TensorFlow's arguments to windows along each axis


class _Plan(NamedTuple):
    """The axes, the last one first, each with its windows; and how many elements these have."""

    windows: tuple[tuple[int, Window], ...]
    counts: Any  # a number where all are equal, else an array that broadcasts


@lru_cache(maxsize=1024)
def _plan(
    name: str,
    shape: Ints,
    rank: int,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any,
    dilations: Any = None,
) -> _Plan:
    if len(shape) != rank + 2:
        raise ShapeError(
            f"{name}: `input` must have rank {rank + 2}: batch, {rank} axes of space, channels. "
            f"Received: input.shape={shape}."
        )
    first = channels_first(data_format, rank, name)
    sizes = per_axis(ksize, rank, first, name, "ksize", whole=True)
    steps = per_axis(strides, rank, first, name, "strides", whole=True)
    rates = per_axis(dilations, rank, first, name, "dilations", whole=True)
    if sizes[0] > 1 or steps[0] > 1:
        raise UnimplementedError(
            f"{name}: the batch is not pooled. Received: ksize={list(sizes)}, strides="
            f"{list(steps)}."
        )
    if isinstance(padding, tuple):
        inner = explicit(padding, rank, first, name)
        padding = ((0, 0), *inner, (0, 0)) if not first else ((0, 0), (0, 0), *inner)
        padding = ((0, 0), *padding, (0, 0))
        for pair, size in zip(padding[1:-1], sizes, strict=True):
            if max(pair) >= size > 1 or (size == 1 and any(pair)):
                raise InvalidArgumentError(
                    f"{name}: padding must be smaller than the window, or a window would be empty. "
                    f"Received: padding={inner}, ksize={list(sizes)}."
                )
    pairs, counts = amounts(padding, shape, sizes, steps, rates, name)
    windows, numbers = [], np.ones((1,) * (rank + 2))
    for axis in range(rank + 1, 0, -1):
        size, stride, dilation = sizes[axis], steps[axis], rates[axis]
        low, count = pairs[axis][0], counts[axis]
        if size == stride == 1 and not any(pairs[axis]):
            continue
        windows.append((axis, Window(size, stride, low, count, dilation)))
        places = np.arange(count)[:, None] * stride - low + np.arange(size) * dilation
        inside = ((places >= 0) & (places < shape[axis])).sum(1)
        numbers = numbers * inside.reshape([-1 if a == axis else 1 for a in range(rank + 2)])
    equal = numbers.size and (numbers == numbers.flat[0]).all()
    return _Plan(tuple(windows), float(numbers.flat[0]) if equal else numbers)


def _max(x: Tensor, plan: _Plan) -> Tensor:
    for axis, window in plan.windows:
        x = _window_max(x, axis=axis, window=window)
    return x


def _mean(x: Tensor, plan: _Plan) -> Tensor:
    dtype = x.dtype
    if x._array.dtype in HALVES:
        x = cast(x, dt.float32)
    for axis, window in plan.windows:
        x = _window_sum(x, axis=axis, window=window)
    if isinstance(plan.counts, float):
        x = x * (1 / plan.counts)
    else:
        x = x * Tensor((1 / plan.counts).astype(x._array.dtype))
    return x if x.dtype is dtype else cast(x, dtype)


def _pool(
    name: str,
    kind: str,
    input: Any,
    rank: int,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any,
    dilations: Any = None,
) -> Tensor:
    x = to_tensor(input, name)
    _check_dtype(x, dt.REAL if kind == "MAX" else dt.FLOATING, name, "input")
    if kind == "AVG" and isinstance(padding, (list, tuple)):
        raise InvalidArgumentError(
            f"{name}: `padding` must be 'SAME' or 'VALID'; means over explicit padding are not "
            f"defined. Received: {padding!r}. Use tf.pad first, if its zeros shall count."
        )
    given = hashable(ksize), hashable(strides), hashable(padding), data_format, hashable(dilations)
    plan = _plan(name, x._array.shape, rank, *given)
    return _max(x, plan) if kind == "MAX" else _mean(x, plan)


def _check_dtype(x: Tensor, taken: Any, name: str, argument: str) -> None:
    if x._array.dtype not in taken:
        kinds = "floating" if taken is dt.FLOATING else "real"
        raise DTypeError(
            f"{name}: `{argument}` is {x.dtype.name}, and the op takes {kinds} numbers. Convert it "
            "with tf.cast."
        )


def _rank(input: Tensor, name: str) -> int:
    if not 3 <= input.ndim <= 5:
        raise ShapeError(
            f"{name}: `input` must have rank 3, 4 or 5: batch, 1 to 3 axes of space, channels. "
            f"Received: input.shape={tuple(input.shape)}."
        )
    return input.ndim - 2


def max_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """The largest element of each window of `input` [batch, width, channels]: see `max_pool2d`."""
    return _pool("max_pool1d", "MAX", input, 1, ksize, strides, padding, data_format)


def max_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The largest element of each window of `input` [batch, height, width, channels].

    Padding ("SAME", or a list of pairs for all axes) is never the largest. The gradient goes to the
    first of equal elements, row by row. A NaN makes its windows NaN.

    >>> max_pool2d([[[[1.0], [3.0]], [[2.0], [0.0]]]], 2, 2, "VALID")
    <tf.Tensor: shape=(1, 1, 1, 1), dtype=float32, numpy=array([[[[3.]]]], dtype=float32)>
    """
    return _pool("max_pool2d", "MAX", input, 2, ksize, strides, padding, data_format)


def max_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The largest element of each window of `input` [batch, depth, height, width, channels]."""
    return _pool("max_pool3d", "MAX", input, 3, ksize, strides, padding, data_format)


def max_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """`max_pool1d`, `max_pool2d` or `max_pool3d`, by the rank of `input`."""
    x = to_tensor(input, "max_pool")
    rank = _rank(x, "max_pool")
    return _pool("max_pool", "MAX", x, rank, ksize, strides, padding, data_format)


def avg_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of `input` [batch, width, channels]; padding does not count."""
    return _pool("avg_pool1d", "AVG", input, 1, ksize, strides, padding, data_format)


def avg_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of `input` [batch, height, width, channels], padding left out."""
    return _pool("avg_pool2d", "AVG", input, 2, ksize, strides, padding, data_format)


def avg_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of `input` [batch, depth, height, width, channels]."""
    return _pool("avg_pool3d", "AVG", input, 3, ksize, strides, padding, data_format)


def avg_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """`avg_pool1d`, `avg_pool2d` or `avg_pool3d`, by the rank of `input`."""
    x = to_tensor(input, "avg_pool")
    rank = _rank(x, "avg_pool")
    return _pool("avg_pool", "AVG", x, rank, ksize, strides, padding, data_format)


def pool(
    input: Any,
    window_shape: Any,
    pooling_type: str,
    strides: Any = None,
    padding: str = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Pooling ("MAX" or "AVG") over as many axes as `window_shape` has, also with `dilations`."""
    sizes = static_ints(window_shape, "pool", "window_shape")
    rank = len(sizes)
    if rank not in (1, 2, 3):
        raise InvalidArgumentError(
            f"pool: `window_shape` must have 1 to 3 sizes. Received: {list(sizes)}."
        )
    if pooling_type not in ("MAX", "AVG"):
        raise InvalidArgumentError(
            f"pool: `pooling_type` must be 'MAX' or 'AVG', not {pooling_type!r}."
        )
    first = channels_first(data_format, rank, "pool")
    steps = per_axis(strides, rank, first, "pool", "strides")
    rates = per_axis(dilations, rank, first, "pool", "dilations")
    if max(rates) > 1 and (padding == "SAME" or max(steps) > 1):
        raise InvalidArgumentError(
            "pool: with `dilations` larger than 1 `padding` must be 'VALID' and `strides` 1. "
            f"Received: padding={padding!r}, strides={list(steps)}, dilations={list(rates)}."
        )
    if any(step > size for step, size in zip(steps, sizes, strict=True)):
        raise InvalidArgumentError(
            f"pool: `strides` must not be larger than `window_shape`. Received: {list(steps)} and "
            f"{list(sizes)}."
        )
    return _pool("pool", pooling_type, input, rank, sizes, steps, padding, data_format, rates)


class MaxPoolWithArgmax(NamedTuple):
    """What `max_pool_with_argmax` returns."""

    output: Tensor
    argmax: Tensor


def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NHWC",
    output_dtype: Any = dt.int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> MaxPoolWithArgmax:
    """`max_pool2d`, and the flat position of each largest element in its image (or the batch)."""
    x = to_tensor(input, "max_pool_with_argmax")
    if data_format not in (None, "NHWC"):
        raise InvalidArgumentError(
            f"max_pool_with_argmax: `data_format` must be 'NHWC', not {data_format!r}."
        )
    _check_dtype(x, dt.REAL, "max_pool_with_argmax", "input")
    given = hashable(ksize), hashable(strides), hashable(padding), data_format
    plan = _plan("max_pool_with_argmax", x._array.shape, 2, *given)
    batch, *image = x._array.shape
    size = math.prod(image)
    positions = np.arange(batch * size if include_batch_in_index else size, dtype=np.int64)
    places = _broadcast_to(Tensor(positions.reshape(-1, *image)), shape=x._array.shape)
    out = x
    for axis, window in plan.windows:
        places = _window_places(places, out, axis=axis, window=window)
        out = _window_max(out, axis=axis, window=window)
    return MaxPoolWithArgmax(out, cast(places, as_dtype(output_dtype)))


# Fractional pooling: windows of two sizes, in random order


class FractionalPool(NamedTuple):
    """What the two fractional pools return."""

    output: Tensor
    row_pooling_sequence: Tensor
    col_pooling_sequence: Tensor


def fractional_max_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: Any = 0,
    name: str | None = None,
) -> FractionalPool:
    """The largest elements of windows whose sizes vary at random, `pooling_ratio` on average.

    Also the bounds of the windows along rows and columns. `overlapping` windows share their
    borders. A `seed` other than 0 fixes the draw.
    """
    x, bounds = _fractions("fractional_max_pool", value, pooling_ratio, pseudo_random, seed)
    out = x
    for axis, places in ((2, bounds[1]), (1, bounds[0])):
        members = _members(places, overlapping)
        count, size = members.shape
        out = gather(out, Tensor(members.reshape(-1)), axis=axis)
        out = _window_max(out, axis=axis, window=Window(size, size, 0, count))
    return FractionalPool(out, *map(Tensor, bounds))


def fractional_avg_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: Any = 0,
    name: str | None = None,
) -> FractionalPool:
    """The means of windows whose sizes vary at random: see `fractional_max_pool`."""
    x, bounds = _fractions("fractional_avg_pool", value, pooling_ratio, pseudo_random, seed)
    out = x
    for axis, places in ((2, bounds[1]), (1, bounds[0])):
        members = _members(places, overlapping)
        weights = np.zeros((len(members), x._array.shape[axis]))
        np.put_along_axis(weights, members, 1, axis=1)
        weights /= weights.sum(1, keepdims=True)
        averages = Tensor(weights.astype(x._array.dtype))
        out = tensordot(out, averages, [[axis], [1]])
        out = _transpose(out, perm=_with_last_at(axis))
    return FractionalPool(out, *map(Tensor, bounds))


def _with_last_at(axis: int) -> Ints:
    """The order that brings the last of four axes to `axis`."""
    rest = [0, 1, 2]
    rest.insert(axis, 3)
    return tuple(rest)


def _fractions(
    name: str, value: Any, ratio: Any, pseudo_random: bool, seed: Any
) -> tuple[Tensor, list[Any]]:
    """The tensor, and the bounds of the windows along its rows and columns."""
    x = to_tensor(value, name)
    if x.ndim != 4 or 0 in x._array.shape:
        raise ShapeError(
            f"{name}: `value` must be [batch, height, width, channels], none of them 0. Received: "
            f"value.shape={tuple(x.shape)}."
        )
    _check_dtype(x, dt.FLOATING if "avg" in name else dt.REAL, name, "value")
    ratios = [ratio] * 2 if isinstance(ratio, (int, float)) else list(ratio)
    if len(ratios) == 4:
        if ratios[0] != 1 or ratios[3] != 1:
            raise InvalidArgumentError(
                f"{name}: `pooling_ratio` must be 1 for the batch and the channels. Received: "
                f"{ratio}."
            )
        ratios = ratios[1:3]
    sizes = x._array.shape[1:3]
    if len(ratios) != 2 or any(not 1 <= r <= n for r, n in zip(ratios, sizes, strict=False)):
        raise InvalidArgumentError(
            f"{name}: `pooling_ratio` must be a number or [1, rows, columns, 1], each between 1 "
            f"and the size of its axis, {list(sizes)}. Received: {ratio}."
        )
    # As in TensorFlow the windows of one seed are the same in every call.
    random = np.random.default_rng(int(seed)) if seed else generator_for()
    axes = zip(sizes, ratios, strict=True)
    return x, [_bounds(n, int(n / r), pseudo_random, random) for n, r in axes]


def _bounds(length: int, count: int, pseudo_random: bool, random: np.random.Generator) -> Any:
    """Where `count` windows of nearly equal sizes, which fill `length`, begin and end.

    The two ways to draw them are those of Graham, "Fractional Max-Pooling" (2014).
    """
    small, larger = divmod(length, count)
    if not larger or not pseudo_random:
        sizes = random.permutation([small + 1] * larger + [small] * (count - larger))
    else:
        alpha = length / count
        limit = min((small + 2) / alpha - 1, (length + 1 - small) / alpha - (count - 1))
        u = random.random() * limit
        inner = [math.ceil(alpha * (i + u)) for i in range(1, count)]
        sizes = np.diff([1, *inner, length + 1])
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _members(bounds: Any, overlapping: bool) -> Any:
    """The elements of each window as a row; a shorter window repeats its last one."""
    ends = np.minimum(bounds[1:] + overlapping, bounds[-1]) - 1
    width = int((ends - bounds[:-1]).max()) + 1
    return np.minimum(bounds[:-1, None] + np.arange(width), ends[:, None])
