"""docs/semantics.md, section W: tensors, conversion, dtypes, strictness."""

import enum
import operator

import numpy as np
import pytest

from .helpers import grad, same

OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "<": operator.lt,
    "==": operator.eq,
}
ARITHMETIC = ["+", "-", "*"]


@pytest.mark.parametrize(
    "value, dtype",
    [
        (1, "int32"),
        (2**40, "int64"),
        (1.5, "float32"),
        (True, "bool"),
        (1j, "complex128"),
        ("a", "string"),
        ([1, 2], "int32"),
        ([1, 2.5], "float32"),
        (np.zeros(2), "float64"),
        (np.zeros(2, np.float16), "float16"),
        (np.arange(2), "int64"),
        (np.float32(1), "float32"),
    ],
)
def test_W1_dtype_of_a_constant(tf, value, dtype):
    assert tf.constant(value).dtype.name == dtype


class Level(enum.IntEnum):
    HIGH = 3


F16, F32, F64 = np.float16(1), np.float32(1), np.float64(1)
I8, I64, U64 = np.int8(1), np.int64(1), np.uint64(1)


@pytest.mark.parametrize(
    "value, dtype",
    [
        ([I8], "int32"),
        ([I64, 2], "int32"),
        ([1, I64], "int32"),
        ([1, U64], "int32"),
        ([np.int64(2**40), I8], "int64"),
        ([np.arange(2), np.arange(2)], "int32"),
        ([F16, F64], "float16"),
        ([F64, F32], "float64"),
        ([F32, F64], "float32"),
        ([1.5, F64], "float32"),
        ([1, F64], "float32"),
        ([F64, 1], "float64"),
        ([1.5, I64], "float32"),
        ([[F64], [1.5]], "float64"),
        ([np.zeros(2), [1, 2]], "float64"),
        ([[1, 2], np.zeros(2)], "float32"),
        ([np.complex64(1j)], "complex128"),
        ([np.bool_(True), False], "bool"),
        ([1, True], "int32"),
        ([1.5, True], "float32"),
        ([np.str_("a"), "b"], "string"),
        (Level.HIGH, "int32"),
        ([Level.HIGH], "int32"),
    ],
)
def test_W1_dtype_of_a_list_with_numpys_numbers(tf, value, dtype):
    assert tf.constant(value).dtype.name == dtype
    assert tf.convert_to_tensor(value).dtype.name == dtype
    assert tf.stack(value).dtype.name == dtype


@pytest.mark.parametrize("value", [1e300, [1.0, -1e300], [F32, np.float64(1e300)], [np.inf, 1e39]])
def test_W1_a_float_beyond_float32(tf, value):
    with pytest.raises(ValueError):
        tf.constant(value)
    assert np.abs(tf.constant(value, tf.float64)).max() > 1e30
    assert np.isinf(tf.constant(value, tf.float32)).any()  # who asks for it gets it


def test_W1_infinities_of_python(tf):
    same(tf.constant([np.inf, -np.inf, 3e38]), np.array([np.inf, -np.inf, 3e38], np.float32))
    assert np.isnan(tf.constant([np.nan, 1.0])).tolist() == [True, False]


@pytest.mark.parametrize("value", [[1, np.bool_(True)], [True, I64], [1.5, np.array(True)]])
def test_W2_numpys_booleans_are_no_numbers(tf, value):
    with pytest.raises(ValueError):
        tf.constant(value)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, [2**63], [1, 2**63]])
def test_W1_an_integer_beyond_int64(tf, value):
    with pytest.raises(ValueError):
        tf.constant(value)
    with pytest.raises(ValueError):
        tf.constant(value, tf.int64)
    assert tf.constant(value, tf.float32).dtype == tf.float32


@pytest.mark.parametrize("value", [[[1, 2], [3]], [[1], 2], [1, "a"], ["a", 1.5], [True, 1]])
def test_W2_not_rectangular_or_mixed(tf, value):
    with pytest.raises(ValueError):
        tf.constant(value)


def test_W2_a_float_for_an_integer_dtype(tf):
    with pytest.raises(TypeError):
        tf.constant(1.5, tf.int32)


def test_W2_a_numpy_array_is_cast(tf):
    same(tf.constant(np.array([1.5, -1.5]), tf.int32), [1, -1])


@pytest.mark.parametrize(
    "left, right",
    [
        ("int32", "float32"),
        ("float32", "float64"),
        ("float16", "float32"),
        ("int32", "int64"),
    ],
)
@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "**", "<", "=="])
def test_W3_no_promotion(tf, symbol, left, right):
    a, b = tf.cast([1, 2], left), tf.cast([1, 2], right)
    errors = (tf.errors.InvalidArgumentError,)
    if symbol == "/":
        errors += (TypeError,)  # which TensorFlow's division raises
    with pytest.raises(errors):
        OPERATORS[symbol](a, b)


def test_W3_functions_do_not_promote_either(tf):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.matmul(tf.ones([2, 2]), tf.ones([2, 2], tf.float64))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.maximum(tf.ones([2]), tf.ones([2], tf.float64))


