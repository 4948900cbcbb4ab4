"""Static parameters (shapes, axes) from what users write: ints, lists, arrays, tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.convert import as_tensor
from ...core.errors import (
    DTypeError,
    DynamicSizeError,
    InvalidArgumentError,
    ShapeError,
    SymbolicTensorError,
)
from ...core.placement import on_host
from ...core.sizes import SizeTensor, is_open, size_of
from ...core.spec import check_axis
from ...core.take_over import TakesOver, refusal
from ...core.tensor import Tensor, is_symbolic, tell_left


def static_int(value: Any, op: str, name: str) -> int:
    """An int from an int, a NumPy integer or an integer tensor of one element."""
    if type(value) is int:
        return value
    value = size_of(value)
    if is_open(value):
        return value
    try:
        return int(value.__index__())
    except SymbolicTensorError as error:
        raise _unknown(op, name, value) from error
    except (AttributeError, TypeError):
        raise DTypeError(f"{op}: `{name}` must be an integer, not {value!r}.") from None


def static_ints(value: Any, op: str, name: str) -> tuple[int, ...]:
    """A tuple of ints from a shape, a list, an array, a tensor, or a single integer."""
    if type(value) is tuple and all([type(v) is int for v in value]):
        return value
    if isinstance(value, (list, tuple)):
        return tuple([static_int(_whole(v), op, name) for v in value])
    if type(value) is SizeTensor and value.sizes.ndim < 2:
        return tuple(value.sizes.flat)
    array = known(value, op, name)
    if array.dtype.kind not in "iu" or array.ndim > 1:
        if isinstance(value, TakesOver):
            raise refusal(value, op)
        raise DTypeError(f"{op}: `{name}` must be a list of integers, not {value!r}.")
    return tuple(array.reshape(-1).tolist())


def is_unknown(value: Any) -> bool:
    """Whether of integers, such as a shape or a list, some are known only when a program runs."""
    if isinstance(value, (list, tuple)):
        return any(map(is_unknown, value))
    symbolic = isinstance(value, Tensor) and is_symbolic(value._array)
    return symbolic and type(value) is not SizeTensor


def each_int(value: Any, op: str, name: str) -> list[Any]:
    """The entries of `static_ints`, but as tensors where they are not known."""
    if not is_unknown(value):
        return list(static_ints(value, op, name))
    if isinstance(value, (list, tuple)):
        return [v if is_unknown(v) else static_int(_whole(v), op, name) for v in value]
    return [value[i] for i in range(value.shape[0])] if value.ndim else [value]


def _whole(value: Any) -> Any:
    """An entry of a list; TensorFlow takes floating tensors there, we take whole numbers."""
    if isinstance(value, Tensor) and value.dtype.is_floating and not is_symbolic(value._array):
        number = float(value)
        return int(number) if number.is_integer() else value
    return value


def known(value: Any, op: str, name: str) -> Any:
    """The values of an argument that decides on the shape of the result, as a NumPy array."""
    try:
        return np.asarray(value)
    except SymbolicTensorError as error:
        raise _unknown(op, name, value) from error


def values_that_size(x: Tensor, op: str) -> Any:
    """The values of a tensor on which the size of the result depends, as a NumPy array.

    (Not from JAX is the error to come if there are none: Keras makes it anew, with another text.)
    """
    if is_symbolic(x._array):
        raise DynamicSizeError(
            f"{op}: the size of its result depends on values, which are not known while the "
            "function is traced."
        )
    tell_left(x, op)
    return np.asarray(on_host(x._array))


def _unknown(op: str, name: str, value: Any) -> DynamicSizeError:
    error = DynamicSizeError(
        f"{op}: to compile it, XLA needs the values of `{name}`, which are not known while the "
        "function is traced."
    )
    error.missed = value
    return error


def static_axes(axis: Any, ndim: int, op: str, name: str = "axis") -> tuple[int, ...]:
    """The axes of a reduction, counted from the front and sorted; all of them for None."""
    if axis is None:
        return tuple(range(ndim))
    if type(axis) is int:
        return (check_axis(op, axis, ndim, name),)
    axes = [check_axis(op, a, ndim, name) for a in static_ints(axis, op, name)]
    if len(set(axes)) != len(axes):
        raise InvalidArgumentError(f"{op}: `{name}`={axis!r} names an axis twice.")
    return tuple(sorted(axes))


def static_axis(axis: Any, ndim: int, op: str, name: str = "axis") -> int:
    """One axis, counted from the front."""
    return check_axis(op, axis if type(axis) is int else static_int(axis, op, name), ndim, name)


def resolved_shape(shape: Any, old: tuple[int, ...], op: str) -> tuple[int, ...]:
    """A new shape for an array of shape `old`, its one -1 (if any) replaced by what fits."""
    size = math.prod(old)
    dims = static_ints(shape, op, "shape")
    known = math.prod(d for d in dims if d != -1)
    free = dims.count(-1)
    if free == 1 and known > 0 and size % known == 0:
        return tuple([size // known if d == -1 else d for d in dims])
    if free == 1 and known == size == 0 and min(dims) == -1:  # the axes that are not empty decide
        rest = math.prod(d for d in old if d) // math.prod(d for d in dims if d > 0)
        return tuple([rest if d == -1 else d for d in dims])
    if free or known != size or any(d < 0 for d in dims):
        raise ShapeError(
            f"{op}: cannot reshape a tensor of shape {old} ({size} elements) to shape={dims}"
            f"{'' if free else f' ({known} elements)'}. One dimension may be -1, the others are >= "
            f"0."
        )
    return dims


def to_tensor(value: Any, op: str) -> Tensor:
    """`value` as a tensor, for the public function of an op."""
    return value if type(value) is Tensor else as_tensor(value, op=op)
