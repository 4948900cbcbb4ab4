"""Part of what TensorFlow has in `tensorflow.python.framework.sparse_tensor`."""

from gradtape._src.compat.sparse.sparse_tensor import (
    SparseTensor,
    SparseTensorSpec,
    SparseTensorValue,
)
