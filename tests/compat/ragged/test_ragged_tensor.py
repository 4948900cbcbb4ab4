"""What a ragged tensor is made of, and its conversion to others."""

import pytest

CASES = [
    (lambda tf, x: x.r.to_tensor(), [[1, 2], [3, 0]], None),
    (lambda tf, x: x.deep.to_tensor(), [[[1, 0], [2, 3]], [[0, 0], [0, 0]]], None),
    (lambda tf, x: x.wide.to_tensor(), [[[1, 2], [0, 0]], [[3, 4], [5, 6]]], None),
    (lambda tf, x: x.words.to_tensor(), [[b"a", b"bc"], [b"d", b""]], None),
    (lambda tf, x: x.r.to_tensor(default_value=9), [[1, 2], [3, 9]], None),
    (lambda tf, x: x.r.to_tensor(shape=[None, 1]), [[1], [3]], None),
    (
        lambda tf, x: x.r.to_tensor(shape=[3, 3], default_value=9),
        [[1, 2, 9], [3, 9, 9], [9, 9, 9]],
        None,
    ),
    (lambda tf, x: x.r.to_tensor(shape=[1, None]), [[1, 2]], None),
    (lambda tf, x: x.deep.to_tensor(shape=[None, 1, 4]), [[[1, 0, 0, 0]], [[0, 0, 0, 0]]], None),
    (
        lambda tf, x: x.wide.to_tensor(default_value=[7, 8]),
        [[[1, 2], [7, 8]], [[3, 4], [5, 6]]],
        None,
    ),
    (lambda tf, x: tf.ragged.constant([[], []], dtype=tf.int32).to_tensor(), [[], []], None),
    (
        lambda tf, x: tf.ragged.constant([[], []], dtype=tf.int32).to_tensor(shape=[None, 2]),
        [[0, 0], [0, 0]],
        None,
    ),
    (lambda tf, x: x.r.bounding_shape(), [2, 2], None),
    (lambda tf, x: x.deep.bounding_shape(), [2, 2, 2], None),
    (lambda tf, x: x.wide.bounding_shape(), [2, 2, 2], None),
    (lambda tf, x: x.r.bounding_shape(axis=1), 2, None),
    (lambda tf, x: x.deep.bounding_shape(axis=[0, 2]), [2, 2], None),
    (lambda tf, x: x.r.values, [1, 2, 3], None),
    (lambda tf, x: x.deep.values, [[1], [2, 3]], [2, None]),
    (lambda tf, x: x.deep.flat_values, [1, 2, 3], None),
    (lambda tf, x: x.r.row_splits, [0, 2, 3], None),
    (lambda tf, x: x.deep.nested_row_splits, [[0, 2, 2], [0, 1, 3]], None),
    (lambda tf, x: x.r.row_lengths(), [2, 1], None),
    (lambda tf, x: x.deep.row_lengths(axis=2), [[1, 2], []], [2, None]),
    (lambda tf, x: x.wide.row_lengths(axis=2), [[2], [2, 2]], [2, None]),
    (lambda tf, x: x.deep.nested_row_lengths(), [[2, 0], [1, 2]], None),
    (lambda tf, x: x.r.row_starts(), [0, 2], None),
    (lambda tf, x: x.r.row_limits(), [2, 3], None),
    (lambda tf, x: x.r.value_rowids(), [0, 0, 1], None),
    (lambda tf, x: x.deep.nested_value_rowids(), [[0, 0], [0, 1, 1]], None),
    (lambda tf, x: x.r.nrows(), 2, None),
    (lambda tf, x: x.r.with_values([5.0, 6.0, 7.0]), [[5.0, 6.0], [7.0]], [2, None]),
    (
        lambda tf, x: x.deep.with_flat_values(["a", "b", "c"]),
        [[[b"a"], [b"b", b"c"]], []],
        [2, None, None],
    ),
    (
        lambda tf, x: x.r.with_values([[1, 2], [3, 4], [5, 6]]),
        [[[1, 2], [3, 4]], [[5, 6]]],
        [2, None, 2],
    ),
    (lambda tf, x: x.deep.merge_dims(0, 1), [[1], [2, 3]], [2, None]),
    (lambda tf, x: x.deep.merge_dims(1, 2), [[1, 2, 3], []], [2, None]),
    (lambda tf, x: x.deep.merge_dims(0, 2), [1, 2, 3], None),
    (lambda tf, x: x.wide.merge_dims(1, 2), [[1, 2], [3, 4, 5, 6]], [2, None]),
    (lambda tf, x: x.wide.merge_dims(0, -1), [1, 2, 3, 4, 5, 6], None),
    (lambda tf, x: x.whole.merge_dims(0, 1), [1, 2, 3, 4], None),
]


@pytest.mark.parametrize("function, expected, shape", CASES)
def test_converted(check, function, expected, shape):
    check(function, expected, shape)


def test_numpy(x):
    rows = x.r.numpy()
    assert rows.dtype == object and [row.tolist() for row in rows] == [[1, 2], [3]]
    assert x.whole.numpy().tolist() == [[1, 2], [3, 4]] and x.whole.numpy().dtype == "int32"
    assert x.deep.numpy()[0][1].tolist() == [2, 3]


