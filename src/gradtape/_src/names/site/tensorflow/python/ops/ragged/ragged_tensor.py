"""Part of what TensorFlow has in `tensorflow.python.ops.ragged.ragged_tensor`."""

from gradtape._src.compat.ragged.ragged_tensor import RaggedTensor, RaggedTensorSpec, is_ragged
