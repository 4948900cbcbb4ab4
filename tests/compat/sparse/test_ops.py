"""tf.sparse: values, the order of places, shapes and errors."""

import numpy as np
import pytest

PLACES = [[0, 0], [0, 2], [1, 1]]


@pytest.fixture
def other(tf):
    return tf.SparseTensor([[0, 0], [2, 2]], [5.0, -7.0], [3, 3])


@pytest.fixture
def unordered(tf):
    return tf.SparseTensor([[1, 1], [0, 0], [0, 2]], [3.0, 1.0, 2.0], [2, 3])


@pytest.fixture
def cube(tf):
    return tf.SparseTensor([[0, 0, 1], [0, 1, 0], [1, 0, 0]], [1.0, 2.0, 3.0], [2, 2, 3])


# From dense tensors and back


def test_from_dense_and_back(tf, parts):
    dense = [[1, 0, 2], [0, 3, 0]]
    sparse = tf.sparse.from_dense(dense)
    assert parts(sparse) == ([[0, 0], [0, 2], [1, 1]], [1, 2, 3], [2, 3])
    assert tf.sparse.to_dense(sparse).numpy().tolist() == dense
    assert parts(tf.sparse.from_dense(["a", "", "b"])) == ([[0], [2]], [b"a", b"b"], [3])
    assert parts(tf.sparse.from_dense([False, True])) == ([[1]], [True], [2])
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.sparse.from_dense(3.0)


def test_what_stands_where_there_is_no_entry(tf, sp, same):
    same(tf.sparse.to_dense(sp, default_value=-1.0), [[1, -1, 2], [-1, -3, -1], [-1, -1, -1]])
    text = tf.SparseTensor([[1]], ["a"], [2])
    assert tf.sparse.to_dense(text).numpy().tolist() == [b"", b"a"]
    assert tf.sparse.to_dense(text, default_value="-").numpy().tolist() == [b"-", b"a"]
    scalar = tf.SparseTensor(np.zeros([1, 0]), [3.0], np.zeros([0], np.int64))
    assert float(tf.sparse.to_dense(scalar)) == 3.0
    empty = tf.SparseTensor(np.zeros([0, 2]), [], [2, 2])
    same(tf.sparse.to_dense(empty), np.zeros([2, 2]))


def test_places_out_of_order_or_twice_or_outside(tf, unordered, same):
    twice = tf.SparseTensor([[0], [0]], [1.0, 2.0], [2])
    outside = tf.SparseTensor([[5, 0]], [1.0], [2, 3])
    for sparse in (unordered, twice, outside):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.sparse.to_dense(sparse)
    same(tf.sparse.to_dense(unordered, validate_indices=False), [[1, 0, 2], [0, 3, 0]])


def test_eye_and_indicator(tf, parts):
    assert parts(tf.sparse.eye(2, 3)) == ([[0, 0], [1, 1]], [1.0, 1.0], [2, 3])
    assert tf.sparse.eye(2, dtype=tf.int32).dtype == tf.int32
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [2, 0, 1], [3, 2])
    expected = [[1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]]
    assert tf.sparse.to_indicator(ids, 4).numpy().astype(int).tolist() == expected


# Places


