"""How many changes make one sequence of another."""

import pytest


def test_words(tf):
    hypothesis = tf.SparseTensor([[0, 0, 0], [1, 0, 0]], ["verb", "noun"], [2, 1, 1])
    truth = tf.SparseTensor(
        [[0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0]], ["a", "b", "c", "a"], [2, 2, 2]
    )
    distances = tf.edit_distance(hypothesis, truth)
    assert distances.numpy().tolist() == [[float("inf"), 1.0], [1.0, 1.0]]
    distances = tf.edit_distance(hypothesis, truth, normalize=False)
    assert distances.numpy().tolist() == [[1.0, 1.0], [2.0, 1.0]]


def test_numbers(tf):
    of = tf.sparse.from_dense
    distances = tf.edit_distance(of([[1, 2, 3, 4], [1, 1, 0, 0]]), of([[1, 3, 4], [1, 1, 0]]))
    assert distances.numpy().tolist() == pytest.approx([1 / 3, 0.0])
    assert distances.dtype == tf.float32
    with pytest.raises(TypeError):
        tf.edit_distance([1], [1])
