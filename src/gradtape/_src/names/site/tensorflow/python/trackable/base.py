"""Part of what TensorFlow has in `tensorflow.python.trackable.base`."""

from gradtape._src.core.trackable import (
    Trackable,
    no_automatic_dependency_tracking,
)