def test_text(tf, x):
    assert repr(x.r) == "<tf.RaggedTensor [[1, 2], [3]]>" == str(x.r)
    assert repr(x.f) == "<tf.RaggedTensor [[1.0, 2.0], [], [3.0]]>"
    assert repr(x.words) == "<tf.RaggedTensor [[b'a', b'bc'], [b'd']]>"
    assert repr(x.whole) == "<tf.RaggedTensor [[1, 2],\n [3, 4]]>"
    assert repr(x.deep) == "<tf.RaggedTensor [[[1], [2, 3]], []]>"
    assert repr(tf.ragged.constant([], tf.int32, 1)) == "<tf.RaggedTensor []>"
    many = repr(tf.ragged.range([2000, 1]))
    assert many == "<tf.RaggedTensor [[0, 1, 2, ..., 1997, 1998, 1999], [0]]>"


def test_properties(tf, x):
    assert tf.is_tensor(x.r)
    assert (x.r.ragged_rank, x.deep.ragged_rank, x.wide.ragged_rank) == (1, 2, 1)
    assert x.r.uniform_row_length is None and x.whole.uniform_row_length.numpy() == 2
    assert x.whole.shape == [2, 2] and x.wide.get_shape().as_list() == [2, None, 2]
    assert x.words.dtype == tf.string
    assert x.r.nrows(out_type=tf.int32).dtype == tf.int32
    with pytest.raises(TypeError):
        len(x.r)


def test_other_values_must_be_as_many(tf, x):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        x.r.with_values([1, 2])


def test_what_does_not_fit_a_tensor_is_refused(tf, x):
    for make in (
        lambda: x.r.to_tensor(shape=[2, 2, 2]),
        lambda: x.r.to_tensor(default_value=[7, 8]),
        lambda: x.r.to_tensor(default_value="a"),
        lambda: x.deep.merge_dims(2, 1),
    ):
        with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
            make()


@pytest.mark.parametrize(
    "rows, indices, values, shape",
    [
        ([[1, 2], [], [3]], [[0, 0], [0, 1], [2, 0]], [1, 2, 3], [3, 2]),
        ([[[1], [2, 3]], []], [[0, 0, 0], [0, 1, 0], [0, 1, 1]], [1, 2, 3], [2, 2, 2]),
        ([["a"], ["b", "c"]], [[0, 0], [1, 0], [1, 1]], [b"a", b"b", b"c"], [2, 2]),
    ],
)
def test_as_a_sparse_tensor(tf, rows, indices, values, shape):
    st = tf.ragged.constant(rows).to_sparse()
    assert isinstance(st, tf.SparseTensor)
    assert st.indices.numpy().tolist() == indices
    assert st.values.numpy().tolist() == values
    assert st.dense_shape.numpy().tolist() == shape
    if len(shape) == 2:
        again = tf.RaggedTensor.from_sparse(st)
        assert again.to_list() == tf.ragged.constant(rows).to_list()


def test_wide_values_as_a_sparse_tensor(tf, x):
    dense = tf.sparse.to_dense(x.wide.to_sparse())
    assert dense.numpy().tolist() == x.wide.to_tensor().numpy().tolist()


def test_a_sparse_tensor_with_gaps_has_no_rows(tf):
    gaps = tf.SparseTensor([[0, 1]], [1], [1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.RaggedTensor.from_sparse(gaps)
    rows = tf.RaggedTensor.from_sparse(
        tf.SparseTensor([[0, 0], [2, 0]], [1, 2], [4, 2]), row_splits_dtype=tf.int32
    )
    assert rows.to_list() == [[1], [], [2], []] and rows.row_splits.dtype == tf.int32


# What is known of it


def test_specs(tf, x):
    spec = tf.type_spec_from_value(x.r)
    assert spec == tf.RaggedTensorSpec([2, None], tf.int32) == tf.RaggedTensorSpec.from_value(x.r)
    assert repr(spec) == "RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)"
    assert (spec.dtype, spec.ragged_rank, spec.row_splits_dtype) == (tf.int32, 1, tf.int64)
    assert spec.shape.as_list() == [2, None] and spec.flat_values_spec is None
    assert spec.value_type is tf.RaggedTensor
    assert spec.is_compatible_with(x.r) and not spec.is_compatible_with(x.f)
    assert not spec.is_compatible_with(x.dense)
    assert tf.type_spec_from_value(x.whole).shape == [2, 2]
    assert spec != tf.RaggedTensorSpec([2, None], tf.int32, row_splits_dtype=tf.int32)
    row = tf.RaggedTensorSpec([None], tf.int32)
    assert row.ragged_rank == 0 and row.is_compatible_with(x.r[0])
    for wrong in ({}, {"shape": [2, 3], "ragged_rank": 2}, {"shape": [2], "ragged_rank": "1"}):
        with pytest.raises((ValueError, TypeError)):
            tf.RaggedTensorSpec(**wrong)


def test_nest_takes_it_apart_if_asked(tf, x):
    assert tf.nest.flatten([x.deep]) == [x.deep] or tf.nest.flatten([x.deep])[0] is x.deep
    flat = tf.nest.flatten([x.deep], expand_composites=True)
    assert [part.numpy().tolist() for part in flat] == [[1, 2, 3], [0, 2, 2], [0, 1, 3]]
    same = tf.nest.pack_sequence_as([x.deep], flat, expand_composites=True)[0]
    assert same.to_list() == x.deep.to_list()
