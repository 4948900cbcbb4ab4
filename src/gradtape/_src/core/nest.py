"""Nested structures: lists, tuples, named tuples, deques, dicts, and some objects, with leaves.

TensorFlow's rules: a dict is flattened in the order of its sorted keys and comes back in its own
order; a view such as `d.values()` comes back as a list. An object is looked into if its class is
made by attrs, or says how: `__tf_flatten__()` gives a pair (metadata, components), and the class
method `__tf_unflatten__(metadata, components)` the object. `None` and all else is a leaf: a
composite (core/composite.py) too, unless `expand_composites` asks for the tensors it is made of.
"""

from __future__ import annotations

import sys
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, MappingView, Sequence
from typing import TYPE_CHECKING, Any

from .composite import components, is_composite, spec_of_composite

if TYPE_CHECKING:
    from .annotations import AnyFunction

_nested_types: dict[type, bool] = {list: True, tuple: True, dict: True}


def is_nested(seq: Any) -> bool:
    """Whether `seq` is a container that is looked into."""
    kind = type(seq)
    known = _nested_types.get(kind)
    if known is None:  # isinstance with an abstract class takes 0.5 µs
        shape = hasattr(kind, "as_list")  # a TensorShape is a tuple, and a leaf
        known = not shape and (
            issubclass(kind, (list, tuple, Mapping, MappingView, deque)) or is_object(kind)
        )
        _nested_types[kind] = known
    return known


def is_object(kind: type) -> bool:
    """Whether objects of this class are taken apart, and put together again, by their fields."""
    return hasattr(kind, "__attrs_attrs__") or hasattr(kind, "__tf_unflatten__")


def too_deep(what: str) -> RecursionError:
    """The error of a structure that is nested deeper than Python can follow."""
    return RecursionError(
        f"{what} is nested deeper than Python can follow (its recursion limit is "
        f"{sys.getrecursionlimit()}). Does a loop wrap a list in a list, x = [x]? Collect the "
        "values in one flat list instead."
    )


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of `structure`, in order.

    >>> flatten({"b": 1, "a": [2, (3, None)]})
    [2, 3, None, 1]

    A composite is a leaf; with `expand_composites` its tensors are.
    """
    if is_nested(structure):
        leaves: list[Any] = []
        try:
            _flatten_into(structure, leaves)
        except RecursionError:
            raise too_deep("nest: `structure`") from None
    else:
        leaves = [structure]
    if expand_composites and any(map(is_composite, leaves)):
        return [
            part
            for leaf in leaves
            for part in (flatten(components(leaf), True) if is_composite(leaf) else [leaf])
        ]
    return leaves


def _flatten_into(structure: Any, leaves: list[Any]) -> None:
    for child in children(structure):
        if _nested_types.get(type(child), True) and is_nested(child):
            _flatten_into(child, leaves)
        else:
            leaves.append(child)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """`flat_sequence` in the shape of `structure`; the inverse of `flatten`.

    >>> pack_sequence_as({"b": 0, "a": [0, 0]}, [1, 2, 3])
    {'b': 3, 'a': [1, 2]}
    """
    flat_sequence = list(flat_sequence)
    count = len(flatten(structure, expand_composites))
    if count != len(flat_sequence):
        raise ValueError(
            f"pack_sequence_as: the structure has {count} leaves, and `flat_sequence` has "
            f"{len(flat_sequence)}: {flat_sequence!r}."
        )
    return pack(structure, iter(flat_sequence), expand_composites)


def map_structure(func: AnyFunction, *structure: Any, **kwargs: Any) -> Any:
    """`func` applied to the corresponding leaves of the structures, which must be nested alike.

    The keyword arguments are those of `assert_same_structure`: `check_types`, `expand_composites`.
    """
    if not structure:
        raise ValueError("map_structure: at least one structure is needed.")
    if kwargs:
        _check_options(kwargs)
    first = structure[0]
    for other in structure[1:]:
        assert_same_structure(first, other, **kwargs)
    expand = kwargs.get("expand_composites", False)
    columns = [flatten(each, expand) for each in structure]
    return pack(first, iter([func(*leaves) for leaves in zip(*columns, strict=True)]), expand)


def _check_options(options: dict[str, Any]) -> None:
    unknown = options.keys() - {"check_types", "expand_composites"}
    if unknown:
        raise ValueError(
            "map_structure: the keyword arguments are `check_types` and `expand_composites`, not "
            f"{', '.join(sorted(unknown))}."
        )


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise unless nested alike: ValueError for other nesting, TypeError for other types.

    Without `check_types`, containers need only have as many elements; dicts, not the same keys.
    With `expand_composites`, composites must be of one kind and of dtypes that agree.
    """
    if expand_composites and (is_composite(nest1) or is_composite(nest2)):
        _assert_same_composites(nest1, nest2)
        return
    if is_nested(nest1) != is_nested(nest2):
        raise ValueError(
            f"The two structures are not nested alike: {nest1!r} and {nest2!r}. One is a leaf "
            "where the other is a container."
        )
    if not is_nested(nest1):
        return
    if check_types and not _same_kind(nest1, nest2):
        raise TypeError(
            f"The two structures are made of different types: {type(nest1).__name__} and "
            f"{type(nest2).__name__}."
        )
    if check_types and isinstance(nest1, Mapping) and set(nest1) != set(nest2):
        raise ValueError(f"The two dicts have different keys: {list(nest1)} and {list(nest2)}.")
    children1, children2 = children(nest1), children(nest2)
    if len(children1) != len(children2):
        raise ValueError(
            f"The two structures have different numbers of elements: {len(children1)} and "
            f"{len(children2)}."
        )
    for child1, child2 in zip(children1, children2, strict=True):
        assert_same_structure(child1, child2, check_types, expand_composites)


