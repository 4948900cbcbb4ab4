"""Part of what TensorFlow has in `tensorflow.python.types.distribute`."""

from gradtape._src.compat.distribute.values import (
    DistributedDataset as DistributedDatasetInterface,
    DistributedIterator as DistributedIteratorInterface,
    DistributedValues,
)
