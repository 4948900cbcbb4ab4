"""Elementwise ops, and functions made of them, on ragged tensors."""

import pytest

CASES = [
    (lambda tf, x: x.r + x.r, [[2, 4], [6]], [2, None]),
    (lambda tf, x: x.r + 1, [[2, 3], [4]], [2, None]),
    (lambda tf, x: 1 - x.r, [[0, -1], [-2]], [2, None]),
    (lambda tf, x: x.r / 2, [[0.5, 1.0], [1.5]], [2, None]),
    (lambda tf, x: x.r // 2, [[0, 1], [1]], [2, None]),
    (lambda tf, x: x.r % 2, [[1, 0], [1]], [2, None]),
    (lambda tf, x: 2**x.r, [[2, 4], [8]], [2, None]),
    (lambda tf, x: -x.r, [[-1, -2], [-3]], [2, None]),
    (lambda tf, x: abs(-x.r), [[1, 2], [3]], [2, None]),
    (lambda tf, x: ~(x.r > 1), [[True, False], [False]], [2, None]),
    (lambda tf, x: (x.r > 1) & (x.r < 3), [[False, True], [False]], [2, None]),
    (lambda tf, x: (x.r > 2) | (x.r < 2), [[True, False], [True]], [2, None]),
    (lambda tf, x: x.r == x.r, [[True, True], [True]], [2, None]),
    (lambda tf, x: x.r != 1, [[False, True], [True]], [2, None]),
    (lambda tf, x: x.r == [[1], [3]], [[True, False], [True]], [2, None]),
    (lambda tf, x: x.r * [[10], [20]], [[10, 20], [60]], [2, None]),
    (lambda tf, x: [[10], [20]] - x.r, [[9, 8], [17]], [2, None]),
    (lambda tf, x: x.r - [5], [[-4, -3], [-2]], [2, None]),
    (lambda tf, x: x.r + x.whole[:, :1], [[2, 3], [6]], [2, None]),
    (lambda tf, x: x.deep - [[[10]], [[20]]], [[[-9], [-8, -7]], []], [2, None, None]),
    (lambda tf, x: x.wide * [1, 10], [[[1, 20]], [[3, 40], [5, 60]]], [2, None, 2]),
    (lambda tf, x: x.wide - [[[1, 2]], [[3, 4]]], [[[0, 0]], [[0, 0], [2, 2]]], [2, None, 2]),
    (
        lambda tf, x: x.wide + tf.constant([[[1]], [[2]]]),
        [[[2, 3]], [[5, 6], [7, 8]]],
        [2, None, 2],
    ),
    (lambda tf, x: x.f * x.f, [[1.0, 4.0], [], [9.0]], [3, None]),
    (lambda tf, x: tf.maximum(x.r, 2), [[2, 2], [3]], [2, None]),
    (lambda tf, x: tf.square(x.deep), [[[1], [4, 9]], []], [2, None, None]),
    (lambda tf, x: tf.exp(x.f), [[2.718282, 7.389056], [], [20.085537]], [3, None]),
    (lambda tf, x: tf.tanh(x.f), [[0.761594, 0.964028], [], [0.995055]], [3, None]),
    (lambda tf, x: tf.nn.relu(-x.f), [[0.0, 0.0], [], [0.0]], [3, None]),
    (lambda tf, x: tf.nn.gelu(x.f), [[0.841345, 1.9545], [], [2.99595]], [3, None]),
    (lambda tf, x: tf.nn.leaky_relu(-x.f), [[-0.2, -0.4], [], [-0.6]], [3, None]),
    (lambda tf, x: tf.nn.silu(x.f), [[0.731059, 1.761594], [], [2.857722]], [3, None]),
    (lambda tf, x: tf.nn.softmax(x.f), [[0.268941, 0.731059], [], [1.0]], [3, None]),
    (
        lambda tf, x: tf.nn.sigmoid_cross_entropy_with_logits(x.f, x.f),
        [[0.313262, -1.873072], [], [-5.951413]],
        [3, None],
    ),
    (lambda tf, x: tf.nn.dropout(x.f, 0.0), [[1.0, 2.0], [], [3.0]], [3, None]),
    (lambda tf, x: tf.sign(-x.r), [[-1, -1], [-1]], [2, None]),
    (lambda tf, x: tf.round(x.f * 1.3), [[1.0, 3.0], [], [4.0]], [3, None]),
    (lambda tf, x: tf.math.divide_no_nan(x.f, 0.0), [[0.0, 0.0], [], [0.0]], [3, None]),
    (lambda tf, x: tf.math.is_nan(x.f), [[False, False], [], [False]], [3, None]),
    (lambda tf, x: tf.math.logical_not(x.r > 1), [[True, False], [False]], [2, None]),
    (lambda tf, x: tf.cast(x.r, tf.float32), [[1.0, 2.0], [3.0]], [2, None]),
    (lambda tf, x: tf.cast(x.f > 1.0, tf.int32), [[0, 1], [], [1]], [3, None]),
    (lambda tf, x: tf.clip_by_value(x.r, 2, 3), [[2, 2], [3]], [2, None]),
    (
        lambda tf, x: tf.one_hot(x.r, 4),
        [[[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]], [[0.0, 0.0, 0.0, 1.0]]],
        [2, None, 4],
    ),
    (
        lambda tf, x: tf.one_hot(x.r, 4, 5, 2, axis=-1),
        [[[2, 5, 2, 2], [2, 2, 5, 2]], [[2, 2, 2, 5]]],
        [2, None, 4],
    ),
    (lambda tf, x: tf.zeros_like(x.f), [[0.0, 0.0], [], [0.0]], [3, None]),
    (lambda tf, x: tf.ones_like(x.r, dtype=tf.float32), [[1.0, 1.0], [1.0]], [2, None]),
    (lambda tf, x: tf.identity(x.r), [[1, 2], [3]], [2, None]),
    (lambda tf, x: tf.stop_gradient(x.r), [[1, 2], [3]], [2, None]),
    (lambda tf, x: tf.as_string(x.r), [[b"1", b"2"], [b"3"]], [2, None]),
    (lambda tf, x: tf.add_n([x.r, x.r, x.r]), [[3, 6], [9]], [2, None]),
    (lambda tf, x: tf.math.scalar_mul(3, x.r), [[3, 6], [9]], [2, None]),
    (lambda tf, x: tf.math.real(x.f), [[1.0, 2.0], [], [3.0]], [3, None]),
    (lambda tf, x: tf.ragged.map_flat_values(tf.add, x.r, x.r), [[2, 4], [6]], [2, None]),
    (
        lambda tf, x: tf.ragged.map_flat_values(tf.one_hot, x.r, 4),
        [[[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]], [[0.0, 0.0, 0.0, 1.0]]],
        [2, None, 4],
    ),
    (
        lambda tf, x: tf.ragged.map_flat_values(lambda a, b: a * b, x.r, b=10),
        [[10, 20], [30]],
        [2, None],
    ),
]


@pytest.mark.parametrize("function, expected, shape", CASES)
def test_elementwise(check, function, expected, shape):
    check(function, expected, shape)


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, x: x.r + x.whole,
        lambda tf, x: x.r + x.deep,
        lambda tf, x: x.r - [1, 2, 3, 4, 5],
        lambda tf, x: x.r - [[1], [2], [3]],
        lambda tf, x: x.r * 2.0,
        lambda tf, x: tf.one_hot(x.r, 4, axis=1),
        lambda tf, x: tf.ragged.map_flat_values(tf.reduce_sum, x.r),
        lambda tf, x: tf.ragged.map_flat_values(tf.add, x.r, x.whole),
        lambda tf, x: tf.nn.dropout(x.f, 0.5, noise_shape=[1, 1]),
    ],
)
def test_what_does_not_fit_is_refused(tf, x, function):
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
        function(tf, x)


def test_checks_look_at_the_values(tf, x):
    tf.debugging.assert_equal(x.r, x.r)
    tf.debugging.assert_less(x.r, 4)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.debugging.assert_less(x.r, 3)


def test_a_ragged_tensor_is_no_truth_value_and_no_key(x):
    with pytest.raises(TypeError):
        bool(x.r > 1)
    with pytest.raises(TypeError):
        hash(x.r)


def test_shapes_that_do_not_broadcast_are_named(tf, x):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.add(x.r, x.whole)


@pytest.mark.gradtape_only  # whose message it is
def test_what_takes_no_ragged_tensor_says_what_to_do(tf, x):
    with pytest.raises(TypeError, match=r"transpose takes no RaggedTensor\. Pad the rows"):
        tf.transpose(x.r)
