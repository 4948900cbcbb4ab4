"""Gradients of tf.sparse by values and dense tensors, to second order, eagerly and in functions.

Each op is compared with the same on dense tensors.
"""

import numpy as np
import pytest

PLACES = [[0, 0], [0, 2], [1, 1]]
VALUES = [1.5, -0.5, 2.0]


def sparse(tf, values):
    return tf.SparseTensor(PLACES, values, [3, 3])


def dense(tf, values):
    return tf.scatter_nd(PLACES, values, [3, 3])


def other(tf):
    return tf.SparseTensor([[0, 0], [2, 2]], [5.0, -7.0], [3, 3])


def masked_softmax(tf, x):
    there = tf.scatter_nd(PLACES, [1.0, 1.0, 1.0], [3, 3])
    powers = tf.exp(x) * there
    return powers / (tf.reduce_sum(powers, -1, keepdims=True) + 1.0 - tf.minimum(
        tf.reduce_sum(there, -1, keepdims=True), 1.0
    ))  # fmt: skip


# name: (of a sparse tensor and a dense matrix, of the dense tensor and the matrix)
CASES = {
    "to_dense": (lambda tf, s, d: tf.sparse.to_dense(s), lambda tf, x, d: x),
    "matmul": (
        lambda tf, s, d: tf.sparse.sparse_dense_matmul(s, d),
        lambda tf, x, d: tf.matmul(x, d),
    ),
    "matmul, adjoints": (
        lambda tf, s, d: tf.sparse.sparse_dense_matmul(s, d, adjoint_a=True, adjoint_b=True),
        lambda tf, x, d: tf.matmul(x, d, transpose_a=True, transpose_b=True),
    ),
    "dense matmul sparse": (
        lambda tf, s, d: tf.sparse.sparse_dense_matmul(d, s),
        lambda tf, x, d: tf.matmul(d, x),
    ),
    "times dense": (lambda tf, s, d: tf.sparse.to_dense(s * d), lambda tf, x, d: x * d),
    "dense times": (lambda tf, s, d: tf.sparse.to_dense(d * s), lambda tf, x, d: x * d),
    "times a row": (lambda tf, s, d: tf.sparse.to_dense(s * d[0]), lambda tf, x, d: x * d[0]),
    "by dense": (lambda tf, s, d: tf.sparse.to_dense(s / d), lambda tf, x, d: x / d),
    "add": (
        lambda tf, s, d: tf.sparse.to_dense(tf.sparse.add(s, other(tf))),
        lambda tf, x, d: x + tf.sparse.to_dense(other(tf)),
    ),
    "add dense": (lambda tf, s, d: tf.sparse.add(s, d), lambda tf, x, d: x + d),
    "sum of rows": (
        lambda tf, s, d: tf.sparse.reduce_sum(s, 1),
        lambda tf, x, d: tf.reduce_sum(x, 1),
    ),
    "sum": (
        lambda tf, s, d: tf.sparse.reduce_sum(s, keepdims=True),
        lambda tf, x, d: tf.reduce_sum(x, keepdims=True),
    ),
    "softmax": (
        lambda tf, s, d: tf.sparse.to_dense(tf.sparse.softmax(s)),
        lambda tf, x, d: masked_softmax(tf, x),
    ),
    "transpose": (
        lambda tf, s, d: tf.sparse.to_dense(tf.sparse.transpose(s)) * d,
        lambda tf, x, d: tf.transpose(x) * d,
    ),
    "reorder": (
        lambda tf, s, d: tf.sparse.to_dense(tf.sparse.reorder(s)) * d,
        lambda tf, x, d: x * d,
    ),
    "reshape": (
        lambda tf, s, d: tf.sparse.to_dense(tf.sparse.reshape(s, [9])),
        lambda tf, x, d: tf.reshape(x, [9]),
    ),
    "expand_dims": (
        lambda tf, s, d: tf.sparse.to_dense(tf.sparse.expand_dims(s, 1)),
        lambda tf, x, d: x[:, None],
    ),
    "retain": (
        lambda tf, s, d: tf.sparse.to_dense(tf.sparse.retain(s, [True, False, True])),
        lambda tf, x, d: x * tf.constant([[1.0, 1.0, 0.0]] * 3),
    ),
    "slice": (
        lambda tf, s, d: tf.sparse.to_dense(tf.sparse.slice(s, [0, 1], [2, 2])),
        lambda tf, x, d: x[:2, 1:],
    ),
    "fill_empty_rows": (
        lambda tf, s, d: tf.sparse.to_dense(tf.sparse.fill_empty_rows(s, d[0, 0])[0]),
        lambda tf, x, d: tf.tensor_scatter_nd_update(x, [[2, 0]], [d[0, 0]]),
    ),
    "map_values": (
        lambda tf, s, d: tf.sparse.to_dense(tf.sparse.map_values(tf.sinh, s)),
        lambda tf, x, d: tf.sinh(x),
    ),
    "square": (lambda tf, s, d: tf.sparse.to_dense(tf.square(s)), lambda tf, x, d: tf.square(x)),
}
FIRST_ORDER_IN_TENSORFLOW = {"add", "softmax", "slice", "fill_empty_rows"}
# TensorFlow has no gradients of these.
OURS = {
    "concat": (
        lambda tf, s, d: tf.sparse.to_dense(tf.sparse.concat(1, [s, other(tf), s])),
        lambda tf, x, d: tf.concat([x, tf.sparse.to_dense(other(tf)), x], 1),
    ),
    "split": (
        lambda tf, s, d: tf.sparse.to_dense(tf.sparse.split(s, 2, 0)[0]),
        lambda tf, x, d: x[:2],
    ),
    "maximum": (
        lambda tf, s, d: tf.sparse.to_dense(tf.sparse.maximum(s, other(tf))),
        lambda tf, x, d: tf.maximum(x, tf.sparse.to_dense(other(tf))),
    ),
    "largest of rows": (
        lambda tf, s, d: tf.sparse.reduce_max(s, 1),
        lambda tf, x, d: tf.reduce_max(x, 1),
    ),
    "sum, sparse": (
        lambda tf, s, d: tf.sparse.to_dense(tf.sparse.reduce_sum(s, 1, output_is_sparse=True)),
        lambda tf, x, d: tf.reduce_sum(x, 1),
    ),
}


