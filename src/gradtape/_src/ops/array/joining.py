"""One tensor of several and several of one: concat and split, stack and unstack, tile, repeat."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

import numpy as np

from ...core.convert import as_tensor, holds_tensor, operand
from ...core.dtypes import as_dtype
from ...core.errors import DTypeError, InvalidArgumentError, NotATensorError, ShapeError
from ...core.pattern import MOVES
from ...core.spec import Spec
from ...core.take_over import take_over
from ...core.tensor import Tensor
from ..declare.op import op
from ..declare.static import static_axis, static_int, static_ints, to_tensor
from .cast import cast
from .shape import _broadcast_to, _reshape, insert_axes, unbroadcast
from .slicing import ALL, TENSOR, _getitem, _select


@op(
    additive=True,
    pattern=MOVES,
    samples=lambda r: [
        ([r.normal(size=(2, 3)), r.normal(size=(1, 3)), r.normal(size=(2, 3))], {"axis": 0}),
        ([r.normal(size=(2, 1)), r.normal(size=(2, 0)), r.normal(size=(2, 2))], {"axis": 1}),
        ([r.normal(size=(3,))], {"axis": 0}),
    ],
)
def _concat(xp, *values, axis):
    return xp.concatenate(values, axis)


@_concat.vjp("values")
def _concat_vjp(g, index, values: Spec, *, axis):
    sizes = [value.shape[axis] for value in values]
    start = sum(sizes[:index])
    stop = start + sizes[index]
    return _getitem(g, key=(*(ALL,) * axis, slice(start, stop)))


@_concat.batch
def _concat_batch(batched, *values, axis):
    return _concat(*_all_batched(batched, values), axis=axis + 1)


@_concat.spec
def _concat_spec(*values, axis):
    first = values[0]
    if not first.ndim:
        raise ShapeError("concat: a scalar has no axis to be joined along; use stack.")
    for i, value in enumerate(values):
        rest, wanted = list(value.shape), list(first.shape)
        if value.ndim == first.ndim:
            rest[axis] = wanted[axis]
        if rest != wanted:
            raise ShapeError(
                f"concat: all `values` must have one shape but for axis {axis}. Received: "
                f"values[0].shape={first.shape}, values[{i}].shape={value.shape}."
            )
    size = sum(value.shape[axis] for value in values)
    return Spec((*first.shape[:axis], size, *first.shape[axis + 1 :]), first.dtype)


def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """The tensors of the list `values` joined along the existing `axis`.

    >>> concat([[1, 2], [3]], 0)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 2, 3], dtype=int32)>
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    if not values:
        raise InvalidArgumentError("concat: `values` is an empty list; nothing to join.")
    try:
        ndim = max((x.ndim for x in values if type(x) is Tensor), default=None)
        if ndim is None:
            values = [to_tensor(values[0], "concat"), *values[1:]]
            ndim = values[0].ndim
        return _concat(*values, axis=static_axis(axis, max(ndim, 1), "concat"))
    except NotATensorError as error:
        return take_over(error, concat, values, axis)


@op(
    additive=True,
    pattern=MOVES,
    samples=lambda r: [
        ([r.normal(size=(2, 3)), r.normal(size=(2, 3))], {"axis": 1}),
        ([r.normal(size=()), r.normal(size=()), r.normal(size=())], {"axis": 0}),
        ([r.normal(size=(2, 0)), r.normal(size=(2, 0))], {"axis": 2}),
    ],
)
def _stack(xp, *values, axis):
    return xp.stack(values, axis)


@_stack.vjp("values")
def _stack_vjp(g, index, *, axis):
    return _getitem(g, key=(*(ALL,) * axis, index))


@_stack.batch
def _stack_batch(batched, *values, axis):
    return _stack(*_all_batched(batched, values), axis=axis + 1)


