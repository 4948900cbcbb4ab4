"""Segment reductions, stitching and counting beyond what check_op covers."""

import numpy as np
import pytest

from gradtape._src.testing import check_gradients

pytestmark = pytest.mark.gradtape_only


def test_segment_prod_is_right_to_third_order_with_zeros(tf):
    x = np.array([0.0, 2.0, 0.0, 3.0, 0.0, 0.5])
    ids = np.array([0, 0, 0, 0, 1, -1])
    check_gradients(lambda x: tf.math.unsorted_segment_prod(x, ids, 2), [x], order=3)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 9, 33])
def test_products_of_others_for_every_length(tf, length):
    x = np.random.default_rng(length).uniform(0.5, 1.5, size=(length, 2))
    x[length // 2, 0] = 0
    tensor = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(tensor)
        y = tf.math.segment_prod(tensor, [0] * length)
    expected = [[np.delete(x[:, c], i).prod() for c in range(2)] for i in range(length)]
    np.testing.assert_allclose(tape.gradient(y, tensor), expected)


def test_the_largest_of_minus_infinity_is_minus_infinity(tf):
    x = tf.constant([-np.inf, 1.0, np.nan])
    found = tf.math.unsorted_segment_max(x, [0, 1, 2], 4).numpy()
    assert found[:2].tolist() == [-np.inf, 1.0]
    assert np.isnan(found[2])
    assert found[3] == np.finfo(np.float32).min


def test_rows_of_many_segments(tf):
    r = np.random.default_rng(0)
    data, ids = r.normal(size=(5000, 3)), r.integers(-1, 400, 5000)
    for name, reduce in [("sum", np.sum), ("max", np.max), ("min", np.min), ("mean", np.mean)]:
        found = getattr(tf.math, f"unsorted_segment_{name}")(data, ids, 400)
        expected = np.stack([reduce(data[ids == i], 0) for i in range(400)])
        np.testing.assert_allclose(found, expected, err_msg=name)


def test_half_precision_is_accumulated_in_single(tf):
    ones = tf.ones([3000], tf.float16)
    assert float(tf.math.segment_sum(ones, [0] * 3000)[0]) == 3000
    close = tf.fill([3000], tf.constant(1.001, tf.bfloat16))
    assert close.dtype == tf.math.segment_prod(close, [0] * 3000).dtype


def test_stitch_is_the_inverse_of_partition(tf):
    x = np.random.default_rng(0).normal(size=(7, 2))
    parts = [1, 0, 2, 2, 0, 1, 1]

    def there_and_back(x):
        pieces = tf.dynamic_partition(x, parts, 3)
        places = tf.dynamic_partition(tf.range(7), parts, 3)
        return tf.dynamic_stitch(places, pieces)

    np.testing.assert_array_equal(there_and_back(tf.constant(x)), x)
    check_gradients(there_and_back, [x])


def test_of_repeated_rows_the_last_one_has_the_gradient(tf):
    data = [tf.constant([1.0, 2.0]), tf.constant([3.0])]
    with tf.GradientTape() as tape:
        tape.watch(data)
        y = tf.dynamic_stitch([[0, 1], [0]], data)
    assert y.numpy().tolist() == [3.0, 2.0]
    assert [g.numpy().tolist() for g in tape.gradient(y, data)] == [[0.0, 1.0], [1.0]]


def test_a_place_that_no_index_names(tf):
    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.dynamic_stitch([[2]], [x])
    assert y.numpy().tolist() == [[0, 0], [0, 0], [1, 2]]
    assert tape.gradient(y, x).numpy().tolist() == [[1, 1]]


@pytest.mark.parametrize("options", [{}, {"binary_output": True}, {"weights": [[0.5] * 3] * 2}])
def test_bincount_of_a_fixed_length_is_compiled(tf, options):
    x = tf.constant([[1, 1, 3], [0, 5, 2]])

    def f(x):
        return tf.math.bincount(x, minlength=4, maxlength=4, axis=-1, **options)

    signature = [tf.TensorSpec([None, 3], tf.int32)]
    for compiled in (tf.function(jit_compile=True), tf.function(input_signature=signature)):
        np.testing.assert_array_equal(compiled(f)(x), f(x))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"bincount: .* = -1 is not in"):
        tf.function(f, jit_compile=True)(-x)


def test_bincount_is_differentiable_by_its_weights(tf):
    w = tf.constant([[0.5, 1.0], [2.0, 3.0]])
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = tf.math.bincount([[1, 5], [1, 0]], weights=w, axis=-1, maxlength=3) ** 2
    assert y.numpy().tolist() == [[0, 0.25, 0], [9, 4, 0]]
    assert tape.gradient(y, w).numpy().tolist() == [[1, 0], [4, 6]]


def test_approx_min_k_and_other_axes(tf):
    x = tf.constant([[3.0, 1.0], [2.0, 5.0], [4.0, 0.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        values, indices = tf.math.approx_min_k(x, 2, reduction_dimension=0)
        target = values * [[1.0, 10.0], [100.0, 1000.0]]
    assert values.numpy().tolist() == [[2, 0], [3, 1]]
    assert indices.numpy().tolist() == [[1, 2], [0, 0]]
    assert tape.gradient(target, x).numpy().tolist() == [[100, 1000], [1, 0], [0, 10]]


def test_unsorted_segments_compile(tf):
    jax = pytest.importorskip("jax")
    from gradtape._src.core.tensor import Tensor

    def gradient(data, ids):
        x = Tensor(data)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.math.unsorted_segment_prod(x, Tensor(ids), 3)
        return y._array, tape.gradient(y, x)._array

    data, ids = np.array([2.0, 0.0, 4.0, 5.0], np.float32), np.array([0, 0, 2, -1])
    eager, compiled = gradient(data, ids), jax.jit(gradient)(data, ids)
    for a, b in zip(eager, compiled, strict=True):
        np.testing.assert_allclose(a, b)
