"""Tensors as protocol buffers: TensorFlow's message `TensorProto`, without its library."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...core.convert import to_array
from ...core.dtypes import DType, as_dtype, bfloat16, float16, string
from ...core.tensor import Tensor
from .event_file import tensor_message
from .wire import fields, floats, integers, signed


class Dimension(NamedTuple):
    size: int


class TensorShapeProto(NamedTuple):
    dim: list[Dimension]


class TensorProto:
    """An array as a message, with the fields of TensorFlow's: numbers are in `tensor_content`."""

    def __init__(self, array: Any) -> None:
        self._array = array

    @property
    def dtype(self) -> int:
        """The number of the dtype, `tf.float32.as_datatype_enum` for one."""
        return as_dtype(self._array.dtype).as_datatype_enum

    @property
    def tensor_shape(self) -> TensorShapeProto:
        return TensorShapeProto([Dimension(size) for size in self._array.shape])

    @property
    def tensor_content(self) -> bytes:
        array = self._array
        if array.dtype == object:
            return b""
        return array.astype(array.dtype.newbyteorder("<")).tobytes()  # type: ignore[no-any-return]

    @property
    def string_val(self) -> list[bytes]:
        return list(self._array.flat) if self._array.dtype == object else []

    def __getattr__(self, name: str) -> list[Any]:
        if name.endswith("_val"):  # the numbers are elsewhere
            return []
        raise AttributeError(f"A TensorProto has no field {name!r}.")

    def SerializeToString(self) -> bytes:
        """The message as bytes, which every reader of TensorFlow's files understands."""
        return tensor_message(self._array)

    @staticmethod
    def FromString(data: bytes) -> TensorProto:
        """The message that such bytes are."""
        return TensorProto(make_ndarray(_Fields(data)))

    def __repr__(self) -> str:
        shape = [size for (size,) in self.tensor_shape.dim]
        return f"TensorProto(dtype={as_dtype(self.dtype).name}, shape={shape})"


def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> TensorProto:
    """`values` as a protocol buffer; if they are fewer than `shape` holds, the last is repeated."""
    name = "make_tensor_proto"
    array = np.asarray(values) if isinstance(values, Tensor) else to_array(values, dtype, name)
    if shape is None:
        return TensorProto(np.asarray(array))
    sizes = tuple(int(size) for size in shape)
    if verify_shape and array.shape != sizes:
        raise TypeError(f"{name}: `values` have shape {array.shape}, and `shape` is {sizes}.")
    if allow_broadcast:
        return TensorProto(np.broadcast_to(array, sizes))
    return TensorProto(_filled(array.reshape(-1), sizes, name))


def _filled(values: Any, sizes: tuple[int, ...], op: str) -> Any:
    """An array of these `sizes`, filled by the values in order and then by the last of them."""
    count = math.prod(sizes)
    if len(values) > count or (count and not len(values)):
        raise ValueError(
            f"{op}: an array of shape {sizes} has {count} elements, and {len(values)} are given."
        )
    filled = np.empty(count, values.dtype)
    filled[: len(values)] = values
    if len(values) < count:
        filled[len(values) :] = values[-1]
    return filled.reshape(sizes)


_FIELDS = {
    "float32": "float_val", "float64": "double_val", "int64": "int64_val", "bool": "bool_val",
    "string": "string_val", "complex64": "scomplex_val", "complex128": "dcomplex_val",
    "uint32": "uint32_val", "uint64": "uint64_val", "float16": "half_val", "bfloat16": "half_val",
}  # fmt: skip
"""Where values stand that are not in `tensor_content`; the other integers are in `int_val`."""


def make_ndarray(tensor: Any) -> np.ndarray[Any, Any]:
    """The NumPy array of a `TensorProto`: of this module, or of a library that reads files."""
    try:
        wanted, sizes = as_dtype(tensor.dtype), tuple(d.size for d in tensor.tensor_shape.dim)
    except AttributeError:
        raise TypeError(
            f"make_ndarray: `tensor` must be a TensorProto, not a {type(tensor).__name__}. "
            "x.numpy() is the array of a tensor."
        ) from None
    content = tensor.tensor_content
    if content:
        numbers = np.frombuffer(content, wanted.numpy_dtype.newbyteorder("<"))
        return numbers.astype(wanted.numpy_dtype).reshape(sizes)
    values = list(getattr(tensor, _FIELDS.get(wanted.name, "int_val")))
    array: np.ndarray[Any, Any] = _filled(_as_array(values, wanted), sizes, "make_ndarray")
    return array


def _as_array(values: list[Any], wanted: DType) -> Any:
    if wanted in (float16, bfloat16):  # by their bits
        return np.array(values, np.uint16).view(wanted.numpy_dtype)
    if wanted is string:
        array = np.empty(len(values), object)
        array[:] = values
        return array
    if wanted.is_complex:  # real and imaginary parts in turns
        pairs = np.array(values, wanted.real_dtype.numpy_dtype)
        return pairs.view(wanted.numpy_dtype)
    return np.array(values, wanted.numpy_dtype)


class _Fields:
    """The fields of a TensorProto as they are in its bytes."""

    def __init__(self, data: bytes) -> None:
        self.dtype = 0
        self.tensor_shape = TensorShapeProto([])
        self.tensor_content = b""
        self._values: dict[str, list[Any]] = {}
        for number, kind, value in fields(data):
            if number == 1:
                self.dtype = value
            elif number == 2:
                self.tensor_shape = TensorShapeProto(
                    [_dimension(each) for n, _, each in fields(value) if n == 2]
                )
            elif number == 4:
                self.tensor_content = value
            elif number in _NUMBERS:
                name, dtype = _NUMBERS[number]
                read = _read(kind, value, dtype)
                self._values.setdefault(name, []).extend(read)

    def __getattr__(self, name: str) -> list[Any]:
        return self._values.get(name, [])


def _read(kind: int, value: Any, dtype: str | None) -> Any:
    if dtype is None:
        return integers(kind, value)
    return [value] if dtype == "text" else floats(value, dtype)


def _dimension(data: bytes) -> Dimension:
    return Dimension(next((signed(value) for number, _, value in fields(data) if number == 1), 0))


_NUMBERS: dict[int, tuple[str, str | None]] = {
    5: ("float_val", "<f4"), 6: ("double_val", "<f8"), 7: ("int_val", None),
    8: ("string_val", "text"), 9: ("scomplex_val", "<f4"), 10: ("int64_val", None),
    11: ("bool_val", None), 12: ("dcomplex_val", "<f8"), 13: ("half_val", None),
    16: ("uint32_val", None), 17: ("uint64_val", None),
}  # fmt: skip
"""The fields that hold values: their names, and how they are written if not as integers."""
