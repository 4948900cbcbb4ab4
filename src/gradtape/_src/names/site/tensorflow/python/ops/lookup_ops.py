"""Part of what TensorFlow has in `tensorflow.python.ops.lookup_ops`."""

from gradtape._src.compat.lookup.tables import StaticHashTable
