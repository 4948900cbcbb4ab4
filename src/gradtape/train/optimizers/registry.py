"""Optimizers by name, and as dicts of plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .adam import Adam, Adamax, AdamW, Nadam
from .adaptive import Adadelta, Adagrad, Ftrl, RMSprop
from .base import Optimizer
from .lion import Lion
from .loss_scale import LossScaleOptimizer
from .serialization import from_record, record_of
from .sgd import SGD

_KNOWN = {
    kind.__name__: kind
    for kind in (
        SGD,
        Adam,
        AdamW,
        RMSprop,
        Adagrad,
        Adadelta,
        Adamax,
        Nadam,
        Lion,
        Ftrl,
        LossScaleOptimizer,
    )
}
_BY_LOWER_CASE = {name.lower(): name for name in _KNOWN}


def serialize(optimizer: Optimizer) -> dict[str, Any]:
    """The optimizer, without its state, as a dict of plain values in the form that Keras uses."""
    return record_of(optimizer, "keras.optimizers", _KNOWN)


def deserialize(config: Mapping[str, Any], custom_objects: Any = None) -> Optimizer:
    """The optimizer of what `serialize` gave; classes of your own go in `custom_objects`."""
    name = config.get("class_name")
    name = _BY_LOWER_CASE.get(str(name).lower(), name)
    return from_record({**config, "class_name": name}, _KNOWN, custom_objects, "an optimizer")


def get(identifier: Any) -> Optimizer | None:
    """The optimizer of a name, such as "adam", or of a configuration; or the one given."""
    if identifier is None or isinstance(identifier, Optimizer):
        return identifier
    if isinstance(identifier, str):
        identifier = {"class_name": identifier}
    if isinstance(identifier, Mapping):
        return deserialize(identifier)
    raise ValueError(
        f"optimizers.get: expected a name, a configuration or an optimizer, not {identifier!r}."
    )
