"""The names under which files know the kinds of TypeSpec."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from ...core.composite import TypeSpec

_Kind = TypeVar("_Kind", bound=type)

# Where the ones of TensorFlow are, which are registered from the beginning.
_OWN = {
    "tf.IndexedSlicesSpec": "tape.type_specs",
    "tf.OptionalSpec": "train.data.optional",
    "tf.RaggedTensorSpec": "compat.ragged.ragged_tensor",
    "tf.RowPartitionSpec": "compat.ragged.row_partition",
    "tf.SparseTensorSpec": "compat.sparse.sparse_tensor",
    "tf.TensorArraySpec": "tape.type_specs",
    "tf.TensorSpec": "tape.type_specs",
}
_registered: dict[str, Any] = {}


def register(name: str) -> Callable[[_Kind], _Kind]:
    """A decorator of subclasses of TypeSpec: files know the class as `name`, "project.Name"."""
    if not re.fullmatch(r"(\w+\.)+\w+", name):
        raise ValueError(
            f"type_spec_registry: {name!r} must have the form 'project.TypeName', with letters, "
            "digits and underscores."
        )

    def decorate(kind: _Kind) -> _Kind:
        if not issubclass(kind, TypeSpec):
            raise TypeError(f"type_spec_registry: {kind!r} is no TypeSpec.")
        if name in _registered or name in _OWN:
            raise ValueError(f"type_spec_registry: the name {name!r} is taken.")
        if kind in _registered.values():
            raise ValueError(f"type_spec_registry: {kind!r} is registered already.")
        _registered[name] = kind
        return kind

    return decorate


def lookup(name: str) -> Any:
    """The class that is registered as `name`."""
    if name in _OWN:
        module = import_module(f"gradtape._src.{_OWN[name]}")
        return getattr(module, name.partition(".")[2])
    if name not in _registered:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}.")
    return _registered[name]


def get_name(cls: Any) -> str:
    """The name that a class is registered as."""
    for name in (f"tf.{cls.__name__}", *_registered):
        if (name in _OWN or name in _registered) and lookup(name) is cls:
            return name
    raise ValueError(f"TypeSpec {cls.__module__}.{cls.__name__} has not been registered.")
