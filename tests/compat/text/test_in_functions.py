"""Text and tables in functions and datasets."""

import numpy as np
import pytest


def test_an_argument(tf):
    f = tf.function(lambda text: tf.strings.length(tf.strings.upper(text)))
    for text, expected in ((["a", "bc"], [1, 2]), (["def"], [3])):
        assert f(tf.constant(text)).numpy().tolist() == expected
    assert f(np.array(["ab"])).numpy().tolist() == [2]


def test_ragged_and_sparse_arguments(tf):
    f = tf.function(lambda text: tf.strings.upper(text))
    assert f(tf.ragged.constant([["a"], ["b", "c"]])).to_list() == [[b"A"], [b"B", b"C"]]
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    g = tf.function(table.lookup)
    found = g(tf.sparse.from_dense(tf.constant([["a", ""], ["", "b"]])))
    assert found.values.numpy().tolist() == [1, 2]


def test_constants_inside(tf):
    f = tf.function(lambda x: x * tf.cast(tf.strings.length("abc"), tf.float32))
    assert f(tf.constant(2.0)).numpy() == 6.0


def test_numbers_become_text(tf):
    f = tf.function(lambda x: tf.strings.join(["<", tf.strings.as_string(x), ">"]))
    assert f(tf.constant([1, 2])).numpy().tolist() == [b"<1>", b"<2>"]


def test_text_chosen_by_a_number(tf):
    @tf.function
    def f(x):
        if x > 0:
            word = "positive"
        else:
            word = "negative"
        return tf.strings.upper(word)

    assert f(tf.constant(1.0)).numpy() == b"POSITIVE"
    assert f(tf.constant(-1.0)).numpy() == b"NEGATIVE"


def test_a_variable_of_text(tf):
    v = tf.Variable("a")

    @tf.function
    def f(x):
        v.assign(tf.strings.join([v, "b"]))
        return x + tf.cast(tf.strings.length(v), tf.float32)

    assert f(tf.constant(1.0)).numpy() == 3.0
    assert f(tf.constant(1.0)).numpy() == 4.0
    assert v.numpy() == b"abb"


def test_a_table_of_numbers(tf):
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(
            tf.constant([1, 2], tf.int64), tf.constant([10.0, 20.0])
        ),
        -1.0,
    )
    f = tf.function(lambda x: tf.reduce_sum(table.lookup(x)))
    assert f(tf.constant([1, 2, 3], tf.int64)).numpy() == 29.0
    assert f(tf.constant([2, 2, 2], tf.int64)).numpy() == 60.0


def test_a_table_that_changes(tf):
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, 0)

    @tf.function
    def count(x):
        table.insert(x, table.lookup(x) + 1)
        return table.size(), table.lookup(x)

    assert [y.numpy().tolist() for y in count(tf.constant([1, 2], tf.int64))] == [2, [1, 1]]
    assert [y.numpy().tolist() for y in count(tf.constant([2, 3], tf.int64))] == [3, [2, 1]]


def test_a_table_of_text_that_changes(tf):
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)

    @tf.function
    def count(text):
        table.insert(text, table.lookup(text) + 1)

    count(tf.constant(["a", "b"]))
    count(tf.constant(["a"]))
    assert table.lookup(tf.constant(["a", "b"])).numpy().tolist() == [2, 1]


def test_the_vocabulary_of_a_function(tf):
    table = tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(
            tf.constant([7, 8], tf.int64), tf.constant([0, 1], tf.int64)
        ),
        3,
    )
    f = tf.function(lambda x: table.lookup(x) * 2)
    keys = tf.constant([7, 9, 8], tf.int64)
    assert f(keys).numpy().tolist() == (2 * table.lookup(keys).numpy()).tolist()


def test_in_a_dataset(tf):
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64)), -1
    )
    lines = tf.data.Dataset.from_tensor_slices(["a b", "b z b"])
    numbers = lines.map(lambda line: table.lookup(tf.strings.split(line)))
    assert [x.numpy().tolist() for x in numbers] == [[1, 2], [2, -1, 2]]
    assert numbers.element_spec == tf.TensorSpec([None], tf.int64)
    padded = numbers.padded_batch(2)
    assert [x.numpy().tolist() for x in padded] == [[[1, 2, 0], [2, -1, 2]]]
    batches = lines.batch(2).map(lambda lines: table.lookup(tf.strings.split(lines)).to_tensor())
    assert [x.numpy().tolist() for x in batches] == [[[1, 2, 0], [2, -1, 2]]]


def test_elements_of_text_in_a_function(tf):
    data = tf.data.Dataset.from_tensor_slices(["a", "bc", "def"])

    @tf.function
    def total(data):
        count = tf.constant(0)
        for text in data:
            count += tf.strings.length(text)
        return count

    assert total(data).numpy() == 6
    iterator = iter(data)
    step = tf.function(lambda it: tf.strings.upper(next(it)))
    assert [step(iterator).numpy() for _ in range(3)] == [b"A", b"BC", b"DEF"]
    with pytest.raises((tf.errors.OutOfRangeError, StopIteration)):
        step(iterator)


def test_map_fn(tf):
    lengths = tf.map_fn(tf.strings.length, tf.constant(["a", "bc"]), fn_output_signature=tf.int32)
    assert lengths.numpy().tolist() == [1, 2]
