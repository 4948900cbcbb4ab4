"""Elements: tuples, named tuples and dicts of tensors, made of what users give and return.

As everywhere in tf.data a list is not a structure: it is turned into a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from inspect import signature
from typing import Any, TypeVar

import numpy as np

from ...core import nest
from ...core.composite import CompositeTensor
from ...core.convert import as_tensor
from ...core.dtypes import int64
from ...core.errors import DTypeError, InvalidArgumentError
from ...core.placement import on_host
from ...core.tensor import Tensor, tell_left
from ...ops.declare.static import static_int
from ...tape.scopes import get_logger
from ...tape.type_specs import TensorSpec, TypeSpec
from .failures import Failure, attempt

T = TypeVar("T")


class DatasetBase:
    """What a dataset is to the modules below Dataset: it may be part of an element too."""

    @property
    def _type_spec(self) -> TypeSpec:
        raise NotImplementedError


def as_element(value: Any, op: str, is_constant: bool = True) -> Any:
    """`value` with tensors, composites and datasets as leaves: constants to every tape, or not.

    In a structure None stands for itself.
    """
    if type(value) is Tensor and value._key is None:
        return value
    if isinstance(value, tuple) and nest.is_nested(value):
        entries = [_part(child, op, is_constant) for child in value]
        return type(value)(*entries) if hasattr(value, "_fields") else tuple(entries)
    if isinstance(value, Mapping):
        return {key: _part(child, op, is_constant) for key, child in value.items()}
    if isinstance(value, DatasetBase):
        return value
    if not isinstance(value, CompositeTensor):
        value = as_tensor(value, op=op)
    if not is_constant:
        return value
    return nest.map_structure(_constant, value, expand_composites=True)


def _part(value: Any, op: str, is_constant: bool) -> Any:
    return None if value is None else as_element(value, op, is_constant)


def _constant(tensor: Any) -> Any:
    """A tensor that no tape knows."""
    if tensor is None or tensor._key is None:
        return tensor
    tell_left(tensor, "Dataset")
    return Tensor(tensor._array)


def call(fn: Callable[..., Any], element: Any) -> Any:
    """`fn` of an element; a tuple is given as several arguments."""
    parts = element if type(element) is tuple else (element,)
    try:
        return fn(*parts)
    except TypeError as error:
        if _takes(fn, parts):
            raise
        raise TypeError(
            f"{error}. The function is called with {len(parts)} arguments: "
            f"{', '.join(map(_kind, parts))}. (An element that is a tuple comes in its parts.)"
        ) from None


def _takes(fn: Callable[..., Any], parts: tuple[Any, ...]) -> bool:
    try:
        signature(fn).bind(*parts)
    except TypeError:
        return False
    except ValueError:  # some builtins have no signature
        return True
    return True


def _kind(part: Any) -> str:
    is_tensor = isinstance(part, Tensor)
    return f"{part.dtype.name}{list(part.shape)}" if is_tensor else f"a {type(part).__name__}"


def as_result(value: Any, op: str) -> Any:
    """What a user's function returned as an element; a list, as of several results, is a tuple."""
    element = as_element(tuple(value) if isinstance(value, list) else value, op)
    is_flat = type(element) is tuple and {*map(type, element)} == _ONLY_TENSORS
    leaves = element if is_flat else nest.flatten(element)  # 1 µs less
    if any([hasattr(leaf, "_row_spec") for leaf in leaves]):
        return nest.map_structure(_no_row, element)  # an argument, handed through
    return element


_ONLY_TENSORS = {Tensor}


def as_row(value: Any, spec: Any) -> Any:
    """An element of `spec`; a tensor that is to be stacked by its rules says so from now on.

    The rows of a ragged tensor are such: a batch of them is ragged.
    """
    if isinstance(value, Tensor):
        vars(value)["_row_spec"] = spec
    return value


def _no_row(value: Any) -> Any:
    return Tensor(value._array) if hasattr(value, "_row_spec") else value


def as_answer(value: Any, op: str) -> bool:
    """What a predicate returned."""
    answer = as_tensor(value, op=op)
    if answer.dtype.name != "bool" or answer.ndim:
        raise InvalidArgumentError(
            f"{op}: `predicate` must return one bool, and returned {answer.dtype.name} of shape "
            f"{answer.shape}. Compare, or reduce with tf.reduce_all or tf.reduce_any."
        )
    return bool(answer)


