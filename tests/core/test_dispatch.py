"""From an op call to a result and a record."""

import warnings

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.dispatch import make_record
from gradtape._src.core.op import registry
from gradtape._src.core.recorder import Tape, heard_by, named
from gradtape._src.core.spec import Spec
from gradtape._src.core.tensor import Tensor, key_of, new_key
from gradtape._src.tape.scopes import numpy_promotion


def recorded(f, *tracked):
    """What `f(*tracked)` gives, and its records on a tape that tracks its arguments."""
    tape = Tape()
    tape.tracked.update(map(key_of, tracked))
    with heard_by([tape]):
        y = f(*tracked)
    return y, list(named(tape.records))


X = tf.constant([1.0, 2.0])


def test_what_is_not_tracked_gets_no_key_and_no_record():
    other = Tape()
    with heard_by([other]):
        y = tf.exp(tf.constant([1.0]) * 2.0)
    assert y._key is None and other.records == []


def test_outside_of_recorders_a_result_gets_no_key():
    assert tf.exp(Tensor(np.float32(1), new_key()))._key is None


def test_a_unary_op_saves_its_output_if_that_is_all_its_rule_needs():
    y, (record,) = recorded(tf.exp, X)
    assert record.op is registry["exp"]
    assert record.inputs == ((0, X._key),) and record.outputs == y._key
    assert record.saved == (None, y)


def test_a_binary_op_saves_only_what_the_tracked_side_needs():
    c = tf.constant([3.0, 4.0])
    _, (record,) = recorded(lambda x: x * c, X)
    assert record.inputs == ((0, X._key),)
    assert record.saved[0] is None or isinstance(record.saved[0], Spec)
    assert record.saved[1] is c
    _, (record,) = recorded(lambda x: c * x, X)
    assert record.inputs == ((1, X._key),) and record.saved[0] is c
    _, (record,) = recorded(lambda x: x * x, X)
    assert record.inputs == ((0, X._key), (1, X._key))
    assert record.saved[0] is X and record.saved[1] is X


def test_a_sum_of_equal_shapes_saves_nothing():
    _, (record,) = recorded(lambda x: x + 1.0, X)
    assert not any(isinstance(s, Tensor) for s in record.saved)


def test_static_parameters_are_in_the_record():
    _, records = recorded(lambda x: tf.reduce_sum(x, axis=0), X)
    assert [r.op.name for r in records] == ["reduce_sum"]
    assert records[0].params["axis"] in (0, (0,))


def test_a_variadic_op_knows_its_inputs_by_position():
    y, (record,) = recorded(lambda x: tf.concat([[9.0], x, x], 0), X)
    assert record.inputs == ((1, X._key), (2, X._key))
    assert y.numpy().tolist() == [9, 1, 2, 1, 2]


def test_of_several_outputs_only_those_with_a_gradient_are_tracked():
    tape = Tape()
    tape.tracked.add(key_of(X))
    with heard_by([tape]):
        values, indices = tf.math.top_k(X, 1)
    record = list(named(tape.records))[-1]
    assert record.output_keys == (values._key, indices._key)
    assert values._key in tape.tracked and indices._key not in tape.tracked


def test_each_tape_records_what_it_tracks_itself():
    a, b = tf.constant(1.0), tf.constant(2.0)
    first, second = Tape(), Tape()
    first.tracked.add(key_of(a))
    second.tracked.update([key_of(a), key_of(b)])
    with heard_by([first, second]):
        _ = a * b
    assert first.records[0][1] == ((0, a._key),)
    assert second.records[0][1] == ((0, a._key), (1, b._key))


def test_an_op_without_gradient_is_not_recorded():
    for f in (lambda x: x > 1.0, tf.argmax, tf.zeros_like):
        y, records = recorded(f, X)
        assert records == [] and y._key is None


def test_make_record_of_what_no_gradient_reaches_adds_no_key():
    x, i = tf.constant([1.0, 2.0]), tf.constant([0])
    tracked = {key_of(i)}
    assert make_record(registry["gather"], (x, i), tf.gather(x, i), {}, tracked) is None
    assert tracked == {i._key}