@_stack.spec
def _stack_spec(*values, axis):
    first = values[0]
    for i, value in enumerate(values):
        if value.shape != first.shape:
            raise ShapeError(
                "stack: all `values` must have one shape. Received: "
                f"values[0].shape={first.shape}, values[{i}].shape={value.shape}."
            )
    return Spec((*first.shape[:axis], len(values), *first.shape[axis:]), first.dtype)


def stack(values: Any, axis: Any = 0, name: str = "stack") -> Tensor:
    """The tensors of the list `values`, of one shape, along a new `axis`.

    Python numbers take the dtype of the tensors in the list; without any, ints and floats together
    give float32. A tensor, or nothing, along axis 0 stays what it is.
    """
    if not isinstance(values, (list, tuple)) or not values:
        try:
            values = to_tensor(values, "stack")
        except NotATensorError as error:
            return take_over(error, stack, [values], axis)
        if not static_axis(axis, max(values.ndim, 1), "stack"):
            return values
        values = unstack(values)
    if not values:
        raise InvalidArgumentError(
            f"stack: `values` is empty, so there is nothing to stack along axis {axis}."
        )
    for value in values:
        if type(value) is not Tensor:
            try:
                values = _alike(values, None, "stack")
            except NotATensorError as error:
                return take_over(error, stack, values, axis)
            break
    return _stack(*values, axis=static_axis(axis, values[0].ndim + 1, "stack"))


def parallel_stack(values: Any, name: str = "parallel_stack") -> Tensor:
    """The tensors of the list `values` along a new first axis: `stack` under another name."""
    return stack(values, 0, name)


def pack(values: Any, dtype: Any = None) -> Tensor:
    """The tensor of nested lists that hold tensors; plain numbers take the dtype of the tensors.

    If `dtype` is not that of the first tensor, all of them are cast, as TensorFlow does it.
    """
    first = None if dtype is None else _first_tensor(values)
    casts = first is not None and first.dtype != dtype
    return _stack(*_alike(values, dtype, "convert_to_tensor", casts), axis=0)


def _alike(values: Any, dtype: Any, op_name: str, casts: bool = False) -> list[Tensor]:
    """The elements of a list, lists that hold tensors packed, as tensors of one dtype."""
    if dtype is None:
        leaf = _first_tensor(values)
        if leaf is None:
            return list(unstack(as_tensor(values, op=op_name)))
        dtype = leaf.dtype
    made = []
    for value in values:
        if not isinstance(value, Tensor):
            if hasattr(value, "_as_tensor"):
                value = value._as_tensor()
            elif holds_tensor(value):
                value = _stack(*_alike(value, dtype, op_name, casts), axis=0)
            else:
                value = operand(value, _numpy_dtype(dtype), op_name)
        if value.dtype != dtype:
            if casts:
                made.append(cast(value, dtype))
                continue
            raise DTypeError(
                f"{op_name}: the list holds tensors of {_name(dtype)} and of {value.dtype.name}; "
                "tensors of different dtypes do not mix. Convert one of them with tf.cast."
            )
        made.append(value)
    return made


def _first_tensor(value: Any) -> Tensor | None:
    if isinstance(value, Tensor):
        return value
    if hasattr(value, "_as_tensor"):
        return value._as_tensor()
    if isinstance(value, (list, tuple)):
        for entry in value:
            found = _first_tensor(entry)
            if found is not None:
                return found
    return None


def _numpy_dtype(dtype: Any) -> Any:
    return as_dtype(dtype).numpy_dtype


def _name(dtype: Any) -> str:
    return _numpy_dtype(dtype).name


def _all_batched(batched: Any, values: Any) -> list[Tensor]:
    """All of a variadic argument with a batch axis: what has none is repeated (without a copy)."""
    has_axis = [f"values[{i}]" in batched for i in range(len(values))]
    size = values[has_axis.index(True)]._array.shape[0]
    return [
        x if has else _broadcast_to(x, shape=(size, *x._array.shape))
        for x, has in zip(values, has_axis, strict=True)
    ]


