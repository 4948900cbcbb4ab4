"""tape.sparse_jacobian and tape.jacobian_structure: never an entry missed, and few passes."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gradtape._src.core.pattern import ELEMENTWISE, MOVES
from gradtape._src.tape import sparse
from gradtape._src.tape.sparse import Colouring, colour
from gradtape._src.testing import all_ops
from gradtape._src.testing.samples import samples_of

from .test_three_ways import OPS, checked, programs

pytestmark = pytest.mark.gradtape_only


def recorded(tf, f, x, **options):
    x = tf.constant(x) if isinstance(x, np.ndarray) else x
    with tf.GradientTape(persistent=True, **options) as tape:
        tape.watch(x)
        y = f(x)
    return tape, y, x


def dense_jacobian(tape, y, x):
    shape = (y.numpy().size, x.numpy().size)
    if 0 in shape:
        return np.zeros(shape, x.numpy().dtype)
    return tape.jacobian(y, x, unconnected_gradients="zero").numpy().reshape(shape)


def check(tf, f, x, passes=None, exact=True):
    """The sparse Jacobian is the dense one; its structure holds no more, if `exact`."""
    tape, y, x = recorded(tf, f, x)
    wanted = dense_jacobian(tape, y, x)
    structure = tape.jacobian_structure(y, x)
    found = tape.sparse_jacobian(y, x)
    assert structure.dtype == bool
    assert found.format == "csr" and found.dtype == wanted.dtype
    np.testing.assert_array_equal(found.toarray(), wanted)
    if exact:
        np.testing.assert_array_equal(structure.toarray(), wanted != 0)
    if passes is not None:
        assert colour(structure).passes == passes
    return found


def draw(*shape):
    return np.random.default_rng(0).uniform(0.5, 1.5, shape)


# What depends on what


# The rule of `undifferentiated` is to raise: it has no Jacobian.
DIFFERENTIABLE = {
    name: op
    for name, op in all_ops().items()
    if op.differentiable and op.rules and name != "undifferentiated"
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_structure_of_every_op(tf, name):
    """A declared pattern holds all entries of the op's Jacobian; of one that moves, no more."""
    op = DIFFERENTIABLE[name]
    for arrays, params in samples_of(op):
        tensors = [tf.constant(a) for a in arrays]
        names = [n.split("[")[0] for n in op.names_of(tensors)]
        sources = [
            t
            for t, n in zip(tensors, names, strict=True)
            if n not in op.nondiff and t.dtype.is_floating | t.dtype.is_complex
        ]
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(sources)
            outputs = op.call(*tensors, **params)
        for y in outputs if isinstance(outputs, tuple) else [outputs]:
            if y.dtype.is_floating or y.dtype.is_complex:
                for x in sources:
                    compare(tape, y, x, exact=op.pattern == MOVES)


def compare(tape, y, x, exact=False):
    wanted = dense_jacobian(tape, y, x)
    structure = tape.jacobian_structure(y, x).toarray()
    assert structure[wanted != 0].all(), "a dependence was missed"
    if exact:
        assert (wanted != 0)[structure].all(), "a place was not found exactly"
    scale = 1 + np.abs(wanted).max(initial=0)
    for choice in (colour, rows_or_columns):
        with mock.patch.object(sparse, "colour", choice):
            found = tape.sparse_jacobian(y, x).toarray()
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12 * scale)


def rows_or_columns(structure, columns_too):
    """Columns where that is possible, however many colours they need."""
    if columns_too:
        return Colouring(False, sparse._colour_rows(structure.T.tocsr()))
    return colour(structure, columns_too)


@pytest.mark.parametrize("op", OPS)
@checked
@given(st.data())
def test_random_programs(tf, op, data):
    program = data.draw(programs(tf, op))
    xs = program.sources(tf)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(xs)
        y = program.run(tf, xs)
    for x in xs:
        compare(tape, y, x)


@pytest.mark.parametrize(
    ("f", "entries"),
    [
        (lambda tf, x: tf.reduce_sum(x, 1), 12),
        (lambda tf, x: tf.reduce_logsumexp(x, 0), 12),
        (lambda tf, x: tf.nn.softmax(x, 1), 3 * 16),
        (lambda tf, x: tf.cumsum(x, 0), 4 * 9),
        (lambda tf, x: x @ np.ones((4, 5)), 3 * 4 * 5),
        (lambda tf, x: tf.matmul(np.ones((2, 3)), x), 2 * 4 * 3),
        (lambda tf, x: tf.matmul(x, np.ones((3, 2)), transpose_a=True), 4 * 2 * 3),
        (lambda tf, x: tf.einsum("ij,jk->ik", x, tf.ones((4, 2), tf.float64)), 3 * 2 * 4),
        (lambda tf, x: tf.sort(x, 1), 3 * 16),
        (lambda tf, x: tf.cast(tf.cast(x, tf.float32), tf.float64), 12),
        (lambda tf, x: x * x[:1] * x[0, 0], None),
    ],
)
def test_structure_of(tf, f, entries):
    tape, y, x = recorded(tf, lambda x: f(tf, x), draw(3, 4))
    structure = tape.jacobian_structure(y, x)
    assert structure.shape == (y.numpy().size, 12)
    if entries is not None:
        assert structure.nnz == entries
    compare(tape, y, x)


