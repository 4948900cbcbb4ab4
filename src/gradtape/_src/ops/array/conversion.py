"""Tensors as something else: other dtypes of the same bits, text, plain values; and back."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core import dtypes as dt
from ...core.convert import as_tensor
from ...core.dtypes import DType, as_dtype
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError, TextError
from ...core.placement import on_host
from ...core.take_over import lends_itself
from ...core.tensor import Tensor, is_symbolic, tell_left
from ..declare.op import op
from ..declare.static import to_tensor
from ..math.arithmetic import clip_by_value
from .cast import cast, stop_gradient
from .undifferentiated import undifferentiated

if TYPE_CHECKING:
    from ...core.annotations import Array


@op(
    batch_axes=(),
    nondiff="all",
    dtypes=dt.NUMERIC,
    samples=lambda r: [
        ([r.integers(0, 100, size=(2, 3)).astype(np.int32)], {"dtype": np.dtype("float32")}),
        ([r.integers(0, 100, size=(2, 2)).astype(np.int32)], {"dtype": np.dtype("int64")}),
        ([r.normal(size=())], {"dtype": np.dtype("int32")}),
    ],
)
def _bitcast(xp, x, *, dtype):
    return xp.bitcast(x, dtype)


@lends_itself
def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """The bits of `input` read as another dtype. Its gradient is an error, being meaningless.

    A dtype of half the size turns each number into two along a new last axis; one of twice the size
    needs a last axis of size 2, which it takes away.

    >>> bitcast(1.0, tf.int32)
    <tf.Tensor: shape=(), dtype=int32, numpy=1065353216>
    """
    x = to_tensor(input, "bitcast")
    wanted = as_dtype(type)
    for dtype, which in ((x.dtype, "`input`"), (wanted, "`type`")):
        if not dtype.is_numeric:
            raise DTypeError(f"bitcast: {which} must be numeric, and is {dtype.name}.")
    several = wanted.size // x.dtype.size
    if several > 1 and (not x.ndim or x._array.shape[-1] != several):
        raise ShapeError(
            f"bitcast: from {x.dtype.name} to {wanted.name} the last axis must have size "
            f"{several}, and `input` has shape {x.shape}."
        )
    return undifferentiated(x, _bitcast(x, dtype=wanted.numpy_dtype), name="bitcast")


@lends_itself
def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Each element as text, `precision` digits behind the point (6 unless given), `width` wide.

    `scientific` writes an exponent, `shortest` takes the shorter form. `fill` says what fills up
    to the width: "" or " " or "0", "-" on the right side, "+" with a sign.

    >>> as_string([3.14159, 2.0], precision=2).numpy()
    array([b'3.14', b'2.00'], dtype=object)
    """
    x = to_tensor(input, "as_string")
    tell_left(x, "as_string")
    if is_symbolic(x._array):
        raise TextError(
            "as_string: text is made of the values of `input`, which are not known while the "
            "function is traced."
        )
    if fill not in ("", " ", "0", "-", "+"):
        raise InvalidArgumentError(
            f"as_string: `fill` must be '', ' ', '0', '-' or '+', not {fill!r}."
        )
    if scientific and shortest:
        raise InvalidArgumentError("as_string: `scientific` and `shortest` exclude each other.")
    array = np.asarray(on_host(x._array))
    wide = str(width) if width > -1 else ""
    padded = ("%-" if fill == "-" else "%") + wide + "s"  # for what no zeros can stand before
    if x.dtype is dt.string:
        return _texts([padded.encode() % v for v in array.flat], array.shape)
    inexact = x.dtype.is_floating or x.dtype.is_complex
    if not inexact and (precision != -1 or scientific or shortest):
        raise DTypeError(
            "as_string: `precision`, `scientific` and `shortest` are for floats, and `input` is "
            f"{x.dtype.name}."
        )
    form = "%" + (fill if wide else "") + wide
    if inexact:
        form += (f".{precision}" if precision > -1 else "") + (
            "e" if scientific else "g" if shortest else "f"
        )
    else:
        form += "d"
    if x.dtype.is_complex:
        texts = [f"({form % v.real},{form % v.imag})" for v in array.flat]
    elif x.dtype.is_bool:
        texts = [padded % ("true" if v else "false") for v in array.flat]
    elif inexact:
        texts = [form % v if isfinite(v) else padded % v for v in map(float, array.flat)]
    else:
        texts = [form % int(v) for v in array.flat]
    return _texts([text.encode() for text in texts], array.shape)


def _texts(texts: list[bytes], shape: tuple[int, ...]) -> Tensor:
    result = np.empty(shape, object)
    result.reshape(-1)[:] = texts
    return Tensor(result)


def guarantee_const(input: Any, name: str | None = None) -> Tensor:
    """The value of `input`, promised to be a constant. Its gradient is an error."""
    x = to_tensor(input, "guarantee_const")
    return undifferentiated(x, stop_gradient(x), name="guarantee_const")


def get_static_value(tensor: Any, partial: bool = False) -> Array:
    """The value of `tensor` as a NumPy array; None where it is not known: while tracing, say."""
    if hasattr(tensor, "_as_tensor"):
        return None
    if not isinstance(tensor, Tensor):
        return tensor
    return tensor.numpy() if isinstance(tensor._array, (np.ndarray, np.generic)) else None


def register_tensor_conversion_function(
    base_type: Any, conversion_func: Any, priority: int = 100
) -> None:
    """Let objects of the class `base_type` (or of several) be used where a tensor is expected.

    `conversion_func(value, dtype=None, name=None, as_ref=False)` makes the tensor. The class must
    be one written in Python. Of several functions the one of the lowest `priority` counts, and of
    these the last.
    """
    if not callable(conversion_func):
        raise TypeError(
            "register_tensor_conversion_function: `conversion_func` must be a function."
        )
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    for each in types:
        if not isinstance(each, type):
            raise TypeError(f"register_tensor_conversion_function: {each!r} is not a class.")
        if priority > vars(each).get("_conversion_priority", priority):
            continue
        try:
            each._conversion_priority = priority
            each._as_tensor = lambda value: as_tensor(
                conversion_func(value, dtype=None, name=None, as_ref=False)
            )
        except TypeError:
            raise TypeError(
                f"register_tensor_conversion_function: {each.__name__} is built in and is "
                "converted already."
            ) from None


@lends_itself
def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """`value` in another dtype, values outside its range clipped to its limits.

    To the limits that the dtype of `value` has a number for: 3e9 of float32 becomes the int32
    2147483520, because 2147483647 is no float32, and the next one is out of range.
    """
    value = to_tensor(value, "saturate_cast")
    wanted: DType = as_dtype(dtype)
    if value.dtype.is_complex or wanted.is_complex or wanted.is_bool or value.dtype.is_bool:
        return cast(value, wanted)
    (lowest, highest), (low, high) = _limits(value.dtype), _limits(wanted)
    low, high = _within(max(lowest, low), value.dtype), _within(min(highest, high), value.dtype)
    return cast(clip_by_value(value, low, high), wanted)


def _limits(dtype: DType) -> tuple[int | float, int | float]:
    """The smallest and the largest number, as Python's, which compare exactly."""
    number: Any = float if dtype.is_floating else int
    return number(dtype.min), number(dtype.max)


def _within(limit: int | float, dtype: DType) -> Any:
    """The number of `dtype` that is `limit`, or the next one on the side of 0."""
    kind: Any = dtype.numpy_dtype.type
    if not dtype.is_floating:
        return kind(limit)
    found = kind(float(limit))
    return np.nextafter(found, kind(0)) if abs(float(found)) > abs(limit) else found
