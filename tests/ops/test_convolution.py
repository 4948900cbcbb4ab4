"""Convolutions, pools and windows beyond what check_op and the oracle see: size, formats, draws."""

import numpy as np
import pytest

pytestmark = pytest.mark.gradtape_only


def normal(*shape):
    return np.random.default_rng(list(shape)).normal(size=shape).astype(np.float32)


def direct(x, filters, strides, padding):
    """A convolution over two axes: a sum over the positions of the kernel, in double precision."""
    x = np.pad(x.astype(np.float64), ((0, 0), *padding, (0, 0)))
    height, width = filters.shape[:2]
    rows, columns = (
        (n - k) // s + 1 for n, k, s in zip(x.shape[1:3], (height, width), strides, strict=True)
    )
    total = 0
    for i in range(height):
        for j in range(width):
            part = x[
                :, i : i + rows * strides[0] : strides[0], j : j + columns * strides[1] : strides[1]
            ]
            total = total + part[:, :rows, :columns] @ filters[i, j].astype(np.float64)
    return total


@pytest.mark.parametrize(
    ("image", "kernel", "strides"),
    [
        ((9, 32, 32, 16), (3, 3, 16, 32), (1, 1)),  # several images in a chunk, the last one short
        ((2, 90, 70, 24), (3, 3, 24, 8), (1, 1)),  # several chunks in an image
        ((5, 40, 41, 3), (7, 7, 3, 32), (2, 2)),
        ((3, 21, 20, 8), (2, 3, 8, 40), (3, 2)),
        ((3, 30, 30, 2), (5, 5, 2, 20), (1, 1)),  # the gradient by the input through columns
    ],
)
def test_chunks(tf, image, kernel, strides):
    """What is computed in chunks is what is computed at once; gradients by the adjoint identity."""
    x, w = tf.constant(normal(*image)), tf.constant(normal(*kernel))
    edges = [[0, 0], [1, 2], [2, 1], [0, 0]]
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.nn.conv2d(x, w, strides, edges)
    np.testing.assert_allclose(y, direct(x.numpy(), w.numpy(), strides, edges[1:3]), atol=2e-3)
    g = normal(*y.shape)
    dx, dw = tape.gradient(y, [x, w], output_gradients=tf.constant(g))
    wide = [np.float64(a) for a in (y, g, x, dx, w, dw)]
    product = np.vdot(wide[0], wide[1])
    scale = np.abs(wide[0] * wide[1]).sum()
    assert abs(product - np.vdot(wide[2], wide[3])) < 1e-6 * scale
    assert abs(product - np.vdot(wide[4], wide[5])) < 1e-6 * scale


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("name", ["conv", "max", "avg", "transpose"])
def test_channels_first(tf, rank, name):
    """The result with channels first is that with channels last, transposed."""
    last, first = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}[rank]
    x = normal(2, *(5, 4, 6)[:rank], 3)
    front, back = (0, rank + 1, *range(1, rank + 1)), (0, *range(2, rank + 2), 1)
    space = tuple(2 * n for n in x.shape[1:-1])

    def run(x, data_format):
        if name == "conv":
            return tf.nn.convolution(x, normal(*(2,) * rank, 3, 2), 2, "SAME", data_format)
        if name == "transpose":
            shape = (2, *space, 2) if data_format == last else (2, 2, *space)
            return tf.nn.conv_transpose(
                x, normal(*(3,) * rank, 2, 3), shape, 2, data_format=data_format
            )
        return getattr(tf.nn, f"{name}_pool")(x, 2, 2, "SAME", data_format)

    found = []
    for data_format, perm in ((last, None), (first, front)):
        given = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(given)
            y = run(given if perm is None else tf.transpose(given, perm), data_format)
            y = y if perm is None else tf.transpose(y, back)
            loss = tf.reduce_sum(y**3)
        found.append((y.numpy(), tape.gradient(loss, given).numpy()))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_depthwise_formats(tf):
    x, w = normal(2, 5, 4, 3), normal(2, 3, 3, 2)
    last = tf.nn.depthwise_conv2d(x, w, [1, 2, 1, 1], "SAME")
    first = tf.nn.depthwise_conv2d(x.transpose(0, 3, 1, 2), w, [1, 1, 2, 1], "SAME", "NCHW")
    np.testing.assert_allclose(last, first.numpy().transpose(0, 2, 3, 1), rtol=1e-5)
    g = normal(*last.shape)
    by_op = tf.nn.depthwise_conv2d_backprop_filter(
        x.transpose(0, 3, 1, 2), w.shape, g.transpose(0, 3, 1, 2), [1, 1, 2, 1], "SAME", "NCHW"
    )
    filters = tf.constant(w)
    with tf.GradientTape() as tape:
        tape.watch(filters)
        y = tf.nn.depthwise_conv2d(x, filters, [1, 2, 1, 1], "SAME")
    np.testing.assert_allclose(by_op, tape.gradient(y, filters, tf.constant(g)), rtol=1e-4)