def test_order(tf, unordered, cube, parts):
    assert parts(tf.sparse.reorder(unordered)) == (PLACES, [1.0, 2.0, 3.0], [2, 3])
    turned = [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert parts(tf.sparse.transpose(cube)) == (turned, [3.0, 2.0, 1.0], [3, 2, 2])
    assert parts(tf.sparse.transpose(cube, [1, 0, 2])) == (turned, [1.0, 3.0, 2.0], [2, 2, 3])


def test_shapes(tf, sp, unordered, parts):
    assert parts(tf.sparse.reshape(sp, [-1])) == ([[0], [2], [4]], [1.0, 2.0, -3.0], [9])
    assert parts(tf.sparse.reshape(unordered, [3, 2]))[0] == [[2, 0], [0, 0], [1, 0]]
    for shape in ([2, -1], [-1, -1], [8]):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
            tf.sparse.reshape(sp, shape)
    expanded = [parts(tf.sparse.expand_dims(sp, axis)) for axis in (0, -2, None)]
    assert [shape for _, _, shape in expanded] == [[1, 3, 3], [3, 1, 3], [3, 3, 1]]
    assert expanded[1][0] == [[0, 0, 0], [0, 0, 2], [1, 0, 1]]
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.sparse.expand_dims(sp, 5)
    assert parts(tf.sparse.reset_shape(sp))[2] == [2, 3]
    assert parts(tf.sparse.reset_shape(sp, [5, 4]))[2] == [5, 4]
    with pytest.raises(ValueError):
        tf.sparse.reset_shape(sp, [1, 4])


def test_several_in_one(tf, sp, unordered, parts):
    narrow = tf.SparseTensor([[0, 1]], [9.0], [3, 2])
    assert parts(tf.sparse.concat(1, [sp, narrow])) == (
        [[0, 0], [0, 2], [0, 4], [1, 1]], [1.0, 2.0, 9.0, -3.0], [3, 5],
    )  # fmt: skip
    assert parts(tf.sparse.concat(0, [unordered, unordered])) == (
        [[0, 0], [0, 2], [1, 1], [2, 0], [2, 2], [3, 1]], [1.0, 2.0, 3.0] * 2, [4, 3],
    )  # fmt: skip
    joined = tf.sparse.concat(-2, [sp, narrow], expand_nonconcat_dims=True)
    assert parts(joined)[2] == [6, 3]
    assert tf.sparse.concat(0, [sp]) is sp
    assert parts(tf.compat.v1.sparse_concat(0, [sp, sp]))[2] == [6, 3]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.sparse.concat(0, [sp, narrow])
    with pytest.raises(TypeError):
        tf.sparse.concat(0, sp)


def test_parts_of_one(tf, sp, parts):
    first, second = tf.sparse.split(sp, 2, 0)
    assert parts(first) == (PLACES, [1.0, 2.0, -3.0], [2, 3])
    assert parts(second) == ([], [], [1, 3])
    columns = tf.sparse.split(sp_input=sp, num_split=3, axis=-1)
    assert [parts(c)[1] for c in columns] == [[1.0], [-3.0], [2.0]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.sparse.split(sp, 4, 0)
    assert parts(tf.sparse.slice(sp, [0, 1], [2, 2])) == ([[0, 1], [1, 0]], [2.0, -3.0], [2, 2])
    assert parts(tf.sparse.slice(sp, [1, 1], [5, 5])) == ([[0, 0]], [-3.0], [2, 2])
    assert parts(tf.sparse.slice(sp, [4, 1], [1, 1])) == ([], [], [0, 1])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.sparse.slice(sp, [1, 1], [-1, -1])
    kept = tf.sparse.retain(sp, [True, False, True])
    assert parts(kept) == ([[0, 0], [1, 1]], [1.0, -3.0], [3, 3])
    with pytest.raises(ValueError):
        tf.sparse.retain(sp, [True, False])


def test_empty_rows_are_filled(tf, sp, parts):
    filled, was_empty = tf.sparse.fill_empty_rows(sp, 9.0)
    assert parts(filled) == ([*PLACES, [2, 0]], [1.0, 2.0, -3.0, 9.0], [3, 3])
    assert was_empty.numpy().tolist() == [False, False, True]
    deep = tf.SparseTensor([[1, 0, 1]], [3.0], [3, 2, 2])
    assert parts(tf.sparse.fill_empty_rows(deep, 9.0)[0])[0] == [[0, 0, 0], [1, 0, 1], [2, 0, 0]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.sparse.fill_empty_rows(tf.SparseTensor([[5, 0]], [3.0], [3, 2]), 9.0)


# Arithmetic


def test_sums(tf, sp, other, parts, same):
    places = [*PLACES, [2, 2]]
    assert parts(tf.sparse.add(sp, other)) == (places, [6.0, 2.0, -3.0, -7.0], [3, 3])
    less = tf.SparseTensor([[0, 0], [2, 2]], [-1.5, 7.0], [3, 3])
    assert parts(tf.sparse.add(sp, less, 1.0)) == (places[1:], [2.0, -3.0, 7.0], [3, 3])
    same(tf.sparse.add(sp, tf.ones([3, 3])), [[2, 1, 3], [1, -2, 1], [1, 1, 1]])
    same(tf.sparse.add(np.ones([3, 3], np.float32), sp), [[2, 1, 3], [1, -2, 1], [1, 1, 1]])
    twice = tf.SparseTensor([[0, 0], [0, 0], [1, 1]], [1.0, 2.0, 3.0], [3, 3])
    assert parts(tf.sparse.add(twice, twice))[1] == [2.0, 4.0, 6.0]
    for wrong in (tf.ones([3]), tf.SparseTensor([[0, 0]], [5.0], [3, 4])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.sparse.add(sp, wrong)
    with pytest.raises(TypeError):
        tf.sparse.add(1.0, 2.0)


def test_larger_and_smaller(tf, sp, other, parts):
    places = [*PLACES, [2, 2]]
    assert parts(tf.sparse.maximum(sp, other)) == (places, [5.0, 2.0, 0.0, 0.0], [3, 3])
    assert parts(tf.sparse.minimum(sp, other)) == (places, [1.0, 0.0, -3.0, -7.0], [3, 3])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.sparse.maximum(sp, tf.SparseTensor([[0, 0]], [5.0], [3, 4]))


def test_any_function_of_the_entries(tf, sp, other, parts):
    assert parts(tf.sparse.map_values(tf.add, sp, y=sp))[1] == [2.0, 4.0, -6.0]
    assert parts(tf.sparse.map_values(tf.ones_like, sp, dtype=tf.int8))[1] == [1, 1, 1]
    for wrong in (other, tf.SparseTensor([[0, 0], [0, 1], [1, 1]], [1.0] * 3, [3, 3])):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
            tf.sparse.map_values(tf.add, sp, wrong)
    with pytest.raises(ValueError):
        tf.sparse.map_values(tf.add, 1.0, 2.0)
    with pytest.raises(ValueError):
        tf.sparse.map_values(tf.reduce_sum, sp)


def test_softmax(tf, sp, cube, same):
    same(tf.sparse.softmax(sp).values, [0.26894143, 0.7310586, 1.0])
    same(tf.sparse.softmax(cube).values, [1.0, 1.0, 1.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.sparse.softmax(tf.SparseTensor([[0], [1]], [1.0, 2.0], [3]))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, [0, 1], []])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(tf, axis, keepdims, same):
    sparse = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1.0, 2.0, 3.0], [3, 3])
    dense = tf.sparse.to_dense(sparse)
    for sum_or_max, expected in (
        (tf.sparse.reduce_sum, tf.reduce_sum(dense, axis, keepdims)),
        (tf.sparse.reduce_max, tf.reduce_max(dense, axis, keepdims)),
    ):
        same(sum_or_max(sparse, axis, keepdims), expected)
        result = sum_or_max(sparse, axis, keepdims, output_is_sparse=True)
        assert tuple(result.dense_shape.numpy()) == tuple(expected.shape)
        same(tf.sparse.to_dense(result), expected)


def test_the_largest_is_one_of_the_entries(tf, sp, same):
    same(tf.sparse.reduce_max(sp, 1), [2.0, -3.0, 0.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.sparse.reduce_sum(sp, 5)


# Matrices


def test_matrix_products(tf, sp, unordered, cube, same):
    dense = tf.reshape(tf.range(6.0), [3, 2])
    full = tf.sparse.to_dense(sp)
    product = tf.sparse.sparse_dense_matmul
    same(product(sp, dense), tf.matmul(full, dense))
    same(product(sp, dense, adjoint_a=True), tf.matmul(full, dense, adjoint_a=True))
    same(product(sp, tf.transpose(dense), adjoint_b=True), tf.matmul(full, dense))
    same(product(tf.transpose(dense), sp), tf.matmul(dense, full, transpose_a=True))
    same(product(dense, sp, adjoint_a=True), tf.matmul(dense, full, transpose_a=True))
    same(product(unordered, dense), [[8, 11], [6, 9]])
    numbers = tf.SparseTensor([[0, 1], [1, 0]], [1 + 2j, 3 - 1j], [2, 2])
    matrix = tf.constant([[1 + 1j, 2j], [3, 1 - 2j]], tf.complex128)
    expected = tf.matmul(tf.sparse.to_dense(numbers), matrix, adjoint_a=True, adjoint_b=True)
    same(product(numbers, matrix, adjoint_a=True, adjoint_b=True), expected)
    outside = tf.SparseTensor([[5, 0]], [1.0], [3, 3])
    for a, b in ((sp, tf.ones([2, 2])), (cube, dense), (sp, tf.ones([3])), (outside, dense)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            product(a, b)
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        product(sp, tf.ones([3, 2], tf.float64))


def test_a_product_at_some_places(tf, same):
    left, right = tf.reshape(tf.range(6.0), [2, 3]), tf.reshape(tf.range(6.0), [3, 2])
    places = tf.constant([[0, 0], [1, 1]], tf.int64)
    found = tf.sparse.sampled_addmm(places, [1.0, 2.0], [2, 2], left, right, beta=2.0, alpha=3.0)
    assert found[0].numpy().tolist() == [[0, 0], [1, 1]] and found[2].numpy().tolist() == [2, 2]
    same(found[1], [3 * 10 + 2, 3 * 40 + 4])


# Counting, segments


@pytest.mark.parametrize(
    "options, counts",
    [
        ({}, ([[0], [1], [2], [3]], [1, 2, 2, 1], [4])),
        ({"axis": -1}, ([[0, 1], [0, 3], [1, 0], [1, 2]], [2, 1, 1, 2], [2, 4])),
        ({"minlength": 5}, ([[0], [1], [2], [3]], [1, 2, 2, 1], [5])),
        ({"maxlength": 2}, ([[0], [1]], [1, 2], [2])),
        ({"axis": -1, "binary_output": True, "minlength": 6},
         ([[0, 1], [0, 3], [1, 0], [1, 2]], [1, 1, 1, 1], [2, 6])),
    ],
)  # fmt: skip
def test_counts(tf, options, counts, parts):
    assert parts(tf.sparse.bincount([[1, 1, 3], [0, 2, 2]], **options)) == counts


def test_counts_of_sparse_numbers_and_weights(tf, parts):
    numbers = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], tf.constant([1, 1, 3], tf.int64), [3, 4])
    assert parts(tf.sparse.bincount(numbers)) == ([[1], [3]], [2, 1], [4])
    assert parts(tf.sparse.bincount(numbers, axis=-1)) == ([[0, 1], [1, 3]], [2, 1], [3, 4])
    assert tf.sparse.bincount(numbers).dtype == tf.int64
    weights = numbers.with_values([0.5, 0.25, 2.0])
    weighted = tf.sparse.bincount(numbers, weights=weights, axis=-1)
    assert parts(weighted) == ([[0, 1], [1, 3]], [0.75, 2.0], [3, 4])
    assert parts(tf.sparse.bincount([1, 1, 3], weights=[0.5, 0.25, 2.0]))[1] == [0.75, 2.0]
    assert parts(tf.sparse.bincount(tf.constant([], tf.int32))) == ([], [], [1])
    for wrong in ([1, -1], [1.0]):
        with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
            tf.sparse.bincount(wrong)
    with pytest.raises(ValueError):
        tf.sparse.bincount([1], weights=[1.0], binary_output=True)
    with pytest.raises(ValueError):
        tf.sparse.bincount([1], axis=1)


def test_segments_of_chosen_rows(tf, same):
    data, rows, ids = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), [0, 2, 2], [0, 0, 2]
    same(tf.sparse.segment_sum(data, rows, ids), [[6, 8], [0, 0], [5, 6]])
    same(tf.sparse.segment_sum(data, rows, ids, num_segments=4)[3], [0, 0])
    same(tf.sparse.segment_mean(data, rows, ids), [[3, 4], [0, 0], [5, 6]])
    same(tf.sparse.segment_sqrt_n(data, rows, ids)[0], [6 / np.sqrt(2), 8 / np.sqrt(2)])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.sparse.segment_sum(data, rows, [1, 0, 2])


def test_slices_without_some_rows(tf, same):
    slices = tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), tf.constant([0, 4, 2]))
    rest = tf.sparse.mask(slices, [4, 7])
    same(rest.values, [[1.0], [3.0]])
    assert rest.indices.numpy().tolist() == [0, 2]


