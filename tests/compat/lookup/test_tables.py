"""tf.lookup: tables, and what they are filled with."""

import numpy as np
import pytest


@pytest.fixture
def lookup(tf):
    return tf.lookup


def static(tf, keys, values, default):
    initializer = tf.lookup.KeyValueTensorInitializer(keys, values)
    return tf.lookup.StaticHashTable(initializer, default)


def entries(table):
    keys, values = table.export()
    pairs = zip(keys.numpy().tolist(), values.numpy().tolist(), strict=True)
    return dict(pairs)


# Static tables


def test_static(tf):
    table = static(tf, ["a", "b"], [1, 2], -1)
    assert table.lookup(tf.constant([["b", "z"]])).numpy().tolist() == [[2, -1]]
    assert table[tf.constant("a")].numpy() == 1
    assert table.size().numpy() == 2 and table.size().dtype == tf.int64
    assert entries(table) == {b"a": 1, b"b": 2}
    assert table.key_dtype == tf.string and table.value_dtype == tf.int32
    assert table.default_value.numpy() == -1


@pytest.mark.parametrize(
    "keys, values, default, asked, found",
    [
        (["a"], [1.5], 0.0, ["a", "b"], [1.5, 0.0]),
        ([1, 2], [3, 4], -1, [2, 5], [4, -1]),
        ([1, 2], ["x", "y"], "?", [2, 5], [b"y", b"?"]),
        (["a"], ["x"], "", ["a", "b"], [b"x", b""]),
        (["a"], [True], False, ["a", "b"], [True, False]),
    ],
)
def test_dtypes(tf, keys, values, default, asked, found):
    table = static(tf, keys, values, default)
    assert table.lookup(tf.constant(asked)).numpy().tolist() == found


def test_ragged_and_sparse_keys(tf):
    table = static(tf, ["a", "b"], [1, 2], -1)
    assert table.lookup(tf.ragged.constant([["a"], ["b", "q"]])).to_list() == [[1], [2, -1]]
    sparse = table.lookup(tf.sparse.from_dense(tf.constant([["a", ""], ["", "b"]])))
    assert sparse.values.numpy().tolist() == [1, 2]
    assert sparse.indices.numpy().tolist() == [[0, 0], [1, 1]]


def test_keys_that_come_twice(tf):
    assert static(tf, ["a", "a"], [1, 1], -1).size().numpy() == 1
    with pytest.raises(tf.errors.FailedPreconditionError):
        static(tf, ["a", "a"], [1, 2], -1)


def test_wrong_tables(tf, lookup):
    with pytest.raises(TypeError):
        static(tf, ["a"], [1], -1).lookup(tf.constant([1]))
    with pytest.raises(TypeError):
        static(tf, ["a"], [1], -1.5)
    for wrong in (
        lambda: static(tf, ["a", "b"], [1, 2], [-1]),
        lambda: static(tf, ["a", "b"], [1, 2, 3], -1),
        lambda: static(tf, ["a", "b"], [[1], [2]], -1),
    ):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
            wrong()


def test_an_initializer_that_does_nothing(tf, lookup):
    class Nothing(lookup.KeyValueTensorInitializer):
        def __init__(self):
            pass

        @property
        def key_dtype(self):
            return tf.string

        @property
        def value_dtype(self):
            return tf.int64

        def initialize(self, table):
            pass

    table = lookup.StaticHashTable(Nothing(), -1)
    assert table.size().numpy() == 0
    with pytest.raises(tf.errors.FailedPreconditionError):
        table.lookup(tf.constant(["a"]))


# Files


@pytest.fixture
def columns(tmp_path):
    path = tmp_path / "columns.txt"
    path.write_bytes(b"apple\t1\nbanana\t2\r\ncherry\t3\n")
    return str(path)


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(b"apple\nbanana\ncherry")
    return str(path)


