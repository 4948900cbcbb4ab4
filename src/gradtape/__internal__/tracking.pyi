from .._src.compat.internals.tracking import wrap as wrap
from .._src.core.trackable import (
    AutoTrackable as AutoTrackable,
    Trackable as Trackable,
    no_automatic_dependency_tracking as no_automatic_dependency_tracking,
)