@op(
    batch_axes="axis",
    linear="value",
    pattern=MOVES,
    samples=lambda r: [
        ([r.normal(size=(2, 3))], {"axis": 0}),
        ([r.normal(size=(2, 3))], {"axis": 1}),
        ([r.normal(size=(1,))], {"axis": 0}),
    ],
)
def _unstack(xp, value, *, axis):
    before = (ALL,) * axis
    after = (...,) if value.dtype == object else ()  # single strings as arrays, not as bytes
    return tuple([value[(*before, i, *after)] for i in range(value.shape[axis])])


@_unstack.vjp("value")
def _unstack_vjp(g, *, axis):
    return _stack(*g, axis=axis)


def unstack(
    value: Any, num: int | None = None, axis: Any = 0, name: str = "unstack"
) -> list[Tensor]:
    """The slices of `value` along `axis`, without that axis, as a list."""
    x = to_tensor(value, "unstack")
    if not x.ndim:
        raise ShapeError("unstack: `value` is a scalar, which has no axis to unstack.")
    axis = static_axis(axis, x.ndim, "unstack")
    size = x._array.shape[axis]
    if num is not None and num != size:
        raise ShapeError(f"unstack: `num`={num}, but axis {axis} has size {size}.")
    return list(_unstack(x, axis=axis)) if size else []


@op(
    batch_axes="axis",
    linear="value",
    pattern=MOVES,
    samples=lambda r: [
        ([r.normal(size=(4, 2))], {"sizes": (1, 3), "axis": 0}),
        ([r.normal(size=(2, 3))], {"sizes": (1, 0, 2), "axis": 1}),
        ([r.normal(size=(2,))], {"sizes": (2,), "axis": 0}),
    ],
)
def _split(xp, value, *, sizes, axis):
    before = (ALL,) * axis
    ends = zip(sizes, accumulate(sizes), strict=True)
    return tuple([value[(*before, slice(stop - size, stop))] for size, stop in ends])


@_split.vjp("value")
def _split_vjp(g, *, axis):
    return _concat(*g, axis=axis)