def test_structure_is_that_of_the_declaration_not_of_the_values(tf):
    """Zeros in a constant are no reason to leave an entry out."""
    tape, y, x = recorded(tf, lambda x: tf.constant(np.zeros(3)) * x, draw(3))
    assert tape.jacobian_structure(y, x).nnz == 3
    assert tape.sparse_jacobian(y, x).nnz == 3
    assert not tape.sparse_jacobian(y, x).toarray().any()


def test_low_precision_finds_places_exactly(tf):
    """float16 cannot count to 5000; the places are found in float64."""
    n = 5000
    tape, y, x = recorded(tf, lambda x: tf.roll(x, 1, 0) * x, np.ones(n, np.float16))
    structure = tape.jacobian_structure(y, x).tocoo()
    assert structure.nnz == 2 * n
    assert set(np.unique((structure.row - structure.col) % n)) == {0, 1}
    jacobian = tape.sparse_jacobian(y, x)
    assert jacobian.dtype == np.float32
    np.testing.assert_array_equal(jacobian.sum(1), 2)


def test_several_outputs(tf):
    def f(x):
        first, _, third = tf.split(x, 3)
        rows = tf.unstack(tf.reshape(x, (3, 2)), axis=1)
        return first * third + rows[1][:2]

    check(tf, f, draw(6))


def test_argument_without_gradient(tf):
    """The padding value has none: jacobian and structure leave it out alike."""
    check(tf, lambda x: tf.pad(x * 2.0, [[1, 0]], constant_values=x[0]), draw(3))


def test_a_wrong_pattern_is_found(tf):
    """A test that cannot fail tests nothing: these ops are not elementwise."""
    for name in ("cumsum", "softmax", "reverse"):
        with (
            mock.patch.object(DIFFERENTIABLE[name], "pattern", ELEMENTWISE),
            pytest.raises(AssertionError, match="a dependence was missed"),
        ):
            test_structure_of_every_op(tf, name)


MATRICES = draw(2, 2, 2) + 3 * np.eye(2)
EQUAL_SIZES = {
    "matmul": lambda tf, x: tf.matmul(x, x[::-1]),
    "matmul_broadcast": lambda tf, x: tf.matmul(x, x[0]) + tf.matmul(x[1], x),
    "matmul_tn": lambda tf, x: tf.matmul(x[0], MATRICES, transpose_a=True),
    "matmul_nt": lambda tf, x: tf.matmul(MATRICES, x[0], transpose_b=True),
    "matmul_tt": lambda tf, x: tf.matmul(x, x[0], transpose_a=True, transpose_b=True),
    "einsum": lambda tf, x: tf.einsum("abc,cd->dba", x, x[0]),
    "einsum_diagonal": lambda tf, x: tf.einsum("aba,ac->cab", x, x[0]),
    "solve": lambda tf, x: tf.linalg.solve(x, x[::-1]),
    "triangular_solve": lambda tf, x: tf.linalg.triangular_solve(x[0], x),
    "inv": lambda tf, x: tf.linalg.inv(x),
    "det": lambda tf, x: tf.linalg.det(x),
    "qr": lambda tf, x: tf.linalg.qr(x)[1],
    "svd": lambda tf, x: tf.linalg.svd(x, compute_uv=False),
    "softmax": lambda tf, x: tf.nn.softmax(x, 0) + tf.nn.softmax(x, 1),
    "reduce": lambda tf, x: tf.reduce_prod(x, 0) + tf.reduce_max(x, 1) + tf.reduce_mean(x, 2),
    "reduce_kept": lambda tf, x: tf.reduce_prod(x, 1, keepdims=True) * x,
    "reduce_two": lambda tf, x: tf.reduce_sum(x, (0, 2)),
    "broadcast": lambda tf, x: x[0] * x[:, 0] * x[0, :, 0] * x[..., :1],
    "sort": lambda tf, x: tf.sort(x, 1) * tf.sort(x, 0),
    "fft": lambda tf, x: tf.math.real(tf.signal.fft2d(tf.cast(x, tf.complex128))),
    "transpose": lambda tf, x: tf.transpose(x, (2, 0, 1)) * tf.transpose(x),
    "cross_entropy": lambda tf, x: tf.nn.softmax_cross_entropy_with_logits(x, x),
}


