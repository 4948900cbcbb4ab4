"""Part of what TensorFlow has in `tensorflow.python.distribute.input_lib`."""

from gradtape._src.compat.distribute.values import DistributedDataset, DistributedIterator
