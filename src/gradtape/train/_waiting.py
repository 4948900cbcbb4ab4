"""Restored values that wait for variables which do not exist yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    from .checkpoint import Checkpoint

waiting: WeakSet[Checkpoint] = WeakSet()
"""The checkpoints that were restored, and may have values left."""


def attached(owner: Any) -> None:
    """Give what `owner` has just come to hold the values that checkpoints have for it.

    Called by objects that may make variables after a restore, right after they made them: a module
    when an attribute is set, an optimizer when it has made its slots.
    """
    if waiting:
        for checkpoint in list(waiting):
            checkpoint._attached_to(owner)
