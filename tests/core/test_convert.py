"""What becomes of Python values and arrays, by TensorFlow's rules."""

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.convert import as_tensor, holds_tensor, operand, to_array
from gradtape._src.tape.scopes import numpy_promotion

F32, I32 = np.dtype(np.float32), np.dtype(np.int32)


@pytest.mark.parametrize(
    "value, dtype",
    [
        (1.0, "float32"),
        (1, "int32"),
        (2**31 - 1, "int32"),
        (2**31, "int64"),
        (-(2**31) - 1, "int64"),
        (-(2**63), "int64"),
        ([0.5, 2**70], "float32"),
        (True, "bool"),
        (1j, "complex128"),
        ([1, 2.5], "float32"),
        ([], "float32"),
        ([[], []], "float32"),
        (range(3), "int32"),
        (((1,), (2,)), "int32"),
        (np.float64(1), "float64"),
        (np.int8(1), "int8"),
        ([np.float64(1), np.float64(2)], "float64"),
        (np.array([1], ">i4"), "int32"),
        (np.array(["a"]), "string"),
        ("text", "string"),
        ([b"a", "b"], "string"),
    ],
)
def test_dtype_of_a_value(value, dtype):
    x = as_tensor(value)
    assert x.dtype.name == dtype
    assert x._array.dtype.isnative


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, [2**63], [1, 2**63], [[-1], [2**64]]])
def test_an_integer_beyond_int64_needs_a_dtype(value):
    for make in (tf.constant, tf.convert_to_tensor, tf.Variable, tf.abs, tf.reduce_sum):
        with pytest.raises(ValueError, match=r"too large for int64\. Say which .* tf\.uint64"):
            make(value)


@pytest.mark.parametrize("value", [2**63, [1, 2**64 - 1]])
def test_an_integer_beyond_int64_with_a_dtype(value):
    x = as_tensor(value, tf.uint64)
    assert x.dtype is tf.uint64 and x.numpy().tolist() == value
    assert as_tensor(value, tf.float32).numpy().tolist() == np.float32(value).tolist()
    assert as_tensor(2**70, tf.float64).numpy() == 2.0**70
    for wrong, dtype in ((2**64, tf.uint64), (-1, tf.uint64), (value, tf.int64)):
        with pytest.raises(ValueError, match="does not fit into"):
            as_tensor(wrong, dtype)
    with pytest.raises(ValueError, match=r"10{89}\.\.\. \(401 characters\) holds an integer"):
        as_tensor(10**400, tf.float32)


def test_text_is_held_as_bytes():
    assert as_tensor(["ä", b"b"]).numpy().tolist() == ["ä".encode(), b"b"]


def test_a_tensor_stays_itself():
    x = tf.constant(1.0)
    assert as_tensor(x) is x
    assert as_tensor(x, tf.float32) is x
    with pytest.raises(TypeError, match=r"f: the tensor is float32, and dtype=int32 was asked for"):
        as_tensor(x, tf.int32, "f")


def test_what_stands_for_a_tensor_says_which():
    v = tf.Variable([1.0])
    assert as_tensor(v)._key == v._key


def test_a_list_that_holds_tensors_is_stacked_and_differentiable():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(as_tensor([[x, 1.0], [3, x]]) ** 2)
    assert float(tape.gradient(y, x)) == 8
    assert holds_tensor([[1, [x]]]) and holds_tensor((tf.Variable(1),))
    assert not holds_tensor(x) and not holds_tensor([1, [2]]) and not holds_tensor({"a": x})


def test_an_array_is_copied_so_that_no_one_writes_to_the_tensor():
    a = np.ones(3)
    x = as_tensor(a)
    a[:] = 7
    assert x.numpy().tolist() == [1, 1, 1]


def test_a_large_array_lies_where_a_compiled_program_reads_it():
    for count in (2**14, 2**14 + 1, 2**15):
        array = to_array(np.arange(count, dtype=np.float32)[::-1])
        assert array.ctypes.data % 64 == 0
        assert array[0] == count - 1 and array.flags.c_contiguous


@pytest.mark.parametrize(
    "value, dtype, message",
    [
        ([1, [2]], None, "the nested lists are not rectangular"),
        ([True, 1], None, "a list cannot mix bool with int"),
        ([1, "a"], None, "a list cannot mix strings with numbers"),
        (None, None, "None is not a value that can become a tensor"),
        (object(), None, "cannot make a tensor of <object object at .*>, of type object"),
        ([object()], None, "cannot make a tensor of object"),
        ({"a": 1}, None, "cannot make a tensor of {'a': 1}, of type dict"),
        (2**70, None, r"the integer \d+ is too large for int64"),
        (np.array([object()]), None, "a NumPy array of Python objects"),
        (1.5, tf.int32, "expected values of int32, but received 1.5 of type 'float'"),
        (1, tf.bool, "expected values of bool, but received 1 of type 'int'"),
        (1j, tf.float32, "expected values of float32, but received 1j of type 'complex'"),
        (300, tf.uint8, "300 does not fit into uint8"),
        ([-1], tf.uint8, r"\[-1\] does not fit into uint8"),
        ("a", tf.float32, "expected values of float32, but received a string"),
    ],
)
def test_refused(value, dtype, message):
    with pytest.raises(ValueError, match=f"f: {message}"):
        to_array(value, dtype, "f")


@pytest.mark.parametrize("value", [[], [[]], np.zeros(0)])
def test_nothing_fits_every_dtype(value):
    assert to_array(value, tf.int8).dtype == np.int8


def test_python_ints_become_floats_where_asked():
    assert to_array([1, 2], tf.bfloat16).dtype == tf.bfloat16.numpy_dtype
    assert to_array(1, tf.complex64).dtype == np.complex64


@pytest.mark.parametrize(
    "value, partner, dtype",
    [
        (1, F32, F32),
        (True, F32, F32),
        (1.5, F32, F32),
        (np.float64(1.5), F32, F32),
        (np.ones(2), I32, I32),
        (tf.bfloat16.as_numpy_dtype(1.5), F32, F32),
        ([1, 2], F32, F32),
    ],
)
def test_operand_takes_the_dtype_of_its_partner(value, partner, dtype):
    assert operand(value, partner, "f")._array.dtype == dtype


def test_an_operand_that_its_partner_cannot_hold():
    with pytest.raises(TypeError, match=r"f: the Python float 1\.5 meets a tensor of int32"):
        operand(1.5, I32, "f")
    with pytest.raises(TypeError, match="f: 300 does not fit into uint8"):
        operand(300, np.dtype(np.uint8), "f")
    with numpy_promotion():
        assert operand(1.5, I32, "f").dtype == tf.float64
