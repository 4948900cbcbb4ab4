"""Ragged tensors in functions, control flow and datasets."""

import numpy as np
import pytest

from .conftest import plain


def test_functions_take_and_return_them(tf, x):
    traces = []

    @tf.function
    def doubled(rt):
        traces.append(rt)
        return {"doubled": rt * 2, "lengths": rt.row_lengths()}

    result = doubled(x.r)
    assert result["doubled"].to_list() == [[2, 4], [6]]
    assert result["lengths"].numpy().tolist() == [2, 1]
    assert doubled(tf.ragged.constant([[5], [6, 7]]))["doubled"].to_list() == [[10], [12, 14]]
    assert len(traces) == 1  # the same shapes, other rows
    assert doubled(x.deep)["doubled"].to_list() == [[[2], [4, 6]], []]


def test_an_input_signature(tf, x):
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    total = tf.function(lambda rt: tf.reduce_sum(rt, 1), input_signature=[spec])
    assert total(x.r).numpy().tolist() == [3, 3]
    assert total(tf.ragged.constant([[1], [2], [3, 4]])).numpy().tolist() == [1, 2, 7]
    with pytest.raises((TypeError, ValueError)):
        total(x.f)


def test_sizes_that_depend_on_values(tf, x):
    padded = tf.function(lambda rt: rt.to_tensor())
    assert padded(x.r).numpy().tolist() == [[1, 2], [3, 0]]
    cut = tf.function(lambda rt: rt[:, :1])
    assert cut(x.r).to_list() == [[1], [3]]
    chosen = tf.function(lambda rt, rows: tf.gather(rt, rows))
    assert chosen(x.r, tf.constant([1, 1])).to_list() == [[3], [3]]


@pytest.mark.gradtape_only  # of jit_compile
def test_what_is_compiled(tf, x):
    spec = tf.RaggedTensorSpec([None, None], tf.float32)

    @tf.function(jit_compile=True, input_signature=[spec])
    def whole(rt):
        dense = tf.nn.softmax(rt).to_tensor(shape=[None, 3], default_value=-1.0)
        return dense, tf.reduce_max(rt, 1, keepdims=True) - rt

    dense, away = whole(x.f)
    np.testing.assert_allclose(
        dense, [[0.268941, 0.731059, -1], [-1, -1, -1], [1, -1, -1]], rtol=1e-5
    )
    assert away.to_list() == [[1.0, 0.0], [], [0.0]]


def test_how_many_values_there_are_does_not_matter_to_a_trace(tf):
    traces = []

    @tf.function
    def total(rt):
        traces.append(rt)
        return tf.reduce_sum(rt * rt, 1)

    for count in range(1, 6):
        rows = tf.ragged.constant([[1.0] * count, [2.0]])
        assert total(rows).numpy().tolist() == [count, 4.0]
    assert len(traces) <= 2  # TensorFlow: 1

    @tf.function
    def padded(rt):
        traces.append(rt)
        return rt.to_tensor()

    traces.clear()
    for count in range(1, 6):
        assert padded(tf.ragged.constant([[1.0] * count, [2.0]])).shape == [2, count]
    # Here it runs as plain Python, each time; that it has to is found out once.
    assert len(traces) <= 1 + 5


def test_control_flow(tf, x):
    @tf.function
    def chosen(rt, which):
        return tf.cond(which, lambda: rt * 2, lambda: rt + 1)

    assert chosen(x.r, tf.constant(True)).to_list() == [[2, 4], [6]]
    assert chosen(x.r, tf.constant(False)).to_list() == [[2, 3], [4]]

    @tf.function
    def counted(rt):
        for _ in tf.range(3):
            rt = rt + 1
        return rt

    assert counted(x.r).to_list() == [[4, 5], [6]]
    looped = tf.while_loop(lambda i, rt: i < 2, lambda i, rt: (i + 1, rt * 2), (0, x.r))
    assert looped[1].to_list() == [[4, 8], [12]]


def test_map_fn(tf, x):
    doubled = tf.map_fn(lambda row: row * 2, x.r)
    assert doubled.to_list() == [[2, 4], [6]]
    assert tf.map_fn(lambda row: row * 2, x.deep).to_list() == [[[2], [4, 6]], []]
    sums = tf.map_fn(tf.reduce_sum, x.r, fn_output_signature=tf.int32)
    assert sums.numpy().tolist() == [3, 3]
    spec = tf.RaggedTensorSpec([None], tf.int32)
    ranges = tf.map_fn(tf.range, tf.constant([1, 3]), fn_output_signature=spec)
    assert isinstance(ranges, tf.RaggedTensor) and ranges.to_list() == [[0], [0, 1, 2]]


# Datasets


@pytest.fixture
def rows(tf):
    """A dataset of the rows of a ragged tensor."""
    return tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [], [3], [4, 5, 6]]))


def elements(tf, dataset):
    return [plain(tf, element) for element in dataset]


def test_rows_are_elements(tf, rows):
    assert rows.element_spec == tf.RaggedTensorSpec([None], tf.int32)
    assert elements(tf, rows) == [[1, 2], [], [3], [4, 5, 6]]
    assert all(isinstance(row, tf.Tensor) for row in rows)


