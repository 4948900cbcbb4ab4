"""Reductions of rows that belong together: segment sums, products and extrema.

The rows of `data` with the same segment id are reduced to one row of the result. A negative id
drops its row, wherever ids need not be sorted.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError
from ...core.pattern import MOVES
from ...core.placement import on_host
from ...core.spec import Spec
from ...core.take_over import lends_itself
from ...core.tensor import Tensor
from ..array.cast import cast
from ..array.creation import ones
from ..array.indexing import _both_batched
from ..array.joining import concat, split
from ..array.reverse import reverse
from ..array.scatter import _agreement
from ..array.shape import _reshape
from ..array.slicing import TENSOR, _select, _select_adjoint
from ..declare.op import op
from ..declare.reduction import HALVES
from ..declare.static import known, static_int, to_tensor
from .arithmetic import divide, maximum
from .conjugate import conj
from .logic import equal, select
from .ordering import _argsort
from .power import sqrt

# The primitives. `ids` has the shape of the first axes of `data`; its negative entries drop rows.


def _samples(r: np.random.Generator) -> list[Any]:
    return [
        ([r.normal(size=(4, 2)), np.array([0, 2, 0, -1])], {"count": 4}),
        ([r.normal(size=5), np.array([1, 1, 0, 1, 0], np.int32)], {"count": 2}),
        ([r.normal(size=(2, 2, 3)), np.array([[1, 0], [0, 0]])], {"count": 2}),
        ([r.normal(size=2), np.array(1)], {"count": 3}),
        ([r.normal(size=(0, 2)), np.zeros(0, int)], {"count": 2}),
        ([r.normal(size=(2, 2)), np.array([-1, -2])], {"count": 0}),
    ]


def _rows(data: Any, ids: Any) -> Any:
    """`data` with the axes of `ids` made one."""
    return data.reshape(math.prod(ids.shape), *data.shape[ids.ndim :])


@op(pattern=MOVES, nondiff="ids", linear="data", dtypes=dt.NUMERIC, samples=_samples)
def _segment_sum(xp, data, ids, *, count):
    """For each of `count` segments the sum of the rows of `data` that have its number in `ids`."""
    places = xp.segment_places(ids, count, "segment_sum")
    return xp.rows_add(count + 1, places, _rows(data, ids))[:count]


@_segment_sum.vjp("data")
def _segment_sum_vjp(g, ids):
    return _segment_spread(g, ids)


@_segment_sum.batch
def _segment_sum_batch(batched, data, ids, *, count):
    data, ids = _in_one(batched, data, ids, count)
    return _apart(_segment_sum(data, ids, count=len(ids) * count), len(ids), count)


@_segment_sum.spec
def _segment_spec(data, ids, *, count):
    if data.shape[: ids.ndim] != ids.shape:
        raise ShapeError(
            "segment reduction: data.shape must begin with segment_ids.shape. Received: "
            f"data.shape={data.shape}, segment_ids.shape={ids.shape}."
        )
    return Spec((count, *data.shape[ids.ndim :]), data.dtype)


def _spread_samples(r: np.random.Generator) -> list[Any]:
    shapes = [(params["count"], *data.shape[np.ndim(ids) :], ids)
              for (data, ids), params in _samples(r)]  # fmt: skip
    return [([r.normal(size=shape), ids], {}) for *shape, ids in shapes]


@op(pattern=MOVES, nondiff="ids", linear="segments", samples=_spread_samples)
def _segment_spread(xp, segments, ids):
    """For each id its row of `segments`, zeros for a negative one: the adjoint of `segment_sum`."""
    count = len(segments)
    places = xp.segment_places(ids, count, "segment_spread")
    shape = (*ids.shape, *segments.shape[1:])
    if not count:
        return xp.zeros(shape, segments.dtype)
    rows = xp.take(segments, xp.minimum(places, count - 1), 0)
    if xp.is_compiled or (places == count).any():
        kept = (places < count).reshape(-1, *(1,) * (segments.ndim - 1))
        rows = xp.where(kept, rows, xp.zeros((), segments.dtype))
    return rows.reshape(shape)


@_segment_spread.vjp("segments")
def _segment_spread_vjp(g, segments: Spec, ids):
    return _segment_sum(g, ids, count=segments.shape[0])


@_segment_spread.batch
def _segment_spread_batch(batched, segments, ids):
    segments, ids = _both_batched(batched, segments=segments, ids=ids)
    size, count = segments._array.shape[:2]
    every = _reshape(segments, shape=(size * count, *segments._array.shape[2:]))
    return _segment_spread(every, _numbered(ids, count))


@op(nondiff="ids", dtypes=dt.NUMERIC, samples=_samples)
def _segment_prod(xp, data, ids, *, count):
    """For each segment the product of its rows; 1 if it has none."""
    places = xp.segment_places(ids, count, "segment_prod")
    rows = _rows(data, ids)
    if rows.dtype not in HALVES:
        return xp.rows_reduce("multiply", 1, count + 1, places, rows)[:count]
    wide = xp.rows_reduce("multiply", 1, count + 1, places, rows.astype(np.float32))
    return wide[:count].astype(rows.dtype)


@_segment_prod.vjp("data")
def _segment_prod_vjp(g, data, ids):
    return _segment_spread(g, ids) * conj(_product_of_others(data, ids))


@_segment_prod.batch
def _segment_prod_batch(batched, data, ids, *, count):
    data, ids = _in_one(batched, data, ids, count)
    return _apart(_segment_prod(data, ids, count=len(ids) * count), len(ids), count)


def _product_of_others(data: Tensor, ids: Tensor) -> Tensor:
    """For each row the product of the other rows of its segment: without a division.

    With the rows in order of their ids, the products of those before and of those after each row
    are made by doubling: in as many steps as the largest segment has binary digits.
    """
    shape = data._array.shape
    length = math.prod(ids._array.shape)
    if length < 2:
        return Tensor(np.ones(shape, data._array.dtype))
    flat = _reshape(ids, shape=(length,))
    rows = _reshape(data, shape=(length, *shape[ids.ndim :]))
    order = _argsort(flat, axis=0, descending=False)
    rows, sorted_ids = (_select(x, order, key=(TENSOR,), unique=True) for x in (rows, flat))
    longest = length
    if isinstance(ids._array, (np.ndarray, np.generic)):
        longest = int(np.unique(np.asarray(on_host(ids._array)), return_counts=True)[1].max())
    before = _products_before(rows, sorted_ids, longest)
    after = reverse(_products_before(reverse(rows, [0]), reverse(sorted_ids, [0]), longest), [0])
    back = _argsort(order, axis=0, descending=False)
    return _reshape(_select(before * after, back, key=(TENSOR,), unique=True), shape=shape)


def _products_before(rows: Tensor, ids: Tensor, longest: int) -> Tensor:
    one = Tensor(np.ones((), rows._array.dtype))

    def earlier(x: Tensor, step: int) -> Tensor:
        """The row `step` before each row, or 1 if that belongs to another segment."""
        same = equal(ids[step:], ids[:-step])
        same = _reshape(same, shape=(same._array.shape[0], *(1,) * (x.ndim - 1)))
        first = ones((step, *x._array.shape[1:]), x.dtype)
        return concat([first, select(same, x[:-step], one)], 0)

    products = earlier(rows, 1)
    step = 1
    while step < longest:
        products = products * earlier(products, step)
        step *= 2
    return products


def _extreme_samples(r: np.random.Generator) -> list[Any]:
    # No empty segments: their limits differ from dtype to dtype.
    return [
        ([r.normal(size=(5, 2)), np.array([0, 2, 0, -1, 1])], {"count": 3, "largest": True}),
        ([r.normal(size=5), np.array([1, 1, 0, 1, 0], np.int32)], {"count": 2, "largest": False}),
        ([r.normal(size=(2, 2, 3)), np.array([[1, 0], [0, 0]])], {"count": 2, "largest": True}),
        ([r.normal(size=(2, 2)), np.array([-1, -2])], {"count": 0, "largest": True}),
    ]


@op(nondiff="ids", dtypes=dt.REAL, samples=_extreme_samples)
def _segment_extreme(xp, data, ids, *, count, largest):
    """For each segment the largest (smallest) of its rows; without rows the limit of the dtype."""
    places = xp.segment_places(ids, count, "segment_max" if largest else "segment_min")
    rows = _rows(data, ids)
    dtype = dt.of_numpy(rows.dtype)
    limit = dtype.min if largest else dtype.max
    start = (-np.inf if largest else np.inf) if dtype.is_floating else limit
    result = xp.rows_reduce("max" if largest else "min", start, count + 1, places, rows)[:count]
    if not dtype.is_floating:
        return result
    empty = xp.rows_add(count + 1, places, xp.ones(places.shape, np.int32))[:count] == 0
    empty = empty.reshape(count, *(1,) * (rows.ndim - 1))
    return xp.where(empty, xp.asarray(limit, dtype=rows.dtype), result)


@_segment_extreme.vjp("data")
def _segment_extreme_vjp(g, out, data, ids, *, count):
    chosen = _agreement(data, _segment_spread(out, ids))
    number = maximum(_segment_sum(chosen, ids, count=count), Tensor(np.ones((), g._array.dtype)))
    return chosen * _segment_spread(g / number, ids)


@_segment_extreme.batch
def _segment_extreme_batch(batched, data, ids, *, count, largest):
    data, ids = _in_one(batched, data, ids, count)
    every = _segment_extreme(data, ids, count=len(ids) * count, largest=largest)
    return _apart(every, len(ids), count)


@op(
    nondiff="all",
    samples=lambda r: [([np.array([0, 2, 0, -1])], {"count": 3, "dtype": np.dtype("float32")})],
)
def _segment_size(xp, ids, *, count, dtype):
    """How many rows each segment has."""
    places = xp.segment_places(ids, count, "segment_sum")
    return xp.rows_add(count + 1, places, xp.ones(places.shape, np.int32))[:count].astype(dtype)


@_segment_size.batch
def _segment_size_batch(batched, ids, *, count, dtype):
    size = len(ids)
    every = _segment_size(_numbered(ids, count), count=size * count, dtype=dtype)
    return _reshape(every, shape=(size, count))


def _in_one(batched: Any, data: Tensor, ids: Tensor, count: int) -> list[Tensor]:
    """A batch of arguments as those of one call: with ids of their own for each of the batch."""
    data, ids = _both_batched(batched, data=data, ids=ids)
    return [data, _numbered(ids, count)]


def _numbered(ids: Tensor, count: int) -> Tensor:
    size = len(ids)
    first = np.arange(size).reshape(size, *(1,) * (ids.ndim - 1)) * count
    ids = cast(ids, dt.int64)
    return select(ids < 0, ids, ids + Tensor(first))


def _apart(x: Tensor, size: int, count: int) -> Tensor:
    return _reshape(x, shape=(size, count, *x._array.shape[1:]))


# Ids that need not be sorted


def _unsorted(
    data: Any, segment_ids: Any, num_segments: Any, op_name: str
) -> tuple[Tensor, Tensor, int]:
    data = to_tensor(data, op_name)
    ids = _segment_ids(segment_ids, op_name)
    count = static_int(num_segments, op_name, "num_segments")
    if count < 0:
        raise InvalidArgumentError(f"{op_name}: `num_segments` must be >= 0, and is {count}.")
    if data._array.shape[: ids.ndim] != ids._array.shape:
        raise ShapeError(
            f"{op_name}: data.shape must begin with segment_ids.shape. Received: "
            f"data.shape={tuple(data.shape)}, segment_ids.shape={tuple(ids.shape)}."
        )
    return data, ids, count


def _segment_ids(segment_ids: Any, op_name: str) -> Tensor:
    ids = to_tensor(segment_ids, op_name)
    if ids._array.dtype not in dt.INTEGER:
        if not ids._array.size:
            return cast(ids, dt.int32)
        raise DTypeError(f"{op_name}: `segment_ids` must be integers, and are {ids.dtype.name}.")
    return ids


@lends_itself
def unsorted_segment_sum(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """For each of `num_segments` the sum of the rows of `data` with its number in `segment_ids`.

    `segment_ids` has the shape of the first axes of `data`. A negative id drops its row; one that
    is too large is an error. A segment without rows is 0.

    >>> unsorted_segment_sum([1, 2, 3], [1, 0, 1], 2)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([2, 4], dtype=int32)>
    """
    data, ids, count = _unsorted(data, segment_ids, num_segments, "unsorted_segment_sum")
    return _segment_sum(data, ids, count=count)


@lends_itself
def unsorted_segment_prod(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """For each segment the product of its rows, 1 if it has none; see `unsorted_segment_sum`.

    The gradient is the product of the other rows, also where elements are zero.
    """
    data, ids, count = _unsorted(data, segment_ids, num_segments, "unsorted_segment_prod")
    return _segment_prod(data, ids, count=count)


@lends_itself
def unsorted_segment_max(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """For each segment its largest elements; the lowest number of the dtype if it has no rows.

    Elements that tie share the gradient equally. NaN counts as the largest.
    """
    data, ids, count = _unsorted(data, segment_ids, num_segments, "unsorted_segment_max")
    return _segment_extreme(data, ids, count=count, largest=True)


@lends_itself
def unsorted_segment_min(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """For each segment its smallest elements; the highest number of the dtype if it has no rows.

    Elements that tie share the gradient equally. NaN counts as the smallest.
    """
    data, ids, count = _unsorted(data, segment_ids, num_segments, "unsorted_segment_min")
    return _segment_extreme(data, ids, count=count, largest=False)


@lends_itself
def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """For each segment the mean of its rows, 0 if it has none. Integers are divided as floats."""
    data, ids, count = _unsorted(data, segment_ids, num_segments, "unsorted_segment_mean")
    return divide(_segment_sum(data, ids, count=count), _sizes(data, ids, count))


@lends_itself
def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """For each segment the sum of its rows divided by the root of their number."""
    data, ids, count = _unsorted(data, segment_ids, num_segments, "unsorted_segment_sqrt_n")
    return _segment_sum(data, ids, count=count) / sqrt(_sizes(data, ids, count))


def _sizes(data: Tensor, ids: Tensor, count: int) -> Tensor:
    """The numbers of rows, 1 instead of 0, shaped to divide the result."""
    rows = _segment_size(ids, count=count, dtype=np.dtype(np.int32))
    rows = cast(maximum(rows, Tensor(np.asarray(1, np.int32))), data.dtype)
    return _reshape(rows, shape=(count, *(1,) * (data.ndim - ids.ndim)))


# Sorted ids: their number follows from the last


def _sorted(data: Any, segment_ids: Any, op_name: str) -> tuple[Tensor, Tensor, int]:
    data = to_tensor(data, op_name)
    ids = _segment_ids(segment_ids, op_name)
    if not data.ndim or ids._array.shape != data._array.shape[:1]:
        raise ShapeError(
            f"{op_name}: `segment_ids` must be a vector with an id for each row of `data`. "
            f"Received: segment_ids.shape={tuple(ids.shape)}, data.shape={tuple(data.shape)}."
        )
    values = known(ids, op_name, "segment_ids")
    if not values.size:
        return data, ids, 0
    if (values[1:] < values[:-1]).any() or values[0] < 0:
        raise InvalidArgumentError(
            f"{op_name}: `segment_ids` must be sorted and not negative. Use unsorted_{op_name} for "
            f"others. Received: {values!r:.200}."
        )
    return data, ids, int(values[-1]) + 1


def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The sums of the rows of `data` with the same id; `segment_ids` are sorted. A gap is 0.

    >>> segment_sum([1, 2, 3], [0, 0, 1])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([3, 3], dtype=int32)>
    """
    data, ids, count = _sorted(data, segment_ids, "segment_sum")
    return _segment_sum(data, ids, count=count)


