"""Linear algebra: systems, factorisations, functions of matrices, diagonals and bands."""

import numpy as np

from .inputs import (
    HALVES,
    Input,
    booleans,
    call,
    case,
    complexes,
    given,
    integers,
    normal,
    unit,
)

FORGOTTEN = "TensorFlow forgets a conjugate"
MISSING = "TensorFlow has no gradient"


def matrices(*shape):
    """Far from singular, with eigenvalues and singular values well apart."""
    spread = np.zeros(shape[-2:])
    np.fill_diagonal(spread, np.arange(min(shape[-2:])) * 1.5 + 2)
    drawn = normal(*shape)
    return Input(lambda rng: drawn.draw(rng) / 4 + spread)


def complex_matrices(*shape):
    parts = matrices(*shape), normal(*shape)
    return Input(lambda rng: parts[0].draw(rng) + 0.25j * parts[1].draw(rng))


def positive(tf, x):
    """A positive definite matrix."""
    return tf.matmul(x, x, adjoint_b=True) + tf.eye(x.shape[-1], dtype=x.dtype)


def hermitian(tf, x):
    return x + tf.linalg.adjoint(x)


def of_positive(path, *args, **kwargs):
    function = call(path, *args, **kwargs)
    return lambda tf, x, *rest: function(tf, positive(tf, x), *rest)


def projectors(tf, vectors, values):
    """What does not depend on the signs or phases of vectors: a function of the matrix."""
    return tf.matmul(vectors * tf.sin(values)[..., tf.newaxis, :], vectors, adjoint_b=True)


def eigh_function(tf, x):
    values, vectors = tf.linalg.eigh(hermitian(tf, x))
    return values, projectors(tf, vectors, values)


def eigh_lower(tf, x):
    """Of matrices that are not symmetric: what is read?"""
    values, vectors = tf.linalg.eigh(x)
    return values, tf.abs(vectors), tf.linalg.eigvalsh(x)


def svd_function(full_matrices=False):
    def function(tf, x):
        s, u, v = tf.linalg.svd(x, full_matrices=full_matrices)
        k = s.shape[-1]
        scaled = u[..., :k] * tf.cast(tf.sin(s), u.dtype)[..., tf.newaxis, :]
        rest = tf.matmul(v[..., k:], v[..., k:], adjoint_b=True) if full_matrices else s
        return s, tf.matmul(scaled, v[..., :k], adjoint_b=True), rest, tf.abs(u[..., :k])

    return function


def eig_function(tf, x):
    e, v = tf.linalg.eig(x)
    order = tf.argsort(tf.math.real(e) + 0.1 * tf.math.imag(e))
    e, v = tf.gather(e, order), tf.gather(v, order, axis=1)
    return e, tf.abs(v), tf.math.real(tf.reduce_sum(tf.math.exp(e)))


def eigvals_function(tf, x):
    e = tf.linalg.eigvals(x)
    return tf.reduce_sum(e**2, -1), tf.reduce_sum(tf.exp(e), -1), tf.reduce_prod(e + 1.0, -1)


def lu_functions(tf, x, b):
    packed, perm = tf.linalg.lu(tf.stop_gradient(x))
    return (
        tf.linalg.lu_solve(packed, perm, b),
        tf.linalg.lu_reconstruct(packed, perm),
        tf.linalg.lu_matrix_inverse(packed, perm),
    )


def lu_of(tf, x):
    packed, perm = tf.linalg.lu(x)
    return packed, perm


def complex_det(tf, x):
    return tf.linalg.det(x)


def diagonals(tf, x):
    part = tf.linalg.diag_part
    return [
        part(x),
        part(x, k=1),
        part(x, k=-2),
        *[part(x, k=(-1, 2), align=align) for align in ALIGNMENTS],
        part(x, k=(0, 1), padding_value=7.0),
        part(x, k=(-2, -1), padding_value=-1.0, align="LEFT_RIGHT"),
    ]


ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def diag_forms(tf, x):
    diag = tf.linalg.diag
    return [
        diag(x),
        diag(x, k=1),
        diag(x, k=-2, padding_value=3.0),
        diag(x, num_rows=4),
        diag(x, num_cols=5, k=1),
        *[diag(x, k=(-1, 0), align=align) for align in ALIGNMENTS],
        diag(x, k=(0, 1), num_rows=3, num_cols=5, padding_value=2.0),
    ]


