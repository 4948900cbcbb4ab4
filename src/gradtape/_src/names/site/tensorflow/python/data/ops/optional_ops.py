"""Part of what TensorFlow has in `tensorflow.python.data.ops.optional_ops`."""

from gradtape._src.train.data.optional import Optional, OptionalSpec
