"""DType: TensorFlow's names for the element types, each standing for one NumPy dtype."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .errors import DTypeError


class DType:
    """An element type, such as `gradtape.float32`. Equal to its NumPy dtype and its name."""

    __slots__ = ("is_complex", "is_floating", "is_integer", "name", "numpy_dtype", "size")

    name: str
    numpy_dtype: np.dtype[Any]

    def __init__(self, name: str, numpy_dtype: Any) -> None:
        self.name = name
        self.numpy_dtype = np.dtype(numpy_dtype)
        self.size = self.numpy_dtype.itemsize
        kind = self.numpy_dtype.kind
        # ml_dtypes' float types have kind "V" or "f", depending on the type.
        self.is_floating = kind == "f" or name in ("bfloat16", "float8_e4m3fn", "float8_e5m2")
        self.is_complex = kind == "c"
        self.is_integer = kind in "iu"

    @property
    def as_numpy_dtype(self) -> type[Any]:
        return self.numpy_dtype.type

    @property
    def as_datatype_enum(self) -> int:
        """The number of the dtype in TensorFlow's files."""
        return _NUMBERS[self]

    @property
    def is_bool(self) -> bool:
        return self.name == "bool"

    @property
    def is_unsigned(self) -> bool:
        return self.numpy_dtype.kind == "u"

    @property
    def is_numeric(self) -> bool:
        return self.is_floating or self.is_complex or self.is_integer

    @property
    def base_dtype(self) -> DType:
        return self

    @property
    def real_dtype(self) -> DType:
        """The dtype of the real and imaginary parts; itself for a real dtype."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def min(self) -> Any:
        return self._limits().min

    @property
    def max(self) -> Any:
        return self._limits().max

    def _limits(self) -> Any:
        if self.is_floating:
            return ml_dtypes.finfo(self.numpy_dtype)  # type: ignore[no-untyped-call]
        if self.is_integer:
            return np.iinfo(self.numpy_dtype)
        raise TypeError(f"{self!r} has no smallest and largest value.")

    def is_compatible_with(self, other: Any) -> bool:
        return bool(self == other)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        if other is None:
            return False
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.numpy_dtype)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


float16 = half = DType("float16", np.float16)
float32 = DType("float32", np.float32)
float64 = double = DType("float64", np.float64)
bfloat16 = DType("bfloat16", ml_dtypes.bfloat16)
float8_e4m3fn = DType("float8_e4m3fn", ml_dtypes.float8_e4m3fn)
float8_e5m2 = DType("float8_e5m2", ml_dtypes.float8_e5m2)
complex64 = DType("complex64", np.complex64)
complex128 = DType("complex128", np.complex128)
int8 = DType("int8", np.int8)
int16 = DType("int16", np.int16)
int32 = DType("int32", np.int32)
int64 = DType("int64", np.int64)
uint8 = DType("uint8", np.uint8)
uint16 = DType("uint16", np.uint16)
uint32 = DType("uint32", np.uint32)
uint64 = DType("uint64", np.uint64)
bool_ = DType("bool", np.bool_)
string = DType("string", np.object_)

ALL = (
    float16, float32, float64, bfloat16, complex64, complex128, int8, int16, int32, int64,
    uint8, uint16, uint32, uint64, bool_, string, float8_e4m3fn, float8_e5m2,
)  # fmt: skip

_BY_NUMPY = {dtype.numpy_dtype: dtype for dtype in ALL}
_BY_NAME = {dtype.name: dtype for dtype in ALL} | {"half": float16, "double": float64}
_BY_NUMBER = {
    1: float32, 2: float64, 3: int32, 4: uint8, 5: int16, 6: int8, 7: string, 8: complex64,
    9: int64, 10: bool_, 14: bfloat16, 17: uint16, 18: complex128, 19: float16, 22: uint32,
    23: uint64, 24: float8_e5m2, 25: float8_e4m3fn,
}  # fmt: skip
_NUMBERS = {dtype: number for number, dtype in _BY_NUMBER.items()}  # in TensorFlow's files
_BY_PYTHON: dict[Any, DType] = {
    float: float32, int: int32, bool: bool_, complex: complex128, str: string, bytes: string,
}  # fmt: skip

# Of 8 bits: stored, moved and cast, but not computed with, and no gradient passes them.
_STORED_ONLY = (float8_e4m3fn, float8_e5m2)
FLOATING = frozenset(
    dtype.numpy_dtype for dtype in ALL if dtype.is_floating and dtype not in _STORED_ONLY
)
COMPLEX = frozenset(dtype.numpy_dtype for dtype in ALL if dtype.is_complex)
INTEGER = frozenset(dtype.numpy_dtype for dtype in ALL if dtype.is_integer)
BOOL = frozenset([bool_.numpy_dtype])
INEXACT = FLOATING | COMPLEX
NUMERIC = INEXACT | INTEGER
REAL = FLOATING | INTEGER
ANY = frozenset(_BY_NUMPY)


def as_dtype(type_value: Any) -> DType:
    """The DType for a DType, a NumPy dtype or scalar type, a Python type, a name or a number."""
    if isinstance(type_value, DType):
        return type_value
    found = _BY_NAME.get(type_value) if isinstance(type_value, str) else None
    if type(type_value) is int:
        found = _BY_NUMBER.get(type_value)
    if found is None and type_value is not None:  # np.dtype(None) is float64
        try:
            found = _BY_PYTHON.get(type_value) or _BY_NUMPY.get(
                np.dtype(type_value).newbyteorder("=")
            )
        except (TypeError, ValueError):  # not hashable; not a dtype
            found = None
    if found is None:
        names = ", ".join(dtype.name for dtype in ALL)
        raise DTypeError(
            f"as_dtype: {type_value!r} is not a dtype of gradtape. There are: {names}."
        )
    return found


def of_numpy(numpy_dtype: np.dtype[Any]) -> DType:
    """The DType of an array's dtype (which is one of ours already)."""
    return _BY_NUMPY.get(numpy_dtype) or as_dtype(numpy_dtype)