def set_diags(tf, x, d, band):
    set_diag = tf.linalg.set_diag
    return [
        set_diag(x, d),
        set_diag(x, d[..., :2], k=-1),
        set_diag(x, d, k=1),
        *[set_diag(x, band, k=(-1, 1), align=align) for align in ALIGNMENTS],
    ]


def tridiagonal(function):
    """All three formats of the diagonals."""

    def run(tf, d, b):
        above, main, below = d[..., 0, :], d[..., 1, :] + 4.0, d[..., 2, :]
        compact = tf.stack([above, main, below], -2)
        square = tf.linalg.diag(compact, k=(-1, 1), align="LEFT_RIGHT")
        f = getattr(tf.linalg, function)
        return (
            f(compact, b),
            f([above, main, below], b, diagonals_format="sequence"),
            f(square, b, diagonals_format="matrix"),
        )

    return run


def tridiagonal_sides(tf, d, b):
    d = d + tf.constant([[0.0], [4.0], [0.0]], d.dtype)
    solve = tf.linalg.tridiagonal_solve
    return (
        solve(d, b[:, 0]),
        solve(d, tf.transpose(b), transpose_rhs=True),
        solve([d[0, :-1], d[1], d[2, 1:]], b, diagonals_format="sequence"),
        solve(d, b, partial_pivoting=False),
    )


def banded(tf, bands, b):
    solve = tf.linalg.banded_triangular_solve
    lower = bands + tf.constant([[3.0], [0.0]], bands.dtype)
    upper = bands + tf.constant([[0.0], [3.0]], bands.dtype)
    return [
        solve(m, b, lower=low, adjoint=adjoint)
        for m, low in ((lower, True), (upper, False))
        for adjoint in (False, True)
    ]


def eigh_tridiagonal(tf, a, b):
    a = a + tf.constant([0.0, 3.0, 6.0, 9.0], a.dtype)
    f = tf.linalg.eigh_tridiagonal
    return (
        f(a, b),
        f(a, b, select="i", select_range=[1, 2]),
        tf.abs(f(a, b, eigvals_only=False)[1]),
    )


