"""Objects as dicts of plain values, in the form of Keras: the class by name, and its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self, TypeVar


class Configurable(Protocol):
    """An object that can be written as a dict of plain values and read back."""

    def get_config(self) -> dict[str, Any]: ...

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self: ...


Object = TypeVar("Object", bound=Configurable)


def to_plain(instance: Object, module: str, known: Mapping[str, type[Object]]) -> dict[str, Any]:
    """The dict of an object whose class is one of `known`, of `module`, or a user's own."""
    kind = type(instance)
    ours = known.get(kind.__name__) is kind
    return {
        "module": module if ours else kind.__module__,
        "class_name": kind.__name__,
        "config": instance.get_config(),
        "registered_name": None if ours else kind.__name__,
    }


def from_plain(
    plain: Mapping[str, Any],
    known: Mapping[str, type[Object]],
    custom: Mapping[str, type[Object]] | None,
    what: str,
) -> Object:
    """The object that such a dict describes.

    Its class is looked up by name, first among the `custom` ones; the known ones also in lower
    case, as Keras does. Nothing is imported: the dict can name only the classes given here.
    """
    classes = {**known, **(custom or {})}
    in_lower_case = {name.lower(): kind for name, kind in known.items()}
    name = str(plain.get("class_name"))
    kind = classes.get(name) or in_lower_case.get(name.lower())
    if kind is None:
        raise ValueError(
            f"deserialize: {name!r} is not the name of {what}. There are: {', '.join(classes)}. A "
            "class of your own must be given: custom_objects={'Name': Name}."
        )
    return kind.from_config(plain.get("config", {}))
