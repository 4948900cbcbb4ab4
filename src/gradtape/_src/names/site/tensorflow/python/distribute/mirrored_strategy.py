"""Part of what TensorFlow has in `tensorflow.python.distribute.mirrored_strategy`."""

from gradtape._src.compat.distribute.strategy import MirroredStrategy
