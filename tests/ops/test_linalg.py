"""Linear algebra: high-precision references, phases of vectors, singular matrices, operators."""

from fractions import Fraction

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.ops.linalg.matrix_functions import kron, matrix_power
from gradtape._src.testing import check_gradients

L = tf.linalg

GENERAL = [[2.0, 1.0, 0.5], [-1.0, 3.0, 0.25], [0.75, -0.5, 1.5]]
POSITIVE = [[4.0, 1.0, -0.5], [1.0, 3.0, 0.25], [-0.5, 0.25, 2.0]]

# Made with mpmath 1.3 in 60 digits: mpmath.expm(mpmath.matrix(GENERAL)) and so on.
REFERENCES = {
    "expm": (
        GENERAL,
        lambda x: L.expm(x),
        [
            [4.1167610467153110247, 10.099375349401454062, 3.4482796444641654269],
            [-10.366276687774214329, 13.148531042625724017, 0.12273179199552110945],
            [5.706222143441768675, -1.3130689374820832882, 5.4727054929608304098],
        ],
    ),
    "expm of large matrices": (
        GENERAL,
        lambda x: L.expm(x * 8.0),
        [
            [585784588.7050532239, -154654018.57761561311, 112651158.2797066952],
            [186317046.5057013634, 557782681.83978061197, 246303746.70836784936],
            [105650681.56338854222, -365955381.70439269755, -96801072.280196976575],
        ],
    ),
    "logm": (
        GENERAL,
        lambda x: tf.math.real(L.logm(tf.cast(x, tf.complex128))),
        [
            [0.74451693955202885356, 0.41700016950242977261, 0.24847066295000079292],
            [-0.41033840646929878817, 1.1881641611869825639, 0.16420590967378630308],
            [0.35938246835873922051, -0.30176476721504866841, 0.37613454200567034078],
        ],
    ),
    "sqrtm": (
        GENERAL,
        lambda x: L.sqrtm(x),
        [
            [1.4345290223865248619, 0.32308784655936380997, 0.1762273304709506279],
            [-0.32064061202748568948, 1.7674058070734011539, 0.10279707242674403687],
            [0.25944652664266970088, -0.19580520672597559179, 1.2142514703417680653],
        ],
    ),
    "cholesky": (
        POSITIVE,
        lambda x: L.cholesky(x),
        [
            [2.0, 0.0, 0.0],
            [0.5, 1.6583123951776999246, 0.0],
            [-0.25, 0.22613350843332271699, 1.3734495390671025172],
        ],
    ),
    "eigvalsh": (
        POSITIVE,
        lambda x: L.eigvalsh(x),
        [1.6583297723365863879, 2.6897944672980359518, 4.6518757603653776603],
    ),
    "svd": (
        GENERAL,
        lambda x: L.svd(x, compute_uv=False),
        [3.2593824592267887566, 2.4937537287389957262, 1.2379896303625026932],
    ),
    "logdet": (POSITIVE, lambda x: L.logdet(x), 3.0325462466767073046),
    "det": (GENERAL, lambda x: L.det(x), 10.0625),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_against_a_high_precision_reference(name):
    matrix, function, expected = REFERENCES[name]
    found = function(tf.constant(np.array(matrix))).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def exact_inverse(matrix):
    """By elimination with fractions."""
    size = len(matrix)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(size))] for i, row in enumerate(matrix)]
    for i in range(size):
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j in range(size):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return np.array([[float(x) for x in row[size:]] for row in rows])


def test_inverse_and_gradient_of_the_determinant_are_exact():
    # Of 1 / (i + j + 1) plus the identity: det(x) * inv(x).T is the gradient.
    exact = [[Fraction(1, i + j + 1) + int(i == j) for j in range(6)] for i in range(6)]
    x = tf.constant(np.array([[float(v) for v in row] for row in exact]))
    expected = exact_inverse(exact)
    np.testing.assert_allclose(L.inv(x).numpy(), expected, rtol=1e-9)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = L.det(x)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), y.numpy() * expected.T, rtol=1e-9)


def random(*shape, seed=0):
    r = np.random.default_rng(seed)
    spread = np.zeros(shape[-2:])
    np.fill_diagonal(spread, 2 + 1.5 * np.arange(min(shape[-2:])))
    return r.normal(size=shape) / 4 + 0.25j * r.normal(size=shape) + spread


def eigh_projector(x):
    values, vectors = L.eigh(x + L.adjoint(x))
    return L.matmul(vectors * tf.sin(values)[..., None, :], vectors, adjoint_b=True)


