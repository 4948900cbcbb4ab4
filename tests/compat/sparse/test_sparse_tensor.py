"""SparseTensor: what it is made of, its spec, and where it goes."""

import numpy as np
import pytest


def test_what_it_is_made_of(tf, sp):
    assert sp.indices.dtype == sp.dense_shape.dtype == tf.int64
    assert sp.values.dtype == sp.dtype == tf.float32
    assert sp.shape == sp.get_shape() == tf.TensorShape([3, 3])
    assert isinstance(sp, tf.sparse.SparseTensor) and tf.is_tensor(sp)
    assert repr(sp).startswith(
        "SparseTensor(indices=tf.Tensor("
    ) and "values=tf.Tensor([ 1." in str(sp)
    sp.set_shape([None, 3])
    with pytest.raises(ValueError):
        sp.set_shape([2, 3])


def test_arrays_of_other_integers_become_int64(tf):
    sparse = tf.SparseTensor(np.array([[0, 1]], np.int32), np.array([1.5]), np.array([2, 2]))
    assert sparse.indices.dtype == tf.int64 and sparse.dtype == tf.float64
    empty = tf.SparseTensor(np.zeros([0, 2]), [], [2, 2])
    assert empty.dtype == tf.float32 and empty.indices.shape == (0, 2)


@pytest.mark.parametrize(
    "indices, values, sizes",
    [
        ([[0, 0]], [1.0, 2.0], [2, 2]),
        ([0, 0], [1.0, 2.0], [2, 2]),
        ([[0, 0]], [1.0], [2]),
        ([[0, 0]], 1.0, [2, 2]),
    ],
)
def test_parts_that_do_not_fit(tf, indices, values, sizes):
    with pytest.raises(ValueError):
        tf.SparseTensor(indices, values, sizes)


def test_a_shape_must_be_known(tf):
    with pytest.raises(ValueError):
        tf.SparseTensor([[0, 0]], [1.0], tf.TensorShape([2, None]))


def test_a_tensor_of_other_integers_is_no_index(tf):
    with pytest.raises((TypeError, ValueError)):
        tf.SparseTensor(tf.constant([[0, 0]]), [1.0], [2, 2])


def test_other_values_at_the_same_places(tf, sp, parts):
    assert parts(sp.with_values([7, 8, 9])) == ([[0, 0], [0, 2], [1, 1]], [7, 8, 9], [3, 3])
    with pytest.raises(ValueError):
        sp.with_values([1.0])


def test_its_spec(tf, sp):
    spec = tf.type_spec_from_value(sp)
    assert spec == tf.SparseTensorSpec([3, 3], tf.float32) == tf.SparseTensorSpec.from_value(sp)
    assert spec != tf.SparseTensorSpec([3, 3], tf.int32) and spec.shape == [3, 3]
    assert spec.is_compatible_with(tf.SparseTensorSpec([None, 3]))
    assert tf.SparseTensorSpec(None).is_compatible_with(sp)
    assert not tf.SparseTensorSpec([None, 2]).is_compatible_with(sp)
    assert not spec.is_compatible_with(tf.zeros([3, 3]))
    wide = spec.most_specific_compatible_type(tf.SparseTensorSpec([3, 4]))
    assert wide == tf.SparseTensorSpec([3, None])
    parts = tf.nest.flatten(spec, expand_composites=True)
    assert parts[0] == tf.TensorSpec([None, 2], tf.int64)


def test_nest_takes_it_apart(tf, sp):
    assert tf.nest.flatten([sp]) == [sp]
    indices, values, sizes = tf.nest.flatten(sp, expand_composites=True)
    again = tf.nest.pack_sequence_as(sp, [indices, 2 * values, sizes], expand_composites=True)
    np.testing.assert_array_equal(again.values, [2.0, 4.0, -6.0])
    tf.nest.assert_same_structure(sp, tf.sparse.from_dense([[1.0, 0.0]]), expand_composites=True)


