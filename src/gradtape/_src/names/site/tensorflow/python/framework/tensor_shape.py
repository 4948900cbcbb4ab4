"""Part of what TensorFlow has in `tensorflow.python.framework.tensor_shape`."""

from gradtape._src.core.shape import TensorShape
