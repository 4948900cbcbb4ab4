"""docs/semantics.md, section B: watch()."""

import numpy as np
import pytest

from .helpers import logged, raises, same


def test_B1_a_plain_tensor_is_not_watched(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is None


def test_B2_a_watched_tensor_has_a_gradient(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        assert tape.watch(x) is None
        y = x * x
    same(tape.gradient(y, x), [2.0, 4.0])


def test_B3_watch_accepts_nested_structures(tf):
    a, b, c, d = (tf.constant(float(i)) for i in range(1, 5))
    v = tf.Variable(5.0, trainable=False)
    with tf.GradientTape() as tape:
        tape.watch([a, (b, {"c": c, "deeper": [d, v]})])
        y = a * b * c * d * v
    grads = tape.gradient(y, [a, b, c, d, v])
    for g, expected in zip(grads, [120.0, 60.0, 40.0, 30.0, 24.0], strict=True):
        same(g, expected)


@pytest.mark.parametrize("shape", [list, tuple, lambda xs: dict(zip("pq", xs, strict=True))])
def test_B3_lists_tuples_and_dicts(tf, shape):
    xs = [tf.constant(2.0), tf.constant(3.0)]
    with tf.GradientTape() as tape:
        tape.watch(shape(xs))
        y = xs[0] * xs[1]
    g = tape.gradient(y, xs)
    same(g[0], 3.0)
    same(g[1], 2.0)


def test_B4_watching_nothing_does_nothing(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        for nothing in [], (), {}:
            tape.watch(nothing)
        y = x * x
    assert tape.watched_variables() == ()
    assert tape.gradient(y, x) is None


def test_B5_operations_before_watch_are_not_recorded(tf):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        early = x * x
        tape.watch(x)
        late = x * 5.0
        both = early * late
    assert tape.gradient(early, x) is None
    same(tape.gradient(late, x), 5.0)
    same(tape.gradient(both, x), 45.0)


def test_B6_watching_twice_does_not_double(tf):
    x, v = tf.constant(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        tape.watch([x, x, v])
        tape.watch(x)
        tape.watch(v)
        y = x * v
        tape.watch([x, v])
    gx, gv = tape.gradient(y, [x, v])
    same(gx, 4.0)
    same(gv, 3.0)
    assert len(tape.watched_variables()) == 1


NOT_TENSORS = [(np.ones(2), "ndarray"), (1.0, "float"), (1, "int"), (None, "NoneType")]


@pytest.mark.parametrize("value, type_name", NOT_TENSORS)
def test_B7_watch_of_something_else_names_the_type(tf, value, type_name):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        with pytest.raises(ValueError, match=type_name):
            tape.watch(value)
        with pytest.raises(ValueError, match=type_name):
            tape.watch([x, value])


@pytest.mark.parametrize("value, type_name", NOT_TENSORS)
def test_B8_the_type_check_comes_first(tf, value, type_name):
    with pytest.raises(ValueError, match=type_name):
        tf.GradientTape().watch(value)


def test_B9_watch_on_a_tape_never_entered_fails(tf):
    with raises(tf, RuntimeError):
        tf.GradientTape().watch(tf.constant(3.0))
    with raises(tf, RuntimeError):
        tf.GradientTape(persistent=True).watch(tf.Variable(3.0))


def test_B10_watch_after_the_block_changes_nothing_computed(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.watch(x)
    assert tape.gradient(y, x) is None


def test_B11_an_integer_tensor_may_be_watched(tf):
    x = tf.constant([1, 2])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x) is None
    assert tape.gradient(tf.cast(y, tf.float32), x) is None


def test_B12_watching_a_non_floating_dtype_logs_a_warning(tf):
    messages = logged(
        tf,
        """
        with tf.GradientTape() as tape:
            tape.watch(tf.constant(1.0))
            for _ in range(20):
                tape.watch(tf.constant(1))
        """,
    )
    assert 1 <= len(messages) < 20
    for level, text in messages:
        assert level == "WARNING"
        assert "must be floating" in text and "int32" in text


@pytest.mark.parametrize("value", ["text", True, [b"a", b"b"], [True, False]])
def test_B13_string_and_boolean_tensors_may_be_watched(tf, value):
    x = tf.constant(value)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.identity(x)
    assert tape.gradient(y, x) is None


def test_B13_a_boolean_cast_to_float_has_no_gradient(tf):
    x = tf.constant([True, False])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cast(x, tf.float32) * 2.0
    assert tape.gradient(y, x) is None


def test_B14_watching_follows_the_object_not_the_value(tf):
    x, twin = tf.constant(3.0), tf.constant(3.0)
    assert x is not twin
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = twin * twin
    gx, gtwin = tape.gradient([y, z], [x, twin])
    same(gx, 6.0)
    assert gtwin is None


def test_B15_equal_constants_are_told_apart(tf):
    a, b = tf.constant(1.0), tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = a + b
    ga, gb = tape.gradient(y, [a, b])
    same(ga, 1.0)
    same(gb, 1.0)


def test_B16_intermediate_results_can_be_sources(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    gy, gx = tape.gradient(z, [y, x])
    same(gy, 18.0)
    same(gx, 108.0)


@pytest.mark.parametrize(
    "copy", [lambda tf, x: x + 0.0, lambda tf, x: x * 1.0, lambda tf, x: tf.identity(x)]
)
def test_B17_copies_made_before_watching_are_separate(tf, copy):
    x = tf.constant(3.0)
    twin = copy(tf, x)
    with tf.GradientTape() as tape:
        tape.watch([x, twin])
        y = 2.0 * x + 5.0 * twin
    gx, gtwin = tape.gradient(y, [x, twin])
    same(gx, 2.0)
    same(gtwin, 5.0)


def test_B18_watching_concerns_one_tape_only(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        inner.watch(x)
        y = x * x
    assert outer.gradient(y, x) is None
    same(inner.gradient(y, x), 6.0)


def test_B19_the_gradient_by_a_ragged_tensor_is_ragged(tf):
    x = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x)
    gradient = tape.gradient(y, x)
    assert isinstance(gradient, tf.RaggedTensor)
    assert gradient.to_list() == [[2.0, 4.0], [], [6.0]]


def test_B20_of_a_sparse_tensor_the_values_are_the_source(tf):
    x = tf.SparseTensor([[0, 1], [2, 0]], [2.0, 3.0], [3, 2])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.sparse.to_dense(x) ** 2)
    assert tape.gradient(y, x.values).numpy().tolist() == [4.0, 6.0]
    with pytest.raises(ValueError):
        tape.gradient(y, x)