def from_file(tf, *arguments, default=-1, **options):
    initializer = tf.lookup.TextFileInitializer(*arguments, **options)
    return tf.lookup.StaticHashTable(initializer, default)


def test_columns(tf, columns):
    table = from_file(tf, columns, tf.string, 0, tf.int64, 1)
    assert entries(table) == {b"apple": 1, b"banana": 2, b"cherry": 3}
    table = from_file(tf, columns, tf.int64, 1, tf.string, 0, default="")
    assert entries(table) == {1: b"apple", 2: b"banana", 3: b"cherry"}


def test_lines(tf, lookup, words):
    line, number = lookup.TextFileIndex.WHOLE_LINE, lookup.TextFileIndex.LINE_NUMBER
    table = from_file(tf, words, tf.string, line, tf.int64, number)
    assert entries(table) == {b"apple": 0, b"banana": 1, b"cherry": 2}
    table = from_file(tf, words, tf.string, line, tf.int64, number, value_index_offset=10)
    assert entries(table)[b"cherry"] == 12
    table = from_file(tf, words, tf.string, line, tf.int64, number, vocab_size=2)
    assert entries(table) == {b"apple": 0, b"banana": 1}
    table = from_file(tf, words, tf.int64, number, tf.string, line, default="?")
    assert table.lookup(tf.constant([1, 7], tf.int64)).numpy().tolist() == [b"banana", b"?"]


def test_wrong_files(tf, tmp_path, columns, words):
    gaps = tmp_path / "gaps.txt"
    gaps.write_text("a\n\nb\n")
    whole, number = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    for arguments, options in (
        ((str(gaps), tf.string, whole, tf.int64, number), {}),
        ((words, tf.string, whole, tf.int64, number), {"vocab_size": 9}),
        ((columns, tf.string, 0, tf.int64, 5), {}),
        ((columns, tf.string, 1, tf.int64, 0), {}),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            from_file(tf, *arguments, **options)
    with pytest.raises(tf.errors.NotFoundError):
        from_file(tf, str(tmp_path / "none"), tf.string, whole, tf.int64, number)
    for arguments in (
        (columns, tf.string, -3, tf.int64, 0),
        (columns, tf.int32, number, tf.int64, 0),
        (columns, tf.float32, whole, tf.int64, 0),
    ):
        with pytest.raises(ValueError):
            tf.lookup.TextFileInitializer(*arguments)


# Vocabularies


def test_vocabulary(tf, lookup):
    values = tf.constant([0, 1], tf.int64)
    table = lookup.StaticVocabularyTable(lookup.KeyValueTensorInitializer(["a", "b"], values), 3)
    assert table.lookup(tf.constant(["a", "x", "y", "zz"])).numpy().tolist() == [0, 4, 4, 3]
    assert table.size().numpy() == 5
    ragged = table.lookup(tf.ragged.constant([["a"], ["x", "zz"]]))
    assert ragged.to_list() == [[0], [4, 3]]
    keys = tf.constant([1, 2], tf.int64)
    numbers = lookup.StaticVocabularyTable(lookup.KeyValueTensorInitializer(keys, values), 3)
    assert numbers.lookup(tf.constant([1, 7, 8, 9], tf.int64)).numpy().tolist() == [0, 3, 3, 4]
    hashed = lookup.StaticVocabularyTable(None, 3)
    assert hashed.lookup(tf.constant(["a", "b"])).numpy().tolist() == [0, 1]
    assert hashed.size().numpy() == 3


def test_wrong_vocabularies(tf, lookup):
    values = tf.constant([0, 1], tf.int64)
    texts = lookup.KeyValueTensorInitializer(["1", "2"], values)
    with pytest.raises(ValueError):
        lookup.StaticVocabularyTable(texts, 0)
    with pytest.raises(TypeError):
        lookup.StaticVocabularyTable(lookup.KeyValueTensorInitializer(["a"], [0]), 1)
    with pytest.raises(TypeError):
        lookup.StaticVocabularyTable(lookup.KeyValueTensorInitializer([1.0, 2.0], values), 1)
    with pytest.raises(TypeError):
        lookup.StaticVocabularyTable(texts, 1, lookup_key_dtype=tf.int64)


# Tables that change


def test_mutable(tf, lookup):
    table = lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["a", "b"], [1, 2])
    table.insert(tf.constant(["b", "c"]), tf.constant([5, 6], tf.int64))
    assert table.lookup(["a", "b", "q"]).numpy().tolist() == [1, 5, -1]
    assert entries(table) == {b"a": 1, b"b": 5, b"c": 6}
    table.remove(tf.constant(["a", "q"]))
    assert table.size().numpy() == 2
    found = table.lookup(["q", "b"], dynamic_default_values=tf.constant([7, 8], tf.int64))
    assert found.numpy().tolist() == [7, 5]
    table.insert("scalar", 9)
    assert table.lookup("scalar").numpy() == 9
    table.insert([["x", "y"]], [[1, 2]])
    assert table.lookup([["y"]]).numpy().tolist() == [[2]]


