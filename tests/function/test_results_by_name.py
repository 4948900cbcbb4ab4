"""Ops with several results give TensorFlow's named tuples: eagerly, compiled, batched."""

import numpy as np
import pytest

MATRIX = [[2.0, 1.0], [1.0, 3.0]]
ROW = [3.0, 1.0, 2.0, 1.0]
IMAGE = [[[[3.0], [1.0]], [[2.0], [1.0]]]]

NAMED = {
    "slogdet": (lambda tf, x: tf.linalg.slogdet(x), MATRIX, ("sign", "log_abs_determinant")),
    "lu": (lambda tf, x: tf.linalg.lu(x), MATRIX, ("lu", "p")),
    "qr": (lambda tf, x: tf.linalg.qr(x), MATRIX, ("q", "r")),
    "top_k": (lambda tf, x: tf.math.top_k(x, 2), ROW, ("values", "indices")),
    "approx_max_k": (lambda tf, x: tf.math.approx_max_k(x, 2), ROW, ("values", "indices")),
    "argmax": (
        lambda tf, x: tf.nn.max_pool_with_argmax(x, 2, 2, "VALID"), IMAGE, ("output", "argmax")
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_a_result_has_names(tf, name):
    op, value, fields = NAMED[name]
    x = tf.constant(value)
    eager = op(tf, x)
    compiled = tf.function(lambda x: op(tf, x))(x)
    inside = tf.function(lambda x: [getattr(op(tf, x), field) for field in fields])(x)
    for results in (eager, compiled):
        assert results._fields == fields
    for field, found in zip(fields, inside, strict=True):
        np.testing.assert_allclose(found, getattr(eager, field), rtol=1e-6)
        np.testing.assert_allclose(getattr(compiled, field), found, rtol=1e-6)


@pytest.mark.parametrize("name", ["slogdet", "qr", "top_k"])
def test_a_result_of_a_batch_has_names(tf, name):
    op, value, fields = NAMED[name]
    batch = tf.stack([tf.constant(value), 2 * tf.constant(value)])

    def each(x):
        return {field: getattr(op(tf, x), field) for field in fields}

    found = tf.vectorized_map(each, batch)
    for field in fields:
        rows = [getattr(op(tf, x), field) for x in batch]
        np.testing.assert_allclose(found[field], np.stack(rows), rtol=1e-6)


@pytest.mark.parametrize("solver", ["eager", "compiled"])
def test_conjugate_gradient_and_its_gradient(tf, solver):
    matrix, rhs = tf.constant(MATRIX), tf.constant([1.0, 2.0])

    def solve(matrix, rhs):
        operator = tf.linalg.LinearOperatorFullMatrix(
            matrix, is_self_adjoint=True, is_positive_definite=True
        )
        return tf.linalg.experimental.conjugate_gradient(operator, rhs)

    run = tf.function(solve) if solver == "compiled" else solve
    with tf.GradientTape() as tape:
        tape.watch(rhs)
        state = run(matrix, rhs)
        total = tf.reduce_sum(state.x)
    assert state.i == 2
    np.testing.assert_allclose(state.x, [0.2, 0.6], rtol=1e-4)
    np.testing.assert_allclose(tape.gradient(total, rhs), [0.4, 0.2], rtol=1e-3)


def test_a_confusion_matrix_of_arguments(tf):
    count = tf.function(lambda x, y: tf.math.confusion_matrix(x, y, num_classes=3))
    found = count(tf.constant([0, 1, 1]), tf.constant([0, 2, 2]))
    np.testing.assert_array_equal(found, [[1, 0, 0], [0, 0, 2], [0, 0, 0]])
    with pytest.raises(tf.errors.InvalidArgumentError):
        count(tf.constant([0]), tf.constant([3]))
