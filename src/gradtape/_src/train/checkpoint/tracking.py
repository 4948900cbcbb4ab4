"""The variables that an object leads to, each under the path of attributes that leads to it.

A class whose attributes do not read well as names, or hold too much, has a method
`_tracked_items()` that gives the names and values to follow in their place.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator as PythonIterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ...core import nest
from ...core.convert import as_tensor
from ...core.errors import DTypeError, ShapeError
from ...core.tensor import Tensor
from ...core.trackable import has_tensors
from ...tape.cell import all_or_nothing
from ...tape.generator import Generator
from ...tape.variable import Variable
from ..data.iterator import Iterator
from .safetensors import dtype_name

_OWN = {"gradtape", "tensorflow"}  # the one without the alias, the other with it
_FOREIGN = sys.stdlib_module_names | {"numpy", "ml_dtypes", "jax", "jaxlib"}
_PLAIN = frozenset([type(None), bool, int, float, complex, str, bytes])
_UNNAMEABLE = 1_000_000  # the cost of a dict's key that is no name: any other path is better


class Tracked(NamedTuple):
    """What a walk found. A path is names joined by slashes; that of the start is empty."""

    leaves: list[tuple[str, Any]]  # path, Variable, Generator, iterator of a dataset, or Saved
    links: dict[str, str]  # further paths to what is under another path already
    unnameable: list[str]  # descriptions of leaves without a path that a file could hold
    objects: dict[int, tuple[str, Any]]  # path and value of everything, by id


def tracked(start: Any, links: Mapping[str, str] | None = None) -> Tracked:
    """All that `start` leads to through attributes, lists, tuples and dicts.

    What several paths lead to is under the one with the fewest private names; then the shortest;
    then the first. With the `links` of a file, it is under the path that it has in the file.
    """
    renamed = links or {}
    found = Tracked([], {}, [], {})
    parents: dict[str, list[str]] = {}
    number = count()
    queue: list[tuple[int, int, int, str, str, Any]] = [(0, 0, next(number), "", "", start)]
    while queue:
        cost, depth, _, parent, path, value = heappop(queue)
        path = renamed.get(path, path)
        if id(value) in found.objects:
            known, _ = found.objects[id(value)]
            parents[known].append(parent)
            if path != known and cost < _UNNAMEABLE:
                found.links[path] = known
            continue
        found.objects[id(value)] = path, value
        parents.setdefault(path, []).append(parent)
        if is_leaf(value):
            if cost < _UNNAMEABLE:
                found.leaves.append((path, value))
            else:
                found.unnameable.append(path)
            continue
        for name, child in children(value):
            text, extra = _named(name)
            child_path = f"{path}/{text}" if path else text
            heappush(queue, (cost + extra, depth + 1, next(number), path, child_path, child))
    useful = _ancestors([path for path, _ in found.leaves], parents)
    return found._replace(links={a: b for a, b in found.links.items() if b in useful})


def _ancestors(paths: list[str], parents: Mapping[str, list[str]]) -> set[str]:
    found: set[str] = set()
    while paths:
        path = paths.pop()
        if path not in found:
            found.add(path)
            paths += parents[path]
    return found


def _named(name: Any) -> tuple[str, int]:
    """The name as a part of a path, and its cost."""
    if isinstance(name, int):
        return str(int(name)), 0
    if not isinstance(name, str):
        return f"[{name!r:.100}]", _UNNAMEABLE
    # A percent sign alone stands for the empty name.
    return name.replace("%", "%25").replace("/", "%2F") or "%", int(name.startswith("_"))


def children(value: Any) -> PythonIterator[tuple[Any, Any]]:
    """The names and values inside `value` that may lead to variables."""
    for name, child in _items(value):
        if is_trackable(child):
            yield name, child


def _items(value: Any) -> PythonIterator[tuple[Any, Any]]:
    own = getattr(type(value), "_tracked_items", None)
    if own is not None:
        yield from own(value)
    elif isinstance(value, Mapping):
        yield from value.items()
    elif nest.is_nested(value) and not nest.is_object(type(value)):
        yield from enumerate(value)
    else:
        yield from _attributes(value)


def _attributes(value: Any) -> PythonIterator[tuple[str, Any]]:
    slots = [name for kind in type(value).__mro__ for name in _slots(kind) if hasattr(value, name)]
    attributes = {name: getattr(value, name) for name in slots} | getattr(value, "__dict__", {})
    if not attributes and hasattr(value, "variables"):
        attributes = {"variables": value.variables}
    yield from attributes.items()


def _slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


class Saved:
    """Base of what else is saved: its `state`, an array of any length, which `reset` puts back."""

    @property
    def state(self) -> Tensor:
        raise NotImplementedError

    def reset(self, state: Any) -> None:
        raise NotImplementedError


_STATES = (Generator, Iterator, Saved)


def is_leaf(value: Any) -> bool:
    """Whether `value` is saved itself: a variable, of another library too, or what has a state."""
    return isinstance(value, (Variable, *_STATES)) or has_tensors(value)


def is_trackable(value: Any) -> bool:
    """Whether `value` is a variable, or something that is looked into for variables.

    Not the objects of Python itself and of array libraries, nor those of gradtape that do not offer
    their `variables`: a tape or a compiled function knows the variables of others.
    """
    kind = type(value)
    if kind in _PLAIN:  # quick, for long lists of numbers
        return False
    if is_leaf(value) or nest.is_nested(value) or kind is SimpleNamespace:
        return True
    if isinstance(value, (type, Tensor)):
        return False
    if hasattr(kind, "variables") or hasattr(kind, "_tracked_items"):
        return True
    home = kind.__module__.partition(".")[0]
    return home not in _OWN and home not in _FOREIGN


# The leaves


def value_of(leaf: Any) -> np.ndarray:
    """The present value. It is not copied: nobody writes to it as long as the result is held."""
    if isinstance(leaf, _STATES):
        return np.asarray(leaf.state)
    return np.asarray(as_tensor(leaf if isinstance(leaf, Variable) else _tensor_of(leaf)))


def _tensor_of(leaf: Any) -> Any:
    """The tensor that a variable of another library consists of."""
    (value,) = leaf._serialize_to_tensors().values()
    return value


def check_fit(leaf: Any, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], op: str) -> None:
    """Raise unless a value of this shape and dtype can be stored in `leaf`."""
    if isinstance(leaf, Iterator) and len(shape) == 1:
        shape = leaf.state.shape  # the number of random orders so far does not matter
    elif isinstance(leaf, Saved):
        shape = (*leaf.state.shape[:1], *shape[1:])  # nor does that of the entries
    target = leaf
    if not isinstance(leaf, Variable):
        is_state = isinstance(leaf, _STATES)
        target = leaf.state if is_state else as_tensor(_tensor_of(leaf))
    if target.dtype.numpy_dtype != dtype:
        raise DTypeError(
            f"{op}: {name!r} is {target.dtype.name} here and {dtype_name(dtype)} in the file. "
            "Nothing was restored. Make the variable as it was, or restore without it."
        )
    if not target.shape.is_compatible_with(shape):
        raise ShapeError(
            f"{op}: {name!r} has shape {target.shape} here and {shape} in the file. Nothing was "
            "restored. Make the variable as it was, or restore without it."
        )


def store_all(leaves: Sequence[Any], arrays: Sequence[np.ndarray]) -> None:
    """Make arrays, which nobody else holds, the values.

    If an interrupt comes, all variables and random generators have their former values, or all the
    new ones. What else there is comes before them: a table, or an iterator, which may take long.
    """
    pairs = list(zip(leaves, arrays, strict=True))
    with_cells = [(leaf, array) for leaf, array in pairs if _variable_of(leaf) is not None]
    for leaf, array in pairs:
        if _variable_of(leaf) is None:
            _store(leaf, array)

    def store() -> None:
        for leaf, array in with_cells:
            _store(leaf, array)

    all_or_nothing([_variable_of(leaf)._cell for leaf, _ in with_cells], store)


def _variable_of(leaf: Any) -> Any:
    """The variable that a leaf is, or has its state in."""
    if isinstance(leaf, Generator):
        return leaf._variable
    return leaf if isinstance(leaf, Variable) else None


def _store(leaf: Any, array: np.ndarray) -> None:
    if isinstance(leaf, Variable):
        leaf.assign(Tensor(array))
    elif isinstance(leaf, _STATES):
        leaf.reset(array)
    else:
        (name,) = leaf._serialize_to_tensors()
        leaf._restore_from_tensors({name: Tensor(array)})
