"""Tensors from values, and the ops that pass a tensor on: cast, identity, stop_gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes as dt
from ..core.convert import as_tensor, holds_tensor, to_array
from ..core.dtypes import DType, as_dtype
from ..core.errors import DTypeError, InvalidArgumentError, ShapeError
from ..core.pattern import ELEMENTWISE
from ..core.spec import Spec
from ..core.tensor import Tensor
from ._declare import op
from ._static import static_axis, static_int, static_ints, to_tensor
from .shape import broadcast_to, reshape


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Tensor:
    """A tensor of these values. Python floats become float32, ints int32; arrays keep their dtype.

    >>> constant([1.0, 2.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>
    """
    if isinstance(value, Tensor) or hasattr(value, "_as_tensor") or holds_tensor(value):
        made = as_tensor(value, dtype, "constant")
        return made if shape is None else reshape(made, shape)
    array = to_array(value, dtype, "constant")
    if shape is not None:
        dims = static_ints(shape, "constant", "shape")
        if array.size == 1:
            array = np.broadcast_to(array.reshape(()), dims).copy()
        elif array.size == int(np.prod(dims)):
            array = array.reshape(dims)
        else:
            raise ShapeError(
                f"constant: {array.size} values cannot fill shape={dims}. Give one value, or as "
                "many as the shape has elements."
            )
    return Tensor(array)


def convert_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Tensor:
    """`value` (a number, nested lists, an array, a tensor, a variable) as a tensor.

    A tensor comes back as it is; for one of another dtype than `dtype` this raises: see `cast`.
    """
    if dtype is None and dtype_hint is not None and not isinstance(value, (Tensor, np.ndarray)):
        try:
            return as_tensor(value, dtype_hint)
        except (TypeError, ValueError):
            pass  # a hint is not a demand
    made = as_tensor(value, dtype)
    return identity(made) if hasattr(value, "_as_tensor") and made._key is not None else made


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor, or stands for one as a variable does."""
    return isinstance(x, Tensor) or hasattr(x, "_as_tensor")


def zeros(shape: Any, dtype: Any = dt.float32, name: str | None = None) -> Tensor:
    """A tensor of zeros; of strings, empty ones."""
    return Tensor(
        _full(np.zeros, static_ints(shape, "zeros", "shape"), as_dtype(dtype).numpy_dtype, "zeros")
    )


def ones(shape: Any, dtype: Any = dt.float32, name: str | None = None) -> Tensor:
    """A tensor of ones."""
    return Tensor(
        _full(np.ones, static_ints(shape, "ones", "shape"), as_dtype(dtype).numpy_dtype, "ones")
    )


def _full(make: Any, dims: tuple[int, ...], dtype: Any, op_name: str) -> Any:
    if dtype.kind == "O":
        if make is np.ones:
            raise DTypeError(f"{op_name}: there is no string that is 1.")
        return np.full(dims, b"", object)
    try:
        return make(dims, dtype)
    except ValueError:
        raise InvalidArgumentError(
            f"{op_name}: `shape`={dims} has a negative dimension, or is too large."
        ) from None


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor of shape `dims` with `value` everywhere; differentiable by `value`."""
    value = to_tensor(value, "fill")
    if value.ndim:
        raise ShapeError(f"fill: `value` must be a scalar, and has shape {tuple(value.shape)}.")
    return broadcast_to(value, dims)


def zeros_like(input: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Zeros of the shape and dtype of `input`."""
    array = to_tensor(input, "zeros_like")._array
    wanted = array.dtype if dtype is None else as_dtype(dtype).numpy_dtype
    return Tensor(_full(np.zeros, array.shape, wanted, "zeros_like"))


def ones_like(input: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Ones of the shape and dtype of `input`."""
    array = to_tensor(input, "ones_like")._array
    wanted = array.dtype if dtype is None else as_dtype(dtype).numpy_dtype
    return Tensor(_full(np.ones, array.shape, wanted, "ones_like"))


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dt.float32,
    name: str | None = None,
) -> Tensor:
    """The identity matrix, repeated for each element of `batch_shape`."""
    rows = static_int(num_rows, "eye", "num_rows")
    columns = rows if num_columns is None else static_int(num_columns, "eye", "num_columns")
    if rows < 0 or columns < 0:
        raise InvalidArgumentError(
            f"eye: sizes must not be negative, and are {rows} and {columns}."
        )
    matrix = np.eye(rows, columns, dtype=as_dtype(dtype).numpy_dtype)
    batch = () if batch_shape is None else static_ints(batch_shape, "eye", "batch_shape")
    return Tensor(np.broadcast_to(matrix, (*batch, rows, columns)).copy())


def range(
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range"
) -> Tensor:
    """Numbers from `start` (0 if only one bound is given) up to, not including, `limit`."""
    if limit is None:
        start, limit = 0, start
    bounds = [np.asarray(to_tensor(v, "range")._array) for v in (start, limit, delta)]
    if any(b.ndim for b in bounds):
        raise ShapeError("range: `start`, `limit` and `delta` must be scalars.")
    if dtype is None:
        wanted = max((b.dtype for b in bounds), key=_range_order)
    else:
        wanted = as_dtype(dtype).numpy_dtype
    first, last, step = (b.item() for b in bounds)
    if step == 0:
        raise InvalidArgumentError("range: `delta` must not be 0.")
    if (last - first) * step < 0:
        raise InvalidArgumentError(
            f"range: `start`={first} does not reach `limit`={last} by steps of `delta`={step}."
        )
    return Tensor(np.arange(first, last, step).astype(wanted))


def _range_order(dtype: Any) -> int:
    order = [dt.int32, dt.int64, dt.float16, dt.bfloat16, dt.float32, dt.float64]
    names = [d.name for d in order]
    return names.index(dtype.name) if dtype.name in names else -1


@op(
    dtypes=dt.INEXACT,
    samples=lambda r: [
        ([r.normal(size=()), r.normal(size=())], {"num": 5, "axis": 0}),
        ([r.normal(size=(2, 3)), r.normal(size=(2, 3))], {"num": 4, "axis": 1}),
        ([r.normal(size=2), r.normal(size=2)], {"num": 1, "axis": 0}),
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
    from .reduction import reduce_sum

    return reduce_sum(g * (1 - _linspace_weights(g, num, axis)), axis)


@_linspace.vjp("stop")
def _linspace_vjp_stop(g, *, num, axis):
    from .reduction import reduce_sum

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
    if count < 1:
        raise InvalidArgumentError(f"linspace: `num` must be at least 1, and is {count}.")
    return _linspace(start, stop, num=count, axis=static_axis(axis, start.ndim + 1, "linspace"))


@op(
    pattern=ELEMENTWISE,
    linear="x",
    samples=lambda r: [([r.normal(size=(2, 3))], {"dtype": np.dtype("float64")})],
)
def _cast(xp, x, *, dtype):
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = xp.real(x)
    return x.astype(dtype)


@_cast.vjp("x")
def _cast_vjp(g, x: Spec):
    return _cast(g, dtype=x.dtype)


@_cast.batch
def _cast_batch(batched, x, *, dtype):
    return _cast(x, dtype=dtype)


@op(nondiff="all", samples=lambda r: [([r.normal(size=(2, 3))], {"dtype": np.dtype("int32")})])
def _cast_discrete(xp, x, *, dtype):
    """A cast that no gradient passes: to integers or bool."""
    if x.dtype.kind == "c":
        x = xp.real(x)
    return x.astype(dtype)


@_cast_discrete.batch
def _cast_discrete_batch(batched, x, *, dtype):
    return _cast_discrete(x, dtype=dtype)


def cast(x: Any, dtype: Any, name: str | None = None) -> Tensor:
    """`x` in another dtype. To an integer it truncates towards zero, and cuts the gradient.

    A complex tensor loses its imaginary part in a real dtype. IndexedSlices are cast by their rows.
    """
    wanted = as_dtype(dtype)
    if hasattr(x, "dense_shape") and hasattr(x, "indices"):
        return type(x)(cast(x.values, wanted), x.indices, x.dense_shape)  # type: ignore[return-value]
    x = to_tensor(x, "cast")
    numpy_dtype = wanted.numpy_dtype
    if x._array.dtype == numpy_dtype:
        return x
    if x.dtype is dt.string or wanted is dt.string:
        raise DTypeError(f"cast: no conversion from {x.dtype.name} to {wanted.name}.")
    return (_cast if numpy_dtype in dt.INEXACT else _cast_discrete)(x, dtype=numpy_dtype)


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """`value` in another dtype, values outside its range clipped to its limits."""
    from .arithmetic import clip_by_value

    value = to_tensor(value, "saturate_cast")
    wanted: DType = as_dtype(dtype)
    if value.dtype.is_complex or wanted.is_complex or wanted.is_bool or value.dtype.is_bool:
        return cast(value, wanted)
    low, high = max(value.dtype.min, wanted.min), min(value.dtype.max, wanted.max)
    kind = value._array.dtype.type
    return cast(clip_by_value(value, kind(low), kind(high)), wanted)


@op(
    pattern=ELEMENTWISE,
    linear="x",
    passes_slices=True,
    samples=lambda r: [([r.normal(size=(2, 3))], {})],
)
def _identity(xp, x):
    return x


@_identity.vjp("x")
def _identity_vjp(g):
    return g


@_identity.batch
def _identity_batch(batched, x):
    return _identity(x)


def identity(input: Any, name: str | None = None) -> Tensor:
    """A new tensor with the value of `input`; its gradient passes unchanged."""
    if hasattr(input, "dense_shape") and hasattr(input, "indices"):
        return type(input)(  # type: ignore[return-value]
            identity(input.values), input.indices, input.dense_shape
        )
    return _identity(to_tensor(input, "identity"))


def identity_n(input: Any, name: str | None = None) -> list[Tensor]:
    """The tensors of the list `input`, each a new one with the same value."""
    return [identity(x) for x in input]


@op(nondiff="all", samples=lambda r: [([r.normal(size=(2, 3))], {})])
def _stop_gradient(xp, x):
    return x


@_stop_gradient.batch
def _stop_gradient_batch(batched, x):
    return _stop_gradient(x)


def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """The value of `input`, a constant to every tape."""
    return _stop_gradient(to_tensor(input, "stop_gradient"))
