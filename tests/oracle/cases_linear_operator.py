"""The linear operators of tf.linalg: what each method gives, and its gradients."""

from .cases_linalg import complex_matrices, matrices, positive
from .inputs import case, complexes, nonzero, normal


def methods(make, square=True, plain=True, related=True):
    """All that an operator does, for a function from (tf, tensors) to the operator.

    Without `plain` no determinant, without `related` no adjoint and inverse operators.
    """

    def run(tf, x, *tensors):
        operator = make(tf, *tensors)
        results = [
            operator.to_dense(),
            operator.matmul(x),
            operator.matvec(x[..., 0]),
            operator.add_to_tensor(operator.to_dense()),
        ]
        if related:
            results += [operator.adjoint().to_dense(), operator.H.matmul(operator.matmul(x))]
        if square:
            results += [
                operator.matmul(x, adjoint=True),
                operator.solve(x),
                operator.solve(x, adjoint=True),
                operator.solvevec(x[..., 0]),
                operator.diag_part(),
                operator.trace(),
                operator.log_abs_determinant(),
            ]
            if related:
                results.append(operator.inverse().matmul(x))
            if plain:
                results.append(operator.determinant())
        shape = [operator.shape_tensor(), operator.batch_shape_tensor()]
        return results + shape

    return run


def full(tf, a):
    return tf.linalg.LinearOperatorFullMatrix(a)


def full_positive(tf, a):
    return tf.linalg.LinearOperatorFullMatrix(
        positive(tf, a), is_self_adjoint=True, is_positive_definite=True
    )


def identity(tf, a):
    return tf.linalg.LinearOperatorIdentity(3, dtype=a.dtype, batch_shape=[2])


def scaled(tf, s):
    return tf.linalg.LinearOperatorScaledIdentity(3, s)


def block_diag(tf, a, d):
    L = tf.linalg
    return L.LinearOperatorBlockDiag([L.LinearOperatorFullMatrix(a), L.LinearOperatorDiag(d)])


def kronecker(tf, a, b):
    L = tf.linalg
    return L.LinearOperatorKronecker([L.LinearOperatorFullMatrix(a), L.LinearOperatorFullMatrix(b)])


def composition(tf, a, d):
    L = tf.linalg
    return L.LinearOperatorComposition(
        [L.LinearOperatorFullMatrix(a, is_non_singular=True), L.LinearOperatorDiag(d)]
    )


def low_rank(tf, d, u, s, v):
    L = tf.linalg
    base = L.LinearOperatorDiag(d * d + 2.0, is_positive_definite=True)
    return L.LinearOperatorLowRankUpdate(base, u, s, v)


def low_rank_positive(tf, d, u):
    L = tf.linalg
    base = L.LinearOperatorDiag(d * d + 2.0, is_positive_definite=True)
    return L.LinearOperatorLowRankUpdate(base, u)


def tridiagonal(tf, d):
    return tf.linalg.LinearOperatorTridiag(d + tf.constant([[0.0], [4.0], [0.0]], d.dtype))


def circulant(tf, kernel):
    dtype = tf.complex128 if kernel.dtype == tf.float64 else tf.complex64
    spectrum = tf.signal.fft(tf.cast(kernel, dtype))
    return tf.linalg.LinearOperatorCirculant(spectrum + 4.0, input_output_dtype=kernel.dtype)


def complex_circulant(tf, spectrum):
    return tf.linalg.LinearOperatorCirculant(spectrum, input_output_dtype=spectrum.dtype)


def circulant_2d(tf, spectrum):
    return tf.linalg.LinearOperatorCirculant2D(spectrum, input_output_dtype=spectrum.dtype)


def toeplitz(tf, col, row):
    first = tf.constant([4.0, 0.0, 0.0], col.dtype)
    return tf.linalg.LinearOperatorToeplitz(col + first, tf.concat([(col + first)[:1], row[1:]], 0))


def permutation(tf, a):
    return tf.linalg.LinearOperatorPermutation([2, 0, 1], dtype=a.dtype)


