"""DType: names, equality, limits, and the sets that ops are declared with."""

import pickle

import ml_dtypes
import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core import dtypes


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=repr)
def test_every_dtype_is_found_by_all_that_names_it(dtype):
    assert dtypes.as_dtype(dtype) is dtype
    assert dtypes.as_dtype(dtype.name) is dtype
    assert dtypes.as_dtype(dtype.numpy_dtype) is dtype
    assert dtypes.of_numpy(dtype.numpy_dtype) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert dtype == dtype.name and dtype == dtype.numpy_dtype
    assert dtype.base_dtype is dtype
    assert repr(dtype) == f"tf.{dtype.name}" and str(dtype) == f"<dtype: {dtype.name!r}>"


@pytest.mark.parametrize(
    "value, dtype",
    [
        (float, tf.float32),
        (int, tf.int32),
        (bool, tf.bool),
        (complex, tf.complex128),
        (str, tf.string),
        (np.float64, tf.float64),
        ("half", tf.float16),
        ("double", tf.float64),
        (">i8", tf.int64),
        (ml_dtypes.bfloat16, tf.bfloat16),
    ],
)
def test_as_dtype(value, dtype):
    assert dtypes.as_dtype(value) is dtype


@pytest.mark.parametrize("value", [None, "float31", object(), [], "datetime64", ml_dtypes.int4])
def test_what_is_no_dtype_is_refused_with_the_list(value):
    with pytest.raises(TypeError, match=r"is not a dtype of gradtape. There are: float16, float32"):
        dtypes.as_dtype(value)


def test_equality():
    assert tf.float32 != tf.float64
    assert tf.float32 != None  # noqa: E711
    assert tf.float32 != "nonsense"
    assert tf.float32 == np.float32
    assert hash(tf.float32) == hash(np.dtype(np.float32))
    assert tf.float32.is_compatible_with("float32")
    assert not tf.float32.is_compatible_with(tf.int32)


def test_kinds():
    assert tf.bfloat16.is_floating and not tf.bfloat16.is_integer
    assert tf.uint8.is_unsigned and tf.uint8.is_integer
    assert tf.complex64.is_complex and not tf.complex64.is_floating
    assert tf.bool.is_bool and not tf.bool.is_numeric
    assert not tf.string.is_numeric
    assert tf.complex128.real_dtype is tf.float64 and tf.int8.real_dtype is tf.int8
    assert tf.float16.size == 2
    assert tf.bfloat16.as_numpy_dtype is ml_dtypes.bfloat16


def test_limits():
    assert (tf.int8.min, tf.int8.max) == (-128, 127)
    assert tf.float32.max == np.finfo(np.float32).max
    assert float(tf.bfloat16.max) > 3e38
    with pytest.raises(TypeError, match=r"tf.string has no smallest and largest value"):
        _ = tf.string.max
    with pytest.raises(TypeError, match=r"tf.complex64"):
        _ = tf.complex64.min


def test_the_sets_that_ops_are_declared_with():
    assert dtypes.FLOATING.isdisjoint(dtypes.COMPLEX)
    assert dtypes.INEXACT == dtypes.FLOATING | dtypes.COMPLEX
    assert dtypes.REAL == dtypes.FLOATING | dtypes.INTEGER
    assert dtypes.NUMERIC < dtypes.ANY
    assert tf.bfloat16.numpy_dtype in dtypes.FLOATING
    assert np.dtype(bool) not in dtypes.NUMERIC
