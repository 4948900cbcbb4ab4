"""Ops that move elements without changing them: reshape, transpose, broadcast and its adjoint."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.dtypes import as_dtype
from ...core.errors import NotATensorError, ShapeError
from ...core.pattern import MOVES
from ...core.shape import TensorShape
from ...core.sizes import SizesNeeded, any_open, sizes_as_tensor
from ...core.spec import Spec, broadcast_shapes
from ...core.take_over import take_over
from ...core.tensor import Tensor
from ...core.tracing import current_graph
from ..declare.op import op
from ..declare.static import resolved_shape, static_axis, static_ints, to_tensor
from ..math.conjugate import conj


@op(
    pattern=MOVES,
    in_order=True,
    linear="x",
    samples=lambda r: [
        ([r.normal(size=(2, 6))], {"shape": (3, 4)}),
        ([r.normal(size=())], {"shape": (1, 1)}),
    ],
)
def _reshape(xp, x, *, shape):
    return xp.reshape(x, shape)


@_reshape.vjp("x")
def _reshape_vjp(g, x: Spec):
    return _reshape(g, shape=x.shape)


@_reshape.batch
def _reshape_batch(batched, x, *, shape):
    return _reshape(x, shape=(x._array.shape[0], *shape))


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """`tensor` with its elements, in order, in another shape; one dimension may be -1.

    >>> reshape([1, 2, 3, 4, 5, 6], [2, -1])
    <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
    array([[1, 2, 3],
           [4, 5, 6]], dtype=int32)>
    """
    try:
        x = to_tensor(tensor, "reshape")
        return _reshape(x, shape=resolved_shape(shape, x._array.shape, "reshape"))
    except NotATensorError as error:
        return take_over(error, reshape, tensor, shape)


@op(
    pattern=MOVES,
    linear="x",
    samples=lambda r: [
        ([r.normal(size=(2, 3, 4))], {"perm": (2, 0, 1)}),
        ([r.normal(size=(3, 2))], {"perm": (1, 0)}),
    ],
)
def _transpose(xp, x, *, perm):
    return xp.transpose(x, perm)


@_transpose.vjp("x")
def _transpose_vjp(g, *, perm):
    inverse = sorted(range(len(perm)), key=perm.__getitem__)
    return _transpose(g, perm=tuple(inverse))


@_transpose.batch
def _transpose_batch(batched, x, *, perm):
    return _transpose(x, perm=(0, *(p + 1 for p in perm)))


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Tensor:
    """`a` with its axes in the order `perm`; without `perm`, in reverse order."""
    x = to_tensor(a, "transpose")
    ndim = x.ndim
    order = tuple(range(ndim))[::-1] if perm is None else static_ints(perm, "transpose", "perm")
    order = tuple([p % ndim if ndim and -ndim <= p < ndim else p for p in order])
    if sorted(order) != list(range(ndim)):
        raise ShapeError(
            f"transpose: `perm`={perm!r} must name each axis of a tensor of rank {ndim} once."
        )
    out = _transpose(x, perm=order)
    return conj(out) if conjugate else out


@op(
    pattern=MOVES,
    linear="x",
    samples=lambda r: [
        ([r.normal(size=(3, 1))], {"shape": (2, 3, 4)}),
        ([r.normal(size=())], {"shape": (2,)}),
    ],
)
def _broadcast_to(xp, x, *, shape):
    return xp.broadcast_to(x, shape)


@_broadcast_to.vjp("x")
def _broadcast_to_vjp(g, x: Spec):
    return unbroadcast(g, shape=x.shape)


@_broadcast_to.batch
def _broadcast_to_batch(batched, x, *, shape):
    x = insert_axes(x, len(shape) + 1 - x.ndim, at=1)
    return _broadcast_to(x, shape=(x._array.shape[0], *shape))


@_broadcast_to.spec
def _broadcast_to_spec(x, *, shape):
    fits = len(shape) >= x.ndim and all(
        a in (1, b) for a, b in zip(x.shape[::-1], shape[::-1], strict=False)
    )
    if not fits:
        raise ShapeError(
            f"broadcast_to: `input` of shape {x.shape} cannot be broadcast to shape={shape}: its "
            "sizes must be equal to the last ones of `shape`, or 1."
        )
    return Spec(shape, x.dtype)


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """`input` repeated along new axes and axes of size 1 to `shape`."""
    try:
        x = to_tensor(input, "broadcast_to")
        return _broadcast_to(x, shape=static_ints(shape, "broadcast_to", "shape"))
    except NotATensorError as error:
        return take_over(error, broadcast_to, input, shape)


@op(
    pattern=MOVES,
    linear="x",
    samples=lambda r: [
        ([r.normal(size=(2, 3, 4))], {"shape": (3, 1)}),
        ([r.normal(size=(2, 3))], {"shape": ()}),
    ],
)
def unbroadcast(xp, x, *, shape):
    """`x` summed over the axes along which `shape` was broadcast: adjoint of `broadcast_to`."""
    new = x.ndim - len(shape)
    if x.shape[new:] == shape:  # as the gradient of a bias is
        return xp.sum_of_first(x, new)
    stretched = [new + i for i, size in enumerate(shape) if size == 1 and x.shape[new + i] != 1]
    summed = xp.sum(x, (*range(new), *stretched))
    return summed.reshape(shape) if stretched else summed


@unbroadcast.vjp("x")
def _unbroadcast_vjp(g, x: Spec):
    return _broadcast_to(insert_axes(g, 0, at=0), shape=x.shape)


@unbroadcast.batch
def _unbroadcast_batch(batched, x, *, shape):
    count = x._array.shape[0]
    aligned = (1,) * (x.ndim - 1 - len(shape)) + tuple(shape)
    return _reshape(unbroadcast(x, shape=(count, *aligned)), shape=(count, *shape))


def expand_dims(input: Any, axis: Any, name: str | None = None) -> Tensor:
    """`input` with an axis of size 1 inserted at `axis` (negative: counted from the new end)."""
    try:
        x = to_tensor(input, "expand_dims")
    except NotATensorError as error:
        return take_over(error, expand_dims, input, axis)
    try:
        return insert_axes(x, 1, at=static_axis(axis, x.ndim + 1, "expand_dims"))
    except ShapeError:
        raise ShapeError(
            f"expand_dims: `axis`={int(axis)} is out of range for a tensor of rank {x.ndim}; it "
            f"must lie in [{-x.ndim - 1}, {x.ndim}], as the result has one axis more."
        ) from None


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """`input` without its axes of size 1, or without those in `axis`, of size 1 each."""
    try:
        x = to_tensor(input, "squeeze")
    except NotATensorError as error:
        return take_over(error, squeeze, input, axis)
    shape = x._array.shape
    axes = [] if axis is None else static_ints(axis, "squeeze", "axis")
    if not axes:
        return _reshape(x, shape=tuple([d for d in shape if d != 1]))
    axes = [static_axis(a, x.ndim, "squeeze") for a in axes]
    for a in axes:
        if shape[a] != 1:
            raise ShapeError(
                f"squeeze: axis {a} of `input` has size {shape[a]}, not 1 (input.shape={shape})."
            )
    return _reshape(x, shape=tuple([d for i, d in enumerate(shape) if i not in axes]))


def insert_axes(x: Tensor, count: int, *, at: int) -> Tensor:
    """`x` with `count` axes of size 1 inserted at `at`."""
    if count <= 0:
        return x
    shape = x._array.shape
    return _reshape(x, shape=(*shape[:at], *(1,) * count, *shape[at:]))


def shape(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The shape of `input` as an integer tensor (int32 unless `out_type` says otherwise)."""
    try:
        x = to_tensor(input, "shape")
    except NotATensorError as error:
        return take_over(error, shape, input, out_type)
    return _integers(x._array.shape, out_type)


