"""Objects as dicts of plain values, in the form of Keras: the class by name, and its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def record_of(thing: Any, module: str, known: Mapping[str, type]) -> dict[str, Any]:
    """The record of an object whose class is one of `known`, of `module`, or a user's own."""
    kind = type(thing)
    ours = known.get(kind.__name__) is kind
    return {
        "module": module if ours else kind.__module__,
        "class_name": kind.__name__,
        "config": thing.get_config(),
        "registered_name": None if ours else kind.__name__,
    }


def from_record(
    record: Mapping[str, Any],
    known: Mapping[str, type],
    custom: Mapping[str, type] | None,
    what: str,
) -> Any:
    """The object of a record; a class is looked up by name, first among the `custom` ones.

    Nothing is imported: a record can name only the classes that are given here.
    """
    classes = {**known, **(custom or {})}
    name = record.get("class_name")
    kind = classes.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ValueError(
            f"deserialize: {name!r} is not the name of {what}. There are: {', '.join(classes)}. A "
            "class of your own must be given: custom_objects={'Name': Name}."
        )
    return kind.from_config(record.get("config", {}))
