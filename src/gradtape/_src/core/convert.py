"""Python values and NumPy arrays as tensors, by TensorFlow's rules.

A Python float becomes float32, an int int32 (int64 if it does not fit), a complex number
complex128; a NumPy array keeps its dtype, and so does a list that begins with a NumPy float. Next
to a tensor a plain value takes the tensor's dtype.
What has a method `_as_tensor()` (a variable, an IndexedSlices) says itself which tensor it stands
for, and so does an object of another library with the method `__tf_tensor__`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes
from .dtypes import DType, as_dtype
from .engine import engine_of
from .errors import DTypeError
from .late import late
from .placement import placement
from .sizes import is_open
from .take_over import TakesOver, refusal
from .tensor import Tensor, is_symbolic

_INT32 = np.iinfo(np.int32)
_INT64 = np.iinfo(np.int64)
_FLOAT32 = np.dtype(np.float32)
_SURELY_FLOAT32 = 1e38
_KEPT = {np.dtype(np.float16), np.dtype(np.float64)}
_BOOLEANS = {bool, np.bool_}
_LARGE = 2**16  # bytes
_MAX_AXES = 64  # of NumPy's arrays
_PYTHON_NUMBERS = (float, int, bool, complex)
_NUMBERS = frozenset(_PYTHON_NUMBERS)

_COUNT_TRUE_AS_ONE = {
    dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64
}  # fmt: skip
"""The dtypes that Python's booleans can be asked for in, as in TensorFlow."""


class _Promotion:
    numpy = False


promotion = _Promotion()
"""Whether tensors of different dtypes mix by NumPy's promotion. By default they do not mix."""


def as_tensor(value: Any, dtype: Any = None, op: str = "convert_to_tensor") -> Tensor:
    """`value` as a tensor. A `dtype` must be that of a value that is a tensor already."""
    if type(value) is not Tensor:
        if hasattr(value, "_as_tensor"):
            value = value._as_tensor()
        elif hasattr(value, "__tf_tensor__"):
            value = as_tensor(value.__tf_tensor__(dtype, None))
        elif holds_tensor(value):
            value = late.pack(value, dtype)
        elif not isinstance(value, Tensor):
            array = to_array(value, dtype, op)
            return Tensor(placement.placed(array) if placement.blocks else array)
    if dtype is not None and value.dtype is not as_dtype(dtype):
        raise DTypeError(
            f"{op}: the tensor is {value.dtype.name}, and dtype={as_dtype(dtype).name} was asked "
            f"for. Convert it with tf.cast(x, tf.{as_dtype(dtype).name})."
        )
    return value  # type: ignore[no-any-return]


def operand(value: Any, partner: np.dtype[Any], op: str) -> Tensor:
    """`value`, that is no Tensor, as a tensor of the dtype of the tensor it meets."""
    kind = type(value)
    if kind is float or kind is int or (kind is bool and partner in dtypes.NUMERIC):
        if promotion.numpy:
            partner = np.result_type(partner, value)
        elif kind is float and partner not in dtypes.INEXACT:
            raise DTypeError(
                f"{op}: the Python float {value!r} meets a tensor of {partner.name}, which cannot "
                "hold it. Cast the tensor first: tf.cast(x, tf.float32)."
            )
        try:
            return Tensor(np.asarray(value, partner))
        except OverflowError:
            raise DTypeError(f"{op}: {value!r} does not fit into {partner.name}.") from None
    if hasattr(value, "_as_tensor"):
        return value._as_tensor()  # type: ignore[no-any-return]
    if is_open(value) or is_symbolic(value):  # a rule computes with an open size
        return Tensor(engine_of(kind).number(value, partner))
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufcV":  # V: bfloat16
        return Tensor(np.array(value, dtype=partner))
    return as_tensor(value, dtypes.of_numpy(partner), op)


def to_array(value: Any, dtype: Any = None, op: str = "constant") -> Any:
    """A NumPy array of its own with the values of `value`, by TensorFlow's dtype rules."""
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, (np.ndarray, np.generic)):
        return _from_numpy(value, wanted, op)
    if not isinstance(value, (list, tuple, range, *_PYTHON_NUMBERS, str, bytes)):
        return _from_foreign(value, wanted, op)
    try:
        leaves = list(_leaves(value))
    except RecursionError:
        raise ValueError(
            f"{op}: the value is a {type(value).__name__} nested more than {_MAX_AXES} deep, and a "
            "tensor has no more axes than that. Does a loop wrap a list in a list, x = [x]?"
        ) from None
    kinds = set(map(type, leaves))
    if np.ndarray in kinds:
        kinds = {v.dtype.type if isinstance(v, np.ndarray) else type(v) for v in leaves}
    if not kinds <= _NUMBERS and any([issubclass(kind, (str, bytes)) for kind in kinds]):
        return _strings(value, kinds, wanted, op)
    if len(kinds) > 1 and wanted not in _COUNT_TRUE_AS_ONE:
        _check_booleans(leaves[0], kinds, op)
    try:
        array = np.array(value)
    except ValueError:
        raise ValueError(
            f"{op}: the nested lists are not rectangular, so they are no tensor: {value!r:.200}."
        ) from None
    if kinds == {int} and array.dtype != np.int64:
        return _large_integers(value, leaves, wanted, op)
    if array.dtype == object:
        if not kinds <= {int, float}:
            for leaf in leaves:
                if isinstance(leaf, TakesOver):
                    raise refusal(leaf, op)
            raise ValueError(f"{op}: cannot make a tensor of {_type_names(kinds)}: {value!r:.200}.")
        array = _rounded(value, np.dtype(np.float64), op)
    if wanted is not None:
        return _fit_python(array, wanted, value, op)
    if not leaves:
        return array.astype(np.float32)
    return _by_first(array, value, leaves, op)


