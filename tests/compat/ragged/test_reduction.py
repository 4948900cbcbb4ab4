"""Reductions of ragged tensors, along ragged axes and others."""

import pytest

CASES = [
    (lambda tf, x: tf.reduce_sum(x.r), 6, None),
    (lambda tf, x: tf.reduce_sum(x.r, 0), [4, 2], None),
    (lambda tf, x: tf.reduce_sum(x.r, 1), [3, 3], None),
    (lambda tf, x: tf.reduce_sum(x.r, -1, keepdims=True), [[3], [3]], None),
    (lambda tf, x: tf.reduce_sum(x.r, 0, keepdims=True), [[4, 2]], None),
    (lambda tf, x: tf.reduce_sum(x.r, keepdims=True), [[6]], None),
    (lambda tf, x: tf.reduce_sum(x.r, []), [[1, 2], [3]], [2, None]),
    (lambda tf, x: tf.reduce_sum(x.deep, 0), [[1], [2, 3]], [2, None]),
    (lambda tf, x: tf.reduce_sum(x.deep, 1), [[3, 3], []], [2, None]),
    (lambda tf, x: tf.reduce_sum(x.deep, 2), [[1, 5], []], [2, None]),
    (lambda tf, x: tf.reduce_sum(x.deep, [0, 1]), [3, 3], None),
    (lambda tf, x: tf.reduce_sum(x.deep, [1, 2]), [6, 0], None),
    (lambda tf, x: tf.reduce_sum(x.deep, [0, 2]), [1, 5], None),
    (lambda tf, x: tf.reduce_sum(x.deep, [0, 1, 2]), 6, None),
    (lambda tf, x: tf.reduce_sum(x.deep, -1, keepdims=True), [[[1], [5]], []], [2, None, 1]),
    (lambda tf, x: tf.reduce_sum(x.wide, 1), [[1, 2], [8, 10]], None),
    (lambda tf, x: tf.reduce_sum(x.wide, 2), [[3], [7, 11]], [2, None]),
    (lambda tf, x: tf.reduce_sum(x.whole, 1), [3, 7], None),
    (lambda tf, x: tf.reduce_mean(x.r), 2.0, None),
    (lambda tf, x: tf.reduce_mean(x.r, 1), [1.5, 3.0], None),
    (lambda tf, x: tf.reduce_mean(x.f, 0), [2.0, 2.0], None),
    (lambda tf, x: tf.reduce_mean(tf.cast(x.deep, tf.float32), 2), [[1.0, 2.5], []], [2, None]),
    (lambda tf, x: tf.reduce_mean(tf.cast(x.deep, tf.float32), [1, 2])[:1], [2.0], None),
    (lambda tf, x: tf.reduce_max(x.r, 1), [2, 3], None),
    (lambda tf, x: tf.reduce_max(x.deep, 1), [[2, 3], []], [2, None]),
    (lambda tf, x: tf.reduce_min(x.r, 0), [1, 2], None),
    (lambda tf, x: tf.reduce_prod(x.f, 1), [2.0, 1.0, 3.0], None),
    (lambda tf, x: tf.reduce_any(x.r > 1, 1), [True, True], None),
    (lambda tf, x: tf.reduce_all(x.r > 1, 1), [False, True], None),
    (lambda tf, x: tf.reduce_all(x.f > 1.0, 1), [False, True, True], None),
    (lambda tf, x: tf.math.reduce_variance(x.f[:1], 1), [0.25], None),
    (lambda tf, x: tf.math.reduce_std(x.f[:1], 1), [0.5], None),
    (lambda tf, x: tf.reduce_logsumexp(x.f, 1)[::2], [2.313262, 3.0], None),
    (lambda tf, x: tf.math.cumsum(x.r, 1), [[1, 3], [3]], [2, None]),
    (
        lambda tf, x: tf.math.cumsum(x.f, axis=-1, exclusive=True),
        [[0.0, 1.0], [], [0.0]],
        [3, None],
    ),
    (lambda tf, x: tf.math.cumsum(x.f, axis=-1, reverse=True), [[3.0, 2.0], [], [3.0]], [3, None]),
    (lambda tf, x: tf.math.cumsum(x.r), [[1, 2], [4]], [2, None]),
    (
        lambda tf, x: tf.math.unsorted_segment_sum(x.deep, [0, 0], 2),
        [[[1], [2, 3]], []],
        [2, None, None],
    ),
    (lambda tf, x: tf.math.unsorted_segment_max(x.r, [0, 0], 1), [[3, 2]], [1, None]),
    (lambda tf, x: tf.math.unsorted_segment_mean(x.f, [0, 1, 0], 2), [[2.0, 2.0], []], [2, None]),
    (lambda tf, x: tf.math.bincount(x.r), [0, 1, 1, 1], None),
    (lambda tf, x: tf.math.bincount(x.r, axis=-1), [[0, 1, 1, 0], [0, 0, 0, 1]], None),
    (
        lambda tf, x: tf.math.bincount(x.r, axis=-1, minlength=6),
        [[0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0]],
        None,
    ),
    (
        lambda tf, x: tf.math.bincount(x.r, axis=-1, maxlength=3, binary_output=True),
        [[0, 1, 1], [0, 0, 0]],
        None,
    ),
]


@pytest.mark.parametrize("function, expected, shape", CASES)
def test_reduced(check, function, expected, shape):
    check(function, expected, shape)


def test_an_empty_row(tf, x):
    assert tf.reduce_sum(x.f, 1).numpy().tolist() == [3.0, 0.0, 3.0]
    assert tf.reduce_prod(x.f, 1).numpy().tolist() == [2.0, 1.0, 3.0]
    assert tf.math.is_nan(tf.reduce_mean(x.f, 1)).numpy().tolist() == [False, True, False]
    assert tf.reduce_max(x.f, 1).numpy()[1] == tf.float32.min
    assert tf.reduce_min(x.f, 1).numpy()[1] == tf.float32.max


def test_an_axis_that_is_not_there(tf, x):
    with pytest.raises(ValueError):
        tf.reduce_sum(x.r, 2)


@pytest.mark.gradtape_only  # TensorFlow's overflows
def test_softmax_of_large_numbers(tf):
    large = tf.ragged.constant([[1000.0, 1000.0], [-1000.0]])
    assert tf.nn.softmax(large).to_list() == [[0.5, 0.5], [1.0]]
    assert tf.nn.log_softmax(large).to_list()[1] == [0.0]
    assert tf.reduce_logsumexp(large, 1).numpy()[1] == -1000.0