def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split"
) -> list[Tensor]:
    """`value` cut along `axis` into so many equal parts, or into parts of the sizes in a list.

    One of the sizes may be -1: what the others leave.
    """
    try:
        x = to_tensor(value, "split")
    except NotATensorError as error:
        return take_over(error, split, value, num_or_size_splits, axis)
    axis = static_axis(axis, x.ndim, "split")
    total = x._array.shape[axis]
    if type(num_or_size_splits) is int or np.ndim(num_or_size_splits) == 0:
        count = static_int(num_or_size_splits, "split", "num_or_size_splits")
        if count < 1 or total % count:
            raise InvalidArgumentError(
                f"split: axis {axis} of size {total} cannot be cut into {count} equal parts. Give "
                "the sizes as a list."
            )
        sizes: tuple[int, ...] = (total // count,) * count
    else:
        sizes = _split_sizes(static_ints(num_or_size_splits, "split", "num_or_size_splits"), total)
    return list(_split(x, sizes=sizes, axis=axis)) if sizes else []


def _split_sizes(sizes: tuple[int, ...], total: int) -> tuple[int, ...]:
    known = sum(size for size in sizes if size != -1)
    if sizes.count(-1) == 1 and known <= total:
        sizes = tuple([total - known if size == -1 else size for size in sizes])
    if sum(sizes) != total or any(size < 0 for size in sizes):
        raise InvalidArgumentError(
            f"split: `num_or_size_splits`={list(sizes)} must add up to the size of the axis, "
            f"{total}; one of them may be -1."
        )
    return sizes


@op(
    pattern=MOVES,
    linear="x",
    samples=lambda r: [
        ([r.normal(size=(2, 3))], {"multiples": (2, 1)}),
        ([r.normal(size=(1, 2, 2))], {"multiples": (2, 1, 3)}),
        ([r.normal(size=(2, 2))], {"multiples": (0, 2)}),
        ([r.normal(size=())], {"multiples": ()}),
    ],
)
def _tile(xp, x, *, multiples):
    return xp.tile(x, multiples)


@_tile.vjp("x")
def _tile_vjp(g, x: Spec, *, multiples):
    shape = tuple(x.shape)
    apart = tuple([n for pair in zip(multiples, shape, strict=True) for n in pair])
    once = tuple([n for size in shape for n in (1, size)])
    return _reshape(unbroadcast(_reshape(g, shape=apart), shape=once), shape=shape)


@_tile.batch
def _tile_batch(batched, x, *, multiples):
    return _tile(x, multiples=(1, *multiples))


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """`input` repeated `multiples[i]` times along axis i."""
    try:
        x = to_tensor(input, "tile")
    except NotATensorError as error:
        return take_over(error, tile, input, multiples)
    counts = static_ints(multiples, "tile", "multiples")
    if len(counts) != x.ndim:
        raise ShapeError(
            f"tile: `multiples`={list(counts)} must have one entry for each of the {x.ndim} axes."
        )
    if any(count < 0 for count in counts):
        raise InvalidArgumentError(f"tile: `multiples`={list(counts)} must not be negative.")
    return _tile(x, multiples=counts)


def repeat(input: Any, repeats: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """Each element along `axis` repeated: all `repeats` times, or each its own number of times.

    Without `axis` the input is flattened first.

    >>> repeat([1, 2], [3, 1])
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([1, 1, 1, 2], dtype=int32)>
    """
    x = to_tensor(input, "repeat")
    if axis is None:
        x, axis = _reshape(x, shape=(math.prod(x._array.shape),)), 0
    if not x.ndim:
        x = _reshape(x, shape=(1,))
    axis = static_axis(axis, x.ndim, "repeat")
    shape = x._array.shape
    counts = static_ints(repeats, "repeat", "repeats")
    if any(count < 0 for count in counts):
        raise InvalidArgumentError(f"repeat: `repeats`={list(counts)} must not be negative.")
    if len(counts) == 1:
        apart = (*shape[: axis + 1], counts[0], *shape[axis + 1 :])
        together = (*shape[:axis], shape[axis] * counts[0], *shape[axis + 1 :])
        return _reshape(_broadcast_to(insert_axes(x, 1, at=axis + 1), shape=apart), shape=together)
    if len(counts) != shape[axis]:
        raise ShapeError(
            f"repeat: `repeats` has {len(counts)} entries, and axis {axis} of `input` has size "
            f"{shape[axis]}. Give one number, or one for each."
        )
    places = Tensor(np.repeat(np.arange(len(counts)), counts))
    return _select(x, places, key=(*(ALL,) * axis, TENSOR), unique=False)


def meshgrid(*args: Any, indexing: str = "xy", name: str = "meshgrid") -> list[Tensor]:
    """The coordinates of a grid: each of `args` (flattened) repeated along the axes of the others.

    With `indexing` "xy" the first two axes of the grid are swapped, as in a picture; with "ij"
    axis i belongs to argument i.
    """
    if indexing not in ("xy", "ij"):
        raise InvalidArgumentError(f'meshgrid: `indexing` must be "xy" or "ij", not {indexing!r}.')
    vectors = [to_tensor(x, "meshgrid") for x in args]
    axes = list(range(len(vectors)))
    if indexing == "xy" and len(axes) > 1:
        axes[:2] = 1, 0
    sizes = [math.prod(x._array.shape) for x in vectors]
    shape = tuple([sizes[axes.index(a)] for a in range(len(axes))])
    grids = []
    for x, size, axis in zip(vectors, sizes, axes, strict=True):
        along = tuple([size if a == axis else 1 for a in range(len(axes))])
        grids.append(_broadcast_to(_reshape(x, shape=along), shape=shape))
    return grids
