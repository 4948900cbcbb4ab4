import numpy as np
import pytest


@pytest.fixture
def sp(tf):
    """A sparse matrix: 1, 0, 2 / 0, -3, 0 / 0, 0, 0."""
    return tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1.0, 2.0, -3.0], [3, 3])


@pytest.fixture
def parts():
    """What a sparse tensor consists of, as lists."""

    def of(sparse):
        sizes = sparse.dense_shape.numpy().tolist()
        return sparse.indices.numpy().tolist(), sparse.values.numpy().tolist(), sizes

    return of


@pytest.fixture
def same():
    def check(tensor, expected):
        np.testing.assert_allclose(tensor.numpy(), np.asarray(expected), rtol=1e-5, atol=1e-6)

    return check
