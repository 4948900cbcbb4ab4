"""Ragged tensors from lists, ranges, encodings of rows, and tensors."""

import pytest

CASES = [
    (lambda tf, x: tf.ragged.constant([[1, 2], [], [3]]), [[1, 2], [], [3]], [3, None]),
    (lambda tf, x: tf.ragged.constant([]), [], None),
    (lambda tf, x: tf.ragged.constant([[]]), [[]], [1, None]),
    (lambda tf, x: tf.ragged.constant([[[]]]), [[[]]], [1, None, None]),
    (lambda tf, x: tf.ragged.constant(3), 3, None),
    (
        lambda tf, x: tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]]),
        [[[1, 2]], [[3, 4], [5, 6]]],
        [2, None, None],
    ),
    (
        lambda tf, x: tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1),
        [[[1, 2]], [[3, 4], [5, 6]]],
        [2, None, 2],
    ),
    (
        lambda tf, x: tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], inner_shape=(2,)),
        [[[1, 2]], [[3, 4], [5, 6]]],
        [2, None, 2],
    ),
    (
        lambda tf, x: tf.ragged.constant([[1, 2], [3]], dtype=tf.float64),
        [[1.0, 2.0], [3.0]],
        [2, None],
    ),
    (lambda tf, x: tf.ragged.constant([["a", "bc"], ["d"]]), [[b"a", b"bc"], [b"d"]], [2, None]),
    (
        lambda tf, x: tf.ragged.constant([[[], []], []], ragged_rank=1, inner_shape=(0,)),
        [[[], []], []],
        [2, None, 0],
    ),
    (lambda tf, x: tf.ragged.range([3, 5, 2]), [[0, 1, 2], [0, 1, 2, 3, 4], [0, 1]], [3, None]),
    (
        lambda tf, x: tf.ragged.range([0, 5, 8], [3, 3, 12]),
        [[0, 1, 2], [], [8, 9, 10, 11]],
        [3, None],
    ),
    (lambda tf, x: tf.ragged.range([0, 5, 8], [3, 3, 12], 2), [[0, 2], [], [8, 10]], [3, None]),
    (lambda tf, x: tf.ragged.range([5, 0], 0, -2), [[5, 3, 1], []], [2, None]),
    (lambda tf, x: tf.ragged.range(3.0, 5.0, 0.5), [[3.0, 3.5, 4.0, 4.5]], [1, None]),
    (lambda tf, x: tf.ragged.segment_ids_to_row_splits([0, 0, 2]), [0, 2, 2, 3], None),
    (
        lambda tf, x: tf.ragged.segment_ids_to_row_splits([0, 0, 2], num_segments=5),
        [0, 2, 2, 3, 3, 3],
        None,
    ),
    (lambda tf, x: tf.ragged.row_splits_to_segment_ids([0, 2, 2, 3]), [0, 0, 2], None),
    (
        lambda tf, x: tf.ragged.cross([x.r, x.words]),
        [[b"1_X_a", b"1_X_bc", b"2_X_a", b"2_X_bc"], [b"3_X_d"]],
        [2, None],
    ),
    (
        lambda tf, x: tf.ragged.cross([[["a"], ["b"]], x.r]),
        [[b"a_X_1", b"a_X_2"], [b"b_X_3"]],
        [2, None],
    ),
    (
        lambda tf, x: tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2, 3]),
        [[1, 2], [], [3]],
        [3, None],
    ),
    (
        lambda tf, x: tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1]),
        [[1, 2], [], [3]],
        [3, None],
    ),
    (lambda tf, x: tf.RaggedTensor.from_row_starts([1, 2, 3], [0, 2]), [[1, 2], [3]], [2, None]),
    (
        lambda tf, x: tf.RaggedTensor.from_row_limits([1, 2, 3], [2, 2, 3]),
        [[1, 2], [], [3]],
        [3, None],
    ),
    (
        lambda tf, x: tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 2, 2]),
        [[1], [], [2, 3]],
        [3, None],
    ),
    (
        lambda tf, x: tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 1], nrows=4),
        [[1, 2], [3], [], []],
        [4, None],
    ),
    (
        lambda tf, x: tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2),
        [[1, 2], [3, 4]],
        [2, 2],
    ),
    (
        lambda tf, x: tf.RaggedTensor.from_uniform_row_length(tf.zeros([0]), 0, nrows=3),
        [[], [], []],
        [3, 0],
    ),
    (
        lambda tf, x: tf.RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 2], [0, 1, 3]]),
        [[[1], [2, 3]]],
        [1, None, None],
    ),
    (
        lambda tf, x: tf.RaggedTensor.from_nested_row_lengths([1, 2, 3], [[2], [1, 2]]),
        [[[1], [2, 3]]],
        [1, None, None],
    ),
    (
        lambda tf, x: tf.RaggedTensor.from_nested_value_rowids([1, 2, 3], [[0, 0], [0, 1, 1]]),
        [[[1], [2, 3]]],
        [1, None, None],
    ),
    (lambda tf, x: tf.RaggedTensor.from_tensor([[1, 2], [3, 4]]), [[1, 2], [3, 4]], [2, 2]),
    (
        lambda tf, x: tf.RaggedTensor.from_tensor(
            [[5, 7, 0], [0, 3, 0], [0, 0, 0]], lengths=[1, 0, 3]
        ),
        [[5], [], [0, 0, 0]],
        [3, None],
    ),
    (
        lambda tf, x: tf.RaggedTensor.from_tensor([[5, 7, 0], [0, 3, 0], [0, 0, 0]], padding=0),
        [[5, 7], [0, 3], []],
        [3, None],
    ),
    (
        lambda tf, x: tf.RaggedTensor.from_tensor(
            [[[1, 0], [0, 0]], [[3, 0], [4, 5]]], padding=[0, 0]
        ),
        [[[1, 0]], [[3, 0], [4, 5]]],
        [2, None, 2],
    ),
    (
        lambda tf, x: tf.RaggedTensor.from_tensor(
            [[[1, 0], [2, 0], [0, 0]], [[3, 0], [4, 5], [6, 0]]], lengths=([2, 3], [1, 0, 2, 1, 1])
        ),
        [[[1], []], [[3, 0], [4], [6]]],
        [2, None, None],
    ),
    (
        lambda tf, x: tf.RaggedTensor.from_tensor([[[1, 2], [3, 0]]], ragged_rank=2, padding=0),
        [[[1, 2], [3]]],
        [1, 2, None],
    ),
    (
        lambda tf, x: tf.RaggedTensor.from_tensor([[[1, 2], [3, 4]]], ragged_rank=2),
        [[[1, 2], [3, 4]]],
        [1, 2, 2],
    ),
]


