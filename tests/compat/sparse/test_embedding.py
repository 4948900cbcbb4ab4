"""Look-ups by sparse ids."""

import numpy as np
import pytest

TABLE = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]


@pytest.fixture
def ids(tf):
    return tf.SparseTensor(
        [[0, 0], [0, 1], [1, 0], [2, 1]], tf.constant([1, 3, 0, 3], tf.int64), [3, 2]
    )


@pytest.fixture
def weights(tf):
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 1]], [0.5, 2.0, 1.0, 3.0], [3, 2])


@pytest.mark.parametrize(
    "combiner, without, weighted",
    [
        ("sum", [[10, 12], [1, 2], [7, 8]], [[15.5, 18], [1, 2], [21, 24]]),
        ("mean", [[5, 6], [1, 2], [7, 8]], [[6.2, 7.2], [1, 2], [7, 8]]),
        (None, [[5, 6], [1, 2], [7, 8]], [[6.2, 7.2], [1, 2], [7, 8]]),
        ("sqrtn", [[7.0710678, 8.4852814], [1, 2], [7, 8]], [[7.518604, 8.731282], [1, 2], [7, 8]]),
    ],
)
def test_combined_rows(tf, ids, weights, combiner, without, weighted, same):
    table = tf.constant(TABLE)
    same(tf.nn.embedding_lookup_sparse(table, ids, None, combiner=combiner), without)
    same(tf.nn.embedding_lookup_sparse(table, ids, weights, combiner=combiner), weighted)


def test_rows_are_clipped(tf, ids, same):
    found = tf.nn.embedding_lookup_sparse(tf.constant(TABLE), ids, None, "sum", max_norm=2.0)
    same(found, [[2.5170093, 3.1051536], [0.8944272, 1.7888544], [1.3170092, 1.5051534]])


def test_wrong_arguments(tf, ids):
    with pytest.raises(ValueError):
        tf.nn.embedding_lookup_sparse(tf.constant(TABLE), ids, None, combiner="max")
    with pytest.raises(TypeError):
        tf.nn.embedding_lookup_sparse(tf.constant(TABLE), [[1]], None)


def test_rows_without_ids_and_ids_that_are_none(tf, same):
    table = tf.constant(TABLE)
    ids = tf.SparseTensor(
        [[0, 0], [0, 1], [2, 0], [3, 1]], tf.constant([1, -3, 0, 3], tf.int64), [5, 2]
    )
    lookup = tf.nn.safe_embedding_lookup_sparse
    same(lookup(table, ids), [[3, 4], [0, 0], [1, 2], [7, 8], [0, 0]])
    same(lookup([table], ids, default_id=2), [[3, 4], [5, 6], [1, 2], [7, 8], [5, 6]])
    weights = ids.with_values([0.5, 2.0, -1.0, 3.0])
    same(lookup(table, ids, weights), [[3, 4], [0, 0], [0, 0], [7, 8], [0, 0]])
    summed = [[1.5, 2], [0, 0], [-1, -2], [21, 24], [0, 0]]
    same(lookup(table, ids, weights, combiner="sum"), summed)


def test_ids_of_a_higher_rank(tf, same):
    ids = tf.SparseTensor(
        [[0, 0, 0], [0, 1, 1], [1, 2, 0]], tf.constant([1, 3, 0], tf.int64), [2, 3, 2]
    )
    found = tf.nn.safe_embedding_lookup_sparse(tf.constant(TABLE), ids)
    same(found, [[[3, 4], [7, 8], [0, 0]], [[0, 0], [0, 0], [1, 2]]])


def test_gradients_are_rows(tf, ids, same):
    table, values = tf.Variable(TABLE), tf.constant([0.5, 2.0, 1.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(values)
        found = tf.nn.embedding_lookup_sparse(table, ids, ids.with_values(values))
        y = tf.reduce_sum(found**2)
    by_table, by_weights = tape.gradient(y, [table, values])
    assert isinstance(by_table, tf.IndexedSlices)
    expected = [[2.0, 4.0], [2.48, 2.88], [0, 0], [23.92, 27.52]]
    same(tf.convert_to_tensor(by_table), expected)
    same(by_weights, [-34.304, 8.576, 0.0, 0.0])


def test_it_trains_in_a_function(tf, ids):
    table = tf.Variable(TABLE)

    @tf.function
    def step(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.embedding_lookup_sparse(table, ids, None) ** 2)
        gradient = tape.gradient(loss, table)
        table.scatter_sub(
            tf.IndexedSlices(0.1 * gradient.values, gradient.indices, gradient.dense_shape)
        )
        return loss

    losses = [float(step(ids)) for _ in range(5)]
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.5 * losses[0]
    np.testing.assert_array_equal(table[2], TABLE[2])


def test_the_gradient_has_each_row_once(tf):
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 0]], [3, 1, 3, 3], [3, 2])
    weights = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 0]], [1.0, 2.0, 3.0, 4.0], [3, 2])
    table = tf.Variable(tf.ones([5, 2]))
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(tf.nn.embedding_lookup_sparse(table, ids, weights, "sum"))
    rows = tape.gradient(total, table)
    np.testing.assert_array_equal(rows.indices, [3, 1])
    np.testing.assert_array_equal(rows.values, [[8.0, 8.0], [2.0, 2.0]])


def test_squares_of_the_gradient_in_a_function(tf):
    table = tf.Variable(tf.ones([5, 2]))
    places = tf.constant([[0, 0], [0, 1], [1, 0], [2, 0]], tf.int64)

    @tf.function
    def squares(values, weights):
        ids = tf.SparseTensor(places, values, [3, 2])
        with tf.GradientTape() as tape:
            weighted = tf.SparseTensor(places, weights, [3, 2])
            total = tf.reduce_sum(tf.nn.embedding_lookup_sparse(table, ids, weighted, "sum"))
        rows = tape.gradient(total, table)
        squared = tf.IndexedSlices(rows.values**2, rows.indices, rows.dense_shape)
        return tf.convert_to_tensor(squared)

    found = squares(tf.constant([3, 1, 3, 3]), tf.constant([1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_array_equal(found[:, 0], [0.0, 4.0, 0.0, 64.0, 0.0])
