"""Lists, dicts and tuples that are Trackable, and the view of all that an object leads to."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from ...core import nest
from ...core.trackable import NoDependency, Trackable


class ListWrapper(Trackable, list[Any]):
    """A list that leads to its elements, by their numbers."""

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return _tracked_of({str(i): value for i, value in enumerate(self)})

    def __repr__(self) -> str:
        return f"ListWrapper({list(self)!r})"


class _TupleWrapper(Trackable, tuple[Any, ...]):
    """A tuple that leads to its elements, by their numbers."""

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return _tracked_of({str(i): value for i, value in enumerate(self)})

    def __repr__(self) -> str:
        return f"_TupleWrapper({tuple(self)!r})"


class _DictWrapper(Trackable, dict[Any, Any]):
    """A dict that leads to its values, by their keys."""

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return _tracked_of({key: value for key, value in self.items() if isinstance(key, str)})

    def __repr__(self) -> str:
        return f"DictWrapper({dict(self)!r})"


def _tracked_of(children: dict[str, Any]) -> dict[str, Any]:
    wrapped = {name: wrap(value) for name, value in children.items()}
    return {name: value for name, value in wrapped.items() if isinstance(value, Trackable)}


def wrap(value: Any) -> Any:
    """A list, dict or tuple as one that is Trackable; anything else as it is.

    (Attributes keep the lists that they are given: checkpoints look into these too.)
    """
    if isinstance(value, NoDependency):
        return value.value
    if isinstance(value, Trackable):
        return value
    if type(value) in (dict, OrderedDict):
        return _DictWrapper(value)
    if isinstance(value, list):
        return ListWrapper(value)
    if type(value) is tuple and any(isinstance(wrap(part), Trackable) for part in value):
        return _TupleWrapper(value)
    return value


class TrackableView:
    """All that an object leads to: itself first, then what is one step away, and so on."""

    def __init__(self, root: Any) -> None:
        self._root = root

    @property
    def root(self) -> Any:
        return self._root

    @classmethod
    def children(cls, obj: Any, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """What `obj` itself leads to, by name."""
        found = obj._trackable_children(save_type, **kwargs)
        return _tracked_of({name: _as_plain(value) for name, value in found.items()})

    def descendants(self) -> list[Any]:
        """The root, and all that it leads to, each once; the nearer ones first."""
        found, known = [self._root], {id(self._root)}
        for obj in found:
            for child in self.children(obj).values():
                if id(child) not in known:
                    known.add(id(child))
                    found.append(child)
        return found


def _as_plain(value: Any) -> Any:
    """A container of another class, such as a library's own list, as Python's."""
    if isinstance(value, Trackable) or not nest.is_nested(value):
        return value
    if isinstance(value, dict):
        return dict(value)
    return list(nest.children(value))
