"""tf.train.Example and its parts, and their features parsed."""

import copy
import pickle

import numpy as np
import pytest


@pytest.fixture
def make(tf):
    """What makes features: of integers, floats, bytes."""

    class Make:
        def ints(self, *values):
            return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

        def floats(self, *values):
            return tf.train.Feature(float_list=tf.train.FloatList(value=values))

        def texts(self, *values):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))

        def example(self, **features):
            return tf.train.Example(features=tf.train.Features(feature=features))

        def steps(self, **lists):
            return tf.train.FeatureLists(
                feature_list={
                    name: tf.train.FeatureList(feature=steps) for name, steps in lists.items()
                }
            )

    return Make()


# Messages


def test_a_message(tf, make):
    example = make.example(a=make.ints(1, -2), b=make.floats(1.5, 0.1), c=make.texts(b"x\n\xff"))
    data = example.SerializeToString()
    assert len(data) == example.ByteSize()
    for again in (
        tf.train.Example.FromString(data),
        pickle.loads(pickle.dumps(example)),
        copy.deepcopy(example),
    ):
        assert again == example
    feature = again.features.feature
    assert list(feature["a"].int64_list.value) == [1, -2]
    assert list(feature["b"].float_list.value) == [1.5, float(np.float32(0.1))]
    assert feature["c"].bytes_list.value[0] == b"x\n\xff"
    assert sorted(feature) == ["a", "b", "c"] and "z" not in feature and len(feature) == 3
    assert feature["a"].WhichOneof("kind") == "int64_list"
    parsed = tf.train.Example()
    assert not parsed.HasField("features")
    parsed.ParseFromString(data)
    assert parsed == example and parsed.HasField("features")
    parsed.Clear()
    assert parsed == tf.train.Example() and parsed.SerializeToString() == b""


def test_the_text_of_a_message(make):
    assert str(make.example(a=make.ints(1, 2))) == (
        'features {\n  feature {\n    key: "a"\n    value {\n      int64_list {\n        value: 1\n'
        "        value: 2\n      }\n    }\n  }\n}\n"
    )
    assert str(make.floats(1.5, 0.1)) == "float_list {\n  value: 1.5\n  value: 0.1\n}\n"
    assert str(make.texts(b'x\n"\xff')) == 'bytes_list {\n  value: "x\\n\\"\\377"\n}\n'


def test_the_bytes_of_a_message(make):
    assert make.example(a=make.ints(1, 300, -1)).SerializeToString().hex() == (
        "0a180a160a016112" + "111a0f0a0d01ac02" + "ff" * 9 + "01"
    )
    assert make.floats(1.5).SerializeToString() == b"\x12\x06\n\x04\x00\x00\xc0?"
    assert make.ints().SerializeToString() == b"\x1a\x00"


def test_changes(tf):
    example = tf.train.Example()
    values = example.features.feature["q"].int64_list.value
    values.append(3)
    values.extend([4, np.int32(5)])
    values[0] = 7
    assert list(example.features.feature["q"].int64_list.value) == [7, 4, 5]
    assert example.HasField("features")
    feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))
    feature.float_list.value.append(1.5)  # of these there is one
    assert feature.WhichOneof("kind") == "float_list" and list(feature.int64_list.value) == []
    assert tf.train.Feature().WhichOneof("kind") is None
    other = tf.train.Example()
    other.features.feature["q"].CopyFrom(feature)
    other.MergeFrom(tf.train.Example(features=tf.train.Features(feature={"r": feature})))
    assert sorted(other.features.feature) == ["q", "r"]
    assert other != example


def test_wrong_messages(tf):
    for wrong in (
        lambda: tf.train.BytesList(value=["text"]),
        lambda: tf.train.Int64List(value=[1.5]),
        lambda: tf.train.FloatList(value=["1"]),
    ):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError):
        tf.train.Int64List(values=[1])
    with pytest.raises(ValueError):
        tf.train.Features().feature["k"] = tf.train.Feature()
    with pytest.raises(AttributeError):
        tf.train.Int64List().value = [1]
    with pytest.raises(Exception, match=r".*"):
        tf.train.Example.FromString(b"junk")


# Parsing


@pytest.fixture
def two(make):
    """Two examples; the second has less."""
    first = make.example(
        a=make.ints(1), b=make.floats(1.5, 2.5), c=make.texts(b"x", b"y"), idx=make.ints(3, 1),
        val=make.floats(0.25, 0.5), rows=make.ints(1, 1),
    )  # fmt: skip
    second = make.example(a=make.ints(2), c=make.texts(b"z"))
    return [first.SerializeToString(), second.SerializeToString()]


def test_fixed(tf, two):
    io = tf.io
    parsed = io.parse_example(
        two,
        {
            "a": io.FixedLenFeature([], tf.int64),
            "b": io.FixedLenFeature([2], tf.float32, [9.0, 8.0]),
            "z": io.FixedLenFeature([], tf.string, "none"),
        },
    )
    assert parsed["a"].numpy().tolist() == [1, 2]
    assert parsed["b"].numpy().tolist() == [[1.5, 2.5], [9.0, 8.0]]
    assert parsed["z"].numpy().tolist() == [b"none", b"none"]
    one = io.parse_single_example(two[0], {"b": io.FixedLenFeature([1, 2], tf.float32)})
    assert one["b"].numpy().tolist() == [[1.5, 2.5]]
    assert io.parse_example(two[1], {"a": io.FixedLenFeature([], tf.int64)})["a"].shape == []


