"""Part of what TensorFlow has in `tensorflow.python.framework.composite_tensor`."""

from gradtape._src.core.composite import CompositeTensor