def _assert_same_composites(a: Any, b: Any) -> None:
    if not (is_composite(a) and is_composite(b)):
        raise ValueError(
            f"The two structures are not nested alike: {a!r} and {b!r}. One is a composite where "
            "the other is not."
        )
    spec, other = spec_of_composite(a), spec_of_composite(b)
    if spec.most_specific_common_supertype([other]) is None:
        raise ValueError(f"The two composites have no type in common: {spec} and {other}.")


def _same_kind(nest1: Any, nest2: Any) -> bool:
    """Whether two containers count as one type: all mappings do, and namesakes with fields."""
    if isinstance(nest1, Mapping) or isinstance(nest2, Mapping):
        return isinstance(nest1, Mapping) and isinstance(nest2, Mapping)
    if type(nest1) is type(nest2):
        return True
    named = [(type(n).__name__, getattr(n, "_fields", None)) for n in (nest1, nest2)]
    return named[0] == named[1] and named[0][1] is not None


def children(structure: Any) -> Any:
    """The elements of a container, in the order in which they are flattened."""
    if isinstance(structure, (list, tuple)):
        return structure
    if isinstance(structure, Mapping):
        return [structure[key] for key in _sorted_keys(structure)]
    kind = type(structure)
    if hasattr(kind, "__tf_unflatten__"):
        return structure.__tf_flatten__()[1]
    if hasattr(kind, "__attrs_attrs__"):
        return [getattr(structure, field.name) for field in kind.__attrs_attrs__]
    return structure


def metadata(structure: Any) -> Any:
    """What an object consists of besides its components, and is not flattened."""
    return structure.__tf_flatten__()[0] if hasattr(structure, "__tf_flatten__") else ()


def remade(structure: Any, components: Sequence[Any]) -> Any:
    """An object like `structure`, of a class that `is_object` names, with other components."""
    kind: Any = type(structure)
    if hasattr(kind, "__tf_unflatten__"):
        return kind.__tf_unflatten__(metadata(structure), tuple(components))
    return kind(*components)


def _sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError(
            f"The keys of a dict in a nested structure must be sortable, and {list(mapping)!r} are "
            "not."
        ) from None


def pack(structure: Any, leaves: Iterator[Any], expand_composites: bool = False) -> Any:
    """The next of `leaves` in the shape of `structure`."""
    if expand_composites and any(map(is_composite, flatten(structure))):
        leaves = iter([_pack_leaf(leaf, leaves) for leaf in flatten(structure)])
    try:
        return _pack(structure, leaves)
    except RecursionError:
        raise too_deep("nest: `structure`") from None


def _pack_leaf(leaf: Any, leaves: Iterator[Any]) -> Any:
    if not is_composite(leaf):
        return next(leaves)
    return spec_of_composite(leaf)._from_components(pack(components(leaf), leaves, True))


def parts(structure: Any) -> list[Any]:
    """The leaves of a structure, composites expanded, but for those that are None."""
    return [leaf for leaf in flatten(structure, expand_composites=True) if leaf is not None]


def pack_parts(structure: Any, parts: Sequence[Any]) -> Any:
    """`parts` in the places of those of `structure`; where it has None, there is None."""
    given = iter(parts)
    return map_structure(
        lambda leaf: None if leaf is None else next(given), structure, expand_composites=True
    )


def composites(structure: Any) -> list[Any]:
    """The TypeSpecs of the composites in a structure."""
    return [spec_of_composite(leaf) for leaf in flatten(structure) if is_composite(leaf)]


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(leaves)
    if isinstance(structure, (list, tuple)):
        known = _nested_types.get  # a leaf of a type seen before needs no call
        packed = [
            _pack(child, leaves) if known(type(child), True) else next(leaves)
            for child in structure
        ]
        if isinstance(structure, list):
            return packed
        return type(structure)(*packed) if hasattr(structure, "_fields") else tuple(packed)
    if not isinstance(structure, Mapping):
        packed = [_pack(child, leaves) for child in children(structure)]
        if is_object(type(structure)):
            return remade(structure, packed)
        return deque(packed, structure.maxlen) if isinstance(structure, deque) else packed
    values = {key: _pack(structure[key], leaves) for key in _sorted_keys(structure)}
    in_order = {key: values[key] for key in structure}
    if type(structure) is dict:
        return in_order
    if isinstance(structure, defaultdict):
        return type(structure)(structure.default_factory, in_order)
    return type(structure)(in_order)  # type: ignore[call-arg]