@pytest.mark.parametrize(
    "dtype, number",
    [
        ("float16", 2.5),
        ("float32", 1),
        ("float64", 2.5),
        ("int32", 2),
        ("complex64", 2.5),
        ("bfloat16", 3),
        ("int64", -1),
    ],
)
def test_W4_a_number_takes_the_dtype_of_the_tensor(tf, dtype, number):
    x = tf.cast([1, 2], dtype)
    for symbol in ARITHMETIC:
        op = OPERATORS[symbol]
        assert op(x, number).dtype.name == dtype
        assert op(number, x).dtype.name == dtype
        assert op(x, [number, number]).dtype.name == dtype
        assert op([number, number], x).dtype.name == dtype


@pytest.mark.parametrize("symbol", ["+", "-", "*", "**", "<", "=="])
def test_W5_an_integer_tensor_with_a_float(tf, symbol):
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        OPERATORS[symbol](tf.constant([1, 2]), 2.5)


@pytest.mark.parametrize("array", [np.array([0.5, 2.0]), np.float64(0.5)])
def test_W6_numpy_is_converted_on_either_side(tf, array):
    x = tf.constant([1.0, 3.0])
    for y in (x * array, array * x, x + array, array - x):
        assert isinstance(y, tf.Tensor)
        assert y.dtype == tf.float32
    same(x * array, np.array([1.0, 3.0]) * array)
    same(array - x, array - np.array([1.0, 3.0]))


def test_W6_a_float_array_is_truncated_to_integers(tf):
    y = tf.constant([10, 10]) * np.array([1.9, 2.9])
    assert y.dtype == tf.int32
    same(y, [10, 20])


def test_W7_integer_division(tf):
    a, b = tf.constant([7, -7]), tf.constant([2, 2])
    assert (a / b).dtype == tf.float64
    same(a / b, [3.5, -3.5])
    same(a // b, [3, -4])
    same(a % b, [1, 1])
    assert (a // b).dtype == tf.int32


def test_W8_convert_to_tensor_does_not_cast(tf):
    with pytest.raises(ValueError):
        tf.convert_to_tensor(tf.constant(1.0), dtype=tf.float64)
    x = tf.constant(1.0)
    assert tf.convert_to_tensor(x, dtype=tf.float32) is x


def test_W8_cast_truncates_toward_zero(tf):
    same(tf.cast(tf.constant([1.9, -1.9]), tf.int32), [1, -1])


def test_W8_a_list_of_tensors_is_cast(tf):
    x, n = tf.constant(1.5), tf.constant(2)
    y = tf.convert_to_tensor([[n, 1], [n, n]], tf.float32)
    assert y.dtype == tf.float32
    same(y, [[2.0, 1.0], [2.0, 2.0]])
    same(tf.constant([1.0, 2.0]) * [n, n], [2.0, 4.0])
    same(tf.convert_to_tensor([x], tf.int32), [1])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.convert_to_tensor([n, x, x], tf.float64)
    assert y.dtype == tf.float64
    same(tape.gradient(y, x), 2.0)
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        tf.convert_to_tensor([x, n], tf.float32)  # the first one is of this dtype


@pytest.mark.parametrize("name", ["sqrt", "exp", "sin"])
def test_W9_functions_of_integers(tf, name):
    with pytest.raises(tf.errors.InvalidArgumentError):
        getattr(tf, name)(tf.constant([1, 4]))


def test_W9_mean_of_integers_truncates(tf):
    y = tf.reduce_mean(tf.constant([1, 2, 2]))
    assert y.dtype == tf.int32
    assert y == 1


def test_W10_incompatible_shapes(tf):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.ones([2]) + tf.ones([3])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))


def test_W11_no_item_assignment(tf):
    x = tf.constant([1.0, 2.0])
    with pytest.raises(TypeError):
        x[0] = 3.0


def test_W12_equality_is_elementwise(tf):
    x = tf.constant([[1, 2], [3, 4]])
    same(x == [1, 4], [[True, False], [False, True]])
    same(x != 3, [[True, True], [False, True]])


def test_W12_equality_of_incompatible_shapes(tf):
    x, y = tf.ones([2]), tf.ones([3])
    assert bool(x == y) is False
    assert bool(x != y) is True


def test_W13_python_protocols(tf):
    x = tf.constant([1, 2, 3])
    assert float(x[0]) == 1.0
    assert int(tf.constant(2.7)) == 2
    assert bool(tf.constant(0.0)) is False
    assert len(x) == 3
    assert [int(row) for row in x] == [1, 2, 3]
    assert ["a", "b", "c"][x[1]] == "c"
    assert list(range(x[2])) == [0, 1, 2]
    same(np.array(x), [1, 2, 3])
    assert isinstance(x.numpy(), np.ndarray)
    assert np.array(x).dtype == np.int32


def test_W13_len_of_a_scalar(tf):
    with pytest.raises(TypeError):
        len(tf.constant(1.0))


def test_W14_repr_and_str(tf):
    x = tf.constant([1.0, 2.0])
    assert repr(x) == (
        "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>"
    )
    assert str(x) == "tf.Tensor([1. 2.], shape=(2,), dtype=float32)"


