"""Part of what TensorFlow has in `tensorflow.python.trackable.resource`."""

from gradtape._src.compat.internals.resource import TrackableResource
