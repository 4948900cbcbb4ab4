from types import SimpleNamespace

import numpy as np
import pytest


@pytest.fixture
def x(tf):
    """Ragged tensors of several kinds, and a tensor."""
    return SimpleNamespace(
        r=tf.ragged.constant([[1, 2], [3]]),
        f=tf.ragged.constant([[1.0, 2.0], [], [3.0]]),
        deep=tf.ragged.constant([[[1], [2, 3]], []]),
        wide=tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1),
        whole=tf.RaggedTensor.from_tensor([[1, 2], [3, 4]]),
        dense=tf.constant([[1, 2], [3, 4]]),
        words=tf.ragged.constant([["a", "bc"], ["d"]]),
    )


@pytest.fixture
def check(tf, x):
    """Whether a function of tf and the samples gives these lists; and, if ragged, this shape."""

    def check(function, expected, shape):
        result = function(tf, x)
        assert isinstance(result, tf.RaggedTensor) == (shape is not None)
        if shape is not None:
            assert result.shape.as_list() == shape
        _assert_close(plain(tf, result), expected)

    return check


def plain(tf, value):
    """Tensors as nested lists."""
    if isinstance(value, (list, tuple)):
        return [plain(tf, each) for each in value]
    if isinstance(value, tf.RaggedTensor):
        return value.to_list()
    return np.asarray(value).tolist()


def _assert_close(found, expected):
    if isinstance(expected, list):
        assert isinstance(found, list) and len(found) == len(expected), (found, expected)
        for a, b in zip(found, expected, strict=True):
            _assert_close(a, b)
    elif isinstance(expected, float):
        assert type(found) is float
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    else:
        assert type(found) is type(expected) and found == expected
