"""bucket_by_sequence_length."""

import numpy as np
import pytest

from .examples import values


@pytest.fixture
def ranges(tf, Dataset):
    """Tensors of 1, 5, 2, 4, 3 and 6 zeros: of the lengths, and the number of each."""

    def of(*lengths):
        return Dataset.from_generator(
            lambda: (np.full(n, n) for n in lengths),
            output_signature=tf.TensorSpec([None], tf.int64),
        )

    return of


def length(tf):
    return lambda *element: tf.shape(element[0])[0]


def test_elements_of_about_one_length_come_together(tf, ranges):
    dataset = ranges(1, 5, 2, 4, 3, 6).bucket_by_sequence_length(length(tf), [3, 5], [2, 2, 2])
    assert values(dataset) == [
        [[1, 0], [2, 2]],
        [[4, 4, 4, 4], [3, 3, 3, 0]],
        [[5, 5, 5, 5, 5, 0], [6, 6, 6, 6, 6, 6]],
    ]
    assert dataset.element_spec == tf.TensorSpec([None, None], tf.int64)
    assert dataset.cardinality() == tf.data.UNKNOWN_CARDINALITY


def test_a_boundary_belongs_to_the_bucket_above_it(tf, ranges):
    dataset = ranges(2, 3, 1).bucket_by_sequence_length(length(tf), [3], [2, 2])
    assert values(dataset) == [[[2, 2], [1, 0]], [[3, 3, 3]]]


def test_buckets_have_sizes_of_their_own_and_rests_come_last(tf, ranges):
    dataset = ranges(4, 1, 1, 4, 1).bucket_by_sequence_length(length(tf), [3], [3, 1])
    assert values(dataset) == [[[4] * 4], [[4] * 4], [[1], [1], [1]]]
    short = ranges(1, 4, 1, 1).bucket_by_sequence_length(
        length(tf), [3], [2, 2], drop_remainder=True
    )
    assert values(short) == [[[1], [1]]]


def test_padding_to_the_boundary(tf, ranges):
    dataset = ranges(1, 4).bucket_by_sequence_length(
        length(tf), [3, 6], [2, 2, 2], padding_values=np.int64(-1), pad_to_bucket_boundary=True
    )
    assert values(dataset) == [[[1, -1]], [[4, 4, 4, 4, -1]]]
    assert dataset.element_spec == tf.TensorSpec([None, None], tf.int64)


def test_what_is_longer_than_all_boundaries_cannot_be_padded_to_one(tf, ranges):
    dataset = ranges(1, 7).bucket_by_sequence_length(
        length(tf), [3], [2, 2], pad_to_bucket_boundary=True
    )
    errors = (tf.errors.InvalidArgumentError, tf.errors.InternalError)  # the second: TensorFlow's
    with pytest.raises(errors, match="pad_to_bucket_boundary=True"):
        list(dataset)


def test_shapes_to_pad_to(tf, ranges):
    pairs = ranges(1, 2, 3).map(lambda x: (x, tf.cast(tf.size(x), tf.float32)))
    dataset = pairs.bucket_by_sequence_length(
        length(tf), [3], [2, 2], padded_shapes=([4], []), padding_values=(np.int64(0), 0.0)
    )
    assert values(dataset) == [
        ([[1, 0, 0, 0], [2, 2, 0, 0]], [1.0, 2.0]),
        ([[3, 3, 3, 0]], [3.0]),
    ]
    assert tuple(dataset.element_spec[0].shape) == (None, 4)


def test_without_padding(tf, Dataset):
    rows = Dataset.from_tensor_slices({"x": [[1, 1], [2, 2], [3, 3]]})
    dataset = rows.bucket_by_sequence_length(lambda row: row["x"][0], [2], [2, 2], no_padding=True)
    assert values(dataset) == [{"x": [[2, 2], [3, 3]]}, {"x": [[1, 1]]}]


def test_by_apply(tf, ranges):
    buckets = tf.data.experimental.bucket_by_sequence_length(length(tf), [3], [2, 2])
    assert values(ranges(1, 2).apply(buckets)) == [[[1, 0], [2, 2]]]


def test_one_size_more_than_boundaries(tf, ranges):
    with pytest.raises(ValueError, match="bucket_batch_sizes"):
        ranges(1).bucket_by_sequence_length(length(tf), [3, 5], [2, 2])