def test_sequences_of_values(tf, two):
    io = tf.io
    feature = io.FixedLenSequenceFeature([], tf.string, allow_missing=True)
    padded = io.parse_example(two, {"c": feature})["c"]
    assert padded.numpy().tolist() == [[b"x", b"y"], [b"z", b""]]
    feature = io.FixedLenSequenceFeature([], tf.float32, allow_missing=True, default_value=-1.0)
    assert io.parse_example(two, {"b": feature})["b"].numpy().tolist() == [[1.5, 2.5], [-1.0, -1.0]]
    assert io.parse_single_example(two[0], {"b": feature})["b"].numpy().tolist() == [1.5, 2.5]


def test_sparse(tf, two):
    io = tf.io
    parsed = io.parse_example(
        two, {"c": io.VarLenFeature(tf.string), "s": io.SparseFeature("idx", "val", tf.float32, 5)}
    )
    assert parsed["c"].values.numpy().tolist() == [b"x", b"y", b"z"]
    assert parsed["c"].indices.numpy().tolist() == [[0, 0], [0, 1], [1, 0]]
    assert parsed["c"].dense_shape.numpy().tolist() == [2, 2]
    assert parsed["s"].values.numpy().tolist() == [0.5, 0.25]
    assert parsed["s"].indices.numpy().tolist() == [[0, 1], [0, 3]]
    assert parsed["s"].dense_shape.numpy().tolist() == [2, 5]
    unsorted = {"s": io.SparseFeature("idx", "val", tf.float32, 5, already_sorted=True)}
    assert io.parse_example(two, unsorted)["s"].indices.numpy().tolist() == [[0, 3], [0, 1]]
    one = io.parse_single_example(two[0], {"c": io.VarLenFeature(tf.string)})["c"]
    assert one.indices.numpy().tolist() == [[0], [1]] and one.dense_shape.numpy().tolist() == [2]


def test_ragged(tf, two):
    io, Ragged = tf.io, tf.io.RaggedFeature
    parsed = io.parse_example(
        two,
        {
            "b": Ragged(tf.float32),
            "none": Ragged(tf.int64, row_splits_dtype=tf.int64),
            "lengths": Ragged(tf.float32, "b", [Ragged.RowLengths("rows")]),
            "uniform": Ragged(tf.float32, "b", [Ragged.UniformRowLength(2)]),
        },
    )
    assert parsed["b"].to_list() == [[1.5, 2.5], []] and parsed["none"].to_list() == [[], []]
    assert parsed["b"].row_splits.dtype == tf.int32 and parsed["none"].row_splits.dtype == tf.int64
    assert parsed["lengths"].to_list() == [[[1.5], [2.5]], []]
    assert parsed["uniform"].to_list() == [[[1.5, 2.5]], []]
    one = io.parse_single_example(
        two[0],
        {"b": Ragged(tf.float32), "r": Ragged(tf.float32, "b", [Ragged.RowLengths("rows")])},
    )
    assert one["b"].numpy().tolist() == [1.5, 2.5] and one["r"].to_list() == [[1.5], [2.5]]


@pytest.mark.parametrize(
    "partition, values, rows",
    [
        ("RowSplits", [0, 1, 3], [[1], [2, 3]]),
        ("RowLengths", [0, 3], [[], [1, 2, 3]]),
        ("RowStarts", [0, 2], [[1, 2], [3]]),
        ("RowLimits", [1, 3], [[1], [2, 3]]),
        ("ValueRowIds", [0, 2, 2], [[1], [], [2, 3]]),
    ],
)
def test_partitions(tf, make, partition, values, rows):
    data = make.example(v=make.ints(1, 2, 3), p=make.ints(*values)).SerializeToString()
    part = getattr(tf.io.RaggedFeature, partition)("p")
    feature = tf.io.RaggedFeature(tf.int64, value_key="v", partitions=[part])
    assert tf.io.parse_example([data], {"r": feature})["r"].to_list() == [rows]


