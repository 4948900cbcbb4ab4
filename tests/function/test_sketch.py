"""The first call of a function that takes batches: what it creates sees open sizes as None."""

import numpy as np
import pytest

ROWS = np.arange(20.0, dtype=np.float32).reshape(10, 2)


def batches(tf, size=4, **kwargs):
    return iter(tf.data.Dataset.from_tensor_slices(ROWS).batch(size, **kwargs))


class Layer:
    """Creates its weight when it first sees a tensor, and notes what it sees."""

    def __init__(self, tf):
        self.tf = tf
        self.weight = None
        self.built_for = None
        self.seen = []

    def __call__(self, x):
        self.seen.append(tuple(x.shape))
        if self.weight is None:
            self.built_for = tuple(x.shape)
            self.weight = self.tf.Variable(self.tf.ones([x.shape[-1], 3]))
        return self.tf.matmul(x, self.weight)


def test_variables_are_created_for_batches_of_any_size(tf):
    layer = Layer(tf)
    further = Layer(tf)
    f = tf.function(lambda iterator: further(layer(iterator.get_next())))
    iterator = batches(tf)
    found = [f(iterator) for _ in range(3)]
    assert layer.built_for == (None, 2)
    assert further.built_for == (None, 3)
    rows = ROWS @ np.ones((2, 3), np.float32) @ np.ones((3, 3), np.float32)
    np.testing.assert_allclose(np.concatenate(found), rows)
    with pytest.raises(tf.errors.OutOfRangeError):
        f(iterator)


def test_known_sizes_stay_known(tf):
    layer = Layer(tf)
    f = tf.function(lambda iterator: layer(iterator.get_next()))
    f(batches(tf, drop_remainder=True))
    assert set(layer.seen) == {(4, 2)}


def test_sizes_inside_are_those_of_the_batch(tf):
    layer = Layer(tf)

    @tf.function
    def f(iterator):
        x = layer(iterator.get_next())
        return tf.shape(x)[0], tf.reshape(x, [tf.shape(x)[0] * 3])

    iterator = batches(tf)
    for n in (4, 4, 2):
        count, flat = f(iterator)
        assert count.numpy() == n
        assert flat.shape == [3 * n]
    assert layer.built_for == (None, 2)


@pytest.mark.gradtape_only
def test_the_program_is_traced_for_the_sizes_that_come(tf):
    layer = Layer(tf)
    f = tf.function(lambda iterator: layer(iterator.get_next()))
    iterator = batches(tf)
    for _ in range(3):
        f(iterator)
    assert layer.seen == [(None, 2), (4, 2), (2, 2)]


@pytest.mark.gradtape_only
def test_what_cannot_be_said_of_open_sizes_is_created_for_the_batch(tf):
    layer = Layer(tf)

    @tf.function
    def f(iterator):
        x = iterator.get_next()
        return layer(x * float(x.shape[0]))

    np.testing.assert_allclose(f(batches(tf)), 4 * ROWS[:4] @ np.ones((2, 3)))
    assert layer.built_for == (4, 2)


def test_an_error_of_the_user_is_raised_and_takes_no_element(tf):
    iterator = batches(tf)
    f = tf.function(lambda it: tf.reshape(it.get_next(), [7, 7]))
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        f(iterator)
    if tf.__name__ == "gradtape":
        np.testing.assert_array_equal(next(iterator), ROWS[:4])


def test_sparse_elements(tf):
    layer = Layer(tf)
    rows = tf.data.Dataset.from_tensor_slices(tf.sparse.from_dense(ROWS)).batch(4)
    f = tf.function(lambda iterator: layer(tf.sparse.to_dense(iterator.get_next())))
    np.testing.assert_allclose(f(iter(rows)), ROWS[:4] @ np.ones((2, 3)))
    assert layer.built_for == (None, 2)


def test_ragged_elements(tf):
    layer = Layer(tf)
    values = tf.ragged.constant([[1.0], [2.0, 3.0], [4.0]])
    rows = tf.data.Dataset.from_tensor_slices(values).batch(2)

    @tf.function
    def f(iterator):
        return layer(tf.reduce_sum(iterator.get_next(), 1)[:, None])

    np.testing.assert_allclose(f(iter(rows)), [[1.0] * 3, [5.0] * 3])
    assert layer.built_for == (None, 1)


def test_other_arguments_keep_their_values(tf):
    layer = Layer(tf)
    f = tf.function(lambda iterator, scale: layer(iterator.get_next()) * scale)
    found = f(batches(tf), tf.constant(2.0))
    np.testing.assert_allclose(found, 2 * ROWS[:4] @ np.ones((2, 3)))
    assert layer.built_for == (None, 2)