def derivatives(tf, function, make, values, matrix, order=2):
    """The value, the gradients of a weighted square, and those of the same of these gradients."""

    def weighted(y):
        return tf.reduce_sum(
            tf.cast(tf.range(1, tf.size(y) + 1), y.dtype) * tf.reshape(y, [-1]) ** 2
        )

    def gradients(values, matrix):
        with tf.GradientTape() as tape:
            tape.watch([values, matrix])
            y = function(tf, make(tf, values), matrix)
            target = weighted(y)
        found = tape.gradient(target, [values, matrix], unconnected_gradients="zero")
        return y, *[tf.convert_to_tensor(g) for g in found]

    if order == 1:
        return [np.asarray(x) for x in gradients(values, matrix)]
    with tf.GradientTape() as tape:
        tape.watch([values, matrix])
        first = gradients(values, matrix)
        target = weighted(first[1]) + weighted(first[2])
    second = tape.gradient(target, [values, matrix], unconnected_gradients="zero")
    return [np.asarray(tf.convert_to_tensor(x)) for x in (*first, *second)]


def compare(tf, of_sparse, of_dense, in_function, order=2):
    values = tf.constant(VALUES)
    matrix = tf.constant([[1.0, 2.0, -1.0], [0.5, 1.5, 3.0], [-2.0, 0.25, 1.0]])
    expected = derivatives(tf, of_dense, dense, values, matrix, order)
    if in_function:
        compiled = tf.function(lambda values, matrix: of_sparse(tf, sparse(tf, values), matrix))
        run = lambda tf, v, m: compiled(v, m)  # noqa: E731
        found = derivatives(tf, run, lambda tf, v: v, values, matrix, order)
    else:
        found = derivatives(tf, of_sparse, sparse, values, matrix, order)
    for i, (x, y) in enumerate(zip(found, expected, strict=True)):
        name = ("value", "by values", "by the matrix", "2nd by values", "2nd by the matrix")[i]
        np.testing.assert_allclose(x, y, rtol=2e-4, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("in_function", [False, True], ids=["eagerly", "in a function"])
@pytest.mark.parametrize("name", CASES)
def test_as_on_dense_tensors(tf, name, in_function):
    first_only = tf.__name__ == "tensorflow" and name in FIRST_ORDER_IN_TENSORFLOW
    compare(tf, *CASES[name], in_function, 1 if first_only else 2)


@pytest.mark.gradtape_only
@pytest.mark.parametrize("in_function", [False, True], ids=["eagerly", "in a function"])
@pytest.mark.parametrize("name", OURS)
def test_as_on_dense_tensors_beyond_tensorflow(tf, name, in_function):
    compare(tf, *OURS[name], in_function)


@pytest.mark.gradtape_only
def test_places_that_are_arguments_are_compiled(tf, caplog):
    """The places too may be symbols: what has as many entries as before is compiled."""

    @tf.function
    def run(x, d):
        y = tf.sparse.softmax(tf.sparse.transpose(x) * d)
        return tf.sparse.sparse_dense_matmul(y, d)

    def plain(values, d):
        y = tf.sparse.softmax(tf.sparse.transpose(sparse(tf, values)) * d)
        return tf.sparse.sparse_dense_matmul(y, d)

    values, d = tf.constant(VALUES), tf.reshape(tf.range(9.0) / 5.0, [3, 3])
    found = derivatives(tf, lambda tf, s, d: run(s, d), sparse, values, d)
    expected = derivatives(tf, lambda tf, v, d: plain(v, d), lambda tf, v: v, values, d)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
    assert caplog.text == ""


def test_the_default_has_a_gradient(tf):
    values, default = tf.constant(VALUES), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch([values, default])
        y = tf.reduce_sum(tf.sparse.to_dense(sparse(tf, values), default) ** 2)
    by_values, by_default = tape.gradient(y, [values, default])
    np.testing.assert_allclose(by_values, [3.0, -1.0, 4.0])
    np.testing.assert_allclose(by_default, 6 * 4.0)


def test_gradients_of_segments(tf):
    data = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for rows_only in (False, True):
        with tf.GradientTape() as tape:
            tape.watch(data)
            y = tf.sparse.segment_sum(data, [0, 2, 2], [0, 0, 1], sparse_gradient=rows_only) ** 2
        gradient = tape.gradient(y, data)
        assert isinstance(gradient, tf.IndexedSlices) == rows_only
        np.testing.assert_allclose(
            tf.convert_to_tensor(gradient), [[12.0, 16.0], [0.0, 0.0], [22.0, 28.0]]
        )
