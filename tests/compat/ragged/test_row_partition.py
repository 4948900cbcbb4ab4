"""tf.experimental.RowPartition, and tf.experimental.DynamicRaggedShape."""

import pytest


@pytest.fixture
def RowPartition(tf):
    return tf.experimental.RowPartition


@pytest.fixture
def Shape(tf):
    return tf.experimental.DynamicRaggedShape


@pytest.mark.parametrize(
    "make",
    [
        lambda P: P.from_row_splits([0, 2, 2, 3]),
        lambda P: P.from_row_lengths([2, 0, 1]),
        lambda P: P.from_row_starts([0, 2, 2], nvals=3),
        lambda P: P.from_row_limits([2, 2, 3]),
        lambda P: P.from_value_rowids([0, 0, 2]),
    ],
)
def test_every_encoding_gives_every_other(RowPartition, make):
    partition = make(RowPartition)
    found = {
        "row_splits": [0, 2, 2, 3],
        "row_lengths": [2, 0, 1],
        "row_starts": [0, 2, 2],
        "row_limits": [2, 2, 3],
        "value_rowids": [0, 0, 2],
        "offsets_in_rows": [0, 1, 0],
        "nrows": 3,
        "nvals": 3,
    }
    for name, expected in found.items():
        assert getattr(partition, name)().numpy().tolist() == expected, name
    assert partition.static_nrows == 3
    assert not partition.is_uniform() and partition.uniform_row_length() is None


def test_rows_of_one_length(RowPartition):
    partition = RowPartition.from_uniform_row_length(2, nvals=6)
    assert partition.is_uniform() and partition.uniform_row_length().numpy() == 2
    assert partition.static_uniform_row_length == 2 and partition.static_nvals == 6
    assert partition.row_splits().numpy().tolist() == [0, 2, 4, 6]
    empty = RowPartition.from_uniform_row_length(0, nvals=0, nrows=3)
    assert empty.row_splits().numpy().tolist() == [0, 0, 0, 0]
    with pytest.raises(ValueError):
        RowPartition.from_uniform_row_length(2)


def test_dtypes(tf, RowPartition):
    wide = RowPartition.from_row_lengths([2, 1])
    assert wide.dtype == tf.int64
    narrow = wide.with_dtype(tf.int32)
    assert narrow.dtype == tf.int32 and narrow.value_rowids().dtype == tf.int32
    assert RowPartition.from_row_splits([0, 2], dtype=tf.int32).dtype == tf.int32
    with pytest.raises(ValueError):
        wide.with_dtype(tf.float32)


def test_text(RowPartition):
    assert repr(RowPartition.from_row_splits([0, 2, 3])) == "tf.RowPartition(row_splits=[0 2 3])"
    uniform = RowPartition.from_uniform_row_length(2, 6)
    assert repr(uniform) == "tf.RowPartition(nrows=3, uniform_row_length=2)"


@pytest.mark.parametrize(
    "make",
    [
        lambda P: P.from_row_splits([1, 2]),
        lambda P: P.from_row_splits([0, 2, 1]),
        lambda P: P.from_row_splits([[0, 2]]),
        lambda P: P.from_row_lengths([1, -1]),
        lambda P: P.from_value_rowids([1, 0]),
        lambda P: P.from_value_rowids([0, 2], nrows=1),
        lambda P: P.from_uniform_row_length(2, nvals=5),
        lambda P: P([0, 1]),
    ],
)
def test_what_is_no_partition_is_refused(tf, RowPartition, make):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        make(RowPartition)


def test_a_function_takes_a_partition(tf, RowPartition):
    lengths = tf.function(lambda partition: partition.row_lengths())
    assert lengths(RowPartition.from_row_splits([0, 2, 3])).numpy().tolist() == [2, 1]


# Shapes


def test_the_shape_of_a_ragged_tensor(tf, x, Shape):
    shape = tf.shape(x.deep)
    assert isinstance(shape, Shape) and shape.dtype == tf.int32
    assert (shape.rank, shape.num_row_partitions, shape.inner_rank) == (3, 2, 1)
    assert shape.static_lengths() == [2, (2, 0), (1, 2)]
    assert shape.static_lengths(ragged_lengths=False) == [2, None, None]
    assert repr(shape) == ("<DynamicRaggedShape lengths=[2, (2, 0), (1, 2)] num_row_partitions=2>")
    assert shape[0].numpy() == 2 and shape.is_uniform(0) and not shape.is_uniform(1)
    with pytest.raises(ValueError):
        shape[1]
    assert shape[:2].static_lengths() == [2, (2, 0)]
    assert tf.shape(x.wide).inner_shape.numpy().tolist() == [3, 2]
    assert tf.shape(x.wide)[2].numpy() == 2
    assert tf.shape(x.r, out_type=tf.int64).dtype == tf.int64
    assert bool(tf.shape(x.r) == tf.shape(x.r)) and not bool(tf.shape(x.r) == tf.shape(x.f))


def test_shapes_from_lengths(tf, x, Shape):
    shape = Shape.from_lengths([2, (1, 2), 3])
    assert shape.static_lengths() == [2, (1, 2), 3]
    assert shape.inner_shape.numpy().tolist() == [3, 3]
    assert Shape.from_tensor(x.dense).static_lengths() == [2, 2]
    assert Shape.from_row_partitions(tf.shape(x.r).row_partitions).static_lengths() == [2, (2, 1)]
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        Shape.from_lengths([2, (1, 2, 3)])


def test_values_of_a_shape(tf, x):
    shape = tf.shape(x.r)
    assert tf.ones(shape).to_list() == [[1.0, 1.0], [1.0]]
    assert tf.zeros(shape, tf.int32).to_list() == [[0, 0], [0]]
    assert tf.broadcast_to(3, shape).to_list() == [[3, 3], [3]]
    assert tf.broadcast_to([[1], [2]], shape).to_list() == [[1, 1], [2]]
    assert tf.reshape(tf.constant([1, 2, 3]), shape).to_list() == [[1, 2], [3]]
