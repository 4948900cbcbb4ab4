"""Selecting by tensors of indices: gather and gather_nd, each with its adjoint."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.cotangent import IndexedSlices
from ...core.errors import DTypeError, InvalidArgumentError, NotATensorError, ShapeError
from ...core.pattern import MOVES
from ...core.sizes import any_open, sizes_as_tensor
from ...core.spec import Spec
from ...core.take_over import take_over
from ...core.tensor import Tensor, is_symbolic
from ..declare.op import op
from ..declare.static import static_axis, static_int, static_ints, to_tensor
from ..math.arithmetic import negative
from .cast import cast
from .joining import concat
from .shape import _broadcast_to, _reshape, _transpose
from .slicing import getitem as getitem


def _blocks(shape: Any, axis: int, batch_dims: int) -> tuple[int, int, int, int]:
    """`shape` as batch, outer axes, the axis that is indexed, inner axes."""
    prod = math.prod
    return (
        prod(shape[:batch_dims]),
        prod(shape[batch_dims:axis]),
        shape[axis],
        prod(shape[axis + 1 :]),
    )


def _gather_samples(r):
    return [
        ([r.normal(size=(4, 3)), np.array([0, 2, 2])], {"axis": 0, "batch_dims": 0}),
        ([r.normal(size=(2, 5)), np.array([[1, 0], [4, 1]])], {"axis": 1, "batch_dims": 0}),
        ([r.normal(size=(2, 3, 2)), np.array(1)], {"axis": 1, "batch_dims": 0}),
        ([r.normal(size=(2, 2, 3)), np.array([[1, 0], [0, 0]])], {"axis": 2, "batch_dims": 1}),
        ([r.normal(size=(2, 3)), np.array([[1, 0], [2, 2]])], {"axis": 1, "batch_dims": 1}),
        ([r.normal(size=(3, 2)), np.zeros(0, int)], {"axis": 0, "batch_dims": 0}),
        ([r.normal(size=3), np.array(2)], {"axis": 0, "batch_dims": 0}),
    ]


@op(pattern=MOVES, linear="params", nondiff="indices", samples=_gather_samples)
def _gather(xp, params, indices, *, axis, batch_dims):
    indices = xp.valid_indices(indices, params.shape[axis], "gather")
    if not batch_dims:
        found = xp.take(params, indices, axis)
        return np.array(found, object) if type(found) is bytes else found  # a single string
    batch, outer, size, inner = _blocks(params.shape, axis, batch_dims)
    each = xp.arange(batch)[:, None]
    flat = indices.reshape(batch, math.prod(indices.shape[batch_dims:]))
    if outer == 1:
        found = xp.take(params.reshape(batch * size, inner), each * size + flat, 0)
    else:
        found = xp.asarray(params).reshape(batch, outer, size, inner)[each, :, flat]
        found = found.transpose(0, 2, 1, 3)
    rest = indices.shape[batch_dims:]
    return found.reshape((*params.shape[:axis], *rest, *params.shape[axis + 1 :]))


@_gather.vjp("params")
def _gather_vjp(g, params: Spec, indices, *, axis, batch_dims):
    shape = tuple(params.shape)
    if axis or batch_dims:
        return _gather_adjoint(g, indices, axis=axis, batch_dims=batch_dims, shape=shape)
    if indices.ndim != 1:
        count = math.prod(indices._array.shape)
        g = _reshape(g, shape=(count, *shape[1:]))
        indices = _reshape(indices, shape=(count,))
    return IndexedSlices(g, indices, _shape_tensor(shape))


def _shape_tensor(shape: tuple[int, ...]) -> Tensor:
    if any_open(shape) is not None:
        return sizes_as_tensor(shape, np.dtype(np.int32))
    return Tensor(np.array(shape, np.int32))


@_gather.batch
def _gather_batch(batched, params, indices, *, axis, batch_dims):
    if batched == {"params"} and not batch_dims:
        return _gather(params, indices, axis=axis + 1, batch_dims=0)
    if batched == {"indices"} and not batch_dims:
        found = _gather(params, indices, axis=axis, batch_dims=0)
        order = (axis, *range(axis), *range(axis + 1, found.ndim))
        return _transpose(found, perm=order) if axis else found
    params, indices = _both_batched(batched, params=params, indices=indices)
    return _gather(params, indices, axis=axis + 1, batch_dims=batch_dims + 1)


@_gather.spec
def _gather_spec(params, indices, *, axis, batch_dims):
    if indices.shape[:batch_dims] != params.shape[:batch_dims]:
        raise ShapeError(
            f"gather: the first batch_dims={batch_dims} axes of `params` and `indices` must agree. "
            f"Received: params.shape={params.shape}, indices.shape={indices.shape}."
        )
    rest = indices.shape[batch_dims:]
    return Spec((*params.shape[:axis], *rest, *params.shape[axis + 1 :]), params.dtype)


def _adjoint_samples(r):
    return [
        ([r.normal(size=(3, 3)), np.array([0, 2, 2])],
         {"axis": 0, "batch_dims": 0, "shape": (4, 3)}),
        ([r.normal(size=(2, 2, 2)), np.array([[1, 0], [4, 1]])],
         {"axis": 1, "batch_dims": 0, "shape": (2, 5)}),
        ([r.normal(size=(2, 2, 2)), np.array([[1, 0], [0, 0]])],
         {"axis": 2, "batch_dims": 1, "shape": (2, 2, 3)}),
        ([r.normal(size=(0, 2)), np.zeros(0, int)], {"axis": 0, "batch_dims": 0, "shape": (3, 2)}),
    ]  # fmt: skip


@op(pattern=MOVES, linear="updates", nondiff="indices", samples=_adjoint_samples)
def _gather_adjoint(xp, updates, indices, *, axis, batch_dims, shape):
    """Zeros of `shape` with `updates` added at `indices` along `axis`: the adjoint of `gather`."""
    batch, outer, size, inner = _blocks(shape, axis, batch_dims)
    indices = xp.valid_indices(indices, size, "gather").reshape(
        batch, math.prod(indices.shape[batch_dims:])
    )
    count = indices.shape[1]
    rows = updates.reshape(batch, outer, count, inner)
    if outer != 1:
        rows = rows.transpose(0, 2, 1, 3)
    flat = (indices + size * xp.arange(batch)[:, None]).reshape(batch * count)
    total = xp.rows_add(batch * size, flat, rows.reshape(batch * count, outer * inner))
    if outer != 1:
        total = total.reshape(batch, size, outer, inner).transpose(0, 2, 1, 3)
    return total.reshape(shape)


@_gather_adjoint.vjp("updates")
def _gather_adjoint_vjp(g, indices, *, axis, batch_dims):
    return _gather(g, indices, axis=axis, batch_dims=batch_dims)


@_gather_adjoint.batch
def _gather_adjoint_batch(batched, updates, indices, *, axis, batch_dims, shape):
    if batched == {"updates"} and not batch_dims:
        shape = (updates._array.shape[0], *shape)
        return _gather_adjoint(updates, indices, axis=axis + 1, batch_dims=0, shape=shape)
    updates, indices = _both_batched(batched, updates=updates, indices=indices)
    shape = (updates._array.shape[0], *shape)
    return _gather_adjoint(updates, indices, axis=axis + 1, batch_dims=batch_dims + 1, shape=shape)


def _both_batched(batched: Any, **named: Tensor) -> list[Tensor]:
    """All of them with a batch axis: those that have none are repeated (without a copy)."""
    size = next(x._array.shape[0] for name, x in named.items() if name in batched)
    return [
        x if name in batched else _broadcast_to(x, shape=(size, *x._array.shape))
        for name, x in named.items()
    ]


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: Any = 0,
    name: str | None = None,
) -> Tensor:
    """Slices of `params` along `axis`, in the order of the integer tensor `indices`.

    The first `batch_dims` axes of both go together; `axis` is by default the one after them. An
    index outside of [0, size) is an error. Along axis 0 the gradient is an IndexedSlices: it costs
    what was looked up (written as a negative axis it is dense, as in TensorFlow).

    >>> gather([10, 20, 30], [2, 0])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([30, 10], dtype=int32)>
    """
    if (
        type(params) is Tensor is type(indices)
        and not axis
        and (axis is None or type(axis) is int)
        and type(batch_dims) is int
        and not batch_dims
        and params._array.ndim
        and indices._array.dtype in dt.INTEGER
    ):  # Keras takes its batches so: 2 µs less
        return _gather(params, indices, axis=0, batch_dims=0)
    try:
        params, indices = to_tensor(params, "gather"), _indices(indices, "gather")
    except NotATensorError as error:
        return take_over(error, gather, params, indices, None, axis, batch_dims)
    if not params.ndim:
        raise ShapeError("gather: `params` is a scalar; it needs at least one axis.")
    batch = static_int(batch_dims, "gather", "batch_dims")
    if batch < 0:
        batch += indices.ndim
    if not 0 <= batch <= min(indices.ndim, params.ndim - 1):
        raise ShapeError(
            f"gather: `batch_dims`={batch_dims} does not fit `indices` of rank {indices.ndim} and "
            f"`params` of rank {params.ndim}."
        )
    along = static_axis(batch_dims if axis is None else axis, params.ndim, "gather")
    if along < batch:
        raise ShapeError(f"gather: `axis`={axis} must not lie before `batch_dims`={batch}.")
    if not along and axis is not None and axis != 0:  # written from behind: a dense gradient
        row = _gather(
            _reshape(params, shape=(1, *params._array.shape)), indices, axis=1, batch_dims=0
        )
        return _reshape(row, shape=row._array.shape[1:])
    return _gather(params, indices, axis=along, batch_dims=batch)


def _indices(value: Any, op_name: str, bad_indices_policy: str = "") -> Tensor:
    if bad_indices_policy not in ("", "DEFAULT", "ERROR"):
        raise InvalidArgumentError(
            f"{op_name}: `bad_indices_policy` must be 'ERROR' or 'DEFAULT', not "
            f"{bad_indices_policy!r}: an index outside is an error here. Drop such indices first."
        )
    indices = to_tensor(value, op_name)
    if indices._array.dtype not in dt.INTEGER:
        if not indices._array.size:
            return cast(indices, dt.int32)
        raise DTypeError(f"{op_name}: `indices` must be integers, and are {indices.dtype.name}.")
    return indices


def _flat(xp: Any, indices: Any, shape: Any, batch_dims: int, op_name: str) -> tuple[Any, int, int]:
    """Index vectors as flat row numbers, with the number of rows and what follows a row."""
    depth = indices.shape[-1]
    dims = shape[batch_dims : batch_dims + depth]
    batch, block = math.prod(shape[:batch_dims]), math.prod(dims)
    count = math.prod(indices.shape[batch_dims:-1])
    flat = xp.zeros((batch, count), int)
    for i, size in enumerate(dims):
        flat = flat * size + xp.valid_indices(indices[..., i], size, op_name).reshape(batch, count)
    if batch != 1:
        flat = flat + block * xp.arange(batch)[:, None]
    return flat.reshape(batch * count), batch * block, math.prod(shape[batch_dims + depth :])


def _gather_nd_samples(r):
    return [
        ([r.normal(size=(3, 2)), np.array([[0], [2], [0]])], {"batch_dims": 0}),
        ([r.normal(size=(2, 2, 3)), np.array([[[0, 1]], [[1, 0]]])], {"batch_dims": 0}),
        ([r.normal(size=(2, 3)), np.array([[1], [0]])], {"batch_dims": 1}),
        ([r.normal(size=(2, 3)), np.array([1, 2])], {"batch_dims": 0}),
    ]


@op(pattern=MOVES, linear="params", nondiff="indices", samples=_gather_nd_samples)
def _gather_nd(xp, params, indices, *, batch_dims):
    flat, rows, width = _flat(xp, indices, params.shape, batch_dims, "gather_nd")
    rest = params.shape[batch_dims + indices.shape[-1] :]
    return xp.take(params.reshape(rows, width), flat, 0).reshape((*indices.shape[:-1], *rest))


@_gather_nd.vjp("params")
def _gather_nd_vjp(g, params: Spec, indices, *, batch_dims):
    shape = tuple(params.shape)
    if not batch_dims and indices.ndim == 2 and indices._array.shape[1] == 1:
        rows = _reshape(indices, shape=(indices._array.shape[0],))
        return IndexedSlices(g, rows, _shape_tensor(shape))
    return _scatter_nd(g, indices, shape=shape, batch_dims=batch_dims)


@_gather_nd.batch
def _gather_nd_batch(batched, params, indices, *, batch_dims):
    if batched == {"indices"} and not batch_dims:
        return _gather_nd(params, indices, batch_dims=0)
    params, indices = _both_batched(batched, params=params, indices=indices)
    return _gather_nd(params, indices, batch_dims=batch_dims + 1)


def gather_nd(
    params: Any,
    indices: Any,
    batch_dims: Any = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Tensor:
    """Elements or slices of `params`, at coordinates that the last axis of `indices` holds.

    >>> gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([2, 3], dtype=int32)>
    """
    try:
        params = to_tensor(params, "gather_nd")
        indices = _indices(indices, "gather_nd", bad_indices_policy)
    except NotATensorError as error:
        return take_over(error, gather_nd, params, indices, batch_dims)
    batch = static_int(batch_dims, "gather_nd", "batch_dims")
    _check_depth("gather_nd", "params", params._array.shape, indices, batch)
    return _gather_nd(params, indices, batch_dims=batch)


def _check_depth(op_name: str, name: str, shape: Any, indices: Tensor, batch: int = 0) -> None:
    if not indices.ndim:
        raise ShapeError(f"{op_name}: `indices` is a scalar; its last axis must hold coordinates.")
    depth = indices._array.shape[-1]
    if batch + depth > len(shape):
        raise ShapeError(
            f"{op_name}: the last axis of `indices` holds {depth} coordinates, and `{name}` has "
            f"{len(shape) - batch} axes to index (shape {tuple(shape)})."
        )
    if batch and tuple(indices._array.shape[:batch]) != tuple(shape[:batch]):
        raise ShapeError(
            f"{op_name}: the first batch_dims={batch} axes of `indices`, of shape "
            f"{tuple(indices.shape)}, must be those of `{name}`, of shape {tuple(shape)}."
        )


def _scatter_nd_samples(r):
    pairs = []
    for (x, indices), params in _gather_nd_samples(r):
        rest = x.shape[params["batch_dims"] + indices.shape[-1] :]
        updates = r.normal(size=(*indices.shape[:-1], *rest))
        pairs.append(([updates, indices], params | {"shape": x.shape}))
    return pairs


@op(pattern=MOVES, nondiff="indices", dtypes=dt.NUMERIC | dt.BOOL, samples=_scatter_nd_samples)
def _scatter_nd(xp, updates, indices, *, shape, batch_dims):
    flat, rows, width = _flat(xp, indices, shape, batch_dims, "scatter_nd")
    return xp.rows_add(rows, flat, updates.reshape(-1 if width else len(flat), width)).reshape(
        shape
    )


@_scatter_nd.vjp("updates")
def _scatter_nd_vjp(g, indices, *, batch_dims):
    return _gather_nd(g, indices, batch_dims=batch_dims)


@_scatter_nd.batch
def _scatter_nd_batch(batched, updates, indices, *, shape, batch_dims):
    updates, indices = _both_batched(batched, updates=updates, indices=indices)
    shape = (updates._array.shape[0], *shape)
    return _scatter_nd(updates, indices, shape=shape, batch_dims=batch_dims + 1)


def scatter_nd(
    indices: Any, updates: Any, shape: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Zeros of `shape` with `updates` added at the coordinates `indices`; repeats add up."""
    indices = _indices(indices, "scatter_nd", bad_indices_policy)
    updates = to_tensor(updates, "scatter_nd")
    dims = static_ints(shape, "scatter_nd", "shape")
    _check_updates("scatter_nd", dims, indices, updates)
    if updates._array.dtype == object and not is_symbolic(indices._array):
        return _scatter_text(updates._array, indices._array, dims)
    return _scatter_nd(updates, indices, shape=dims, batch_dims=0)


