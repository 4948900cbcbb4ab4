"""Part of what TensorFlow has in `tensorflow.python.data.ops.dataset_ops`."""

from gradtape._src.train.data.dataset import Dataset as DatasetV2, DatasetSpec
