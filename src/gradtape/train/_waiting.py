"""Restored values that wait for variables which do not exist yet."""

from __future__ import annotations

from typing import Any, Protocol
from weakref import WeakSet


class _Restoration(Protocol):
    def attached_to(self, owner: Any) -> None: ...


waiting: WeakSet[_Restoration] = WeakSet()


def attached(owner: Any) -> None:
    """Give what `owner` has just come to hold the values that checkpoints have for it.

    Called by objects that make variables after they may have been restored, right after they made
    them: a module when an attribute is set, an optimizer when it makes its slots.
    """
    if waiting:
        for restoration in list(waiting):
            restoration.attached_to(owner)
