"""Tensors as protocol buffers: what is written can be read, here and by other libraries."""

from types import SimpleNamespace

import numpy as np
import pytest

import gradtape as tf

ARRAYS = [
    np.float32([[1.5, -2], [3, 4]]),
    np.array(1j),
    np.array([True, False]),
    np.arange(3, dtype=np.uint16),
    np.zeros((0, 3), np.int64),
    np.array(7),
    tf.constant([1.5, 2.5], tf.bfloat16).numpy(),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype} {array.shape}")
def test_there_and_back(array):
    proto = tf.make_tensor_proto(array)
    back = tf.make_ndarray(proto)
    assert back.dtype == array.dtype and back.shape == array.shape
    assert (back == array).all()
    assert proto.dtype == tf.as_dtype(array.dtype).as_datatype_enum
    assert [d.size for d in proto.tensor_shape.dim] == list(array.shape)


def test_strings():
    proto = tf.make_tensor_proto(["a", b"b"])
    assert (proto.string_val, proto.tensor_content) == ([b"a", b"b"], b"")
    assert tf.make_ndarray(proto).tolist() == [b"a", b"b"]


def test_the_bytes_are_those_of_tensorflow():
    expected = b'\x08\x01\x12\x04\x12\x02\x08\x02"\x08\x00\x00\x80?\x00\x00\x00@'
    assert tf.make_tensor_proto([1.0, 2.0]).SerializeToString() == expected


def test_a_shape_is_filled_with_the_last_value():
    assert tf.make_ndarray(tf.make_tensor_proto(1, shape=[2, 2])).tolist() == [[1, 1], [1, 1]]
    assert tf.make_ndarray(tf.make_tensor_proto([1, 2], shape=[3])).tolist() == [1, 2, 2]
    wide = tf.make_tensor_proto([1, 2], shape=[2, 2], allow_broadcast=True)
    assert tf.make_ndarray(wide).tolist() == [[1, 2], [1, 2]]
    with pytest.raises(ValueError, match=r"shape \(2,\) has 2 elements, and 3 are given"):
        tf.make_tensor_proto([1, 2, 3], shape=[2])
    with pytest.raises(TypeError, match=r"`values` have shape \(2,\), and `shape` is \(3,\)"):
        tf.make_tensor_proto([1, 2], shape=[3], verify_shape=True)


@pytest.mark.parametrize(
    "dtype, field, values, expected",
    [
        (tf.float32, "float_val", [1.5], [1.5, 1.5]),
        (tf.int32, "int_val", [1, 2], [1, 2]),
        (tf.complex64, "scomplex_val", [1.0, 2.0, 3.0, 4.0], [1 + 2j, 3 + 4j]),
        (tf.float16, "half_val", [0x3C00, 0x4000], [1.0, 2.0]),
        (tf.string, "string_val", [b"a", b"b"], [b"a", b"b"]),
    ],
)
def test_messages_of_other_libraries(dtype, field, values, expected):
    shape = SimpleNamespace(dim=[SimpleNamespace(size=2)])
    proto = SimpleNamespace(
        dtype=dtype.as_datatype_enum, tensor_shape=shape, tensor_content=b"", **{field: values}
    )
    array = tf.make_ndarray(proto)
    assert array.dtype == dtype.numpy_dtype and array.tolist() == expected


def test_what_is_no_message():
    with pytest.raises(TypeError, match="must be a TensorProto, not a Tensor"):
        tf.make_ndarray(tf.constant(1.0))