def _scatter_text(updates: Any, indices: Any, shape: Any) -> Tensor:
    """As above, of text: the texts for one place are joined."""
    result = np.full(shape, b"", object)
    places = np.moveaxis(indices, -1, 0)
    if (
        (places < 0) | (places >= np.reshape(shape[: len(places)], (-1, *[1] * (places.ndim - 1))))
    ).any():
        raise InvalidArgumentError(f"scatter_nd: `indices` must lie inside of the shape {shape}.")
    np.add.at(result, tuple(places), updates)
    return Tensor(result)


def _check_updates(op_name: str, shape: Any, indices: Tensor, updates: Tensor) -> None:
    _check_depth(op_name, "tensor", shape, indices)
    depth = indices._array.shape[-1]
    wanted = (*indices._array.shape[:-1], *shape[depth:])
    if tuple(updates._array.shape) != wanted:
        raise ShapeError(
            f"{op_name}: `updates` must have shape {wanted}, that is indices.shape[:-1] and the "
            f"axes that the coordinates leave. Received: updates.shape={tuple(updates.shape)}, "
            f"indices.shape={tuple(indices.shape)}, shape={tuple(shape)}."
        )


# What IndexedSlices needs of the ops; `gradtape._src.ops` installs these as its methods.


def slices_part(value: Any) -> Tensor:
    """A part of an IndexedSlices as a tensor."""
    return to_tensor(value, "IndexedSlices")


def slices_dense(slices: IndexedSlices) -> Tensor:
    """The dense tensor: rows with the same index summed."""
    if slices.dense_shape is None:
        raise ValueError(
            "IndexedSlices: without `dense_shape` the rows cannot become a dense tensor. Give it: "
            "IndexedSlices(values, indices, dense_shape)."
        )
    shape = static_ints(slices.dense_shape, "IndexedSlices", "dense_shape")
    return _gather_adjoint(slices.values, slices.indices, axis=0, batch_dims=0, shape=shape)


def slices_joined(slices: IndexedSlices, other: IndexedSlices) -> IndexedSlices:
    """Both sets of rows in one, unsummed."""
    indices, more = slices.indices, other.indices
    if indices._array.dtype != more._array.dtype:
        indices, more = cast(indices, dt.int64), cast(more, dt.int64)
    shape = slices.dense_shape if slices.dense_shape is not None else other.dense_shape
    return IndexedSlices(
        concat([slices.values, other.values], 0), concat([indices, more], 0), shape
    )


def slices_negative(slices: IndexedSlices) -> IndexedSlices:
    return IndexedSlices(negative(slices.values), slices.indices, slices.dense_shape)