# Operators, and functions that take it


def test_products_with_dense_tensors(tf, sp, parts):
    dense = tf.reshape(tf.range(9.0), [3, 3])
    places = [[0, 0], [0, 2], [1, 1]]
    assert parts(sp * dense) == parts(dense * sp) == (places, [0.0, 4.0, -12.0], [3, 3])
    assert parts(sp * 2.0) == (places, [2.0, 4.0, -6.0], [3, 3])
    assert parts(sp * tf.constant([1.0, 2.0, 3.0])) == (places, [1.0, 6.0, -6.0], [3, 3])
    assert parts(sp * np.full([3, 1], 3, np.float32)) == (places, [3.0, 6.0, -9.0], [3, 3])
    assert parts(sp / tf.constant(2.0)) == (places, [0.5, 1.0, -1.5], [3, 3])
    integers = tf.SparseTensor([[0]], [1], [2])
    assert (integers / 2).dtype == tf.float64


@pytest.mark.parametrize(
    "compute",
    [
        lambda tf, sp: 2.0 * sp,
        lambda tf, sp: sp + sp,
        lambda tf, sp: -sp,
        lambda tf, sp: sp[0],
        lambda tf, sp: len(sp),
        lambda tf, sp: sp * tf.ones([2, 3, 3]),
        lambda tf, sp: sp * sp,
        lambda tf, sp: tf.ones([3, 3]) / sp,
        lambda tf, sp: tf.exp(sp),
        lambda tf, sp: tf.reduce_sum(sp),
        lambda tf, sp: tf.convert_to_tensor(sp),
        lambda tf, sp: tf.transpose(sp),
        lambda tf, sp: tf.matmul(sp, tf.ones([3, 3])),
    ],
)
def test_what_there_is_not(tf, sp, compute):
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
        compute(tf, sp)


@pytest.mark.parametrize(
    "name",
    ["abs", "negative", "sign", "square", "sqrt", "sin", "tan", "asin", "atan", "asinh", "atanh",
     "tanh", "math.erf", "math.bessel_i0e", "math.bessel_i1e"],
)  # fmt: skip
def test_functions_of_one_tensor_go_by_entries(tf, name, parts):
    function = tf
    for part in name.split("."):
        function = getattr(function, part)
    sparse = tf.SparseTensor([[1], [3]], [0.25, 0.5], [5])
    result = function(sparse)
    assert isinstance(result, tf.SparseTensor)
    np.testing.assert_allclose(result.values, function(sparse.values))


def test_cast_shape_and_the_like(tf, sp, parts):
    assert tf.cast(sp, tf.int32).values.numpy().tolist() == [1, 2, -3]
    assert tf.shape(sp).numpy().tolist() == [3, 3] and tf.shape(sp).dtype == tf.int32
    assert tf.shape(sp, out_type=tf.int64).dtype == tf.int64
    assert int(tf.size(sp)) == 9 and int(tf.rank(sp)) == 2
    assert parts(tf.identity(sp)) == parts(tf.stop_gradient(sp)) == parts(sp)
    counted = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 1, 3], [3, 2])
    assert tf.math.bincount(counted).numpy().tolist() == [0, 2, 0, 1]
    rows = tf.math.bincount(counted, axis=-1, minlength=5)
    assert rows.numpy().tolist() == [[0, 2, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 1, 0]]


def test_it_is_no_source_of_gradients_but_its_values_are(tf, sp):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(sp)
        y = tf.sparse.reduce_sum(sp * tf.fill([3, 3], 2.0))
    np.testing.assert_allclose(tape.gradient(y, sp.values), [2.0, 2.0, 2.0])
    with pytest.raises(ValueError):
        tape.gradient(y, sp)
    with pytest.raises(ValueError):
        tape.gradient(sp, sp.values)


# In functions, control flow and datasets