def test_W14_values_of_several_lines_begin_on_a_line_of_their_own(tf):
    x = tf.constant([[1, 2], [3, 4]])
    assert str(x) == "tf.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)"
    assert str(tf.constant([[1, 2]])) == "tf.Tensor([[1 2]], shape=(1, 2), dtype=int32)"


def test_W14_repr_and_str_of_a_scalar(tf):
    assert repr(tf.constant(1.5)) == "<tf.Tensor: shape=(), dtype=float32, numpy=1.5>"
    assert str(tf.constant(1.5)) == "tf.Tensor(1.5, shape=(), dtype=float32)"


def test_W15_shape(tf):
    shape = tf.zeros([2, 3]).shape
    assert isinstance(shape, tf.TensorShape)
    assert shape == [2, 3] and shape == (2, 3) and shape != [3, 2]
    assert shape[0] == 2 and shape[-1] == 3 and len(shape) == 2
    assert shape[1:] == [3]
    assert shape.rank == 2
    assert shape.as_list() == [2, 3]
    assert shape.num_elements() == 6
    assert tuple(shape) == (2, 3)
    assert repr(shape) == "TensorShape([2, 3])" and str(shape) == "(2, 3)"


INDEXINGS = {
    "int": np.s_[1],
    "negative": np.s_[-1, 0],
    "slice": np.s_[1:],
    "steps": np.s_[:, ::2],
    "negative steps": np.s_[::-1, ::-2],
    "None": np.s_[None, 1, None],
    "Ellipsis": np.s_[..., 1],
    "all together": np.s_[0, ..., None, ::-1],
    "empty": np.s_[2:2],
}


@pytest.mark.parametrize("name", INDEXINGS)
def test_W16_indexing(tf, name):
    array = np.arange(12.0).reshape(3, 4)
    index = INDEXINGS[name]
    x = tf.constant(array)
    same(x[index], array[index])
    expected = np.zeros_like(array)
    expected[index] = 2.0
    same(grad(tf, lambda x: 2.0 * x[index], x), expected)


@pytest.mark.parametrize("index", [3, -4])
def test_W16_out_of_range(tf, index):
    with pytest.raises((IndexError, tf.errors.InvalidArgumentError)):
        tf.constant([1.0, 2.0, 3.0])[index]


def test_W17_stack_of_numbers(tf):
    y = tf.stack([1, 2.5])
    assert y.dtype == tf.float32
    same(y, [1.0, 2.5])


def test_W17_stack_of_an_integer_tensor_and_a_float(tf):
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
        tf.stack([tf.constant(1), 2.5])


def test_W17_concat_of_different_dtypes(tf):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.concat([tf.constant([1]), tf.constant([1.0])], 0)


def test_W18_booleans(tf):
    a, b = tf.constant([True, True, False]), tf.constant([True, False, False])
    with pytest.raises(tf.errors.InvalidArgumentError):
        a + b
    same(a & b, [True, False, False])
    same(a | b, [True, True, False])
    same(~a, [False, False, True])


def test_W18_python_true_counts_as_one(tf):
    same(tf.constant([1.0, 2.0]) + True, [2.0, 3.0])
    same(tf.constant([1, 2]) * True, [1, 2])
    for dtype in ("float16", "float32", "float64", "int32", "int64"):
        same(tf.constant([True, False], dtype), [1, 0])
        same(tf.constant([3, True], dtype), [3, 1])
    same(tf.constant([1.0, 2.0]) * [True, False], [1.0, 0.0])
    with pytest.raises(TypeError):
        tf.constant(True, tf.uint8)


BROADCAST = {
    "+": (1.0, 1.0),
    "-": (1.0, -1.0),
    "*": (3.0, 2.0),
    "/": (1 / 3, -2 / 9),
    "**": (12.0, 8 * np.log(2)),
    "maximum": (0.0, 1.0),
    "where": (1.0, 0.0),
}


@pytest.mark.parametrize("name", BROADCAST)
def test_W19_gradients_are_summed_over_broadcast_axes(tf, name):
    f = {"maximum": tf.maximum, "where": lambda x, y: tf.where([[True], [True]], x, y)}.get(
        name, OPERATORS.get(name)
    )
    by_x, by_y = BROADCAST[name]
    x, y = tf.constant([[2.0], [2.0]]), tf.constant([3.0, 3.0, 3.0])
    gx, gy = grad(tf, f, x, y)
    same(gx, np.full((2, 1), 3 * by_x))
    same(gy, np.full(3, 2 * by_y))


@pytest.mark.parametrize(
    "axis, shape",
    [
        (None, (3,)), ([], (3,)), ((), (3,)), (np.int64(0), (3, 1)), (0, (3, 1)), (-1, (1, 3)),
        ([0, 2], (3,)), ((0, -1), (3,)), ([np.int32(2)], (1, 3)),
    ],
)  # fmt: skip
def test_axes_to_squeeze(tf, axis, shape):
    assert tf.squeeze(tf.ones([1, 3, 1]), axis).shape == shape