# fmt: off
SYSTEMS = [
    *[case(f"linalg.{name}", call(f"linalg.{name}"), matrices(2, 3, 3))
      for name in ("inv", "det", "slogdet", "sqrtm", "qr")],
    *[case(f"linalg.{name} of positive definite matrices", of_positive(f"linalg.{name}"),
           normal(2, 3, 3)) for name in ("cholesky", "logdet", "inv", "sqrtm")],
    case("linalg.inv adjoint", call("linalg.inv", adjoint=True), matrices(3, 3)),
    *[case(f"linalg.{name} of empty matrices", call(f"linalg.{name}"), normal(2, 0, 0), order=1)
      for name in ("inv", "det", "slogdet", "cholesky", "expm")],
    case("linalg.det of one element", call("linalg.det"), given([[2.0]])),
    case("linalg.cholesky reads the lower triangle", call("linalg.cholesky"),
         given([[4.0, 99.0], [1.0, 3.0]])),
    case("linalg.cholesky of a batch", call("linalg.cholesky"),
         given([[[4.0, 1.0], [1.0, 3.0]], [[2.0, -1.0], [-1.0, 5.0]]])),
    *[case(f"linalg.solve adjoint={adjoint}", call("linalg.solve", adjoint=adjoint),
           matrices(2, 3, 3), normal(2, 3, 2)) for adjoint in (False, True)],
    *[case(f"linalg.triangular_solve lower={lower} adjoint={adjoint}",
           call("linalg.triangular_solve", lower=lower, adjoint=adjoint),
           matrices(3, 3), normal(3, 2)) for lower in (False, True) for adjoint in (False, True)],
    case("linalg.triangular_solve broadcast", call("linalg.triangular_solve"), matrices(2, 1, 2, 2),
         normal(3, 2, 1)),
    case("linalg.triangular_solve of many", call("linalg.triangular_solve"), matrices(6, 2, 2),
         normal(6, 2, 1)),
    case("linalg.triangular_solve with a zero", call("linalg.triangular_solve"),
         given([[0.0, 0.0], [1.0, 2.0]]), given([[1.0], [1.0]]), order=0),
    case("linalg.cholesky_solve", call("linalg.cholesky_solve"), matrices(3, 3), normal(3, 2)),
    case("linalg.cholesky_solve broadcast", call("linalg.cholesky_solve"), matrices(2, 2),
         normal(2, 2, 1)),
    *[case(f"linalg.lstsq {kind}", call("linalg.lstsq", **kwargs), matrices(*shape),
           normal(shape[-2], 2))
      for kind, shape, kwargs in (
          ("tall", (4, 2), {}), ("wide", (2, 4), {}),
          ("regularised", (4, 2), {"l2_regularizer": 0.5}),
          ("wide regularised", (2, 3), {"l2_regularizer": 0.5}))],
    case("linalg.lstsq slow", call("linalg.lstsq", fast=False), matrices(4, 2), normal(4, 1),
         order=0),
    case("linalg.lstsq slow without full rank", call("linalg.lstsq", fast=False),
         given([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]), given([[1.0], [2.0], [4.0]]), order=0),
    *[case(f"linalg.pinv {shape}", call("linalg.pinv"), matrices(*shape))
      for shape in ((3, 2), (2, 3), (2, 2, 2))],
    case("linalg.pinv without full rank", call("linalg.pinv"), given([[1.0, 2.0], [2.0, 4.0]]),
         order=0),
    case("linalg.pinv rcond", call("linalg.pinv", rcond=0.75), given([[4.0, 0.5], [0.25, 1.0]]),
         order=1),
    case("linalg.matrix_rank", lambda tf, x: (
        tf.linalg.matrix_rank(x), tf.linalg.matrix_rank(x, tol=3.0)),
        given([[[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0], [3.0, 5.0]]])),
    case("linalg.slogdet signs", call("linalg.slogdet"), given([[1.0, 2.0], [3.0, 4.0]])),
    case("linalg.slogdet of a singular matrix", call("linalg.slogdet"),
         given([[1.0, 2.0], [2.0, 4.0]]), order=0),
    case("linalg.inv in float16", call("linalg.inv"), given([[2.0, 1.0], [1.0, 4.0]]),
         dtypes=("float16",), order=1),
]