@pytest.mark.parametrize("function, expected, shape", CASES)
def test_made(check, function, expected, shape):
    check(function, expected, shape)


@pytest.mark.parametrize(
    "function",
    [
        lambda tf: tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2]),
        lambda tf: tf.RaggedTensor.from_row_splits([1, 2, 3], [1, 2, 3]),
        lambda tf: tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 1, 3]),
        lambda tf: tf.RaggedTensor.from_row_splits([1, 2, 3], [0.0, 3.0]),
        lambda tf: tf.RaggedTensor.from_row_splits([1, 2, 3], []),
        lambda tf: tf.RaggedTensor.from_row_splits(1, [0, 1]),
        lambda tf: tf.RaggedTensor.from_row_lengths([1, 2, 3], [1, 1]),
        lambda tf: tf.RaggedTensor.from_row_lengths([1, 2, 3], [4, -1]),
        lambda tf: tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 2, 1]),
        lambda tf: tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 2]),
        lambda tf: tf.RaggedTensor.from_value_rowids([1, 2], [0, 3], nrows=2),
        lambda tf: tf.RaggedTensor.from_uniform_row_length([1, 2, 3], 2),
        lambda tf: tf.RaggedTensor.from_tensor([1, 2]),
        lambda tf: tf.RaggedTensor.from_tensor([[1, 2]], ragged_rank=0),
        lambda tf: tf.RaggedTensor.from_tensor([[1, 2]], lengths=[1], padding=0),
        lambda tf: tf.RaggedTensor([1], None),
        lambda tf: tf.ragged.constant([[1, [2]]]),
        lambda tf: tf.ragged.constant([[1], ["a"]]),
        lambda tf: tf.ragged.constant([[1], [2]], ragged_rank=3),
        lambda tf: tf.ragged.constant([[[1, 2]], [[3]]], ragged_rank=1),
        lambda tf: tf.ragged.constant(3, ragged_rank=1),
        lambda tf: tf.ragged.range([0], [3], [0]),
        lambda tf: tf.ragged.range([0, 1], [3, 4, 5]),
        lambda tf: tf.ragged.cross([[["a"]], [["b"], ["c"]]]),
    ],
)
def test_what_is_no_ragged_tensor_is_refused(tf, function):
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
        function(tf)


