"""Sparse tensors: their class, what ordinary functions are for them, and tf.sparse."""

from . import taken_over as taken_over  # so that they are known where a sparse tensor is
from .sparse_tensor import SparseTensor as SparseTensor