def test_make_record_tracks_the_output_and_gives_a_bare_tuple():
    tracked = {key_of(X)}
    y = tf.exp(X)
    made = make_record(registry["exp"], (X,), y, {}, tracked)
    assert type(made) is tuple and made[2] == y._key and y._key in tracked


def test_a_kernel_is_bound_at_the_first_call_of_an_array_type():
    exp = registry["exp"]
    bound = dict(exp.kernels)
    exp.kernels.clear()
    try:
        assert tf.exp(tf.constant([0.0])).numpy().tolist() == [1.0]
        assert list(exp.kernels) == [np.ndarray]
    finally:
        exp.kernels.update(bound)


def test_overflow_is_silent_even_where_warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(tf.exp(tf.constant([1000.0])).numpy()).all()
        assert np.isnan((tf.constant([0.0]) / tf.constant([0.0])).numpy()).all()


def test_a_name_is_taken_and_ignored():
    assert float(tf.exp(tf.constant(0.0), name="any")) == 1
    assert float(tf.add(1.0, 2.0, name="any")) == 3


@pytest.mark.parametrize(
    "left, right, dtype",
    [
        (tf.constant([1.0]), 2, "float32"),
        (2.5, tf.constant([1.0], tf.float64), "float64"),
        (np.ones(1), tf.constant([1.0]), "float32"),
        (tf.Variable([1.0], dtype=tf.float16), 1, "float16"),
        (1, 2.5, None),
    ],
)
def test_a_plain_value_takes_the_dtype_of_the_tensor_it_meets(left, right, dtype):
    if dtype is None:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"add: the Python float 2\.5"):
            tf.add(left, right)
    else:
        assert tf.add(left, right).dtype.name == dtype


def test_numpy_on_the_left_leaves_the_operator_to_the_tensor():
    y = np.ones(2, np.float32) + X
    assert type(y) is tf.Tensor and y.numpy().tolist() == [2, 3]


def test_mixed_dtypes_are_refused_unless_promotion_is_on():
    a, b = tf.constant(1), tf.constant(2.5, tf.float64)
    with pytest.raises(TypeError, match=r"add: `x` is int32 and `y` is float64; .* tf.cast\(x"):
        _ = a + b
    with numpy_promotion():
        assert (a + b).dtype == tf.float64
        assert tf.where([True], a, b).dtype == tf.float64


def test_a_dtype_that_the_op_does_not_take_is_refused_with_those_it_takes():
    with pytest.raises(TypeError, match=r"exp: `x` is int32, and the op takes float16, float32"):
        tf.exp(tf.constant(1))
    with pytest.raises(TypeError, match=r"matmul: `a` is bool"):
        tf.matmul(tf.constant([[True]]), tf.constant([[True]]))


@pytest.mark.parametrize("columns", [1, 600])
def test_products_of_large_matrices_are_not_cut_into_blocks(columns):
    """Rows of both arguments together are no part of a product, as they are of a sum."""
    a = np.arange(600 * 600, dtype=np.float64).reshape(600, 600) % 7
    b = np.arange(600 * columns, dtype=np.float64).reshape(600, columns) % 5
    np.testing.assert_array_equal(tf.matmul(tf.constant(a), tf.constant(b)), a @ b)


@pytest.mark.parametrize("count", [3, 16, 17, 40])
def test_the_record_of_few_and_of_many_inputs(count):
    watched = [tf.constant(float(i)) for i in range(count)]
    others = [tf.constant(1.0) for _ in range(count)]
    mixed = [t for pair in zip(others, watched, strict=True) for t in pair]
    with tf.GradientTape() as tape:
        tape.watch(watched)
        y = tf.add_n(mixed)
    (record,) = tape
    assert [position for position, _ in record.inputs] == list(range(1, 2 * count, 2))
    assert [float(g) for g in tape.gradient(y, watched)] == [1.0] * count