def shape_n(input: Any, out_type: Any = dt.int32, name: str | None = None) -> list[Tensor]:
    """The shapes of the tensors in the list `input`."""
    return [shape(x, out_type) for x in input]


def size(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The number of elements of `input`."""
    try:
        x = to_tensor(input, "size")
    except NotATensorError as error:
        return take_over(error, size, input, out_type)
    return _integers(math.prod(x._array.shape), out_type)


def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of axes of `input`."""
    try:
        x = to_tensor(input, "rank")
    except NotATensorError as error:
        return take_over(error, rank, input)
    return _integers(x.ndim, None)


def _integers(values: Any, out_type: Any) -> Tensor:
    dtype = as_dtype(out_type or dt.int32).numpy_dtype
    if any_open(values) is not None:
        return sizes_as_tensor(values, dtype)
    return Tensor(np.array(values, dtype))


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """`x`, if its shape fits `shape`, in which None stands for any size; else an error."""
    x = to_tensor(x, "ensure_shape")
    wanted = TensorShape(shape)
    if not wanted.is_compatible_with(x.shape):
        raise ShapeError(f"ensure_shape: `x` has shape {tuple(x.shape)}, and must have {wanted}.")
    if x.shape.merge_with(wanted) != x.shape and not current_graph().root.learns_shapes:
        raise SizesNeeded("ensure_shape asks for a size that is open")
    return x


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape that tensors of these two shapes broadcast to, as an integer tensor."""
    x, y = (to_tensor(s, "broadcast_dynamic_shape") for s in (shape_x, shape_y))
    dims = [static_ints(s, "broadcast_dynamic_shape", "shape") for s in (x, y)]
    common = broadcast_shapes("broadcast_dynamic_shape", shape_x=dims[0], shape_y=dims[1])
    return _integers(common, x.dtype if x._array.size else y.dtype if y._array.size else None)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape that tensors of these two shapes broadcast to, as a TensorShape."""
    x, y = TensorShape(shape_x), TensorShape(shape_y)
    if not (x.is_fully_defined() and y.is_fully_defined()):
        raise ValueError(f"broadcast_static_shape: shapes {x} and {y} are not fully known.")
    common = broadcast_shapes("broadcast_static_shape", shape_x=tuple(x), shape_y=tuple(y))
    return TensorShape(common)


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """`a` with its last two axes exchanged (and conjugated, if asked for)."""
    x = to_tensor(a, "matrix_transpose")
    if x.ndim < 2:
        raise ShapeError(
            f"matrix_transpose: `a` must have rank 2 or more, and has shape {tuple(x.shape)}."
        )
    last = x.ndim - 1
    return transpose(x, (*range(last - 1), last, last - 1), conjugate)


def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The conjugate transpose of `matrix`, over its last two axes."""
    return matrix_transpose(matrix, conjugate=True)
