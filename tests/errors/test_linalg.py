"""The messages of linear algebra, by their text."""

import re

import numpy as np
import pytest

import gradtape as tf

pytestmark = pytest.mark.gradtape_only

INVALID = tf.errors.InvalidArgumentError
L = tf.linalg


def ones(*shape, dtype=tf.float32):
    return tf.ones(shape, dtype)


SINGULAR = tf.constant([[1.0, 2.0], [2.0, 4.0]])
EYE = tf.eye(2)

MESSAGES = {
    "inv of a singular matrix": (
        INVALID,
        r"inv: a matrix is singular .* so it has no inverse; linalg.pinv",
        lambda: L.inv(SINGULAR),
    ),
    "inv of nan": (
        INVALID,
        "inv: a matrix is singular",
        lambda: L.inv(tf.constant([[np.nan, 1.0], [1.0, 2.0]])),
    ),
    "solve with a singular matrix": (
        INVALID,
        r"solve: a matrix is singular .* Received: matrix: float32\[2, 2\], rhs: float32\[2, 1\]",
        lambda: L.solve(SINGULAR, ones(2, 1)),
    ),
    "lu of a singular matrix": (INVALID, "lu: a matrix is singular", lambda: L.lu(SINGULAR)),
    "banded with a zero on the diagonal": (
        INVALID,
        "banded_triangular_solve: a matrix is singular",
        lambda: L.banded_triangular_solve([[1.0, 0.0], [1.0, 1.0]], ones(2, 1)),
    ),
    **{
        f"{name} of a matrix that is not square": (
            INVALID,
            rf"{name}: `{argument}` must hold square matrices, and has shape \(2, 3\): 2 rows,",
            lambda name=name: getattr(L, name)(ones(2, 3)),
        )
        for name, argument in {
            "inv": "input", "det": "input", "slogdet": "input", "cholesky": "input", "lu": "input",
            "expm": "input", "sqrtm": "input", "eigh": "tensor", "eigvalsh": "tensor",
            "eig": "tensor", "eigvals": "tensor",
        }.items()
    },
    **{
        f"{name} of a vector": (
            INVALID,
            rf"{name}: `\w+` must have rank 2 or more .*and has shape \(3,\)",
            lambda name=name: getattr(L, name)(ones(3)),
        )
        for name in ("inv", "det", "cholesky", "qr", "svd", "eigh", "pinv", "matrix_rank",
                     "diag_part", "trace")
    },
    **{
        f"{name} of {dtype}": (
            INVALID,
            rf"{name}: `\w+` is {dtype}, and the op takes float32, float64, complex64",
            lambda name=name, dtype=dtype: getattr(L, name)(tf.cast(EYE, dtype)),
        )
        for name in ("det", "cholesky", "svd", "eigh", "expm", "pinv", "matrix_rank")
        for dtype in ("float16", "int32")
    },
    "inv of bfloat16": (
        INVALID,
        "inv: `input` is bfloat16, and the op takes float32",
        lambda: L.inv(tf.cast(EYE, tf.bfloat16)),
    ),
    "logm of real numbers": (
        INVALID,
        "logm: `input` is float32, and the op takes complex64, complex128. Convert it with tf.cast",
        lambda: L.logm(EYE),
    ),
    "solve for a vector": (
        INVALID,
        r"solve: `rhs` must have rank 2 or more.*rhs\[..., tf.newaxis\]",
        lambda: L.solve(EYE, ones(2)),
    ),
    "solve with other rows": (
        INVALID,
        r"solve: `rhs` must have as many rows as `matrix`. Received: matrix.shape=\(2, 2\), rhs",
        lambda: L.solve(EYE, ones(3, 1)),
    ),
    "solve with other batches": (
        INVALID,
        "solve: the axes before the last two must agree.*tf.broadcast_to",
        lambda: L.solve(ones(3, 2, 2), ones(2, 1)),
    ),
    "solve with mixed dtypes": (
        INVALID,
        "solve: `matrix` is float32 and `rhs` is float64",
        lambda: L.solve(EYE, ones(2, 1, dtype=tf.float64)),
    ),
    "triangular_solve with other rows": (
        INVALID,
        "triangular_solve: `rhs` must have as many rows",
        lambda: L.triangular_solve(EYE, ones(3, 1)),
    ),
    "triangular_solve with other batches": (
        INVALID,
        "triangular_solve .*shapes do not broadcast",
        lambda: L.triangular_solve(ones(3, 2, 2), ones(2, 2, 1)),
    ),
    "lstsq with other rows": (
        INVALID,
        r"lstsq: `matrix` must have shape \[..., M, N\]",
        lambda: L.lstsq(ones(3, 2), ones(2, 1)),
    ),
    "eig of nan": (
        INVALID,
        "eig: a matrix holds NaN or Inf, so it has no eigenvalues",
        lambda: L.eig(tf.constant([[np.nan, 1.0], [1.0, 2.0]])),
    ),
    "lu with indices of another dtype": (
        INVALID,
        "lu: `output_idx_type` must be int32 or int64, and is float32",
        lambda: L.lu(EYE, tf.float32),
    ),
    "lu_solve with another permutation": (
        INVALID,
        "lu_solve: `perm` must have the shape of `lower_upper` without its last axis",
        lambda: L.lu_solve(EYE, [0, 1, 2], ones(2, 1)),
    ),
    "cross of two elements": (
        INVALID,
        r"cross: `a` and `b` must have one shape, with 3 elements .* a.shape=\(2,\)",
        lambda: L.cross(ones(2), ones(2)),
    ),
    "cross that would broadcast": (
        INVALID,
        "cross: `a` and `b` must have one shape",
        lambda: L.cross(ones(2, 3), ones(3)),
    ),
    "normalize of integers": (
        INVALID,
        "normalize: `tensor` is int32, and the op takes floats",
        lambda: L.normalize(tf.constant([3, 4])),
    ),
    "diag of a scalar": (
        INVALID,
        "diag: `diagonal` must have rank 1 or more",
        lambda: L.diag(tf.constant(1.0)),
    ),
    "diag with bounds exchanged": (
        INVALID,
        r"diag: `k` must be a number or a pair \(low, high\) with low <= high, not \(1, 0\)",
        lambda: L.diag(ones(2, 2), k=(1, 0)),
    ),
    "diag with other diagonals": (
        INVALID,
        r"diag: `k`=\(-1, 1\) names 3 diagonals, and `diagonal` of shape \(2, 3\) holds 2",
        lambda: L.diag(ones(2, 3), k=(-1, 1)),
    ),
    "diag in too few rows": (
        INVALID,
        "diag: on matrices of 2 rows .* do not have the 3 elements .* num_rows=3",
        lambda: L.diag(ones(3), num_rows=2),
    ),
    "diag in too many rows and columns": (
        INVALID,
        "diag: on matrices of 3 rows and 3 columns",
        lambda: L.diag(ones(2), num_rows=3, num_cols=3),
    ),
    "diag with another alignment": (
        INVALID,
        "diag: `align`='LEFT' is unknown; there are RIGHT_LEFT, LEFT_RIGHT",
        lambda: L.diag(ones(2), align="LEFT"),
    ),
    "diag_part outside": (
        INVALID,
        r"diag_part: `k`=3 lies outside of matrices of shape \(2, 3\), whose diagonals are -1 to 2",
        lambda: L.diag_part(ones(2, 3), k=3),
    ),
    "set_diag of another length": (
        INVALID,
        r"set_diag: .*`diagonal` must have shape \(2,\), and has \(3,\)",
        lambda: L.set_diag(ones(2, 3), ones(3)),
    ),
    "tensor_diag of a scalar": (
        INVALID,
        "tensor_diag: `diagonal` must have rank 1 or more, and is a scalar",
        lambda: L.tensor_diag(1.0),
    ),
    "tensor_diag_part of another shape": (
        INVALID,
        r"tensor_diag_part: the shape of `input` must be another shape twice.*\(2, 3\)",
        lambda: L.tensor_diag_part(ones(2, 3)),
    ),
    "band_part with too many": (
        INVALID,
        r"band_part: `num_lower`=3 is more than matrices of shape \(2, 3\) have",
        lambda: L.band_part(ones(2, 3), 3, 0),
    ),
    "tridiagonal_solve in an unknown format": (
        INVALID,
        "tridiagonal_solve: `diagonals_format`='rows' is unknown; there are 'compact', 'matrix'",
        lambda: L.tridiagonal_solve(ones(3, 3), ones(3, 1), diagonals_format="rows"),
    ),
    "tridiagonal_solve of two diagonals": (
        INVALID,
        r"tridiagonal_solve: `diagonals` in compact form must have shape \[..., 3, M\]",
        lambda: L.tridiagonal_solve(ones(2, 3), ones(3, 1)),
    ),
    "tridiagonal_solve that perturbs": (
        NotImplementedError,
        "tridiagonal_solve: perturb_singular=True does not exist here",
        lambda: L.tridiagonal_solve(ones(3, 3), ones(3, 1), perturb_singular=True),
    ),
    "tridiagonal_matmul with a vector": (
        INVALID,
        r"tridiagonal_matmul: .*`rhs` \[..., M, K\]. Received: .*rhs.shape=\(3,\)",
        lambda: L.tridiagonal_matmul(ones(3, 3), ones(3)),
    ),
    "banded_triangular_solve with a vector": (
        INVALID,
        r"banded_triangular_solve: `bands` must have shape \[..., K, M\]",
        lambda: L.banded_triangular_solve(ones(2, 3), ones(3)),
    ),
    "eigh_tridiagonal of another length": (
        INVALID,
        "eigh_tridiagonal: `beta` must have one element less than `alpha`",
        lambda: L.eigh_tridiagonal(ones(3), ones(3)),
    ),
    "eigh_tridiagonal selecting otherwise": (
        INVALID,
        "eigh_tridiagonal: `select`='q' is unknown; there are 'a', 'i' and 'v'",
        lambda: L.eigh_tridiagonal(ones(3), ones(2), select="q"),
    ),
    "eigh_tridiagonal without a range": (
        INVALID,
        "eigh_tridiagonal: select='i' needs `select_range`",
        lambda: L.eigh_tridiagonal(ones(3), ones(2), select="i"),
    ),
    "operator with another dtype": (
        INVALID,
        "LinearOperatorDiag.matmul: the argument is float64 and the operator float32",
        lambda: L.LinearOperatorDiag([1.0, 2.0]).matmul(ones(2, 1, dtype=tf.float64)),
    ),
    "operator with other rows": (
        INVALID,
        "LinearOperatorDiag.matmul: the argument must have 2 rows for an operator of shape",
        lambda: L.LinearOperatorDiag([1.0, 2.0]).matmul(ones(3, 1)),
    ),
    "operators that do not fit": (
        INVALID,
        r"operators of shapes \(2, 2\) and \(3, 3\) do not fit: 2 != 3",
        lambda: L.LinearOperatorDiag(ones(2)).matmul(L.LinearOperatorDiag(ones(3))),
    ),
    "operator with contradictory hints": (
        ValueError,
        "a positive definite matrix is always non-singular",
        lambda: L.LinearOperatorFullMatrix(EYE, is_positive_definite=True, is_non_singular=False),
    ),
    "cholesky of an operator without hints": (
        ValueError,
        "cholesky needs an operator with the hints is_self_adjoint=True",
        lambda: L.LinearOperatorFullMatrix(EYE).cholesky(),
    ),
    "determinant of an operator that is not square": (
        NotImplementedError,
        r"determinant needs square matrices, and these have shape \(2, 3\)",
        lambda: L.LinearOperatorFullMatrix(ones(2, 3)).determinant(),
    ),
    "assert_positive_definite": (
        INVALID,
        "a matrix is not positive definite",
        lambda: L.LinearOperatorFullMatrix(-EYE).assert_positive_definite(),
    ),
    "assert_non_singular": (
        INVALID,
        "a matrix is singular up to precision",
        lambda: L.LinearOperatorFullMatrix(SINGULAR).assert_non_singular(),
    ),
    "permutation with a repeat": (
        INVALID,
        "LinearOperatorPermutation: `perm` must hold each of 0 to 2 once",
        lambda: L.LinearOperatorPermutation([0, 0, 2]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", MESSAGES)
def test_message(what):
    kind, message, f = MESSAGES[what]
    with pytest.raises(kind) as caught:
        f()
    assert re.search(message, str(caught.value), re.DOTALL), str(caught.value)


def gradient_of(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


@pytest.mark.parametrize(
    "name, f",
    [
        ("qr", lambda x: L.qr(x, full_matrices=True)[0]),
        ("svd", lambda x: L.svd(x, full_matrices=True)[1]),
    ],
)
def test_vectors_that_are_not_unique_have_no_gradient(name, f):
    with pytest.raises(NotImplementedError, match=f"{name}: with full_matrices=True .* not unique"):
        gradient_of(f, tf.constant(np.random.default_rng(0).normal(size=(4, 2))))