def as_integer(value: Any, op: str, what: str) -> Tensor:
    """What a function returned that gives an int64 for each element."""
    try:
        number = as_tensor(value, int64, op)
    except (TypeError, ValueError):
        number = None
    if number is None or number.ndim:
        raise ValueError(f"{op}: `{what}` must return one int64, and returned {value!r:.100}.")
    return number


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


def as_state(value: Any, state: Any, op: str) -> Any:
    """The new state that a user's function returned, if it has structure and dtypes of `state`."""
    new = as_result(value, op)
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


def unique(elements: Iterator[Tensor]) -> Iterator[Tensor]:
    """Each element where it first comes."""
    seen = set()
    for element in elements:
        if isinstance(element, Failure):
            yield element
            continue
        values = repr(np.asarray(on_host(element._array)).tolist())
        if values not in seen:
            seen.add(values)
            yield element


def scan(fn: Callable[..., Any], state: Any, elements: Iterator[Any], op: str) -> Iterator[Any]:
    """The outputs of `state, output = fn(state, element)`."""

    def step(state: Any, element: Any) -> tuple[Any, Any]:
        pair = fn(state, element)
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(
                f"{op}: `scan_func` must return a pair (new state, output), and returned "
                f"{pair!r:.100}."
            )
        return as_state(pair[0], state, op), as_result(pair[1], op)

    for element in elements:
        after = attempt(step, state, element)
        if isinstance(after, Failure):
            yield after
        else:
            state, output = after
            yield output


def those(elements: Iterator[Any], wanted: Callable[[Any], bool]) -> Iterator[Any]:
    """The elements of which `wanted` is true."""
    for element in elements:
        answer = attempt(wanted, element)
        if isinstance(answer, Failure):
            yield answer
        elif answer:
            yield element


def those_before(elements: Iterator[Any], end: Callable[[Any], bool]) -> Iterator[Any]:
    """The elements before the first of which `end` is true."""
    for element in elements:
        answer = attempt(end, element)
        if isinstance(answer, Failure):
            yield answer
        elif answer:
            return
        else:
            yield element


def without_failures(elements: Iterator[Any], log_warning: bool) -> Iterator[Any]:
    """The elements that could be made."""
    for element in elements:
        if not isinstance(element, Failure):
            yield element
        elif log_warning:
            get_logger().warning("Error raised with error message %s", element.error)


# Arguments


def positive_int(value: Any, op: str, name: str) -> int:
    number = static_int(value, op, name)
    if number < 1:
        raise InvalidArgumentError(f"{op}: `{name}` must be greater than zero. Received: {number}.")
    return number


def check_function(fn: Any, op: str, name: str) -> None:
    if not callable(fn):
        raise DTypeError(f"{op}: `{name}` must be a function, not {fn!r:.100}.")


def window_sizes(
    size: Any, size_func: Callable[[Any], Any] | None, op: str
) -> Callable[[Any], int]:
    """A function that gives the size of the windows of a key."""
    if (size is None) == (size_func is None):
        raise ValueError(f"{op}: give `window_size` or `window_size_func`, one of them.")
    if size_func is not None:
        check_function(size_func, op, "window_size_func")

    def size_of(key: Any) -> int:
        return positive_int(size if size_func is None else size_func(key), op, "window_size")

    return size_of


def check_can_be_unique(spec: Any) -> None:
    """`unique` compares tensors, and only those whose equality is exact."""
    if not isinstance(spec, TensorSpec) or spec.dtype.name not in ("int32", "int64", "string"):
        raise DTypeError(
            "Dataset.unique: elements must be tensors of int32, int64 or string, and are "
            f"{spec!r}. Turn them into such with map."
        )


def check_datasets(datasets: Any, op: str) -> list[Any]:
    found = list(datasets)
    if not found or not all(isinstance(each, DatasetBase) for each in found):
        raise DTypeError(
            f"{op}: expected datasets. Received: {datasets!r:.200}. Dataset.from_tensors makes one "
            "of a value."
        )
    return found


def check_dataset(value: T, op: str, fn: str) -> T:
    if not isinstance(value, DatasetBase):
        raise TypeError(
            f"{op}: `{fn}` must return a dataset, and returned {value!r:.100}. "
            "Dataset.from_tensors makes one of a value."
        )
    return value


def holds_list(structure: Any) -> bool:
    if isinstance(structure, Mapping):
        structure = tuple(structure.values())
    return isinstance(structure, list) or (
        isinstance(structure, tuple) and any(map(holds_list, structure))
    )