def svd_product(x):
    s, u, v = L.svd(x)
    return L.matmul(u * tf.cast(tf.sin(s), u.dtype)[..., None, :], v, adjoint_b=True)


def eig_product(x):
    values, vectors = L.eig(x)
    return L.matmul(vectors * tf.exp(values)[..., None, :], L.inv(vectors))


def full_svd_projector(x):
    _, u, v = L.svd(x, full_matrices=True)
    last = v[..., -1:]
    return L.matmul(last, last, adjoint_b=True), tf.abs(u[..., :1])


PHASELESS = {
    "eigh": (eigh_projector, random(3, 3)),
    "svd": (svd_product, random(3, 3)),
    "svd tall": (svd_product, random(3, 2)),
    "svd wide": (svd_product, random(2, 3)),
    "svd with one more vector": (full_svd_projector, random(2, 3)),
    "eig": (eig_product, random(2, 2)),
    "eig of a real matrix with complex eigenvalues": (
        eig_product,
        np.array([[0.5, 1.0], [-2.0, 0.75]]),
    ),
    "expm": (L.expm, random(2, 2)),
    "sqrtm": (L.sqrtm, random(2, 2)),
    "pinv": (L.pinv, random(3, 2)),
    "lstsq slow": (lambda x: L.lstsq(x, x[:, :1] + 1.0, fast=False), random(3, 2)),
    "lu": (lambda x: L.lu_matrix_inverse(*L.lu(x)), random(3, 3)[::-1].copy()),
    "tridiagonal": (
        lambda x: L.tridiagonal_solve(x, x[1:, :1] + x[:2, 1:2], diagonals_format="matrix"),
        random(2, 2),
    ),
}


@pytest.mark.parametrize("name", PHASELESS)
def test_complex_gradients_to_second_order(name):
    function, x = PHASELESS[name]
    check_gradients(function, [x], what=name)


def test_pinv_has_a_gradient_where_singular_values_coincide():
    check_gradients(L.pinv, [np.eye(3)[:, :2] * 2.0], what="pinv")


def test_det_has_a_gradient_at_singular_matrices():
    for matrix in ([[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 1.0, 1.0]]):
        check_gradients(L.det, [np.array(matrix)], order=1, what="det")
    singular = np.array([[1 + 1j, 2 + 2j], [1.0, 2.0]])
    check_gradients(L.det, [singular], order=1, what="complex det")


