"""Parts of ragged tensors by indices, masks and conditions."""

import pytest

CASES = [
    (lambda tf, x: tf.gather(x.r, [1, 0, 0]), [[3], [1, 2], [1, 2]], [3, None]),
    (lambda tf, x: tf.gather(x.r, [[1], [0]]), [[[3]], [[1, 2]]], [2, None, None]),
    (
        lambda tf, x: tf.gather(x.r, tf.ragged.constant([[1], [0, 0]])),
        [[[3]], [[1, 2], [1, 2]]],
        [2, None, None],
    ),
    (lambda tf, x: tf.gather([10, 20, 30, 40], x.r), [[20, 30], [40]], [2, None]),
    (
        lambda tf, x: tf.gather([[1, 2], [3, 4], [5, 6], [7, 8]], x.r),
        [[[3, 4], [5, 6]], [[7, 8]]],
        [2, None, 2],
    ),
    (lambda tf, x: tf.gather(x.deep, [0]), [[[1], [2, 3]]], [1, None, None]),
    (lambda tf, x: tf.gather(x.deep, 0), [[1], [2, 3]], [2, None]),
    (lambda tf, x: tf.gather(x.r, [0], axis=1), [[1], [3]], None),
    (
        lambda tf, x: tf.gather(x.r, tf.ragged.constant([[1, 0], [0]]), batch_dims=1),
        [[2, 1], [3]],
        [2, None],
    ),
    (lambda tf, x: tf.gather(x.r, [[0], [0]], batch_dims=1), [[1], [3]], None),
    (
        lambda tf, x: tf.gather([[1, 2], [3, 4]], tf.ragged.constant([[1, 0], [0]]), batch_dims=1),
        [[2, 1], [3]],
        [2, None],
    ),
    (
        lambda tf, x: tf.gather(
            x.deep, tf.ragged.constant([[1, 0], []], dtype=tf.int32), batch_dims=1
        ),
        [[[2, 3], [1]], []],
        [2, None, None],
    ),
    (
        lambda tf, x: tf.gather(
            x.deep, tf.ragged.constant([[[0], [1]], []], dtype=tf.int32), batch_dims=2, axis=2
        ),
        [[[1], [3]], []],
        [2, None, None],
    ),
    (lambda tf, x: tf.gather(x.words, [1]), [[b"d"]], [1, None]),
    (lambda tf, x: tf.gather_nd(x.r, [[0, 1], [1, 0]]), [2, 3], None),
    (lambda tf, x: tf.gather_nd(x.r, [[0], [1]]), [[1, 2], [3]], [2, None]),
    (lambda tf, x: tf.gather_nd(x.deep, [[0, 1]]), [[2, 3]], [1, None]),
    (lambda tf, x: tf.gather_nd(x.deep, [[[0, 1, 0]]]), [[2]], None),
    (
        lambda tf, x: tf.gather_nd(
            x.dense, tf.ragged.constant([[[0, 1]], [[1, 1], [0, 0]]], ragged_rank=1)
        ),
        [[2], [4, 1]],
        [2, None],
    ),
    (lambda tf, x: tf.where(x.r > 1), [[0, 1], [1, 0]], None),
    (lambda tf, x: tf.where(x.deep > 1), [[0, 1, 0], [0, 1, 1]], None),
    (lambda tf, x: tf.where(x.r > 1, x.r, -x.r), [[-1, 2], [3]], [2, None]),
    (lambda tf, x: tf.where(x.r > 1, x.r, 0), [[0, 2], [3]], [2, None]),
    (lambda tf, x: tf.where(x.r > 1, 0, x.r), [[1, 0], [0]], [2, None]),
    (
        lambda tf, x: tf.nn.embedding_lookup(
            tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]), x.r
        ),
        [[[3.0, 4.0], [5.0, 6.0]], [[7.0, 8.0]]],
        [2, None, 2],
    ),
    (
        lambda tf, x: tf.ragged.boolean_mask(
            [[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, True]]
        ),
        [[1, 3], [6]],
        [2, None],
    ),
    (
        lambda tf, x: tf.ragged.boolean_mask(x.r, tf.ragged.constant([[True, False], [True]])),
        [[1], [3]],
        [2, None],
    ),
    (lambda tf, x: tf.ragged.boolean_mask(x.deep, [True, False]), [[[1], [2, 3]]], [1, None, None]),
    (
        lambda tf, x: tf.ragged.boolean_mask(
            x.deep, tf.ragged.constant([[True, False], []], dtype=tf.bool)
        ),
        [[[1]], []],
        [2, None, None],
    ),
    (
        lambda tf, x: tf.ragged.boolean_mask(
            x.deep, tf.ragged.constant([[[True], [False, True]], []], dtype=tf.bool)
        ),
        [[[1], [3]], []],
        [2, None, None],
    ),
    (lambda tf, x: tf.ragged.boolean_mask([1, 2, 3], [True, False, True]), [1, 3], None),
    (lambda tf, x: tf.dynamic_partition(x.r, [1, 0], 2), [[[3]], [[1, 2]]], None),
    (
        lambda tf, x: tf.ragged.stack_dynamic_partitions([1, 2, 3], [0, 1, 0], 3),
        [[1, 3], [2], []],
        [3, None],
    ),
    (
        lambda tf, x: tf.ragged.stack_dynamic_partitions(x.r, [1, 0], 3),
        [[[3]], [[1, 2]], []],
        [3, None, None],
    ),
    (
        lambda tf, x: tf.ragged.stack_dynamic_partitions(x.r, tf.ragged.constant([[1, 0], [1]]), 2),
        [[2], [1, 3]],
        [2, None],
    ),
    (
        lambda tf, x: tf.ragged.stack_dynamic_partitions(x.dense, [[1, 0], [1, 1]], 2),
        [[2], [1, 3, 4]],
        [2, None],
    ),
]


@pytest.mark.parametrize("function, expected, shape", CASES)
def test_selected(check, function, expected, shape):
    check(function, expected, shape)


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, x: tf.gather(x.r, [2]),
        lambda tf, x: tf.gather(x.r, [-1]),
        lambda tf, x: tf.gather_nd(x.r, [[1, 1]]),
        lambda tf, x: tf.ragged.boolean_mask(x.r, tf.ragged.constant([[True], [True]])),
        lambda tf, x: tf.ragged.boolean_mask(x.r, x.r),
        lambda tf, x: tf.ragged.stack_dynamic_partitions([1, 2], [0, 3], 2),
        lambda tf, x: tf.where(x.r > 1, x.dense, x.r),
    ],
)
def test_what_cannot_be_selected_is_refused(tf, x, function):
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
        function(tf, x)


@pytest.mark.gradtape_only  # TensorFlow reads on, in the next row
def test_an_index_beyond_its_row_is_refused(tf, x):
    with pytest.raises(ValueError, match=r"index 1 is not in \[0, 1\), the row's length"):
        tf.gather(x.r, tf.ragged.constant([[0], [1]]), batch_dims=1)
