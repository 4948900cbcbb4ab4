"""Optimizers by name, and as dicts of plain values: `get`, `serialize` and `deserialize`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .base import Optimizer
from .config import from_plain, to_plain
from .loss_scale import LossScaleOptimizer
from .registry import OPTIMIZERS

_KNOWN = {**OPTIMIZERS, "LossScaleOptimizer": LossScaleOptimizer}


def serialize(optimizer: Optimizer) -> dict[str, Any]:
    """The optimizer, without its state, as a dict of plain values in the form that Keras uses."""
    return to_plain(optimizer, "keras.optimizers", _KNOWN)


def deserialize(
    config: Mapping[str, Any], custom_objects: Mapping[str, type[Optimizer]] | None = None
) -> Optimizer:
    """The optimizer of what `serialize` gave; classes of your own go in `custom_objects`."""
    return from_plain(config, _KNOWN, custom_objects, "an optimizer")


def get(identifier: Any) -> Optimizer | None:
    """The optimizer of a name, such as "adam", or of a configuration; or the one given."""
    if identifier is None or isinstance(identifier, Optimizer):
        return identifier
    if isinstance(identifier, str):
        identifier = {"class_name": identifier}
    if isinstance(identifier, Mapping):
        return deserialize(identifier)
    raise ValueError(
        "optimizers.get: expected the name of an optimizer, such as 'adam', a configuration or an "
        f"optimizer. Received: {identifier!r:.100}."
    )
