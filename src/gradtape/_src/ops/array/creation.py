"""Tensors from values: constants, zeros and ones, ranges and their like."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.composite import CompositeTensor
from ...core.convert import as_tensor, holds_tensor, to_array
from ...core.dtypes import as_dtype
from ...core.engine import engine_of
from ...core.errors import (
    DTypeError,
    InvalidArgumentError,
    NotATensorError,
    ResourceExhaustedError,
    ShapeError,
    UnimplementedError,
)
from ...core.placement import card_of, placement
from ...core.sizes import SizeTensor, any_open
from ...core.take_over import take_over
from ...core.tensor import Tensor
from ..declare.static import known, static_int, static_ints, to_tensor
from .cast import identity
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
    return Tensor(placement.placed(array) if placement.blocks else array)


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
    """Whether `x` is a tensor, or stands for one as a variable or a sparse tensor does."""
    if isinstance(x, CompositeTensor):
        return x._is_tensor
    return isinstance(x, Tensor) or hasattr(x, "_as_tensor")


def zeros(
    shape: Any, dtype: Any = dt.float32, name: str | None = None, layout: Any = None
) -> Tensor:
    """A tensor of zeros; of strings, empty ones."""
    _refuse_layout(layout, "zeros")
    try:
        sizes = static_ints(shape, "zeros", "shape")
    except NotATensorError as error:
        return take_over(error, zeros, shape, dtype)
    return Tensor(_full(np.zeros, sizes, as_dtype(dtype).numpy_dtype, "zeros"))


def ones(
    shape: Any, dtype: Any = dt.float32, name: str | None = None, layout: Any = None
) -> Tensor:
    """A tensor of ones."""
    _refuse_layout(layout, "ones")
    try:
        sizes = static_ints(shape, "ones", "shape")
    except NotATensorError as error:
        return take_over(error, ones, shape, dtype)
    return Tensor(_full(np.ones, sizes, as_dtype(dtype).numpy_dtype, "ones"))


def _refuse_layout(layout: Any, op: str) -> None:
    if layout is not None:
        raise UnimplementedError(
            f"{op}: `layout` spreads a tensor over several devices, and tensors are on one here. "
            "Leave it out."
        )


def _maker(like: Any, name: str) -> Any:
    """NumPy's function of this name, or that of the GPU which holds `like`."""
    return getattr(np if type(like) is np.ndarray else card_of(like) or np, name)


def _full(make: Any, dims: tuple[int, ...], dtype: Any, op_name: str) -> Any:
    if dtype.kind == "O":
        if make is np.ones:
            raise DTypeError(f"{op_name}: there is no string that is 1.")
        return np.full(dims, b"", object)
    try:
        return placement.placed(make(dims, dtype))
    except MemoryError as error:
        raise ResourceExhaustedError(f"{op_name}: {error}") from None
    except TypeError:
        if any_open(dims) is None:
            raise
        return broadcast_to(Tensor(make((), dtype)), dims)._array
    except ValueError:
        raise InvalidArgumentError(
            f"{op_name}: `shape`={dims} has a negative dimension, or is too large."
        ) from None


def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Tensor:
    """A tensor of shape `dims` with `value` everywhere; differentiable by `value`."""
    _refuse_layout(layout, "fill")
    value = to_tensor(value, "fill")
    if value.ndim:
        raise ShapeError(f"fill: `value` must be a scalar, and has shape {tuple(value.shape)}.")
    return broadcast_to(value, dims)


def zeros_like(
    input: Any, dtype: Any = None, name: str | None = None, layout: Any = None
) -> Tensor:
    """Zeros of the shape and dtype of `input`."""
    _refuse_layout(layout, "zeros_like")
    try:
        array = to_tensor(input, "zeros_like")._array
    except NotATensorError as error:
        return take_over(error, zeros_like, input, dtype)
    wanted = array.dtype if dtype is None else as_dtype(dtype).numpy_dtype
    return Tensor(_full(_maker(array, "zeros"), array.shape, wanted, "zeros_like"))


def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Tensor:
    """Ones of the shape and dtype of `input`."""
    _refuse_layout(layout, "ones_like")
    try:
        array = to_tensor(input, "ones_like")._array
    except NotATensorError as error:
        return take_over(error, ones_like, input, dtype)
    wanted = array.dtype if dtype is None else as_dtype(dtype).numpy_dtype
    return Tensor(_full(_maker(array, "ones"), array.shape, wanted, "ones_like"))


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
    batch = () if batch_shape is None else static_ints(batch_shape, "eye", "batch_shape")
    wanted, shape = as_dtype(dtype).numpy_dtype, (*batch, rows, columns)
    size = any_open(shape)
    if size is not None:
        xp = engine_of(type(size))
        return Tensor(xp.broadcast_to(xp.eye(rows, columns, dtype=wanted), shape))
    return Tensor(np.broadcast_to(np.eye(rows, columns, dtype=wanted), shape).copy())


def range(
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range"
) -> Tensor:
    """Numbers from `start` (0 if only one bound is given) up to, not including, `limit`."""
    if limit is None:
        start, limit = 0, start
    tensors = [_range_bound(v, dtype) for v in (start, limit, delta)]
    if any(type(x) is SizeTensor for x in tensors):
        return _open_range(tensors, dtype)
    bounds = [known(x, "range", "limit") for x in tensors]
    if any(b.ndim for b in bounds):
        raise ShapeError("range: `start`, `limit` and `delta` must be scalars.")
    if dtype is None:
        wanted = max((b.dtype for b in bounds), key=_range_order)
    else:
        wanted = as_dtype(dtype).numpy_dtype
    first, last, step = (b.astype(wanted).item() for b in bounds)
    if step == 0:
        raise InvalidArgumentError("range: `delta` must not be 0.")
    if (last - first) * step < 0:
        raise InvalidArgumentError(
            f"range: `start`={first} does not reach `limit`={last} by steps of `delta`={step}."
        )
    if wanted.kind in "iu":
        return Tensor(np.arange(first, last, step, dtype=wanted))
    # Counted in the dtype itself: in float64, 1.1 - 0.1 of two float32 is more than 10 * 0.1.
    first, last, step = (wanted.type(number) for number in (first, last, step))
    count = int(np.ceil((last - first) / step))
    return Tensor(first + step * np.arange(count, dtype=wanted))


def _range_bound(value: Any, dtype: Any) -> Tensor:
    """A bound as a tensor. A number of Python's takes the dtype, where one is given, exactly."""
    if dtype is not None and isinstance(value, int | float):
        return Tensor(to_array(value, dtype, "range"))
    return to_tensor(value, "range")


def _open_range(bounds: list[Tensor], dtype: Any) -> Tensor:
    """A range with a bound that is an open size."""
    first, last, step = [static_int(b, "range", "limit") for b in bounds]
    size = any_open((first, last, step))
    wanted = bounds[1].dtype if dtype is None else as_dtype(dtype)
    numbers = engine_of(type(size)).arange(first, last, step)
    return Tensor(numbers.astype(wanted.numpy_dtype))


def _range_order(dtype: Any) -> int:
    order = [dt.int32, dt.int64, dt.float16, dt.bfloat16, dt.float32, dt.float64]
    names = [d.name for d in order]
    return names.index(dtype.name) if dtype.name in names else -1