def test_rows_as_values(tf, lookup):
    table = lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])
    table.insert(tf.constant([1, 2], tf.int64), [[1.0, 2.0], [3.0, 4.0]])
    found = table.lookup(tf.constant([[1], [5]], tf.int64))
    assert found.numpy().tolist() == [[[1.0, 2.0]], [[0.0, 0.0]]]
    keys, values = table.export()
    assert sorted(keys.numpy().tolist()) == [1, 2] and values.shape == [2, 2]
    with pytest.raises(tf.errors.InvalidArgumentError):
        table.insert(tf.constant([1, 2], tf.int64), [1.0, 2.0])
    with pytest.raises(ValueError):
        table.insert(tf.constant([1], tf.int32), [[1.0, 2.0]])


def test_dense(tf, lookup):
    table = lookup.experimental.DenseHashTable(
        tf.int64, tf.int64, default_value=-1, empty_key=0, deleted_key=-5
    )

    def keys(*numbers):
        return tf.constant(numbers, tf.int64)

    table.insert(keys(1, 2), keys(3, 4))
    table.insert_or_assign(keys(2), keys(5))
    assert table.lookup(keys(1, 2, 9)).numpy().tolist() == [3, 5, -1]
    table.erase(keys(1))
    table.remove(keys(17))
    assert table.size().numpy() == 1
    for wrong in (
        lambda: table.insert(keys(0), keys(1)),
        lambda: table.lookup(keys(-5)),
        lambda: lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, 0),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            wrong()


def test_vectors_as_keys(tf, lookup):
    table = lookup.experimental.DenseHashTable(
        tf.int64, tf.int64, default_value=[-1, -1], empty_key=[0, 0], deleted_key=[-1, -1]
    )
    table.insert(tf.constant([[1, 2]], tf.int64), tf.constant([[3, 4]], tf.int64))
    found = table.lookup(tf.constant([[1, 2], [3, 4]], tf.int64))
    assert found.numpy().tolist() == [[3, 4], [-1, -1]]


def test_many(tf, lookup):
    words = [f"word{i}".encode() for i in range(5000)]
    table = static(tf, words, np.arange(5000), -1)
    assert table.lookup(tf.constant(words[::-1])).numpy().tolist() == list(range(5000))[::-1]


def test_checkpoints(tf, lookup, tmp_path):
    def fresh():
        return lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)

    table = fresh()
    table.insert(["a", "b", "c"], [1, 2, 3])
    path = tf.train.Checkpoint(table=table).write(str(tmp_path / "saved"))
    restored = fresh()
    restored.insert(["z"], [9])
    tf.train.Checkpoint(table=restored).read(path).assert_consumed()
    assert entries(restored) == {b"a": 1, b"b": 2, b"c": 3}