def test_functions_take_and_return_it(tf, sp, parts):
    traces = []

    @tf.function
    def doubled(x):
        traces.append(x.shape)
        return {"x": x * 2.0, "sum": tf.sparse.reduce_sum(x)}

    result = doubled(sp)
    assert parts(result["x"]) == ([[0, 0], [0, 2], [1, 1]], [2.0, 4.0, -6.0], [3, 3])
    doubled(tf.SparseTensor([[0, 0], [2, 1], [2, 2]], [1.0, 1.0, 1.0], [3, 3]))
    assert len(traces) == 1 and traces[0] == [3, 3]


def test_a_function_for_any_shape(tf, sp):
    @tf.function(input_signature=[tf.SparseTensorSpec([None, 3], tf.float32)])
    def total(x):
        return tf.sparse.reduce_sum(x, axis=1)

    np.testing.assert_allclose(total(sp), [3.0, -3.0, 0.0])
    np.testing.assert_allclose(total(tf.sparse.from_dense([[0.0, 5.0, 0.0]])), [5.0])


@pytest.mark.gradtape_only  # TensorFlow lets it pass
def test_a_shape_that_the_signature_does_not_allow(tf):
    @tf.function(input_signature=[tf.SparseTensorSpec([None, 3], tf.float32)])
    def values(x):
        return x.values

    with pytest.raises(TypeError, match="must be a SparseTensorSpec"):
        values(tf.sparse.from_dense([[0.0, 5.0]]))


@pytest.mark.gradtape_only
def test_what_is_compiled(tf, sp, caplog):
    @tf.function
    def run(x, d):
        y = tf.sparse.softmax(tf.sparse.transpose(tf.sparse.reorder(x) * d))
        y = tf.sparse.expand_dims(tf.sparse.reshape(y, [9]), 0)
        y = tf.sparse.concat(1, [y, tf.sparse.map_values(tf.abs, y)])
        total = tf.sparse.reduce_sum(y, 1) + tf.sparse.reduce_max(y, 1)
        product = tf.sparse.sparse_dense_matmul(x, d)
        return y, total, product, tf.sparse.to_dense(x), tf.sparse.add(x, d)

    run(sp, tf.ones([3, 3]))
    assert caplog.text == "" and run.experimental_get_tracing_count() == 1
    assert run.get_concrete_function(sp, tf.ones([3, 3])).graph.get_operations()


def test_a_function_that_makes_as_many_entries_as_there_are(tf):
    @tf.function
    def entries(x):
        return tf.sparse.from_dense(x)

    assert entries(tf.constant([[1.0, 0.0]])).indices.numpy().tolist() == [[0, 0]]
    assert entries(tf.constant([[1.0, 2.0]])).indices.numpy().tolist() == [[0, 0], [0, 1]]


def test_branches_and_loops_carry_it(tf, sp, parts):
    @tf.function
    def run(x, flag):
        if flag:
            x = x * 2.0
        for _ in tf.range(3):
            x = x * 2.0
        return tf.while_loop(lambda x: tf.reduce_max(x.values) < 100.0, lambda x: [x * 2.0], [x])[0]

    assert parts(run(sp, tf.constant(True)))[1] == [64.0, 128.0, -192.0]
    assert parts(run(sp, tf.constant(False)))[1] == [64.0, 128.0, -192.0]


def test_datasets_of_it(tf, sp, parts):
    rows = tf.data.Dataset.from_tensor_slices((sp, [7, 8, 9]))
    assert rows.element_spec[0] == tf.SparseTensorSpec([3])
    found = [(parts(x), int(y)) for x, y in rows]
    assert found[0] == (([[0], [2]], [1.0, 2.0], [3]), 7) and found[2] == (([], [], [3]), 9)
    batch = next(iter(rows.batch(2)))[0]
    assert parts(batch) == ([[0, 0], [0, 2], [1, 1]], [1.0, 2.0, -3.0], [2, 3])
    assert rows.batch(2).element_spec[0] == tf.SparseTensorSpec([None, 3])
    again = list(rows.batch(3).unbatch())
    assert parts(again[1][0]) == ([[1]], [-3.0], [3])
    doubled = tf.data.Dataset.from_tensors(sp).map(lambda x: x * 2.0)
    assert doubled.element_spec == tf.SparseTensorSpec([3, 3])
    assert parts(next(iter(doubled)))[1] == [2.0, 4.0, -6.0]