# Crosses


def test_crosses(tf, parts):
    letters, numbers = tf.constant([["a", "b"], ["c", "d"]]), tf.constant([[1, 2], [3, 4]])
    places = [[i, j] for i in range(2) for j in range(4)]
    texts = [b"a_X_1", b"a_X_2", b"b_X_1", b"b_X_2", b"c_X_3", b"c_X_4", b"d_X_3", b"d_X_4"]
    assert parts(tf.sparse.cross([letters, numbers])) == (places, texts, [2, 4])
    uneven = tf.SparseTensor([[0, 0], [2, 0], [2, 1]], ["x", "y", "z"], [3, 2])
    dense = tf.constant([["a"], ["c"], ["d"]])
    crossed = tf.sparse.cross([dense, uneven], separator="|")
    assert parts(crossed) == ([[0, 0], [2, 0], [2, 1]], [b"x|a", b"y|d", b"z|d"], [3, 2])


def test_hashed_crosses(tf, parts):
    letters, numbers = tf.constant([["a", "b"], ["c", "d"]]), tf.constant([[1, 2], [3, 4]])
    hashed = tf.sparse.cross_hashed([letters, numbers], num_buckets=100)
    assert parts(hashed)[1:] == ([85, 87, 83, 57, 94, 22, 7, 41], [2, 4])
    whole = tf.sparse.cross_hashed([letters[:, :1], numbers[:, :1]])
    assert parts(whole)[1] == [2928842892298887678, 4384133765619275694]
    uneven = tf.SparseTensor([[0, 0], [2, 0], [2, 1]], ["x", "y", "z"], [3, 2])
    dense = tf.constant([["a"], ["c"], ["d"]])
    assert parts(tf.sparse.cross_hashed([uneven, dense], num_buckets=1000))[1] == [37, 409, 498]
    keyed = tf.sparse.cross_hashed(
        [dense[:2], tf.SparseTensor([[0, 0], [1, 0]], ["x", "y"], [2, 2])], 1000, hash_key=7
    )
    assert parts(keyed)[1] == [611, 828]
    with pytest.raises(TypeError):
        tf.sparse.cross_hashed(letters)