def _check_booleans(first: Any, kinds: set[type], op: str) -> None:
    """Beside numbers Python's booleans count as 0 and 1, if they do not come first."""
    if kinds <= _BOOLEANS:
        return
    if np.bool_ in kinds or isinstance(first, bool):
        raise ValueError(f"{op}: a list cannot mix bool with {_type_names(kinds - _BOOLEANS)}.")


def _large_integers(value: Any, leaves: list[int], wanted: DType | None, op: str) -> Any:
    """Python integers of which one at least does not fit into int64."""
    largest = max(leaves, key=abs)
    if wanted is None:
        raise ValueError(
            f"{op}: the integer {_shortened(largest)} is too large for int64. Say which dtype is "
            "meant: tf.uint64 goes up to 2**64 - 1, tf.float64 rounds."
        )
    if not wanted.is_integer:
        return _rounded(value, wanted.numpy_dtype, op)
    limits = np.iinfo(wanted.numpy_dtype)
    if min(leaves) < limits.min or max(leaves) > limits.max:
        raise DTypeError(f"{op}: {_shortened(largest)} does not fit into {wanted.name}.")
    return np.array(value, wanted.numpy_dtype)


def _rounded(value: Any, dtype: np.dtype[Any], op: str) -> Any:
    """Python numbers, some of them integers that no integer dtype holds, as floats."""
    try:
        return _cast(np.array(value, np.float64), dtype)
    except OverflowError:
        raise ValueError(
            f"{op}: {_shortened(value)} holds an integer that is too large for a float."
        ) from None


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:90]}... ({len(text)} characters)"


def _by_first(array: Any, value: Any, leaves: list[Any], op: str) -> Any:
    """`array`, made of `value`, in the dtype that TensorFlow gives to a number or a list.

    Only a float keeps the width that NumPy gives it, and only the first of a list is asked. An
    integer is int32, or int64 if one of them does not fit, whatever integer of NumPy it is.
    """
    kind, first = array.dtype.kind, leaves[0]
    if kind == "f" and type(first) is not float and all(map(_is_integer, leaves)):
        array = np.array(value, object)  # NumPy makes floats of int64 beside uint64
        kind = "i"
    if kind == "f":
        keeps = isinstance(first, (np.generic, np.ndarray)) and first.dtype in _KEPT
        return _narrowed(array, leaves, first.dtype if keeps else _FLOAT32, op)
    if kind in "iu" and array.size:
        if array.dtype.kind != "i" and array.max() > _INT64.max:
            return _large_integers(value, array.reshape(-1).tolist(), None, op)
        return array.astype(np.int32 if _fits_int32(array) else np.int64)
    return array.astype(np.complex128) if kind == "c" else _native(array, op)


def _narrowed(array: Any, leaves: list[Any], dtype: Any, op: str) -> Any:
    """Floats in a dtype that nobody asked for: none of them may become infinite.

    (Python looks at a short list in 0.3 µs. NumPy's errstate takes 2, a sixth of tf.constant.)
    """
    one_each = len(leaves) == array.size and dtype == _FLOAT32
    if one_each and min(leaves) > -_SURELY_FLOAT32 and max(leaves) < _SURELY_FLOAT32:
        return array.astype(dtype)  # (A NaN fails the first test, or hides nothing from both.)
    narrow = _cast(array, dtype)
    if (np.isinf(narrow) & np.isfinite(array)).any():
        raise ValueError(
            f"{op}: {np.abs(array[np.isfinite(array)]).max()} is out of range for {dtype.name}, "
            "the dtype of such numbers by default. Say which is meant: dtype=tf.float64."
        )
    return narrow


def _cast(array: Any, dtype: Any) -> Any:
    """`array` in another dtype; overflow gives Inf, also where the user made warnings errors."""
    try:
        return array.astype(dtype)
    except RuntimeWarning:
        with np.errstate(over="ignore"):
            return array.astype(dtype)


