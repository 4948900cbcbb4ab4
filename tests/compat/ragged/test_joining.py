"""Ragged tensors joined, repeated, cut, and given or rid of an axis."""

import pytest

CASES = [
    (lambda tf, x: tf.concat([x.r, x.dense], 0), [[1, 2], [3], [1, 2], [3, 4]], [4, None]),
    (lambda tf, x: tf.concat([x.r, x.dense], 1), [[1, 2, 1, 2], [3, 3, 4]], [2, None]),
    (lambda tf, x: tf.concat([x.whole, x.whole], 0), [[1, 2], [3, 4], [1, 2], [3, 4]], [4, None]),
    (lambda tf, x: tf.concat([x.whole, x.whole], axis=-1), [[1, 2, 1, 2], [3, 4, 3, 4]], [2, None]),
    (
        lambda tf, x: tf.concat([x.deep, x.deep], 0),
        [[[1], [2, 3]], [], [[1], [2, 3]], []],
        [4, None, None],
    ),
    (
        lambda tf, x: tf.concat([x.deep, x.deep], 1),
        [[[1], [2, 3], [1], [2, 3]], []],
        [2, None, None],
    ),
    (lambda tf, x: tf.concat([x.deep, x.deep], 2), [[[1, 1], [2, 3, 2, 3]], []], [2, None, None]),
    (
        lambda tf, x: tf.concat([x.wide, x.wide], 1),
        [[[1, 2], [1, 2]], [[3, 4], [5, 6], [3, 4], [5, 6]]],
        [2, None, 2],
    ),
    (
        lambda tf, x: tf.concat([x.wide, x.wide], 2),
        [[[1, 2, 1, 2]], [[3, 4, 3, 4], [5, 6, 5, 6]]],
        [2, None, 4],
    ),
    (
        lambda tf, x: tf.concat([x.words, x.words], 1),
        [[b"a", b"bc", b"a", b"bc"], [b"d", b"d"]],
        [2, None],
    ),
    (lambda tf, x: tf.concat([x.r], 1), [[1, 2], [3]], [2, None]),
    (lambda tf, x: tf.stack([x.r, x.dense]), [[[1, 2], [3]], [[1, 2], [3, 4]]], [2, None, None]),
    (lambda tf, x: tf.stack([x.r, x.r], 1), [[[1, 2], [1, 2]], [[3], [3]]], [2, None, None]),
    (lambda tf, x: tf.stack([x.r, x.r], 2), [[[1, 1], [2, 2]], [[3, 3]]], [2, None, 2]),
    (
        lambda tf, x: tf.stack([x.deep, x.deep], 1),
        [[[[1], [2, 3]], [[1], [2, 3]]], [[], []]],
        [2, None, None, None],
    ),
    (lambda tf, x: tf.ragged.stack([[1, 2], [3]]), [[1, 2], [3]], [2, None]),
    (lambda tf, x: tf.ragged.stack([x.dense, [[1]]]), [[[1, 2], [3, 4]], [[1]]], [2, None, None]),
    (
        lambda tf, x: tf.ragged.stack([x.dense, x.dense], 1),
        [[[1, 2], [1, 2]], [[3, 4], [3, 4]]],
        None,
    ),
    (lambda tf, x: tf.ragged.stack([1, 2]), [1, 2], None),
    (lambda tf, x: tf.ragged.stack([x.r]), [[[1, 2], [3]]], [1, None, None]),
    (lambda tf, x: tf.expand_dims(x.r, 0), [[[1, 2], [3]]], [1, 2, None]),
    (lambda tf, x: tf.expand_dims(x.r, 1), [[[1, 2]], [[3]]], [2, 1, None]),
    (lambda tf, x: tf.expand_dims(x.r, -1), [[[1], [2]], [[3]]], [2, None, 1]),
    (lambda tf, x: tf.expand_dims(x.deep, 2), [[[[1]], [[2, 3]]], []], [2, None, 1, None]),
    (lambda tf, x: tf.squeeze(tf.expand_dims(x.r, 0), 0), [[1, 2], [3]], [2, None]),
    (lambda tf, x: tf.squeeze(tf.expand_dims(x.r, 1), [1]), [[1, 2], [3]], [2, None]),
    (lambda tf, x: tf.squeeze(tf.expand_dims(x.r, 2), -1), [[1, 2], [3]], [2, None]),
    (
        lambda tf, x: tf.squeeze(tf.expand_dims(tf.expand_dims(x.r, 1), 0), [0, 2]),
        [[1, 2], [3]],
        [2, None],
    ),
    (lambda tf, x: tf.tile(x.r, [2, 1]), [[1, 2], [3], [1, 2], [3]], [4, None]),
    (lambda tf, x: tf.tile(x.r, [1, 2]), [[1, 2, 1, 2], [3, 3]], [2, None]),
    (
        lambda tf, x: tf.tile(x.deep, [2, 2, 2]),
        [
            [[1, 1], [2, 3, 2, 3], [1, 1], [2, 3, 2, 3]],
            [],
            [[1, 1], [2, 3, 2, 3], [1, 1], [2, 3, 2, 3]],
            [],
        ],
        [4, None, None],
    ),
    (
        lambda tf, x: tf.tile(x.wide, [1, 2, 2]),
        [[[1, 2, 1, 2], [1, 2, 1, 2]], [[3, 4, 3, 4], [5, 6, 5, 6], [3, 4, 3, 4], [5, 6, 5, 6]]],
        [2, None, 4],
    ),
    (lambda tf, x: tf.reverse(x.r, [1]), [[2, 1], [3]], [2, None]),
    (lambda tf, x: tf.reverse(x.deep, [0, 1]), [[], [[2, 3], [1]]], [2, None, None]),
    (lambda tf, x: tf.split(x.r, 2), [[[1, 2]], [[3]]], None),
    (lambda tf, x: tf.split(x.r, [0, 2]), [[], [[1, 2], [3]]], None),
    (lambda tf, x: tf.split(x.whole, 2, axis=1), [[[1], [3]], [[2], [4]]], None),
    (lambda tf, x: tf.split(x.wide, 2, axis=2), [[[[1]], [[3], [5]]], [[[2]], [[4], [6]]]], None),
    (lambda tf, x: tf.size(x.deep), 3, None),
    (lambda tf, x: tf.rank(x.deep), 3, None),
    (lambda tf, x: tf.reshape(x.r, [3, 1]), [[1], [2], [3]], None),
    (
        lambda tf, x: tf.matmul(
            tf.RaggedTensor.from_row_lengths([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [1, 2]),
            tf.ones([2, 2, 1]),
        ),
        [[[3.0]], [[7.0], [11.0]]],
        [2, None, 1],
    ),
]


@pytest.mark.parametrize("function, expected, shape", CASES)
def test_joined(check, function, expected, shape):
    check(function, expected, shape)


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, x: tf.concat([x.r, x.f], 0),  # other dtypes
        lambda tf, x: tf.concat([x.r, x.deep], 0),  # other ranks
        lambda tf, x: tf.concat([x.r, tf.ragged.constant([[1]])], 1),  # other numbers of rows
        lambda tf, x: tf.squeeze(x.r, 1),
        lambda tf, x: tf.squeeze(x.r),
        lambda tf, x: tf.split(x.r, 2, axis=1),
        lambda tf, x: tf.ragged.stack([]),
        lambda tf, x: tf.transpose(x.r),
        lambda tf, x: tf.convert_to_tensor(x.r),
        lambda tf, x: tf.Variable(x.r),
    ],
)
def test_what_cannot_be_joined_is_refused(tf, x, function):
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
        function(tf, x)


def test_axes_that_are_not_ragged_stay_so(tf, x):
    assert tf.expand_dims(x.r, 1).uniform_row_length.numpy() == 1
    assert tf.concat([x.r, x.r], 1).uniform_row_length is None


def test_partitions_of_two_dtypes_do_not_mix(tf, x):
    narrow = x.r.with_row_splits_dtype(tf.int32)
    assert narrow.row_splits.dtype == tf.int32
    with pytest.raises(ValueError, match="mismatched row_splits dtypes"):
        tf.concat([x.r, narrow], 0)