@pytest.mark.parametrize("name", EQUAL_SIZES)
def test_axes_of_equal_size_are_told_apart(tf, name):
    """Where all sizes are equal, a wrong pair of axes is not noticed by its size."""
    tape, y, x = recorded(tf, lambda x: EQUAL_SIZES[name](tf, x), MATRICES)
    compare(tape, y, x)


# Typical Jacobians


def test_separable_function_takes_one_pass(tf):
    check(tf, lambda x: tf.sin(x) * tf.exp(x), draw(50), passes=1)


def test_stencil(tf):
    check(tf, lambda x: x[2:] * x[1:-1] - x[:-2] ** 2, draw(30), passes=3)


def test_periodic_stencil(tf):
    check(tf, lambda x: tf.roll(x, 1, 0) * x - tf.roll(x, -1, 0), draw(30), passes=3)


def test_stencil_in_the_plane(tf):
    def laplace(u):
        p = tf.pad(u, [[1, 1], [1, 1]])
        return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u + u**3

    tape, y, x = recorded(tf, laplace, draw(12, 12))
    assert colour(tape.jacobian_structure(y, x)).passes <= 9
    check(tf, laplace, draw(12, 12))


def test_blocks(tf):
    """A batch of examples: a block for each."""
    weights = np.random.default_rng(1).normal(size=(3, 2))
    tape, y, x = recorded(tf, lambda x: tf.tanh(x @ weights), draw(10, 3))
    structure = tape.jacobian_structure(y, x)
    assert structure.nnz == 10 * 2 * 3
    assert colour(structure).passes == 2
    np.testing.assert_allclose(
        tape.sparse_jacobian(y, x).toarray(), dense_jacobian(tape, y, x), rtol=1e-15
    )


def test_columns_where_they_are_fewer(tf):
    """All outputs depend on x[0]: each row would need a pass of its own, the columns need two."""

    def f(x):
        return x[1:] ** 2 * tf.sin(x[0])

    tape, y, x = recorded(tf, f, draw(20))
    found = colour(tape.jacobian_structure(y, x))
    assert not found.by_rows and found.passes == 2
    np.testing.assert_allclose(
        tape.sparse_jacobian(y, x).toarray(), dense_jacobian(tape, y, x), rtol=1e-14
    )


def test_sparse_hessian(tf):
    """A gradient is recorded by the tape outside: its Jacobian is the Hessian, here tridiagonal."""

    def rosenbrock_gradient(x):
        with tf.GradientTape() as inner:
            inner.watch(x)
            f = tf.reduce_sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
        return inner.gradient(f, x)

    hessian = check(tf, rosenbrock_gradient, draw(40), passes=3)
    np.testing.assert_array_equal(hessian.toarray(), hessian.T.toarray())


def test_gathered(tf):
    """A graph: each edge reads two nodes, each node adds up its edges."""
    ends = np.random.default_rng(2).integers(0, 40, size=(60, 2))

    def f(x):
        flow = tf.sin(tf.gather(x, ends[:, 0]) - tf.gather(x, ends[:, 1]))
        return tf.math.unsorted_segment_sum(flow, ends[:, 0], 40)

    check(tf, f, draw(40), exact=False)


def test_variable_source(tf):
    v = tf.Variable(draw(5))
    with tf.GradientTape() as tape:
        y = v[1:] * v[:-1]
    found = tape.sparse_jacobian(y, v).toarray()
    np.testing.assert_array_equal(found[:, 1:].diagonal(), v.numpy()[:-1])


def test_complex(tf):
    x = draw(6) + 1j * draw(6)
    check(tf, lambda x: x[1:] * tf.exp(x[:-1]), x, passes=2)


def test_float32(tf):
    check(tf, lambda x: x[1:] * x[:-1], draw(6).astype(np.float32), passes=2)


def test_scalars(tf):
    assert check(tf, lambda x: x**2, np.array(3.0)).shape == (1, 1)
    assert check(tf, lambda x: tf.reduce_sum(x**2), draw(4), passes=1).shape == (1, 4)


def test_target_that_is_the_source(tf):
    check(tf, lambda x: x, draw(4), passes=1)


def test_empty(tf):
    assert check(tf, lambda x: x[:0] * 2.0, draw(3)).shape == (0, 3)
    assert check(tf, lambda x: x * 2.0, draw(0)).shape == (0, 0)


