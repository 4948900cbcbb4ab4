"""Text as arrays of bytes, and functions of each element; of a ragged tensor, of its values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, ParamSpec

import numpy as np

from ...core.composite import CompositeTensor
from ...core.convert import as_tensor
from ...core.dtypes import string
from ...core.errors import DTypeError, InvalidArgumentError, NotATensorError, TextError
from ...core.placement import on_host
from ...core.tensor import Tensor, is_symbolic, tell_left

P = ParamSpec("P")


def as_text(value: Any, op: str, name: str = "input") -> Any:
    """The array of bytes of `value`, which must be text."""
    if type(value) is not Tensor:
        given, value = value, as_tensor(value, op=op)
        if isinstance(given, (list, tuple)) and not value._array.size:
            return np.empty(value._array.shape, object)
    if value.dtype is not string:
        raise DTypeError(
            f"{op}: `{name}` must be text, and is {value.dtype.name}. tf.strings.as_string makes "
            "text of numbers."
        )
    return value._array


def scalar_text(value: Any, op: str, name: str) -> bytes:
    """The one text of an argument."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    array = as_text(value, op, name)
    if array.ndim:
        raise InvalidArgumentError(
            f"{op}: `{name}` must be one text, and has shape {tuple(array.shape)}."
        )
    text: bytes = array[()]
    return text


def values_of(value: Any, op: str, name: str = "input") -> Any:
    """The values of a tensor of which text is to be made, as a NumPy array."""
    tensor = as_tensor(value, op=op)
    if is_symbolic(tensor._array):
        raise TextError(
            f"{op}: text is made of the values of `{name}`, which are not known while the function "
            "is traced."
        )
    tell_left(tensor, op)
    return np.asarray(on_host(tensor._array))


def text_tensor(texts: Iterable[bytes], shape: tuple[int, ...]) -> Tensor:
    """A tensor of these texts."""
    return Tensor(text_array(texts, shape))


def text_array(texts: Iterable[bytes], shape: tuple[int, ...]) -> Any:
    array = np.empty(shape, object)
    array.reshape(-1)[:] = list(texts)
    return array


def is_ragged(value: Any) -> bool:
    """Whether `value` is a RaggedTensor."""
    if not isinstance(value, CompositeTensor):
        return False
    from ..ragged.ragged_tensor import RaggedTensor

    return isinstance(value, RaggedTensor)


def elementwise(function: Callable[P, Tensor]) -> Callable[P, Tensor | Any]:
    """Let a function of tensors take ragged ones: it is then applied to their flat values."""

    @wraps(function)
    def on_any(*args: P.args, **kwargs: P.kwargs) -> Tensor | Any:
        try:
            return function(*args, **kwargs)
        except NotATensorError as error:
            if not is_ragged(error.value):
                raise
        from ..ragged.elementwise import map_flat_values

        return map_flat_values(function, *args, **kwargs)

    return on_any


def choice(value: Any, allowed: tuple[str, ...], op: str, name: str) -> str:
    """One of the words that an argument may be."""
    if value not in allowed:
        words = ", ".join(map(repr, allowed))
        raise InvalidArgumentError(f"{op}: `{name}` must be one of {words}, not {value!r}.")
    return str(value)
