"""Part of what TensorFlow has in `tensorflow.python.trackable.autotrackable`."""

from gradtape._src.core.trackable import AutoTrackable
