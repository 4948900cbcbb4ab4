"""Trackable: an object that says which of its values checkpoints save.

It does so by TensorFlow's protocol: `_trackable_children()` gives the objects that it leads to by
name, `_serialize_to_tensors()` the tensors that it consists of itself. `AutoTrackable`
leads to whatever its attributes hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, Protocol
from weakref import WeakSet

from . import nest

_TRACKED = "_self_unconditional_dependency_names"
"""The attribute with what was tracked by hand. By this name Keras knows it, and leaves it alone."""


class Trackable:
    """Base of the objects that checkpoints follow: variables, modules, tables, layers."""

    __slots__ = ()

    _self_setattr_tracking = True
    """Whether attributes that are set now belong to what the object leads to."""

    def _maybe_initialize_trackable(self) -> None:
        """Nothing: what is tracked is written down when it comes."""

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Lead to `trackable` under this name. Returns it."""
        if not isinstance(trackable, Trackable):
            raise TypeError(
                f"_track_trackable: {name!r} must be a Trackable, such as a variable or a module, "
                f"not {type(trackable).__name__}."
            )
        known = self._lookup_dependency(name)
        if known is not None and known is not trackable and not overwrite:
            raise ValueError(
                f"_track_trackable: the object leads to another one under the name {name!r} "
                "already. Use another name, or overwrite=True."
            )
        _noted(self, _TRACKED, dict)[name] = trackable
        self._handle_deferred_dependencies(name, trackable)
        return trackable

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> None:
        """Give what came under `name` the values that restored checkpoints keep for it."""
        restore_deferred(self)

    def _lookup_dependency(self, name: str, cached_dependencies: Any = None) -> Any:
        """What the object leads to under this name; None if there is nothing."""
        known = self._trackable_children() if cached_dependencies is None else cached_dependencies
        return known.get(name)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """What the object leads to, by name."""
        return dict(getattr(self, _TRACKED, {}))

    def _tracked_items(self) -> Iterator[tuple[str, Any]]:
        """The same, for gradtape's own walks."""
        yield from self._trackable_children().items()

    def _no_dependency(self, value: Any) -> Any:
        return NoDependency(value)

    # The tensors of the object itself

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """The tensors to save, by name."""
        raise NotImplementedError

    def _restore_from_tensors(self, restored_tensors: Mapping[str, Any]) -> Any:
        """Take over tensors that `_serialize_to_tensors` gave."""
        raise NotImplementedError


class NoDependency:
    """Around a value that becomes an attribute and does not belong to the object."""

    def __init__(self, value: Any) -> None:
        self.value = value


class AutoTrackable(Trackable):
    """Leads to what its attributes hold, and the lists, tuples and dicts there.

    Not to those that were set while `no_automatic_dependency_tracking` held, or as NoDependency.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, NoDependency):
            value = value.value
            _noted(self, "_self_untracked", set).add(name)
        elif not self._self_setattr_tracking:
            if not name.startswith("_self_"):
                _noted(self, "_self_untracked", set).add(name)
        elif "_self_untracked" in vars(self):
            vars(self)["_self_untracked"].discard(name)
        super().__setattr__(name, value)
        if not name.startswith("_self_"):  # (set while a restoration asks what this leads to)
            restore_deferred(self)

    def __delattr__(self, name: str) -> None:
        vars(self).get(_TRACKED, {}).pop(name, None)
        super().__delattr__(name)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        found = super()._trackable_children(save_type, **kwargs)
        for name, value in self._tracked_attributes():
            if isinstance(value, Trackable) or nest.is_nested(value):
                found[name] = value
        if save_type == "savedmodel":
            found |= _functions_of(self)
        return found

    def _tracked_attributes(self) -> list[tuple[str, Any]]:
        own = vars(self)
        untracked = own.get("_self_untracked", ())
        return [
            (name, value)
            for name, value in own.items()
            if name not in untracked and not name.startswith("_self_")
        ]

    def _tracked_items(self) -> Iterator[tuple[str, Any]]:
        """Objects of other classes may hold variables as well: gradtape looks into them."""
        children = self._trackable_children()
        yield from children.items()
        for name, value in self._tracked_attributes():
            if name not in children:
                yield name, value


def _noted(owner: Any, name: str, kind: Callable[[], Any]) -> Any:
    """The collection that an object keeps about itself under this name."""
    if name not in vars(owner):
        object.__setattr__(owner, name, kind())
    return vars(owner)[name]


def _functions_of(owner: Any) -> dict[str, Any]:
    """The functions among all attributes, those of the class too."""
    found = {}
    for name in dir(owner):
        try:
            value = getattr(owner, name, None)
        except Exception:  # a property that has nothing to say yet
            continue
        if not isinstance(value, type) and hasattr(value, "get_concrete_function"):
            found[name] = value
    return found


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator of methods: attributes set inside do not belong to what the object leads to."""

    @wraps(method)
    def inside(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = getattr(self, "_self_setattr_tracking", True)
        self._self_setattr_tracking = False
        try:
            return method(self, *args, **kwargs)
        finally:
            self._self_setattr_tracking = before

    return inside


def has_tensors(value: Any) -> bool:
    """Whether a value is a Trackable that consists of tensors itself."""
    kind = type(value)
    return (
        isinstance(value, Trackable)
        and kind._serialize_to_tensors is not Trackable._serialize_to_tensors
    )


# Deferred restoration: values of a file that wait for variables which do not exist yet.


class Restored(Protocol):
    """A checkpoint that was restored, and may have values left."""

    def _restore_deferred(self, owner: Any) -> None:
        """Restore variables that `owner`, of any checkpoint or of none, has come to hold."""


restored: WeakSet[Restored] = WeakSet()


def restore_deferred(owner: Any) -> None:
    """Give what `owner` has just come to hold the values that checkpoints have for it.

    Called by objects that may make variables after a restore, right after they made them: a module
    when an attribute is set, an optimizer when it has made its slots.
    """
    if restored:
        for checkpoint in list(restored):
            checkpoint._restore_deferred(owner)