def _is_integer(value: Any) -> bool:
    dtype = getattr(value, "dtype", None)
    return isinstance(value, int) if dtype is None else dtype.kind in "iu"


def _fits_int32(array: Any) -> bool:
    return bool(array.min() >= _INT32.min and array.max() <= _INT32.max)


def _fit_python(array: Any, wanted: DType, value: Any, op: str) -> Any:
    """`array`, made of Python numbers, in the dtype asked for, if that can hold such numbers."""
    kind = array.dtype.kind
    fits = {
        "b": wanted.is_bool or wanted in _COUNT_TRUE_AS_ONE,
        "i": wanted.is_numeric,
        "u": wanted.is_numeric,
        "f": wanted.is_floating or wanted.is_complex,
        "c": wanted.is_complex,
    }.get(kind, False)
    if array.size == 0 or fits:
        if kind in "iu" and wanted.is_integer and array.size:
            low, high = np.iinfo(wanted.numpy_dtype).min, np.iinfo(wanted.numpy_dtype).max
            if int(array.min()) < low or int(array.max()) > high:
                raise DTypeError(f"{op}: {value!r:.200} does not fit into {wanted.name}.")
        return _cast(array, wanted.numpy_dtype)
    came = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}.get(kind, kind)
    raise DTypeError(
        f"{op}: expected values of {wanted.name}, but received {value!r:.200} of type {came!r}. "
        "Convert them with tf.cast."
    )


def _from_numpy(value: Any, wanted: DType | None, op: str) -> Any:
    if value.dtype.kind in "OSU":
        if value.dtype.kind == "O" and not all(isinstance(v, (str, bytes)) for v in value.flat):
            raise ValueError(f"{op}: a NumPy array of Python objects cannot become a tensor.")
        return _encode(value)
    if wanted is None:
        return _native(_copied(value, value.dtype), op)
    return _copied(value, wanted.numpy_dtype)


def _copied(value: Any, dtype: Any) -> Any:
    """A copy; if it is large, at an address that is a multiple of 64.

    A compiled program reads such an array where it lies, and copies another one at each call: 400
    kB in 37 µs.
    """
    if value.nbytes < _LARGE:
        return np.array(value, dtype=dtype)
    size = value.size * dtype.itemsize
    memory = np.empty(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    copy = memory[start : start + size].view(dtype).reshape(value.shape)
    copy[...] = value
    return copy


def _from_foreign(value: Any, wanted: DType | None, op: str) -> Any:
    """What is neither Python's nor NumPy's: an object that offers an array, or an error."""
    if isinstance(value, TakesOver):
        raise refusal(value, op)
    if value is None:
        raise ValueError(
            f"{op}: None is not a value that can become a tensor. A function without `return` "
            "gives None, and so does the gradient by something that the target does not depend on."
        )
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return _from_numpy(np.asarray(value), wanted, op)
    raise ValueError(
        f"{op}: cannot make a tensor of {value!r:.200}, of type {type(value).__name__}. Expected a "
        "number, nested lists of numbers, a NumPy array or a tensor."
    )


def _native(array: Any, op: str) -> Any:
    """`array` in native byte order, if its dtype is one of ours."""
    return np.asarray(array, dtype=as_dtype(array.dtype).numpy_dtype)


def _strings(value: Any, kinds: set[type], wanted: DType | None, op: str) -> Any:
    if not all([issubclass(kind, (str, bytes)) for kind in kinds]):
        raise ValueError(f"{op}: a list cannot mix strings with numbers: {value!r:.200}.")
    if wanted is not None and wanted is not dtypes.string:
        raise DTypeError(
            f"{op}: expected values of {wanted.name}, but received a string: {value!r:.100}."
        )
    array = np.array(value, dtype=object)
    array.reshape(-1)[:] = [v.item() if isinstance(v, np.ndarray) else v for v in array.flat]
    return _encode(array)


def _encode(array: Any) -> Any:
    """Text as TensorFlow holds it: bytes in UTF-8, in an array of objects."""
    result = np.empty(array.size, dtype=object)
    result[:] = [v.encode() if isinstance(v, str) else bytes(v) for v in array.flat]
    return result.reshape(array.shape)


def _leaves(value: Any, depth: int = 0) -> Any:
    if isinstance(value, (list, tuple, range)):
        if depth == _MAX_AXES:
            raise RecursionError
        for entry in value:
            yield from _leaves(entry, depth + 1)
    else:
        yield value


def holds_tensor(value: Any) -> bool:
    """Whether `value` is a list or tuple with a tensor (or what stands for one) inside."""
    try:
        return isinstance(value, (list, tuple)) and any(
            isinstance(leaf, Tensor) or hasattr(leaf, "_as_tensor") for leaf in _leaves(value)
        )
    except RecursionError:
        return False  # to_array says why it is no tensor


def _type_names(kinds: set[type]) -> str:
    return ", ".join(sorted(kind.__name__ for kind in kinds))
