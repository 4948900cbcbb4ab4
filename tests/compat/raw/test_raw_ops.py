"""Raw ops and fake quantization: values and gradients, the same on TensorFlow."""

import numpy as np
import pytest


def run_both(tf, function, *args):
    """The result, which must be the same eagerly and compiled."""
    eager = function(*args)
    compiled = tf.function(function)(*args)
    tf.nest.map_structure(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5), eager, compiled
    )
    return eager


# Counting


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_bucketize(tf, dtype):
    x = tf.constant([[-5, 10000], [150, 10], [0, 100]], dtype)
    found = run_both(tf, lambda x: tf.raw_ops.Bucketize(input=x, boundaries=[0, 10, 100]), x)
    assert found.dtype == tf.int32
    assert found.numpy().tolist() == [[0, 3], [3, 2], [1, 3]]


def test_bucketize_wants_ascending_boundaries(tf):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.raw_ops.Bucketize(input=[1.0], boundaries=[3.0, 1.0])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_unique_along_an_axis(tf, axis):
    x = tf.constant([[3, 1, 3], [1, 2, 1], [3, 1, 3]])
    axis = axis % 2
    y, idx, count = tf.raw_ops.UniqueWithCountsV2(x=x, axis=[axis])
    assert y.numpy().tolist() == ([[3, 1, 3], [1, 2, 1]] if axis == 0 else [[3, 1], [1, 2], [3, 1]])
    assert idx.numpy().tolist() == [0, 1, 0] and count.numpy().tolist() == [2, 1]
    y2, idx2 = tf.raw_ops.UniqueV2(x=x, axis=[axis], out_idx=tf.int64)
    assert idx2.dtype == tf.int64 and y2.numpy().tolist() == y.numpy().tolist()


def test_unique_of_a_vector(tf):
    found = tf.raw_ops.UniqueV2(x=tf.constant([3, 1, 3]), axis=tf.constant([], tf.int32))
    assert found.y.numpy().tolist() == [3, 1] and found.idx.numpy().tolist() == [0, 1, 0]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.raw_ops.UniqueV2(x=tf.ones([2, 2]), axis=tf.constant([], tf.int32))


# Projective maps

MAPS = np.array(
    [
        [1, 0, 0, 0, 1, 0, 0, 0],
        [0.9, 0.2, -1.5, -0.1, 1.1, 0.7, 0, 0],
        [1.2, -0.3, 2.25, 0.4, 0.8, -3.0, 0.05, -0.02],
        [1, 0, 9.5, 0, 1, -14.25, 0, 0],
        [0.5, 0, 0, 0, 0.5, 0, 0, 0],
    ],
    np.float32,
)


def project(tf, images, maps, interpolation, mode, size=(4, 6)):
    return tf.raw_ops.ImageProjectiveTransformV3(
        images=images,
        transforms=maps,
        output_shape=tf.constant(size),
        fill_value=0.25,
        interpolation=interpolation,
        fill_mode=mode,
    )


def recorded():
    path = __file__.rpartition("/")[0] + "/recorded_projections.npz"
    return np.load(path)


@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT", "WRAP", "NEAREST"])
@pytest.mark.parametrize("interpolation", ["NEAREST", "BILINEAR"])
def test_images_through_projective_maps(tf, interpolation, mode):
    images = tf.constant(np.random.default_rng(1).normal(size=(5, 5, 4, 2)).astype(np.float32))
    found = run_both(tf, lambda x: project(tf, x, MAPS, interpolation, mode), images)
    assert found.shape == (5, 4, 6, 2)
    wanted = recorded()[f"{interpolation}_{mode}"]
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("interpolation", ["NEAREST", "BILINEAR"])
def test_the_gradient_is_the_cotangent_through_the_inverse_map(tf, interpolation):
    images = tf.constant(np.random.default_rng(2).normal(size=(5, 5, 4, 1)).astype(np.float32))
    weights = tf.constant(np.random.default_rng(3).normal(size=(5, 4, 6, 1)).astype(np.float32))

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(weights * project(tf, x, MAPS, interpolation, "CONSTANT"))
        return tape.gradient(y, x)

    found = run_both(tf, gradient, images)
    np.testing.assert_allclose(found, recorded()[f"gradient_{interpolation}"], rtol=1e-4, atol=1e-4)


def test_one_map_serves_all_images_and_integers_stay_integers(tf):
    images = tf.constant(np.arange(2 * 3 * 3).reshape(2, 3, 3, 1).astype(np.uint8))
    found = project(tf, images, MAPS[:1], "BILINEAR", "CONSTANT", (3, 3))
    assert found.dtype == tf.uint8 and np.array_equal(found, images)


def test_maps_of_another_shape_are_refused(tf):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        project(tf, tf.ones([1, 2, 2, 1]), tf.ones([1, 6]), "NEAREST", "CONSTANT")