def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The means of the rows of `data` with the same id; a gap is 0. Integers are truncated."""
    data, ids, count = _sorted(data, segment_ids, "segment_mean")
    total, sizes = _segment_sum(data, ids, count=count), _sizes(data, ids, count)
    if data._array.dtype in dt.INTEGER:
        return cast(divide(total, sizes), data.dtype)
    return total / sizes


def segment_prod(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The products of the rows of `data` with the same id; a gap is 1."""
    data, ids, count = _sorted(data, segment_ids, "segment_prod")
    return _segment_prod(data, ids, count=count)


def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The largest elements of the rows of `data` with the same id; a gap is 0. Ties share."""
    return _without_gaps(*_sorted(data, segment_ids, "segment_max"), largest=True)


def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The smallest elements of the rows of `data` with the same id; a gap is 0. Ties share."""
    return _without_gaps(*_sorted(data, segment_ids, "segment_min"), largest=False)


def _without_gaps(data: Tensor, ids: Tensor, count: int, *, largest: bool) -> Tensor:
    found = _segment_extreme(data, ids, count=count, largest=largest)
    present = np.zeros(count, bool)
    present[ids._array] = True
    if present.all():
        return found
    mask = Tensor(present.reshape(count, *(1,) * (data.ndim - 1)))
    return select(mask, found, Tensor(np.zeros((), data._array.dtype)))