FACTORS = [
    case("linalg.lu", lu_of, matrices(2, 3, 3), order=1, agrees=0, differs=MISSING),
    case("linalg.lu that permutes", lu_of,
         given([[0.5, 2.0, 1.0], [3.0, 4.0, 0.0], [1.0, 1.0, 1.0]]), order=1, agrees=0,
         differs=MISSING),
    case("linalg.lu solve, reconstruct, inverse", lu_functions, matrices(2, 3, 3), normal(2, 3, 2)),
    case("linalg.lu_solve broadcast", lambda tf, x, b: tf.linalg.lu_solve(
        *tf.linalg.lu(tf.stop_gradient(x)), b), matrices(2, 2), normal(3, 2, 1)),
    *[case(f"linalg.qr {shape}", call("linalg.qr"), matrices(*shape))
      for shape in ((4, 2), (2, 4), (2, 3, 2))],
    case("linalg.qr full wide", call("linalg.qr", full_matrices=True), matrices(2, 3)),
    case("linalg.qr full tall", lambda tf, x: tf.linalg.qr(x, full_matrices=True)[1],
         matrices(3, 2), order=0),
    *[case(f"linalg.svd {shape}", svd_function(), matrices(*shape))
      for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2))],
    *[case(f"linalg.svd full {shape}", svd_function(True), matrices(*shape))
      for shape in ((2, 2), (3, 2), (2, 3))],
    case("linalg.svd values", call("linalg.svd", compute_uv=False), matrices(2, 3, 2)),
    case("linalg.svd of nan", call("linalg.svd"), given([[np.nan, 1.0], [1.0, 2.0]]), order=0),
    case("linalg.eigh", eigh_function, matrices(2, 3, 3)),
    case("linalg.eigh reads the lower triangle", eigh_lower, given([[1.0, 9.0], [0.5, 3.0]])),
    case("linalg.eigvalsh", lambda tf, x: tf.linalg.eigvalsh(hermitian(tf, x)), matrices(2, 3, 3)),
    case("linalg.eigh of equal eigenvalues", lambda tf, x: tf.linalg.eigh(x)[0],
         given([[2.0, 0.0], [0.0, 2.0]]), order=1, linear=True),
    case("linalg.eig", eig_function, matrices(3, 3)),
    case("linalg.eig of a rotation", lambda tf, x: tf.reduce_sum(tf.exp(tf.linalg.eig(x)[0])),
         given([[0.25, 1.0], [-2.0, 0.5]])),
    case("linalg.eigvals", eigvals_function, matrices(2, 3, 3)),
    case("tf.eig and tf.eigvals", lambda tf, x: (
        tf.reduce_sum(tf.eig(x)[0]), tf.reduce_sum(tf.eigvals(x) ** 2)), matrices(2, 2)),
    case("linalg.eigh_tridiagonal", eigh_tridiagonal, normal(4), normal(3), order=1, agrees=0,
         differs="TensorFlow's gradient is wrong"),
    case("linalg.norm of order 2", lambda tf, x: tf.norm(x, 2, axis=[-2, -1]), matrices(2, 3, 2)),
    case("linalg.qr in float16", lambda tf, x: tf.linalg.qr(x), given([[2.0, 1.0], [1.0, 4.0]]),
         dtypes=("float16",), order=0),
]

FUNCTIONS = [
    case("linalg.expm", call("linalg.expm"), unit(2, 3, 3)),
    case("linalg.expm small, middle and large", call("linalg.expm"),
         given([[[0.001, 0.002], [-0.003, 0.001]], [[0.5, -0.25], [0.125, 0.75]],
                [[3.0, 1.0], [-2.0, 4.0]]]), dtypes=("float64",)),
    case("linalg.expm of a zero matrix", call("linalg.expm"), given([[0.0, 0.0], [0.0, 0.0]]),
         dtypes=("float64",), order=1),
    case("linalg.logm", lambda tf, x: tf.linalg.logm(x), complex_matrices(2, 3, 3), order=1,
         agrees=0, differs=MISSING),
    case("tf.matrix_square_root", call("matrix_square_root"), matrices(2, 2)),
    case("linalg.sqrtm without a real root", call("linalg.sqrtm"), given([[-1.0, 0.0], [0.0, 1.0]]),
         order=0),
]

BANDS = [
    case("linalg.trace", call("linalg.trace"), normal(2, 3, 2)),
    case("linalg.trace of integers", call("linalg.trace"), integers(-3, 4, 3, 3)),
    case("linalg.cross", call("linalg.cross"), normal(2, 3), normal(2, 3)),
    case("linalg.cross of integers", call("linalg.cross"), given([1, 2, 3]), given([3, 2, 1])),
    case("linalg.cross in half precision", call("linalg.cross"), normal(3), normal(3),
         dtypes=HALVES, order=1),
    *[case(f"linalg.normalize {kwargs}", call("linalg.normalize", **kwargs), normal(2, 3))
      for kwargs in ({}, {"axis": 1}, {"ord": 1, "axis": 0}, {"ord": np.inf, "axis": -1})],
    *[case(f"linalg.band_part {bounds}", call("linalg.band_part", *bounds), normal(2, 3, 4))
      for bounds in ((0, 0), (1, 0), (-1, 0), (0, -1), (1, 2), (-1, -1), (3, 4), (-2, 1))],
    case("linalg.band_part of bool", call("linalg.band_part", 1, 0), booleans(3, 3)),
    case("linalg.diag_part", diagonals, normal(2, 3, 4)),
    case("linalg.diag_part of integers", call("linalg.diag_part", k=(-1, 1)),
         integers(-4, 5, 3, 3)),
    case("linalg.diag", diag_forms, normal(2, 3)),
    case("linalg.diag of bool", call("linalg.diag"), booleans(3)),
    case("linalg.set_diag", set_diags, normal(2, 3, 4), normal(2, 3), normal(2, 3, 3)),
    case("linalg.tensor_diag", call("linalg.tensor_diag"), normal(2, 3)),
    case("linalg.tensor_diag_part", call("linalg.tensor_diag_part"), normal(2, 3, 2, 3)),
    case("linalg.tridiagonal_solve", tridiagonal("tridiagonal_solve"), normal(2, 3, 4),
         normal(2, 4, 2)),
    case("linalg.tridiagonal_solve sides", tridiagonal_sides, normal(3, 3), normal(3, 2)),
    case("linalg.tridiagonal_solve of a singular matrix", call("linalg.tridiagonal_solve"),
         given([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 0.0]]), normal(3, 1), order=0),
    case("linalg.tridiagonal_matmul", tridiagonal("tridiagonal_matmul"), normal(2, 3, 4),
         normal(2, 4, 2)),
    case("linalg.banded_triangular_solve", banded, normal(2, 4), normal(4, 2)),
    case("linalg.banded_triangular_solve broadcast", banded, normal(2, 3), normal(2, 3, 1)),
]

