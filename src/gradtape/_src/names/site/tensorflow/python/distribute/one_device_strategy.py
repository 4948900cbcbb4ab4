"""Part of what TensorFlow has in `tensorflow.python.distribute.one_device_strategy`."""

from gradtape._src.compat.distribute.strategy import OneDeviceStrategy