def named(name, **kwargs):
    return lambda tf, x: getattr(tf.linalg, f"LinearOperator{name}")(x, **kwargs)


def zeros(tf, x):
    L = tf.linalg
    operator = L.LinearOperatorZeros(3, dtype=x.dtype)
    wide = L.LinearOperatorZeros(2, 3, dtype=x.dtype, is_square=False, is_self_adjoint=False)
    return operator.matmul(x), operator.diag_part(), operator.to_dense(), wide.matmul(x)


def factors(tf, a, d):
    L = tf.linalg
    operator = full_positive(tf, a)
    diagonal = L.LinearOperatorDiag(d * d + 1.0, is_positive_definite=True)
    both = L.LinearOperatorBlockDiag([operator, diagonal])
    return [
        operator.cholesky().to_dense(),
        operator.eigvals(),
        operator.inverse().to_dense(),
        diagonal.cholesky().to_dense(),
        both.cholesky().to_dense(),
        both.log_abs_determinant(),
        operator.matmul(diagonal).to_dense(),
        operator.solve(diagonal).to_dense(),
        operator.cond(),
    ]


RIGHT = normal(3, 2)

# fmt: off
CASES = [
    case("LinearOperatorFullMatrix", methods(full), RIGHT, matrices(3, 3)),
    case("LinearOperatorFullMatrix batched", methods(full), normal(2, 3, 1), matrices(2, 3, 3),
         order=1),
    case("LinearOperatorFullMatrix positive definite", methods(full_positive), RIGHT, normal(3, 3)),
    case("LinearOperatorFullMatrix not square", methods(full, square=False), RIGHT, normal(2, 3)),
    case("LinearOperatorDiag", methods(named("Diag")), RIGHT, nonzero(2, 3)),
    case("LinearOperatorIdentity", methods(identity), RIGHT, normal(1), order=1),
    case("LinearOperatorScaledIdentity", methods(scaled), RIGHT, nonzero(2)),
    case("LinearOperatorLowerTriangular", methods(named("LowerTriangular")), RIGHT, matrices(3, 3)),
    case("LinearOperatorBlockDiag", methods(block_diag), normal(5, 2), matrices(2, 2), nonzero(3)),
    case("LinearOperatorKronecker", methods(kronecker), normal(6, 2), matrices(2, 2),
         matrices(3, 3), order=1),
    case("LinearOperatorComposition", methods(composition), RIGHT, matrices(3, 3), nonzero(3)),
    case("LinearOperatorLowRankUpdate", methods(low_rank), RIGHT, nonzero(3), normal(3, 2),
         nonzero(2), normal(3, 2), dtypes=("float64",), order=1),
    case("LinearOperatorLowRankUpdate positive definite", methods(low_rank_positive), RIGHT,
         nonzero(3), normal(3, 2), order=1),
    case("LinearOperatorHouseholder", methods(named("Householder")), RIGHT, nonzero(3)),
    case("LinearOperatorPermutation", methods(permutation, plain=False), RIGHT, normal(1), order=1),
    case("LinearOperatorToeplitz", methods(toeplitz), RIGHT, normal(3), normal(3), order=1),
    case("LinearOperatorTridiag", methods(tridiagonal), RIGHT, normal(3, 3)),
    case("LinearOperatorCirculant", methods(circulant, related=False), RIGHT, normal(3), order=1),
    case("LinearOperatorCirculant complex", methods(complex_circulant, related=False),
         complexes(3, 2), complexes(3), order=1),
    case("LinearOperatorCirculant2D", methods(circulant_2d, related=False), complexes(4, 1),
         complexes(2, 2), order=1),
    case("LinearOperatorZeros", zeros, RIGHT, order=1),
    case("LinearOperator factors", factors, normal(3, 3), normal(3), order=1),
    case("complex LinearOperatorFullMatrix", methods(full, plain=False), complexes(2, 1),
         complex_matrices(2, 2), order=1, agrees=0, differs="TensorFlow's slogdet, see there"),
    case("complex LinearOperatorDiag", methods(named("Diag")), complexes(2, 1), complexes(2),
         order=1),
]
# fmt: on
