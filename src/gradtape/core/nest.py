"""Nested structures: lists, tuples, named tuples, deques and dicts, to any depth, with leaves.

TensorFlow's rules: a dict is flattened in the order of its sorted keys and comes back in its own
order; a view such as `d.values()` comes back as a list; `None` and everything that is not one of these containers is a leaf.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, MappingView
from typing import Any

_nested_types: dict[type, bool] = {list: True, tuple: True, dict: True}


def is_nested(structure: Any) -> bool:
    """Whether `structure` is a container that is looked into."""
    kind = type(structure)
    known = _nested_types.get(kind)
    if known is None:  # isinstance with an abstract class takes 0.5 µs
        shape = hasattr(kind, "as_list")  # a TensorShape is a tuple, and a leaf
        known = issubclass(kind, (list, tuple, Mapping, MappingView, deque)) and not shape
        _nested_types[kind] = known
    return known


def flatten(structure: Any) -> list[Any]:
    """The leaves of `structure`, in order.

    >>> flatten({"b": 1, "a": [2, (3, None)]})
    [2, 3, None, 1]
    """
    if not is_nested(structure):
        return [structure]
    leaves: list[Any] = []
    _flatten_into(structure, leaves)
    return leaves


def _flatten_into(structure: Any, leaves: list[Any]) -> None:
    for child in _children(structure):
        if _nested_types.get(type(child), True) and is_nested(child):
            _flatten_into(child, leaves)
        else:
            leaves.append(child)


def pack_sequence_as(structure: Any, flat_sequence: Any) -> Any:
    """`flat_sequence` in the shape of `structure`; the inverse of `flatten`.

    >>> pack_sequence_as({"b": 0, "a": [0, 0]}, [1, 2, 3])
    {'b': 3, 'a': [1, 2]}
    """
    flat_sequence = list(flat_sequence)
    count = len(flatten(structure))
    if count != len(flat_sequence):
        raise ValueError(
            f"pack_sequence_as: the structure has {count} leaves, and `flat_sequence` has "
            f"{len(flat_sequence)}: {flat_sequence!r}."
        )
    return pack(structure, iter(flat_sequence))


def map_structure(fn: Callable[..., Any], *structures: Any) -> Any:
    """`fn` applied to the corresponding leaves of `structures`, which must be nested alike."""
    if not structures:
        raise ValueError("map_structure: at least one structure is needed.")
    for other in structures[1:]:
        assert_same_structure(structures[0], other)
    columns = zip(*map(flatten, structures), strict=True)
    return pack(structures[0], iter([fn(*leaves) for leaves in columns]))


def assert_same_structure(nest1: Any, nest2: Any) -> None:
    """Raise unless nested alike: ValueError for other nesting, TypeError for other types."""
    if is_nested(nest1) != is_nested(nest2):
        raise ValueError(
            f"The two structures are not nested alike: {nest1!r} and {nest2!r}. One is a leaf "
            "where the other is a container."
        )
    if not is_nested(nest1):
        return
    if isinstance(nest1, Mapping) != isinstance(nest2, Mapping) or (
        not isinstance(nest1, Mapping) and type(nest1) is not type(nest2)
    ):
        raise TypeError(
            f"The two structures are made of different types: {type(nest1).__name__} and "
            f"{type(nest2).__name__}."
        )
    if isinstance(nest1, Mapping) and set(nest1) != set(nest2):
        raise ValueError(f"The two dicts have different keys: {list(nest1)} and {list(nest2)}.")
    if len(nest1) != len(nest2):
        raise ValueError(
            f"The two structures have different numbers of elements: {len(nest1)} and {len(nest2)}."
        )
    for child1, child2 in zip(_children(nest1), _children(nest2), strict=True):
        assert_same_structure(child1, child2)


def _children(structure: Any) -> Any:
    if isinstance(structure, Mapping):
        return [structure[key] for key in _sorted_keys(structure)]
    return structure


def _sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError(
            f"The keys of a dict in a nested structure must be sortable, and {list(mapping)!r} are "
            "not."
        ) from None


def pack(structure: Any, leaves: Iterator[Any]) -> Any:
    """The next of `leaves` in the shape of `structure`."""
    if not is_nested(structure):
        return next(leaves)
    if isinstance(structure, (list, tuple)):
        known = _nested_types.get  # a leaf of a type seen before needs no call
        children = [
            pack(child, leaves) if known(type(child), True) else next(leaves) for child in structure
        ]
        if isinstance(structure, list):
            return children
        return type(structure)(*children) if hasattr(structure, "_fields") else tuple(children)
    if not isinstance(structure, Mapping):
        children = [pack(child, leaves) for child in structure]
        return deque(children, structure.maxlen) if isinstance(structure, deque) else children
    values = {key: pack(structure[key], leaves) for key in _sorted_keys(structure)}
    in_order = {key: values[key] for key in structure}
    if type(structure) is dict:
        return in_order
    if isinstance(structure, defaultdict):
        return type(structure)(structure.default_factory, in_order)
    return type(structure)(in_order)  # type: ignore[call-arg]
