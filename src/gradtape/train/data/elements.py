"""Elements: tuples, named tuples and dicts of tensors, made of what users give and return.

As everywhere in tf.data a list is not a structure: it is turned into a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...core import nest
from ...core.convert import as_tensor
from ...core.errors import DTypeError, InvalidArgumentError
from ...core.tensor import Tensor


def is_dataset(value: Any) -> bool:
    return hasattr(value, "as_numpy_iterator")


def as_element(value: Any, op: str) -> Any:
    """`value` with tensors (constants to every tape) and datasets as leaves."""
    if type(value) is Tensor and value._key is None:
        return value
    if isinstance(value, tuple) and nest.is_nested(value):
        entries = [as_element(child, op) for child in value]
        return type(value)(*entries) if hasattr(value, "_fields") else tuple(entries)
    if isinstance(value, Mapping):
        return {key: as_element(child, op) for key, child in value.items()}
    if is_dataset(value):
        return value
    tensor = as_tensor(value, op=op)
    return tensor if tensor._key is None else Tensor(tensor._array)


def returned(value: Any, op: str) -> Any:
    """What a user's function returned as an element; a list, as of several results, is a tuple."""
    return as_element(tuple(value) if isinstance(value, list) else value, op)


def called(fn: Callable[..., Any], element: Any) -> Any:
    """`fn` of an element; a tuple is given as several arguments."""
    return fn(*element) if type(element) is tuple else fn(element)


def truth(answer: Any, op: str) -> bool:
    """What a predicate returned."""
    answer = as_tensor(answer, op=op)
    if answer.dtype.name != "bool" or answer.ndim:
        raise InvalidArgumentError(
            f"{op}: `predicate` must return one bool, and returned {answer.dtype.name} of shape "
            f"{answer.shape}. Compare, or reduce with tf.reduce_all or tf.reduce_any."
        )
    return bool(answer)


def flatten_up_to(structure: Any, value: Any, op: str, what: str) -> list[Any]:
    """The parts of `value` at the leaves of `structure`; such a part may be nested itself."""
    if not nest.is_nested(structure):
        return [value]
    if isinstance(structure, Mapping):
        alike = isinstance(value, Mapping) and set(value) == set(structure)
        keys: Any = sorted(structure)
    else:
        alike = isinstance(value, tuple) and len(value) == len(structure)
        keys = range(len(structure))
    if not alike:
        raise InvalidArgumentError(
            f"{op}: {what} must be nested as {structure!r:.200} is. Received: {value!r:.200}."
        )
    return [part for key in keys for part in flatten_up_to(structure[key], value[key], op, what)]


def like(state: Any, value: Any, op: str) -> Any:
    """The new state that a user's function returned, if it is made as the present one is."""
    new = returned(value, op)
    try:
        nest.assert_same_structure(state, new)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(
            f"{op}: the new state must be nested as the present one. {error}"
        ) from None
    for old, part in zip(nest.flatten(state), nest.flatten(new), strict=True):
        if part.dtype is not old.dtype:
            raise DTypeError(
                f"{op}: the new state is {part.dtype.name} where the present one is "
                f"{old.dtype.name}. Cast one of them with tf.cast."
            )
    return new
