"""Part of what TensorFlow has in `tensorflow.python.module.module`."""

from gradtape._src.train.module import Module
