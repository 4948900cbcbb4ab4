"""Part of what TensorFlow has in `tensorflow.python.data.ops.iterator_ops`."""

from gradtape._src.train.data.iterator import Iterator as IteratorBase
