"""Part of what TensorFlow has in `tensorflow.python.distribute.reduce_util`."""

from gradtape._src.compat.distribute.values import ReduceOp