# Taking apart and putting together


@lends_itself
def dynamic_partition(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> list[Tensor]:
    """The rows of `data` in `num_partitions` lists, each row in the one that `partitions` says.

    `partitions` has the shape of the first axes of `data`. Rows keep their order.

    >>> [part.numpy().tolist() for part in dynamic_partition([10, 20, 30], [1, 0, 1], 2)]
    [[20], [10, 30]]
    """
    data = to_tensor(data, "dynamic_partition")
    parts = to_tensor(partitions, "dynamic_partition")
    count = static_int(num_partitions, "dynamic_partition", "num_partitions")
    if count < 1:
        raise InvalidArgumentError(
            f"dynamic_partition: `num_partitions` must be at least 1, and is {count}."
        )
    if data._array.shape[: parts.ndim] != parts._array.shape:
        raise ShapeError(
            "dynamic_partition: data.shape must begin with partitions.shape. Received: "
            f"data.shape={tuple(data.shape)}, partitions.shape={tuple(parts.shape)}."
        )
    which = _known(parts, "dynamic_partition", "partitions")
    if which.size and not 0 <= which.min() <= which.max() < count:
        wrong = np.argwhere((which < 0) | (which >= count))[0]
        raise InvalidArgumentError(
            f"dynamic_partition: partitions[{', '.join(map(str, wrong))}] = {which[tuple(wrong)]} "
            f"is not in [0, {count})."
        )
    flat = which.reshape(-1)
    rows = _reshape(data, shape=(flat.size, *data._array.shape[parts.ndim :]))
    order = Tensor(np.argsort(flat, kind="stable"))
    together = _select(rows, order, key=(TENSOR,), unique=True)
    return split(together, np.bincount(flat, minlength=count).tolist())


def _known(x: Tensor, op_name: str, argument: str) -> Any:
    """The values of an integer tensor that decides on shapes."""
    if x._array.dtype not in dt.INTEGER:
        if not x._array.size:
            return np.zeros(x._array.shape, np.intp)
        raise DTypeError(f"{op_name}: `{argument}` must be integers, and are {x.dtype.name}.")
    return known(x, op_name, argument).astype(np.intp, copy=False)


def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Tensor:
    """The rows of the tensors in the list `data`, each at the place that `indices` says.

    `indices[i]` has the shape of the first axes of `data[i]`. Of rows for the same place the last
    one stands there, and only that one has a gradient; a place that no index names is 0.

    >>> dynamic_stitch([[0, 2], [1]], [[10, 30], [20]])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([10, 20, 30], dtype=int32)>
    """
    if not isinstance(indices, (list, tuple)) or not isinstance(data, (list, tuple)):
        raise InvalidArgumentError("dynamic_stitch: `indices` and `data` must be lists of tensors.")
    if len(indices) != len(data) or not data:
        raise InvalidArgumentError(
            "dynamic_stitch: `indices` and `data` must be lists of the same length, 1 at least. "
            f"Received: {len(indices)} and {len(data)}."
        )
    places, rows = [], []
    for i, (each, part) in enumerate(zip(indices, data, strict=True)):
        index, values = to_tensor(each, "dynamic_stitch"), to_tensor(part, "dynamic_stitch")
        where = _known(index, "dynamic_stitch", f"indices[{i}]")
        if values._array.shape[: where.ndim] != where.shape:
            raise ShapeError(
                f"dynamic_stitch: data[{i}].shape must begin with indices[{i}].shape. Received: "
                f"{tuple(values.shape)} and {where.shape}."
            )
        places.append(where.reshape(-1))
        rows.append(_reshape(values, shape=(where.size, *values._array.shape[where.ndim :])))
    if len({row._array.shape[1:] for row in rows}) > 1:
        raise ShapeError(
            "dynamic_stitch: the rows of all `data` must have one shape. Received: "
            f"{[row._array.shape[1:] for row in rows]}."
        )
    place = np.concatenate(places)
    if place.size and place.min() < 0:
        raise InvalidArgumentError(
            f"dynamic_stitch: indices must not be negative, and one is {place.min()}."
        )
    return _stitched(place, concat(rows, 0))


def _stitched(place: Any, rows: Tensor) -> Tensor:
    count = int(place.max()) + 1 if place.size else 0
    last = np.full(count, -1)
    last[place] = np.arange(place.size)
    filled = last >= 0
    found = _select(rows, Tensor(last[filled]), key=(TENSOR,), unique=True)
    if filled.all():
        return found
    shape = (count, *rows._array.shape[1:])
    where = Tensor(np.flatnonzero(filled))
    return _select_adjoint(found, where, key=(TENSOR,), unique=True, shape=shape)
