"""batch, padded_batch, unbatch."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from .examples import shapes, values


def test_batch(Dataset):
    pairs = Dataset.from_tensor_slices(([1, 2, 3], {"a": [[4], [5], [6]]}))
    assert values(pairs.batch(2)) == [([1, 2], {"a": [[4], [5]]}), ([3], {"a": [[6]]})]
    assert values(pairs.batch(2, drop_remainder=True)) == [([1, 2], {"a": [[4], [5]]})]
    assert values(Dataset.range(4).batch(2).batch(2)) == [[[0, 1], [2, 3]]]


def test_batch_of_what_a_function_returned(tf, Dataset):
    dataset = Dataset.from_tensor_slices((["a", "b"], [[1, 2], [3, 4]])).map(lambda *pair: pair)
    assert values(dataset.batch(2)) == [([b"a", b"b"], [[1, 2], [3, 4]])]
    half = dataset.map(lambda s, x: tf.cast(x, tf.bfloat16)).batch(2)
    assert next(iter(half)).dtype == tf.bfloat16
    assert values(half) == [[[1.0, 2.0], [3.0, 4.0]]]


def test_spec_of_a_batch(Dataset):
    dataset = Dataset.from_tensor_slices(np.zeros((4, 3)))
    assert tuple(dataset.batch(2).element_spec.shape) == (None, 3)
    assert tuple(dataset.batch(2, drop_remainder=True).element_spec.shape) == (2, 3)


@pytest.mark.parametrize("size", [0, -1])
def test_batch_refuses_a_size(tf, Dataset, size):
    with pytest.raises(tf.errors.InvalidArgumentError):
        Dataset.range(3).batch(size)


@pytest.mark.parametrize("size, error", [(2.0, TypeError), (None, ValueError)])
def test_batch_refuses_what_is_no_integer(Dataset, size, error):
    with pytest.raises(error):
        Dataset.range(3).batch(size)


def ragged(tf, Dataset, rows, dtype="int32"):
    signature = tf.TensorSpec([None], dtype)
    return Dataset.from_generator(lambda: iter(rows), output_signature=signature)


def test_batch_refuses_different_shapes(tf, Dataset):
    with pytest.raises(tf.errors.InvalidArgumentError, match="component 0"):
        values(ragged(tf, Dataset, [[1], [1, 2]]).batch(2))


def test_padded_batch(tf, Dataset):
    dataset = ragged(tf, Dataset, [[1], [1, 2], []])
    assert values(dataset.padded_batch(2)) == [[[1, 0], [1, 2]], [[]]]
    padded = dataset.padded_batch(3, padded_shapes=[3], padding_values=-1)
    assert values(padded) == [[[1, -1, -1], [1, 2, -1], [-1, -1, -1]]]
    assert values(dataset.padded_batch(2, drop_remainder=True)) == [[[1, 0], [1, 2]]]
    strings = ragged(tf, Dataset, [["a"], ["b", "c"]], "string")
    assert values(strings.padded_batch(2)) == [[[b"a", b""], [b"b", b"c"]]]


def test_padded_batch_of_structures(tf, Dataset):
    dataset = Dataset.range(3).map(lambda n: (tf.fill([n], n), {"n": n}))
    padded = dataset.padded_batch(
        3,
        padded_shapes=([None], {"n": []}),
        padding_values=(tf.constant(-1, tf.int64), {"n": None}),
    )
    assert values(padded) == [([[-1, -1], [1, -1], [2, 2]], {"n": [0, 1, 2]})]


def test_spec_of_a_padded_batch(Dataset):
    dataset = Dataset.from_tensor_slices(np.zeros((4, 3)))
    assert tuple(dataset.padded_batch(2).element_spec.shape) == (None, 3)
    padded = dataset.padded_batch(2, padded_shapes=[-1], drop_remainder=True)
    assert tuple(padded.element_spec.shape) == (2, None)


@pytest.mark.parametrize(
    "arguments, error",
    [
        ({"padded_shapes": [1, 2]}, ValueError),
        ({"padding_values": 1.5}, TypeError),
    ],
)
def test_padded_batch_refuses(tf, Dataset, arguments, error):
    with pytest.raises(error):
        values(ragged(tf, Dataset, [[1], [1, 2]]).padded_batch(2, **arguments))


def test_padding_never_cuts(tf, Dataset):
    with pytest.raises((ValueError, tf.errors.OpError)):
        values(ragged(tf, Dataset, [[1], [1, 2]]).padded_batch(2, padded_shapes=[1]))


def test_unbatch(Dataset):
    dataset = Dataset.from_tensor_slices(([1, 2, 3], [[4.0], [5.0], [6.0]])).batch(2)
    assert values(dataset.unbatch()) == [(1, [4.0]), (2, [5.0]), (3, [6.0])]
    assert shapes(dataset.unbatch().element_spec) == [(), (1,)]
    assert values(dataset.rebatch(3)) == [([1, 2, 3], [[4.0], [5.0], [6.0]])]


@pytest.mark.parametrize("element", [3, ([1, 2], [1, 2, 3])])
def test_unbatch_refuses(Dataset, element):
    with pytest.raises(ValueError):
        values(Dataset.from_tensors(element).unbatch())


@given(n=st.integers(0, 40), size=st.integers(1, 12), drop=st.booleans())
def test_unbatch_undoes_batch(Dataset, n, size, drop):
    dataset = Dataset.from_tensor_slices((np.arange(n), np.ones((n, 2)))).batch(size, drop)
    kept = n - n % size if drop else n
    assert [i for i, _ in values(dataset.unbatch())] == list(range(kept))