def test_wrong_features(tf, two):
    io = tf.io
    for feature in (
        {"b": io.FixedLenFeature([2], tf.float32)},  # missing in the second
        {"a": io.FixedLenFeature([3], tf.int64)},
        {"a": io.FixedLenFeature([], tf.float32)},
        {"a": io.FixedLenFeature([], tf.int32)},
        {"b": io.FixedLenFeature([2], tf.float32, 7.0)},
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            io.parse_example(two, feature)
    for feature in ({}, {"a": 5}, {"c": io.FixedLenSequenceFeature([], tf.string)}):
        with pytest.raises(ValueError):
            io.parse_example(two, feature)
    with pytest.raises(tf.errors.InvalidArgumentError):
        io.parse_example([two], {"a": io.FixedLenFeature([], tf.int64)})


def test_no_examples(tf):
    none = tf.zeros([0], tf.string)
    features = {"a": tf.io.FixedLenFeature([2], tf.int64), "v": tf.io.VarLenFeature(tf.int64)}
    parsed = tf.io.parse_example(none, features)
    assert parsed["a"].shape == [0, 2] and parsed["v"].dense_shape.numpy().tolist() == [0, 0]


def test_many_values(tf, make):
    values = np.random.default_rng(0).integers(-(2**62), 2**62, 500)
    data = make.example(a=make.ints(*values.tolist())).SerializeToString()
    feature = {"a": tf.io.FixedLenFeature([500], tf.int64)}
    assert np.array_equal(tf.io.parse_single_example(data, feature)["a"].numpy(), values)
    assert list(tf.train.Example.FromString(data).features.feature["a"].int64_list.value) == (
        values.tolist()
    )


def test_sequence_examples(tf, make):
    io = tf.io
    first = tf.train.SequenceExample(
        context=tf.train.Features(feature={"id": make.ints(7)}),
        feature_lists=make.steps(
            token=[make.ints(1, 2), make.ints(3)], label=[make.floats(1.0), make.floats(2.0)]
        ),
    )
    second = tf.train.SequenceExample(
        context=tf.train.Features(feature={"id": make.ints(8)}),
        feature_lists=make.steps(token=[make.ints(5)], label=[make.floats(4.0)]),
    )
    data = [first.SerializeToString(), second.SerializeToString()]
    assert tf.train.SequenceExample.FromString(data[0]) == first
    context, rows, lengths = io.parse_sequence_example(
        data,
        {"id": io.FixedLenFeature([], tf.int64)},
        {
            "token": io.VarLenFeature(tf.int64),
            "label": io.FixedLenSequenceFeature([], tf.float32),
        },
    )
    assert context["id"].numpy().tolist() == [7, 8]
    assert rows["label"].numpy().tolist() == [[1.0, 2.0], [4.0, 0.0]]
    assert rows["token"].values.numpy().tolist() == [1, 2, 3, 5]
    assert rows["token"].indices.numpy().tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert lengths["label"].numpy().tolist() == [2, 1] and "token" not in lengths
    _, rows, _ = io.parse_sequence_example(data, None, {"token": io.RaggedFeature(tf.int64)})
    assert rows["token"].to_list() == [[[1, 2], [3]], [[5]]]
    context, rows = io.parse_single_sequence_example(
        data[0],
        {"id": io.RaggedFeature(tf.int64)},
        {"token": io.VarLenFeature(tf.int64), "label": io.FixedLenSequenceFeature([1], tf.float32)},
    )
    assert context["id"].numpy().tolist() == [7] and rows["label"].numpy().tolist() == [
        [1.0],
        [2.0],
    ]
    assert rows["token"].indices.numpy().tolist() == [[0, 0], [0, 1], [1, 0]]
    missing = io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True)
    assert io.parse_sequence_example(data, None, {"no": missing})[1]["no"].shape == [2, 0, 2]
    for wrong in (
        {"no": io.FixedLenSequenceFeature([], tf.float32)},
        {"token": io.FixedLenSequenceFeature([2], tf.int64)},
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            io.parse_sequence_example(data, None, wrong)


def test_from_file_to_batch(tf, make, tmp_path):
    path = str(tmp_path / "data.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(5):
            writer.write(
                make.example(x=make.floats(i, i + 0.5), y=make.ints(i)).SerializeToString()
            )
    features = {
        "x": tf.io.FixedLenFeature([2], tf.float32),
        "y": tf.io.FixedLenFeature([], tf.int64),
    }
    dataset = tf.data.TFRecordDataset(path).batch(2)
    dataset = dataset.map(lambda records: tf.io.parse_example(records, features))
    batches = list(dataset)
    assert [batch["y"].numpy().tolist() for batch in batches] == [[0, 1], [2, 3], [4]]
    assert batches[2]["x"].numpy().tolist() == [[4.0, 4.5]]
    assert dataset.element_spec["x"] == tf.TensorSpec([None, 2], tf.float32)


def test_json(tf):
    texts = [
        '{"features": {"feature": {"a": {"int64List": {"value": ["1", 2]}}, '
        '"b": {"floatList": {"value": [1.5]}}, "c": {"bytesList": {"value": ["eA=="]}}}}}',
        '{"features": {"feature": {"a": {"int64_list": {"value": [3, 4]}}}}}',
    ]
    first, second = tf.io.decode_json_example(texts).numpy()
    feature = tf.train.Example.FromString(first).features.feature
    assert list(feature["a"].int64_list.value) == [1, 2]
    assert list(feature["b"].float_list.value) == [1.5]
    assert list(feature["c"].bytes_list.value) == [b"x"]
    parsed = tf.io.parse_single_example(second, {"a": tf.io.FixedLenFeature([2], tf.int64)})
    assert parsed["a"].numpy().tolist() == [3, 4]
    for wrong in ('{"x": 1}', "nothing", '{"features": {"feature": {"a": {"int64List": 1}}}}'):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.decode_json_example(wrong)