def test_groups_are_convolutions_side_by_side(tf):
    x, w = normal(1, 5, 5, 6), normal(3, 2, 2, 9)
    whole = tf.nn.conv2d(x, w, 2, "SAME")
    parts = [
        tf.nn.conv2d(x[..., 2 * i : 2 * i + 2], w[..., 3 * i : 3 * i + 3], 2, "SAME")
        for i in range(3)
    ]
    np.testing.assert_allclose(whole, tf.concat(parts, -1), rtol=1e-5, atol=1e-5)


def test_variables_and_lists(tf):
    w = tf.Variable(normal(2, 2, 1, 1))
    with tf.GradientTape() as tape:
        y = tf.nn.conv2d([[[[1.0], [2.0]], [[3.0], [4.0]]]], w, 1, "VALID")
    np.testing.assert_array_equal(tape.gradient(y, w).numpy().ravel(), [1, 2, 3, 4])


def test_ties_of_three_axes_go_to_the_first(tf):
    """As those of two. (TensorFlow gives the gradient of max_pool3d to all tied elements.)"""
    x = tf.constant(np.array([0.0, 1, 1, 0, 1, 0, 0, 1]).reshape(1, 2, 2, 2, 1))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool3d(x, 2, 2, "VALID")
    np.testing.assert_array_equal(tape.gradient(y, x).numpy().ravel(), [0, 1, 0, 0, 0, 0, 0, 0])


def test_a_largest_element_of_minus_infinity_is_found(tf):
    x = tf.constant(np.full((1, 3, 1), -np.inf, np.float32))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool1d(x, 3, 2, "SAME")
    np.testing.assert_array_equal(y.numpy().ravel(), [-np.inf, -np.inf])
    np.testing.assert_array_equal(tape.gradient(y, x).numpy().ravel(), [1, 1, 0])


def test_nan_is_not_hidden(tf):
    x = np.array([[1.0, np.nan], [2.0, 3.0]], np.float32).reshape(1, 4, 1)
    np.testing.assert_array_equal(tf.nn.max_pool1d(x, 2, 2, "VALID").numpy().ravel(), [np.nan, 3])


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("pseudo_random", [False, True])
@pytest.mark.parametrize("kind", ["max", "avg"])
def test_fractional_windows(tf, kind, pseudo_random, overlapping):
    """The windows are those that the op reports, of two neighbouring sizes, and fill the space."""
    x = normal(2, 11, 14, 3)
    pool = getattr(tf.nn, f"fractional_{kind}_pool")
    out, rows, columns = pool(x, [1.0, 1.7, 1.3, 1.0], pseudo_random, overlapping, seed=5)
    assert out.shape == (2, 6, 10, 3)
    for bounds, size in ((rows.numpy(), 11), (columns.numpy(), 14)):
        assert bounds[0] == 0
        assert bounds[-1] == size
        assert set(np.diff(bounds)) == {1, 2}
    for i, j in np.ndindex(6, 10):
        bottom, right = rows[i + 1] + overlapping, columns[j + 1] + overlapping
        window = x[:, int(rows[i]) : int(bottom), int(columns[j]) : int(right)]
        expected = window.max((1, 2)) if kind == "max" else window.mean((1, 2))
        np.testing.assert_allclose(out[:, i, j], expected, rtol=1e-5, atol=1e-6)
    again = pool(x, [1.0, 1.7, 1.3, 1.0], pseudo_random, overlapping, seed=5)
    np.testing.assert_array_equal(again[0], out)


def test_fractional_gradient_is_that_of_the_windows(tf):
    x = tf.constant(normal(1, 7, 7, 1))
    with tf.GradientTape() as tape:
        tape.watch(x)
        out, _, _ = tf.nn.fractional_max_pool(x, 1.5, overlapping=True, seed=2)
    g = tape.gradient(out, x).numpy()
    assert g.sum() == out.numpy().size
    assert set(x.numpy()[g > 0]) == set(out.numpy().ravel())


def test_second_order_of_a_network(tf):
    """Hessian-vector products through conv, pool and normalization agree with differences."""
    x = normal(2, 6, 6, 1).astype(np.float64)
    w = np.random.default_rng(3).normal(size=(3, 3, 1, 2))
    direction = np.random.default_rng(4).normal(size=w.shape)

    def slope(w):
        w = tf.constant(w)
        with tf.GradientTape() as tape:
            tape.watch(w)
            loss = network(w)
        return tape.gradient(loss, w)

    def network(w):
        y = tf.nn.conv2d(x, w, 1, "SAME")
        mean, variance = tf.nn.moments(y, [0, 1, 2])
        y = tf.nn.batch_normalization(y, mean, variance, None, None, 1e-3)
        return tf.reduce_sum(tf.nn.avg_pool2d(tf.nn.max_pool2d(y, 2, 1, "SAME"), 2, 2, "SAME") ** 3)

    given = tf.constant(w)
    with tf.GradientTape() as outer:
        outer.watch(given)
        with tf.GradientTape() as inner:
            inner.watch(given)
            loss = network(given)
        first = inner.gradient(loss, given)
    second = outer.gradient(first, given, output_gradients=tf.constant(direction))
    step = 1e-6
    difference = (slope(w + step * direction).numpy() - slope(w - step * direction).numpy()) / 2e-6
    np.testing.assert_allclose(second, difference, rtol=1e-5, atol=1e-5)
