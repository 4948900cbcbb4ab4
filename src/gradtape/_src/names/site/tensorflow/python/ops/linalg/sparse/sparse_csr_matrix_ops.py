"""Part of what TensorFlow has in `tensorflow.python.ops.linalg.sparse.sparse_csr_matrix_ops`."""

from gradtape._src.compat.sparse.csr import (
    csr_sparse_matrix_to_sparse_tensor,
    sparse_matrix_sparse_mat_mul,
    sparse_tensor_to_csr_sparse_matrix,
)
