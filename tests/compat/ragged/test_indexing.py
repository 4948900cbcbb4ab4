"""`rt[key]`."""

import pytest

CASES = [
    (lambda tf, x: x.r[0], [1, 2], None),
    (lambda tf, x: x.r[-1], [3], None),
    (lambda tf, x: x.r[1, 0], 3, None),
    (lambda tf, x: x.r[0, -1], 2, None),
    (lambda tf, x: x.r[tf.constant(1)], [3], None),
    (lambda tf, x: x.r[:1], [[1, 2]], [1, None]),
    (lambda tf, x: x.r[1:], [[3]], [1, None]),
    (lambda tf, x: x.r[::-1], [[3], [1, 2]], [2, None]),
    (lambda tf, x: x.r[5:], [], [0, None]),
    (lambda tf, x: x.r[:, :1], [[1], [3]], [2, None]),
    (lambda tf, x: x.r[:, 1:], [[2], []], [2, None]),
    (lambda tf, x: x.r[:, -1:], [[2], [3]], [2, None]),
    (lambda tf, x: x.r[:, ::-1], [[2, 1], [3]], [2, None]),
    (lambda tf, x: x.r[:, 5:], [[], []], [2, None]),
    (lambda tf, x: x.r[...], [[1, 2], [3]], [2, None]),
    (lambda tf, x: x.r[tf.newaxis], [[[1, 2], [3]]], [1, 2, None]),
    (lambda tf, x: x.r[:, tf.newaxis], [[[1, 2]], [[3]]], [2, 1, None]),
    (lambda tf, x: x.r[..., tf.newaxis], [[[1], [2]], [[3]]], [2, None, 1]),
    (lambda tf, x: x.deep[0], [[1], [2, 3]], [2, None]),
    (lambda tf, x: x.deep[0, 1], [2, 3], None),
    (lambda tf, x: x.deep[0, 1, 0], 2, None),
    (lambda tf, x: x.deep[:, :1], [[[1]], []], [2, None, None]),
    (lambda tf, x: x.deep[:, 1:, :1], [[[2]], []], [2, None, None]),
    (lambda tf, x: x.deep[:, :, ::-1], [[[1], [3, 2]], []], [2, None, None]),
    (lambda tf, x: x.deep[..., :1], [[[1], [2]], []], [2, None, None]),
    (lambda tf, x: x.deep[0, :, :1], [[1], [2]], [2, None]),
    (lambda tf, x: x.deep[::2], [[[1], [2, 3]]], [1, None, None]),
    (lambda tf, x: x.wide[:, :, 0], [[1], [3, 5]], [2, None]),
    (lambda tf, x: x.wide[:, 0:1, 1:], [[[2]], [[4]]], [2, None, 1]),
    (lambda tf, x: x.wide[1, :, 1], [4, 6], None),
    (lambda tf, x: x.whole[:, 0], [1, 3], None),
    (lambda tf, x: x.whole[:, -1], [2, 4], None),
    (lambda tf, x: x.whole[:, 1:], [[2], [4]], [2, 1]),
    (lambda tf, x: x.whole[1:, 0], [3], None),
    (lambda tf, x: x.whole[1:], [[3, 4]], [1, 2]),
    (
        lambda tf, x: tf.ragged.constant([[1, 2, 3, 4, 5], [6, 7], []])[:, 1:-1],
        [[2, 3, 4], [], []],
        [3, None],
    ),
    (
        lambda tf, x: tf.ragged.constant([[1, 2, 3, 4, 5], [6, 7], []])[:, 3:0:-2],
        [[4, 2], [7], []],
        [3, None],
    ),
    (
        lambda tf, x: tf.ragged.constant([[1, 2, 3, 4, 5], [6, 7], []])[:, -4::2],
        [[2, 4], [6], []],
        [3, None],
    ),
    (lambda tf, x: list(x.r), [[1, 2], [3]], None),
]


@pytest.mark.parametrize("function, expected, shape", CASES)
def test_indexed(check, function, expected, shape):
    check(function, expected, shape)


@pytest.mark.parametrize(
    "function, error",
    [
        (lambda x: x.r[:, 0], ValueError),
        (lambda x: x.r[..., 0], ValueError),
        (lambda x: x.r[5], IndexError),
        (lambda x: x.deep[:, :, 0], ValueError),
    ],
)
def test_what_cannot_be_indexed_is_refused(x, function, error):
    with pytest.raises(error):
        function(x)


def test_an_index_beyond_a_row_is_refused(tf, x):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        x.whole[:, 5]


@pytest.mark.gradtape_only  # whose message it is
def test_the_message_says_what_to_do(x):
    with pytest.raises(ValueError, match=r"Slice it, rt\[:, i:i \+ 1\], or pad the rows first"):
        x.r[:, 0]