def test_cholesky_reads_the_lower_triangle_and_has_a_symmetric_gradient():
    x = tf.constant([[4.0, 99.0], [1.0, 3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = L.cholesky(x)
    expected = np.linalg.cholesky([[4.0, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-6)
    gradient = tape.gradient(y, x).numpy()
    np.testing.assert_array_equal(gradient, gradient.T)


def test_a_matrix_that_is_not_positive_definite_gives_nan_beside_others_that_are():
    x = tf.constant([[[1.0, 2.0], [2.0, 1.0]], [[4.0, 0.0], [0.0, 9.0]]])
    y = L.cholesky(x).numpy()
    assert np.isnan(y[0][np.tril_indices(2)]).all() and y[0][0, 1] == 0
    np.testing.assert_array_equal(y[1], [[2.0, 0.0], [0.0, 3.0]])


def test_nan_and_inf_do_not_hang_or_raise_bare_errors():
    x = tf.constant([[np.nan, 1.0], [1.0, 2.0]])
    for f in (L.det, L.expm, L.sqrtm, L.cholesky, L.pinv, lambda x: L.svd(x)[1]):
        assert np.isnan(f(x).numpy()).any()
    assert np.isnan(L.expm(tf.constant([[np.inf, 0.0], [0.0, 1.0]])).numpy()).all()


def test_float16_where_tensorflow_has_it():
    x = tf.constant([[2.0, 1.0], [1.0, 4.0]], tf.float16)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = L.inv(x)
    assert y.dtype is tf.float16 and tape.gradient(y, x).dtype is tf.float16
    assert L.qr(x)[0].dtype is tf.float16


def test_matrix_power_and_kron():
    x = random(3, 3).real
    for n in (-2, 0, 1, 5):
        expected = np.linalg.matrix_power(x, n)
        np.testing.assert_allclose(matrix_power(tf.constant(x), n).numpy(), expected, rtol=1e-12)
    a, b = random(2, 3).real, random(4, 2, seed=1).real
    np.testing.assert_allclose(kron(a, tf.constant(b)).numpy(), np.kron(a, b), rtol=1e-14)
    check_gradients(lambda x: matrix_power(x, 3), [x], what="matrix_power")
    check_gradients(kron, [a, b[:2]], what="kron")


def test_eigh_tridiagonal_selects():
    a, b = tf.constant([1.0, 2.0, 3.0]), tf.constant([0.5, 0.25])
    values, vectors = L.eigh_tridiagonal(a, b, eigvals_only=False)
    found = L.eigh_tridiagonal(a, b, select="v", select_range=[1.0, 5.0])
    np.testing.assert_allclose(found.numpy(), values.numpy()[1:], rtol=1e-6)
    pair = L.eigh_tridiagonal(a, b, eigvals_only=False, select="i", select_range=[0, 1])
    np.testing.assert_array_equal(pair[1].numpy(), vectors.numpy()[:, :2])
    batch = L.eigh_tridiagonal(tf.stack([a, a]), tf.stack([b, b]))
    np.testing.assert_allclose(batch.numpy(), [values.numpy()] * 2, rtol=1e-6)


def test_eigh_tridiagonal_gradients():
    def function(a, b):
        values, vectors = L.eigh_tridiagonal(a, b, eigvals_only=False)
        return values, tf.abs(vectors)

    check_gradients(
        function, [np.array([1.0, 2.0, 4.0]), np.array([0.5, -0.25])], what="tridiagonal"
    )


def test_operators_read_variables_when_they_are_used():
    v = tf.Variable([2.0, 4.0])
    operator = L.LinearOperatorDiag(v)
    v.assign([1.0, 3.0])
    with tf.GradientTape() as tape:
        y = operator.solvevec([3.0, 6.0])
    np.testing.assert_allclose(y.numpy(), [3.0, 2.0])
    np.testing.assert_allclose(tape.gradient(y, v).numpy(), [-3.0, -2 / 3], rtol=1e-6)


def test_an_operator_is_a_matrix_to_other_ops():
    operator = L.LinearOperatorDiag([2.0, 4.0])
    np.testing.assert_array_equal(tf.matmul(operator, [[1.0], [1.0]]).numpy(), [[2.0], [4.0]])
    assert float(L.det(operator)) == 8.0


def test_operators_combine():
    a = L.LinearOperatorFullMatrix(random(3, 3).real, is_non_singular=True)
    d = L.LinearOperatorDiag(np.array([1.0, 2.0, 3.0]), is_non_singular=True)
    identity = L.LinearOperatorIdentity(3, dtype=tf.float64)
    assert a @ identity is a and identity @ a is a
    product = (a @ d).to_dense().numpy()
    np.testing.assert_allclose(product, a.to_dense().numpy() * [1.0, 2.0, 3.0], rtol=1e-14)
    undone = a.solve(a @ d).to_dense().numpy()
    np.testing.assert_allclose(undone, np.diag([1.0, 2.0, 3.0]), atol=1e-12)
    inverse = (a @ d).inverse().to_dense().numpy()
    np.testing.assert_allclose(inverse, np.linalg.inv(product), rtol=1e-10)
    assert a.inverse().inverse() is a and a.H.H is a


def test_permutation_has_a_sign():
    operator = L.LinearOperatorPermutation([1, 0, 2])
    assert float(operator.determinant()) == -1.0
    assert float(operator.log_abs_determinant()) == 0.0


def test_large_toeplitz_goes_by_fourier_transforms():
    r = np.random.default_rng(0)
    col, row, x = r.normal(size=100), r.normal(size=100), r.normal(size=(100, 2))
    operator = L.LinearOperatorToeplitz(col, row)
    dense = operator.to_dense().numpy()
    np.testing.assert_allclose(operator.matmul(x).numpy(), dense @ x, atol=1e-10)
    np.testing.assert_allclose(operator.matmul(x, adjoint=True).numpy(), dense.T @ x, atol=1e-10)


@pytest.mark.parametrize("perm", [[0, 2], [1, 1]])
def test_lu_functions_take_permutations_only(perm):
    factors = tf.constant([[1.0, 2.0], [0.5, 1.0]])
    for call in (
        lambda: tf.linalg.lu_reconstruct(factors, perm),
        lambda: tf.linalg.lu_matrix_inverse(factors, perm),
        lambda: tf.linalg.lu_solve(factors, perm, [[1.0], [2.0]]),
    ):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"`perm` must have each of 0, \.\.\., 1"
        ):
            call()