def test_a_generator_of_it(tf, sp, parts):
    made = tf.data.Dataset.from_generator(
        lambda: iter([sp, sp * 2.0]), output_signature=tf.SparseTensorSpec([None, 3])
    )
    assert [parts(x)[1] for x in made] == [[1.0, 2.0, -3.0], [2.0, 4.0, -6.0]]


def test_map_fn_over_its_rows(tf):
    a = tf.SparseTensor([[0, 0, 1], [1, 1, 0]], [2.0, 3.0], [2, 2, 2])
    b = tf.reshape(tf.range(8.0), [2, 2, 2])
    product = tf.map_fn(
        lambda x: tf.sparse.sparse_dense_matmul(x[0], x[1]), (a, b), fn_output_signature=tf.float32
    )
    np.testing.assert_allclose(product, np.matmul(tf.sparse.to_dense(a).numpy(), b.numpy()))


def test_an_iterator_in_a_function_gives_it(tf, sp):
    @tf.function
    def step(iterator):
        return tf.sparse.reduce_sum(next(iterator), axis=1)

    iterator = iter(tf.data.Dataset.from_tensors(sp).repeat(2))
    np.testing.assert_allclose(step(iterator), [3.0, -3.0, 0.0])
    np.testing.assert_allclose(step(iterator), [3.0, -3.0, 0.0])


# Where only shapes are learned


@pytest.mark.gradtape_only  # TensorFlow has the same, and knows a size less here and there
def test_shapes_without_values(tf):
    with tf.__internal__.FuncGraph("scratch").as_default():
        x = tf.compat.v1.sparse_placeholder(tf.float32, [None, 3])
        dense = tf.compat.v1.placeholder(tf.float32, [None, 3])
        results = {
            (None, 3): [x, abs_of(tf, x), tf.sparse.to_dense(x), x * dense, tf.sparse.add(x, x),
                        tf.sparse.add(x, dense), tf.sparse.concat(0, [x, x]),
                        tf.sparse.fill_empty_rows(x, 1.0)[0], tf.sparse.from_dense(dense),
                        tf.sparse.retain(x, x.values > 0)],
            (None,): [tf.sparse.reduce_sum(x, 1), tf.sparse.fill_empty_rows(x, 1.0)[1]],
            (None, 4): [tf.sparse.sparse_dense_matmul(x, tf.ones([3, 4]))],
            (None, 2): [tf.where(dense > 0)],
            (3, None): [tf.sparse.transpose(x)],
            (3,): [tf.sparse.reduce_max(x, 0, output_is_sparse=True)],
        }  # fmt: skip
        for shape, found in results.items():
            assert [tuple(y.shape) for y in found] == [shape] * len(found)
        deep = tf.compat.v1.sparse_placeholder(tf.float32, [None, 3, 4])
        rows = tf.compat.v1.placeholder(tf.float32, [None, 4, 5])
        product = tf.map_fn(
            lambda each: tf.sparse.sparse_dense_matmul(*each),
            (deep, rows),
            fn_output_signature=tf.float32,
        )
        assert tuple(product.shape) == (None, 3, 5)
    with pytest.raises(RuntimeError, match="sparse_placeholder"):
        tf.compat.v1.sparse_placeholder(tf.float32, [None, 3])


def abs_of(tf, x):
    return tf.sparse.map_values(tf.abs, x)


def test_sizes_that_were_computed(tf):
    rows, columns = tf.shape(tf.ones([4, 5]))[0], 5
    assert tf.SparseTensor([[0, 1]], [1.0], (rows, columns)).dense_shape.dtype == tf.int64