# Sets


@pytest.mark.parametrize(
    "name, expected",
    [
        ("intersection", ([[0, 0], [0, 1], [1, 0]], [1, 2, 5], [2, 2])),
        ("difference", ([[1, 0], [1, 1]], [3, 4], [2, 2])),
        ("union", ([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2], [1, 3]],
                   [1, 2, 9, 3, 4, 5, 7], [2, 4])),
    ],
)  # fmt: skip
def test_sets(tf, name, expected, parts):
    a, b = tf.constant([[1, 2, 2], [3, 4, 5]]), tf.constant([[2, 9, 1], [5, 5, 7]])
    operation = getattr(tf.sets, name)
    assert parts(operation(a, b)) == expected
    c = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [2, 3, 4], [2, 3])
    mixed = {
        "intersection": ([[0, 0], [1, 0], [1, 1]], [2, 3, 4], [2, 2]),
        "difference": ([[0, 0], [1, 0]], [1, 5], [2, 1]),
        "union": ([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]], [1, 2, 3, 4, 5], [2, 3]),
    }
    assert parts(operation(a, c)) == mixed[name]
    text = operation(tf.constant([["b", "a", "a"]]), tf.constant([["a", "c"]]))
    words = {"intersection": [b"a"], "difference": [b"b"], "union": [b"a", b"b", b"c"]}
    assert text.values.numpy().tolist() == words[name]
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        operation(a, tf.ones([3, 2], tf.int32))
    with pytest.raises(TypeError):
        operation(tf.ones([3, 2]), tf.ones([3, 2]))


def test_sets_the_other_way_round_and_their_sizes(tf, parts):
    a, b = tf.constant([[1, 2, 2], [3, 4, 5]]), tf.constant([[2, 9, 1], [5, 5, 7]])
    assert parts(tf.sets.difference(a, b, aminusb=False)) == ([[0, 0], [1, 0]], [9, 7], [2, 1])
    sparse = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 1, 3], [3, 2])
    assert tf.sets.size(sparse).numpy().tolist() == [1, 0, 1]
    assert parts(tf.sets.intersection(a, b + 100)) == ([], [], [2, 0])
    with pytest.raises(TypeError):
        tf.sets.size(a)