@pytest.mark.parametrize(
    "step",
    [
        lambda tf, rows: rows,
        lambda tf, rows: rows.shuffle(1),
        lambda tf, rows: rows.cache().prefetch(1),
        lambda tf, rows: rows.take(1).concatenate(rows.skip(1)),
        lambda tf, rows: rows.filter(lambda row: True),
        lambda tf, rows: rows.batch(3).unbatch(),
    ],
)
def test_a_batch_of_rows_is_ragged(tf, rows, step):
    batches = step(tf, rows).batch(2)
    assert batches.element_spec == tf.RaggedTensorSpec([None, None], tf.int32)
    found = list(batches)
    assert all(isinstance(batch, tf.RaggedTensor) for batch in found)
    assert [batch.to_list() for batch in found] == [[[1, 2], []], [[3], [4, 5, 6]]]


def test_a_batch_is_ragged_where_rows_happen_to_be_as_long(tf):
    rows = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [3, 4]]))
    (batch,) = rows.batch(2, drop_remainder=True)
    assert isinstance(batch, tf.RaggedTensor) and batch.shape.as_list() == [2, None]


def test_what_a_function_returns_is_no_row(tf):
    rows = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [3, 4]]))
    for function in (lambda row: row * 2, lambda row: row):
        (batch,) = rows.map(function).batch(2)
        assert isinstance(batch, tf.Tensor)


def test_rows_beside_tensors(tf, rows):
    numbered = tf.data.Dataset.zip((rows, tf.data.Dataset.range(4))).batch(3)
    first = next(iter(numbered))
    assert plain(tf, first) == [[[1, 2], [], [3]], [0, 1, 2]]
    both = {"x": tf.ragged.constant([[1], [2, 3]]), "y": tf.constant([4, 5])}
    (batch,) = tf.data.Dataset.from_tensor_slices(both).batch(2)
    assert batch["x"].to_list() == [[1], [2, 3]] and batch["y"].numpy().tolist() == [4, 5]


def test_whole_ragged_tensors_are_elements(tf, x):
    one = tf.data.Dataset.from_tensors(x.deep)
    assert one.element_spec == tf.RaggedTensorSpec([2, None, None], tf.int32)
    assert elements(tf, one) == [x.deep.to_list()]
    assert elements(tf, one.unbatch()) == [[[1], [2, 3]], []]
    assert elements(tf, one.map(lambda rt: rt + 1)) == [[[[2], [3, 4]], []]]
    assert elements(tf, one.batch(1)) == [[x.deep.to_list()]]


def test_batches_mapped_and_taken_apart(tf, rows):
    batches = rows.batch(2)
    assert elements(tf, batches.map(lambda rt: rt.to_tensor())) == [
        [[1, 2], [0, 0]], [[3, 0, 0], [4, 5, 6]]
    ]  # fmt: skip
    assert elements(tf, batches.unbatch()) == [[1, 2], [], [3], [4, 5, 6]]
    assert elements(tf, batches.unbatch().batch(4)) == [[[1, 2], [], [3], [4, 5, 6]]]


def test_ragged_batch(tf):
    ranges = tf.data.Dataset.range(1, 4).map(tf.range)
    batches = list(ranges.ragged_batch(2))
    assert all(isinstance(batch, tf.RaggedTensor) for batch in batches)
    assert [batch.to_list() for batch in batches] == [[[0], [0, 1]], [[0, 1, 2]]]
    apply = tf.data.experimental.dense_to_ragged_batch(2, drop_remainder=True)
    assert elements(tf, ranges.apply(apply)) == [[[0], [0, 1]]]
    (narrow,) = ranges.ragged_batch(3, row_splits_dtype=tf.int32)
    assert narrow.row_splits.dtype == tf.int32
    (numbers,) = tf.data.Dataset.range(3).ragged_batch(3)
    assert isinstance(numbers, tf.Tensor)


def test_ragged_batch_of_matrices(tf):
    def generate():
        yield np.ones((1, 2), np.float32)
        yield np.ones((2, 2), np.float32)

    matrices = tf.data.Dataset.from_generator(generate, output_signature=tf.TensorSpec([None, 2]))
    batches = matrices.ragged_batch(2)
    assert batches.element_spec == tf.RaggedTensorSpec([None, None, 2], ragged_rank=1)
    assert next(iter(batches)).shape.as_list() == [2, None, 2]


def test_a_generator_of_ragged_tensors(tf, x):
    signature = tf.RaggedTensorSpec([2, None], tf.int32)
    made = tf.data.Dataset.from_generator(lambda: iter([x.r]), output_signature=signature)
    assert elements(tf, made) == [[[1, 2], [3]]]
    row = tf.RaggedTensorSpec([None], tf.int32)
    rows = tf.data.Dataset.from_generator(
        lambda: iter([tf.constant([1]), tf.constant([2, 3])]), output_signature=row
    )
    if not tf.__name__.startswith("tensorflow"):  # which does not take tensors for rows
        assert elements(tf, rows.batch(2)) == [[[1], [2, 3]]]


def test_a_loop_over_a_dataset_in_a_function(tf, rows):
    @tf.function
    def total(dataset):
        found = 0
        for batch in dataset:
            found += tf.reduce_sum(batch)
        return found

    assert total(rows.batch(2)).numpy() == 21
