"""The conjugate gradient method: eager, compiled, and its gradient."""

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.testing import check_gradients

X = np.random.default_rng(0).normal(size=(4, 4))
MATRIX = X @ X.T + np.eye(4)
RHS = np.arange(1.0, 5.0)


def solution(matrix):
    hints = {"is_self_adjoint": True, "is_positive_definite": True}
    symmetric = (matrix + tf.linalg.adjoint(matrix)) / 2
    operator = tf.linalg.LinearOperatorFullMatrix(symmetric, **hints)
    return tf.linalg.experimental.conjugate_gradient(operator, RHS, tol=1e-14, max_iter=8).x


@pytest.mark.parametrize("solve", [solution, tf.function(solution)], ids=["eager", "compiled"])
def test_the_solution(solve):
    expected = np.linalg.solve(MATRIX, RHS)
    np.testing.assert_allclose(solve(tf.constant(MATRIX)).numpy(), expected, rtol=1e-9)


def test_its_gradient():
    check_gradients(solution, [MATRIX], order=1, rtol=1e-4, what="conjugate_gradient")