def test_custom_gradient_by_rows(tf):
    """Its rule may be any function: it is taken to mix everything, and never transposed."""

    @tf.custom_gradient
    def clipped(x):
        return x * 1.0, lambda g: tf.clip_by_value(g, -0.5, 0.5)

    tape, y, x = recorded(tf, lambda x: tf.concat([clipped(x[:3]), x[3:] * x[0]], 0), draw(8))
    assert tape.jacobian_structure(y, x).toarray()[:3, :3].all()
    np.testing.assert_array_equal(tape.sparse_jacobian(y, x).toarray(), dense_jacobian(tape, y, x))


def test_memory_budget(tf):
    tape, y, x = recorded(
        tf, lambda x: tf.exp(tf.sin(x[1:] * x[:-1])), draw(100), memory_budget=800
    )
    np.testing.assert_array_equal(tape.sparse_jacobian(y, x).toarray(), dense_jacobian(tape, y, x))


def test_nan_stays_in_its_row(tf):
    x = np.array([0.0, 1.0, 4.0])
    tape, y, x = recorded(tf, lambda x: tf.sqrt(x), x)
    np.testing.assert_array_equal(tape.sparse_jacobian(y, x).data, [np.inf, 0.5, 0.25])


# Colours


def test_colours_keep_apart_what_meets():
    from scipy.sparse import csr_array

    for seed in range(20):
        structure = csr_array(np.random.default_rng(seed).random((30, 20)) < 0.1)
        found = colour(structure)
        rows = structure.toarray() if found.by_rows else structure.toarray().T
        for c in range(found.passes):
            assert rows[found.colours == c].sum(0).max() <= 1
        assert found.passes >= min(rows.sum(0).max(), rows.sum(1).max())


def test_arrow_is_dense_both_ways():
    from scipy.sparse import csr_array

    arrow = np.eye(9, dtype=bool)
    arrow[0] = arrow[:, 0] = True
    assert colour(csr_array(arrow)).passes == 9


# Use of the tape


def test_tape_is_used_up(tf):
    x = tf.constant(draw(3))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.jacobian_structure(y, x)  # reads, and leaves the tape as it is
    tape.sparse_jacobian(y, x)
    for again in (tape.sparse_jacobian, tape.jacobian_structure):
        with pytest.raises(RuntimeError, match="can only be used to compute one set of gradients"):
            again(y, x)


def test_nothing_is_recorded_outside(tf):
    x = tf.constant(draw(3))
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.sin(x)[1:] * x[:-1]
        before = len(list(outer))
        tape.sparse_jacobian(y, x)
        assert len(list(outer)) == before


def test_known_structure(tf):
    def f(x):
        return x[1:] * x[:-1]

    tape, y, x = recorded(tf, f, draw(10))
    structure = tape.jacobian_structure(y, x)
    tape, y, x = recorded(tf, f, draw(10) + 1)
    found = tape.sparse_jacobian(y, x, structure)
    np.testing.assert_array_equal(found.toarray(), dense_jacobian(tape, y, x))
    found.data[:] = 0
    found.eliminate_zeros()
    assert structure.nnz == 18, "the result must not share what the structure holds"


def test_unconnected(tf):
    tape, y, x = recorded(tf, lambda x: x * 2.0, draw(3))
    other = tf.constant(draw(2, 2))
    found = tape.sparse_jacobian(y, other)
    assert found.shape == (3, 4) and found.nnz == 0 and found.dtype == np.float64
    assert tape.jacobian_structure(y, other).nnz == 0
    integers = tf.constant([1, 2])
    assert tape.sparse_jacobian(integers, x).shape == (2, 3)


@pytest.mark.parametrize("name", ["sparse_jacobian", "jacobian_structure"])
def test_misuse(tf, name):
    tape, y, x = recorded(tf, lambda x: x * 2.0, draw(3))
    method = getattr(tape, name)
    with pytest.raises(TypeError, match=f"{name}: `target` must be one tensor, and is a list"):
        method([y], x)
    with pytest.raises(TypeError, match=f"{name}: `source` must be one tensor, and is a list"):
        method(y, [x])
    with pytest.raises(TypeError, match=f"{name}: `source` must be one tensor, and is a float"):
        method(y, 3.0)
    with pytest.raises(RuntimeError, match="never entered"):
        getattr(tf.GradientTape(), name)(y, x)


def test_misuse_of_structure(tf):
    tape, y, x = recorded(tf, lambda x: x * 2.0, draw(3))
    with pytest.raises(TypeError, match="`structure` must be a SciPy sparse array"):
        tape.sparse_jacobian(y, x, np.eye(3))
    wrong = tape.jacobian_structure(y, x)[:2]
    with pytest.raises(ValueError, match=r"shape \(3, 3\). Received shape \(2, 3\)"):
        tape.sparse_jacobian(y, x, wrong)
