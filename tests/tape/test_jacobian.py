"""Jacobians by batches of cotangents."""

from unittest import mock

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.tape import jacobian
from gradtape._src.tape.jacobian import pull_rows, rows_together

RNG = np.random.default_rng(0)
A = RNG.normal(size=(3, 4))


def linear(persistent=False, shape=(4,)):
    x = tf.constant(RNG.normal(size=shape))
    with tf.GradientTape(persistent) as tape:
        tape.watch(x)
        y = tf.linalg.matvec(A, x)
    return tape, y, x


@pytest.mark.parametrize("chunk", [None, 1, 2, 3, 100])
def test_rows_in_any_number_at_a_time(chunk):
    tape, y, x = linear()
    (rows,) = pull_rows(tape.records[::-1], y._key, tf.eye(3, dtype=tf.float64), [x._key], chunk)
    np.testing.assert_allclose(rows, A)


@pytest.mark.parametrize("limit, passes", [(1, 3), (2 * 96, 2), (2**20, 1)])
def test_the_memory_limit_bounds_how_many_go_together(limit, passes):
    x = tf.constant(RNG.normal(size=4))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(A * x, axis=1)  # the tape holds A, of 96 bytes
    with (
        mock.patch.object(jacobian, "MEMORY_LIMIT", limit),
        mock.patch.object(jacobian, "_pull_chunk", wraps=jacobian._pull_chunk) as pull,
    ):
        np.testing.assert_allclose(tape.jacobian(y, x), A)
    assert pull.call_count == passes


@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("by", ["a", "b"])
def test_rows_of_a_product_are_at_hand(by, transpose_a, transpose_b):
    """What ends in elementwise ops on a product of one row, or one column, needs no batch."""
    shape = {"a": ((1, 3), (3, 4)), "b": ((4, 3), (3, 1))}[by]
    a, b = (RNG.normal(size=s) for s in shape)
    flags = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    matrices = [tf.constant(m.T if f else m) for m, f in zip((a, b), flags.values(), strict=True)]
    x = matrices["ab".index(by)]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.tanh(tf.sin(tf.matmul(*matrices, **flags)) * 2.0)
    with mock.patch.object(jacobian, "_pull_chunk", wraps=jacobian._pull_chunk) as pull:
        found = tape.jacobian(y, x)
    ((records, *_), _) = pull.call_args
    assert records == []
    np.testing.assert_allclose(found, tape.jacobian(y, x, experimental_use_pfor=False), rtol=1e-12)


@pytest.mark.parametrize("transpose_a", [False, True])
def test_rows_of_a_matrix_and_a_vector_are_at_hand(transpose_a):
    """`matvec` reshapes the vector, and what it gives: that keeps the order of the elements."""
    x = tf.constant(RNG.normal(size=4))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.tanh(tf.linalg.matvec(A.T if transpose_a else A, x, transpose_a))
        y = tf.reshape(tf.sin(tf.reshape(y, [3, 1])), [1, 3])
    with mock.patch.object(jacobian, "_pull_chunk", wraps=jacobian._pull_chunk) as pull:
        found = tape.jacobian(y, x)
    ((records, *_), _) = pull.call_args
    assert [record[0].name for record in records] == ["reshape"]  # of the vector to a column
    assert found.shape == (1, 3, 4)
    np.testing.assert_allclose(found, tape.jacobian(y, x, experimental_use_pfor=False), rtol=1e-12)


def test_an_infinite_derivative_stays_on_its_row():
    x = tf.constant([0.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sqrt(x) * 2.0
    assert tape.jacobian(y, x).numpy().tolist() == [[np.inf, 0.0], [0.0, 0.5]]


def test_what_is_used_twice_or_asked_for_is_not_passed_over():
    x, a = tf.constant(RNG.normal(size=(1, 3))), tf.constant(RNG.normal(size=(3, 3)))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        z = tf.matmul(x, a)
        h = tf.tanh(z)
        y = tf.exp(h) * tf.sin(x)
    for target, sources in (y, [x, z, h]), (h, [h, z, x]):
        together = tape.jacobian(target, sources)
        one_by_one = tape.jacobian(target, sources, experimental_use_pfor=False)
        for found, expected in zip(together, one_by_one, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_the_shape_is_that_of_target_and_source():
    tape, y, x = linear(shape=(2, 4))
    assert tape.jacobian(y, x).shape == (2, 3, 2, 4)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert float(tape.jacobian(y, x)) == 4


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_empty_targets_and_sources(shape):
    x = tf.zeros(shape)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = 2.0 * x
    assert tape.jacobian(y, x).shape == shape + shape


def test_sources_keep_their_nest_and_unconnected_ones_get_none_or_zeros():
    tape, y, x = linear(persistent=True)
    other = tf.zeros([2], tf.float64)
    found = tape.jacobian(y, {"x": x, "rest": (other,)})
    assert found["rest"] == (None,)
    np.testing.assert_allclose(found["x"], A)
    zeros = tape.jacobian(y, [other], unconnected_gradients="zero")[0]
    assert zeros.shape == (3, 2) and zeros.dtype == tf.float64 and not zeros.numpy().any()


def test_a_target_without_a_gradient():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.argmax(x)
    assert tape.jacobian(y, x) is None
    assert tape.jacobian(y, x, unconnected_gradients="zero").shape == (2,)


def test_the_jacobian_can_be_differentiated():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        first = inner.jacobian(y, x)
    second = outer.jacobian(first, x).numpy()
    assert second[0, 0].tolist() == [6, 0] and second[1, 1].tolist() == [0, 12]


def test_batch_jacobian_is_the_diagonal_of_the_jacobian():
    x = tf.constant(RNG.normal(size=(5, 4)))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.tanh(tf.matmul(x, A.T))
    whole = tape.jacobian(y, x).numpy()
    found = tape.batch_jacobian(y, x)
    assert found.shape == (5, 3, 4)
    np.testing.assert_allclose(found, np.stack([whole[i, :, i] for i in range(5)]))


def test_batch_jacobian_of_an_unconnected_source_is_zeros():
    x, other = tf.ones([2, 3]), tf.ones([2, 4], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch([x, other])
        y = 2.0 * x
    found = tape.batch_jacobian(y, other)
    assert found.shape == (2, 3, 4) and found.dtype == tf.float64 and not found.numpy().any()


def test_row_by_row_on_a_persistent_tape():
    tape, y, x = linear(persistent=True)
    with mock.patch.object(jacobian, "_pull_chunk", wraps=jacobian._pull_chunk) as pull:
        np.testing.assert_allclose(tape.jacobian(y, x, experimental_use_pfor=False), A)
        np.testing.assert_allclose(tape.jacobian(y, x, parallel_iterations=2), A)
    assert pull.call_count == 3 + 2


def test_rows_together():
    assert rows_together("jacobian", False, None, True) is None
    assert rows_together("jacobian", True, 5, True) == 5
    assert rows_together("jacobian", True, None, False) == 1


def test_a_refused_call_leaves_the_tape_unused():
    tape, y, x = linear()
    with pytest.raises(ValueError):
        tape.jacobian(y, x, parallel_iterations=1)
    with pytest.raises(TypeError):
        tape.jacobian([y], x)
    np.testing.assert_allclose(tape.jacobian(y, x), A)