COMPLEX = [
    *[case(f"complex linalg.{name}", call(f"linalg.{name}"), complex_matrices(2, 2, 2))
      for name in ("inv", "expm", "qr")],
    case("complex linalg.det", call("linalg.det"), complex_matrices(2, 2), agrees=0,
         differs=FORGOTTEN),
    case("complex linalg.slogdet", call("linalg.slogdet"), complex_matrices(2, 2), agrees=0,
         differs="TensorFlow takes the sign for a constant and the logarithm for a complex number"),
    case("complex linalg.sqrtm", call("linalg.sqrtm"), complex_matrices(2, 2), agrees=0,
         differs=FORGOTTEN),
    case("complex linalg.cholesky", of_positive("linalg.cholesky"), complex_matrices(2, 2)),
    case("complex linalg.logdet", of_positive("linalg.logdet"), complex_matrices(2, 2)),
    *[case(f"complex linalg.solve adjoint={adjoint}", call("linalg.solve", adjoint=adjoint),
           complex_matrices(2, 2), complexes(2, 1)) for adjoint in (False, True)],
    *[case(f"complex linalg.triangular_solve adjoint={adjoint}",
           call("linalg.triangular_solve", adjoint=adjoint), complex_matrices(2, 2),
           complexes(2, 1)) for adjoint in (False, True)],
    case("complex linalg.lstsq", call("linalg.lstsq"), complex_matrices(3, 2), complexes(3, 1)),
    case("complex linalg.eigh", eigh_function, complex_matrices(2, 3, 3)),
    case("complex linalg.eigvalsh", lambda tf, x: tf.linalg.eigvalsh(hermitian(tf, x)),
         complex_matrices(2, 2)),
    *[case(f"complex linalg.svd {shape}", svd_function(), complex_matrices(*shape), agrees=1,
           differs="TensorFlow keeps an imaginary part in the cotangent of real singular values")
      for shape in ((2, 2), (3, 2), (2, 3))],
    case("complex linalg.eig", eig_function, complex_matrices(2, 2)),
    case("complex linalg.eigvals", eigvals_function, complex_matrices(2, 2)),
    case("complex linalg.diag_part", call("linalg.diag_part", k=(-1, 1)), complexes(2, 3)),
    case("complex linalg.tridiagonal_solve", tridiagonal("tridiagonal_solve"), complexes(3, 3),
         complexes(3, 2), agrees=0, differs=FORGOTTEN),
    case("complex linalg.tridiagonal_matmul", tridiagonal("tridiagonal_matmul"), complexes(3, 3),
         complexes(3, 2)),
    case("complex linalg.banded_triangular_solve", banded, complexes(2, 3), complexes(3, 1)),
    case("complex linalg.trace", call("linalg.trace"), complexes(2, 2)),
]

# fmt: on
CASES = SYSTEMS + FACTORS + FUNCTIONS + BANDS + COMPLEX
