from .._src.compat.internals.resource import (
    TrackableResource as TrackableResource,
)