def test_without_validation_nothing_is_checked(tf):
    rt = tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 3], validate=False)
    assert rt.to_list() == [[1, 2], [3]]


def test_the_dtype_of_partitions(tf):
    make = tf.RaggedTensor.from_row_splits
    assert make([1, 2], [0, 2]).row_splits.dtype == tf.int64
    assert make([1, 2], tf.constant([0, 2])).row_splits.dtype == tf.int32
    assert tf.ragged.constant([[1]], row_splits_dtype=tf.int32).row_splits.dtype == tf.int32
    inner = make([1, 2], tf.constant([0, 2]))
    assert make(inner, [0, 1]).row_splits.dtype == tf.int32  # as that of its values
    with pytest.raises(ValueError):
        make(inner, tf.constant([0, 1], tf.int64))


def test_dtypes_of_constants(tf):
    assert tf.ragged.constant([[1.5], []]).dtype == tf.float32
    assert tf.ragged.constant([[1], []]).dtype == tf.int32
    assert tf.ragged.constant([[], []]).dtype == tf.float32
    assert tf.ragged.constant([[], []], tf.string).dtype == tf.string
    assert tf.ragged.constant([[True]]).dtype == tf.bool


def test_hashed_crosses(tf, x):
    assert tf.ragged.cross_hashed([x.r], num_buckets=10).to_list() == [[0, 5], [2]]
    both = tf.ragged.cross_hashed([x.r, [["a"], ["b"]]])
    assert both.to_list() == [[6586076667385110638, 7765088336588600593], [3302797561873708220]]


# TensorFlow 1


def test_values_outside_of_a_graph(tf):
    v1 = tf.compat.v1.ragged
    value = v1.constant_value([[1, 2], [3]])
    assert isinstance(value, v1.RaggedTensorValue)
    assert value.to_list() == [[1, 2], [3]] and value.shape == (2, None)
    assert value.ragged_rank == 1 and value.row_splits.tolist() == [0, 2, 3]
    assert str(value) == "<tf.RaggedTensorValue [[1, 2], [3]]>"
    deep = v1.constant_value([[[1, 2]], [[3], []]], dtype="float32", row_splits_dtype="int32")
    assert deep.dtype == "float32" and [s.tolist() for s in deep.nested_row_splits] == [
        [0, 1, 3], [0, 2, 3, 3]
    ]  # fmt: skip
    assert v1.constant_value([1, 2]).tolist() == [1, 2]
    assert v1.constant is not None and v1.stack is not None
    with pytest.raises(TypeError):
        v1.RaggedTensorValue([1, 2], [0, 2])


def test_placeholders(tf):
    with tf.__internal__.FuncGraph("g").as_default():
        wide = tf.compat.v1.ragged.placeholder(tf.float32, 1, [3])
        assert wide.shape.as_list() == [None, None, 3] and (wide * 2.0).dtype == tf.float32
        assert tf.compat.v1.ragged.placeholder(tf.int32, 0, [2]).shape == [2]