def test_there_is_no_cudnn(tf):
    with pytest.raises((NotImplementedError, TypeError, tf.errors.OpError)):
        tf.raw_ops.CudnnRNNV3(input=tf.ones([1, 1, 1]))


# Fake quantization

X = np.array([[-7.0, -1.3, 0.0, 0.1], [2.49, 5.0, 6.5, 3.0]], np.float32)


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("bits", [2, 4, 8, 16])
@pytest.mark.parametrize("ends", [(-6.0, 6.0), (0.0, 3.0), (0.1, 4.0), (-3.0, -0.5), (0.0, 0.0)])
def test_fake_quantization(tf, ends, bits, narrow):
    quant = tf.quantization
    low, high = tf.constant(ends[0]), tf.constant(ends[1])

    def run(x, low, high):
        with tf.GradientTape() as tape:
            tape.watch([x, low, high])
            y = quant.fake_quant_with_min_max_vars(x, low, high, bits, narrow)
            loss = tf.reduce_sum(y * tf.constant(X + 1.0))
        return y, tape.gradient(loss, [x, low, high])

    y, (dx, dlow, dhigh) = run_both(tf, run, tf.constant(X), low, high)
    if ends == (0.0, 0.0):
        assert not np.any(y) and np.array_equal(dx, X + 1.0) and not dlow and not dhigh
        return
    assert len(np.unique(y)) <= 2**bits - narrow and 0.0 in np.append(y, 0.0)
    first, last = float(narrow), 2.0**bits - 1.0
    step = np.float32(ends[1] - ends[0]) / np.float32(last - first)
    zero = np.clip(np.floor(first - ends[0] / step + 0.5), first, last)
    least, most = (first - zero) * step, (last - zero) * step
    np.testing.assert_allclose(np.clip(X, least, most), y, atol=float(step) * 0.51)
    np.testing.assert_allclose(dx, np.where((least <= X) & (most >= X), X + 1.0, 0.0))
    np.testing.assert_allclose(dlow, np.sum((X + 1.0)[least > X]), rtol=1e-5)
    np.testing.assert_allclose(dhigh, np.sum((X + 1.0)[most < X]), rtol=1e-5)
    by_hand = quant.fake_quant_with_min_max_vars_gradient(X + 1.0, X, low, high, bits, narrow)
    for a, b in zip(by_hand, (dx, dlow, dhigh), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    if ends[0] < ends[1]:
        same = quant.fake_quant_with_min_max_args(X, *ends, bits, narrow)
        np.testing.assert_allclose(same, y, atol=1e-6)
        dx2 = quant.fake_quant_with_min_max_args_gradient(X + 1.0, X, *ends, bits, narrow)
        np.testing.assert_allclose(dx2, dx)


def test_fake_quantization_of_each_channel(tf):
    quant = tf.quantization
    low = tf.constant([-6.0, 0.0, -1.0, 0.0])
    high = tf.constant([6.0, 3.0, 1.0, 0.0])

    def run(x, low, high):
        with tf.GradientTape() as tape:
            tape.watch([x, low, high])
            y = quant.fake_quant_with_min_max_vars_per_channel(x, low, high, num_bits=4)
            loss = tf.reduce_sum(y * y)
        return y, tape.gradient(loss, [x, low, high])

    y, (dx, dlow, dhigh) = run_both(tf, run, tf.constant(X), low, high)
    for i in range(4):
        column = quant.fake_quant_with_min_max_vars(X[:, i], low[i], high[i], num_bits=4)
        np.testing.assert_allclose(y[:, i], column, atol=1e-6)
    assert dx.shape == X.shape and dlow.shape == dhigh.shape == (4,)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        quant.fake_quant_with_min_max_vars_per_channel(X, low[:3], high[:3])


def test_fake_quantization_refuses_what_makes_no_range(tf):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.quantization.fake_quant_with_min_max_args(X, 1.0, -1.0)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.quantization.fake_quant_with_min_max_args(X, num_bits=17)


@pytest.mark.gradtape_only
def test_the_second_derivative_of_fake_quantization(tf):
    x = tf.constant([0.5, 9.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.quantization.fake_quant_with_min_max_args(x) ** 3)
        first = inner.gradient(y, x)
    second = outer.gradient(first, x).numpy()
    assert second[0] == pytest.approx(6 * 0.5, rel=0.05) and second[1] == 0.0


# tf.experimental.numpy


def test_select(tf):
    x = tf.constant([0.0, 1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.experimental.numpy.select([x < 1.0, x > 2.0], [x, x**2], default=42.0)
    assert np.asarray(y).tolist() == [0.0, 42.0, 42.0, 9.0]
    assert tape.gradient(y, x).numpy().tolist() == [1.0, 0.0, 0.0, 6.0]


def test_limits_of_dtypes(tf):
    assert tf.experimental.numpy.finfo(tf.float32).eps == np.finfo(np.float32).eps
    assert tf.experimental.numpy.iinfo(np.int16).max == 32767
