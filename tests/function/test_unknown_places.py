"""Where a part begins, and how far something moves, may be tensors in a compiled function."""

import logging

import numpy as np
import pytest

CASES = {
    "roll": (lambda tf, x, n: tf.roll(x, n, 1), [0, 2, -9, 31]),
    "roll along two axes": (lambda tf, x, n: tf.roll(x, n, [0, 1]), [[1, -2], [7, 0]]),
    "roll twice along one axis": (lambda tf, x, n: tf.roll(x, [n, 1], [1, 1]), [2, -1]),
    "roll by some known": (lambda tf, x, n: tf.roll(x, [1, n], [0, -1]), [2, -1]),
    "slice": (lambda tf, x, n: tf.slice(x, n, [2, 3]), [[0, 0], [2, 3], [1, 2]]),
    "slice from a list": (lambda tf, x, n: tf.slice(x, [1, n], [2, 2]), [0, 4]),
    "slice of all that is left": (lambda tf, x, n: tf.slice(x, [1, n], [-1, 2]), [0, 4]),
    "slice of nothing": (lambda tf, x, n: tf.slice(x, [n, 0], [0, 6]), [0, 4]),
    "strided_slice": (
        lambda tf, x, n: tf.strided_slice(x, [n, 1], [n + 1, 5], [1, 2], shrink_axis_mask=1),
        [0, 3],
    ),
    "band_part": (lambda tf, x, n: tf.linalg.band_part(x, n, 0), [0, 1, -1, 4]),
    "band_part above": (lambda tf, x, n: tf.linalg.band_part(x, 1, n), [0, 2, -1, 6]),
    "crop_to_bounding_box": (
        lambda tf, x, n: tf.image.crop_to_bounding_box(x[..., None], n, 1, 2, 3),
        [0, 2],
    ),
    "pad_to_bounding_box": (
        lambda tf, x, n: tf.image.pad_to_bounding_box(x[..., None], n, 1, 7, 9),
        [0, 3],
    ),
    "in_top_k": (
        lambda tf, x, n: (
            tf.cast(tf.math.in_top_k([5, 3, 0, 4], tf.cast(x, tf.float32), n), x.dtype)
            + 0 * x[:, 0]
        ),
        [1, 3],
    ),
    "unravel_index": (
        lambda tf, x, n: tf.cast(tf.unravel_index(n, [4, 6]), x.dtype) + 0 * x[:2, 0],
        [0, 17],
    ),
}


def number(tf):
    return tf.constant(np.random.default_rng(0).normal(size=(4, 6)))


def value_and_gradient(tf, f, x, n):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, n)
            z = tf.reduce_sum(y**3)
        dx = tape.gradient(z, x)
    return [np.asarray(t) for t in (y, dx, outer.gradient(dx, x))]


@pytest.fixture
def warnings(tf, caplog):
    caplog.set_level(logging.WARNING, tf.get_logger().name)
    return caplog


@pytest.mark.parametrize("name", CASES)
def test_compiled_as_eagerly(tf, warnings, name):
    op, numbers = CASES[name]
    x = number(tf)
    compiled = tf.function(lambda x, n: op(tf, x, n))
    inside = tf.function(lambda x, n: value_and_gradient_inside(tf, op, x, n))
    for n in map(tf.constant, numbers):
        expected = value_and_gradient(tf, lambda x, n: op(tf, x, n), x, n)
        for found, wanted in zip(value_and_gradient(tf, compiled, x, n), expected, strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-12)
        np.testing.assert_allclose(np.asarray(inside(x, n)), expected[1], atol=1e-12)
    assert "plain Python" not in warnings.text


def value_and_gradient_inside(tf, op, x, n):
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = tf.reduce_sum(op(tf, x, n) ** 3)
    return tape.gradient(z, x)


@pytest.mark.parametrize(
    "name, wrong",
    [
        ("slice", [3, 0]),
        ("slice from a list", 5),
        ("slice from a list", -1),
        ("crop_to_bounding_box", 3),
        ("crop_to_bounding_box", -1),
        ("pad_to_bounding_box", 4),
        ("pad_to_bounding_box", -1),
        ("band_part", 5),
        ("unravel_index", 24),
    ],
)
def test_what_does_not_fit_is_an_error(tf, name, wrong):
    op, _ = CASES[name]
    compiled = tf.function(lambda x, n: op(tf, x, n))
    for f in lambda x, n: op(tf, x, n), compiled:
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            f(number(tf), tf.constant(wrong))


def test_parts_in_a_loop(tf):
    @tf.function
    def sums(x):
        total = tf.zeros([2], x.dtype)
        for i in tf.range(5):
            total += tf.slice(x, [0, i], [2, 2])[0] * tf.cast(i, x.dtype)
        return total

    x = number(tf)
    rows = np.asarray(x)
    expected = sum(rows[0, i : i + 2] * i for i in range(5))
    np.testing.assert_allclose(sums(x), expected)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = sums(x)
    gradient = np.zeros((4, 6))
    for i in range(5):
        gradient[0, i : i + 2] += i
    np.testing.assert_allclose(tape.gradient(y, x), gradient)


@pytest.mark.gradtape_only
def test_xla_compiles_them(tf):
    x = number(tf)
    for op, numbers in CASES.values():
        compiled = tf.function(lambda x, n, op=op: op(tf, x, n), jit_compile=True)
        n = tf.constant(numbers[-1])
        np.testing.assert_allclose(compiled(x, n), op(tf, x, n))


@pytest.mark.gradtape_only
def test_the_reason_where_xla_cannot(tf, warnings):
    x = number(tf)
    compiled = tf.function(lambda axis: tf.roll(x, 1, axis))
    np.testing.assert_array_equal(compiled(tf.constant(1)), np.roll(x, 1, 1))
    assert (
        "roll: to compile it, XLA needs the values of `axis`, which are not known while the "
        "function is traced." in warnings.text
    )
    cut = tf.function(lambda n: tf.slice(x, [n, 0], [-1, 2]))
    assert cut(tf.constant(1)).shape == (3, 2)
    assert "slice: to compile it, XLA needs the values of `begin`" in warnings.text
