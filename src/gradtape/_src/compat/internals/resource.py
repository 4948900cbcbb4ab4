"""TrackableResource: base of objects that hold something beside tensors, such as a table."""

from __future__ import annotations

from typing import Any

from ...core.trackable import Trackable


class TrackableResource(Trackable):
    """Holds what `_create_resource` of a subclass makes, from its first use on."""

    _resource_device = ""
    _handle: Any = None

    def __init__(self, device: str = "") -> None:
        self._resource_device = device

    def _create_resource(self) -> Any:
        """Make what the object holds."""
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> None:
        """Fill it."""

    @property
    def resource_handle(self) -> Any:
        """What the object holds."""
        if self._handle is None:
            self._handle = self._create_resource()
        return self._handle
