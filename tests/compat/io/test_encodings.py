"""Encodings: base64, raw numbers, CSV, tensors and compressed texts."""

import gzip
import zlib

import numpy as np
import pytest


def test_base64(tf):
    encode, decode = tf.io.encode_base64, tf.io.decode_base64
    assert encode(["a", "hello?>", ""]).numpy().tolist() == [b"YQ", b"aGVsbG8_Pg", b""]
    assert encode("a", pad=True).numpy() == b"YQ=="
    assert decode(["aGVsbG8_Pg", "YQ=="]).numpy().tolist() == [b"hello?>", b"a"]
    for wrong in ("$$", "aGVsbG8/Pg", "a"):
        with pytest.raises(tf.errors.InvalidArgumentError):
            decode(wrong)


def test_raw(tf):
    raw = tf.io.decode_raw
    assert raw(["1234", "5678"], tf.uint8).numpy().tolist() == [[49, 50, 51, 52], [53, 54, 55, 56]]
    assert raw("1234", tf.int16).numpy().tolist() == [12849, 13363]
    assert raw("1234", tf.int16, little_endian=False).numpy().tolist() == [12594, 13108]
    assert raw(["123", "1"], tf.uint8, fixed_length=4).numpy().tolist() == [
        [49, 50, 51, 0],
        [49, 0, 0, 0],
    ]
    assert raw(["12345", "1"], tf.int16, fixed_length=4).numpy().tolist() == [
        [12849, 13363],
        [49, 0],
    ]
    assert raw(b"\x01\x00", tf.bool).numpy().tolist() == [True, False]
    numbers = np.array([[1.5, -2.0]], np.float64)
    assert raw([numbers.tobytes()], tf.float64).numpy().tolist() == [[1.5, -2.0]]
    assert raw(tf.zeros([0], tf.string), tf.uint8).shape == [0, 0]
    for wrong in (
        lambda: raw("123", tf.int16),
        lambda: raw(["123", "1"], tf.uint8),
        lambda: raw(["123", "1"], tf.int16, fixed_length=3),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            wrong()


def test_compressed(tf):
    decode = tf.io.decode_compressed
    assert decode([zlib.compress(b"abc"), zlib.compress(b"")], "ZLIB").numpy().tolist() == [
        b"abc",
        b"",
    ]
    assert decode(gzip.compress(b"abc"), "GZIP").numpy() == b"abc"
    assert decode("abc").numpy() == b"abc"
    with pytest.raises(tf.errors.DataLossError):
        decode("abc", "ZLIB")
    with pytest.raises(tf.errors.InvalidArgumentError):
        decode("abc", "FOO")


def columns(tf, *arguments, **options):
    return [
        c.numpy().tolist() if c.shape.rank else c.numpy()
        for c in tf.io.decode_csv(*arguments, **options)
    ]


def test_csv(tf):
    assert columns(tf, ["1,2.5,a", '3,,"b,""c"'], [[0], [1.5], ""]) == [
        [1, 3],
        [2.5, 1.5],
        [b"a", b'b,"c'],
    ]
    required = tf.constant([], tf.int32)
    assert columns(tf, "1,2", [required, 0]) == [1, 2]
    assert columns(tf, "1,2,3", [0, 0], select_cols=[0, 2]) == [1, 3]
    assert columns(tf, "NA,2", [7, 0], na_value="NA") == [7, 2]
    assert columns(tf, "1|2", [7, 0], field_delim="|") == [1, 2]
    assert columns(tf, '"a",b', ["", ""], use_quote_delim=False) == [b'"a"', b"b"]
    assert columns(tf, [["1,2"], ["3,4"]], [0, 0.0]) == [[[1], [3]], [[2.0], [4.0]]]
    assert columns(tf, " 1 , 2", [0, 0.0]) == [1, 2.0]
    assert columns(tf, "1,", [0, 9]) == [1, 9]
    assert columns(tf, '"a\nb",""', ["", "?"])[0] == b"a\nb"
    kinds = [tf.constant(0, tf.int64), tf.constant(0, tf.float64)]
    assert [c.dtype for c in tf.io.decode_csv("1,2", kinds)] == [tf.int64, tf.float64]


@pytest.mark.parametrize(
    "line, defaults",
    [
        ("1,2,3", [0, 0]), ("1", [0, 0]), ("x,2", [0, 0]), ('a"b,c', ["", ""]),
        ('"a"b,c', ["", ""]), ('"a,c', ["", ""]), ("a\n,c", ["", ""]), ("1,", [0, [1, 2]]),
        (",2", [np.zeros(0, np.int32), 0]), ("3000000000,1", [0, 0]),
    ],
)  # fmt: skip
def test_wrong_csv(tf, line, defaults):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_csv(line, defaults)


VALUES = [
    np.array([[1, 2]], np.int32), np.array(1.5, np.float32), np.array([True, False]),
    np.array([1 + 2j], np.complex64), np.zeros((0, 3), np.float64), np.array([250], np.uint8),
    np.array([-3], np.int64), np.array([1.5], np.float16),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value.dtype.name)
def test_tensors(tf, value):
    serialized = tf.io.serialize_tensor(value)
    parsed = tf.io.parse_tensor(serialized, value.dtype)
    assert parsed.dtype == value.dtype and parsed.shape == value.shape
    assert np.array_equal(parsed.numpy(), value)


def test_bytes_of_tensors(tf):
    serialize, parse = tf.io.serialize_tensor, tf.io.parse_tensor
    assert serialize(tf.constant([[1, 2]])).numpy() == (
        b'\x08\x03\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02"\x08\x01\0\0\0\x02\0\0\0'
    )
    texts = serialize(tf.constant(["a", "bc"]))
    assert texts.numpy() == b"\x08\x07\x12\x04\x12\x02\x08\x02B\x01aB\x02bc"
    assert parse(texts, tf.string).numpy().tolist() == [b"a", b"bc"]
    # Values in their own fields, packed or one by one, and fewer than the shape has.
    assert parse(b"\x08\x03\x12\x04\x12\x02\x08\x03:\x02\x01\x02", tf.int32).numpy().tolist() == [
        1,
        2,
        2,
    ]
    assert parse(
        b"\x08\x01\x12\x04\x12\x02\x08\x02-\x00\x00\xc0?", tf.float32
    ).numpy().tolist() == [1.5, 1.5]
    assert parse(b"\x08\x09\x12\x00R\x0a" + b"\xff" * 9 + b"\x01", tf.int64).numpy() == -1
    for wrong in (
        lambda: parse(serialize(tf.constant([1])), tf.int64),
        lambda: parse("junk", tf.int64),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            wrong()


def test_tensor_protos_are_read(tf):
    proto = tf.make_tensor_proto([[1.0, 2.0]])
    again = type(proto).FromString(proto.SerializeToString())
    assert tf.make_ndarray(again).tolist() == [[1.0, 2.0]]


def test_sparse_tensors(tf):
    a = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 3], [2, 3])
    b = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [1, 2, 3], [2, 2])
    indices, values, shape = tf.io.serialize_sparse(a)
    assert tf.io.parse_tensor(indices, tf.int64).numpy().tolist() == [[0, 0], [0, 1], [1, 0]]
    assert tf.io.parse_tensor(values, tf.int32).numpy().tolist() == [1, 2, 3]
    assert tf.io.parse_tensor(shape, tf.int64).numpy().tolist() == [2, 3]
    rows = tf.io.serialize_many_sparse(a)
    assert rows.shape == [2, 3]
    again = tf.io.deserialize_many_sparse(rows, tf.int32)
    assert again.indices.numpy().tolist() == [[0, 0], [0, 1], [1, 0]]
    assert again.dense_shape.numpy().tolist() == [2, 3]
    both = tf.stack([tf.io.serialize_sparse(a), tf.io.serialize_sparse(b)])
    both = tf.io.deserialize_many_sparse(both, tf.int32)
    assert both.dense_shape.numpy().tolist() == [2, 2, 3]
    assert both.values.numpy().tolist() == [1, 2, 3, 1, 2, 3]
    assert both.indices.numpy()[3:].tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.deserialize_many_sparse(rows, tf.int64)
