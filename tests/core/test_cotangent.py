"""Sums of cotangents: dense tensors, rows, or one of each."""

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.cotangent import IndexedSlices, add, dense

DENSE = tf.constant([[1.0], [2.0], [3.0]])


def rows(indices=(2, 0), values=((10.0,), (20.0,)), shape=(3, 1)):
    return IndexedSlices(list(values), list(indices), None if shape is None else list(shape))


def test_tensors_are_added():
    assert add(DENSE, DENSE).numpy().tolist() == [[2], [4], [6]]


def test_rows_and_rows_stay_rows_unsummed():
    both = add(rows(), rows(indices=[2, 2]))
    assert isinstance(both, IndexedSlices)
    assert both.indices.numpy().tolist() == [2, 0, 2, 2]
    assert dense(both).numpy().tolist() == [[20], [0], [40]]


def test_rows_with_indices_of_two_widths():
    wide = IndexedSlices([[1.0]], np.array([1], np.int64), [3, 1])
    both = add(rows(), wide)
    assert both.indices.dtype == tf.int64
    assert dense(both).numpy().tolist() == [[20], [1], [10]]


@pytest.mark.parametrize("order", [1, -1])
def test_rows_and_a_tensor_become_a_tensor(order):
    total = add(*[DENSE, rows()][::order])
    assert type(total) is tf.Tensor
    assert total.numpy().tolist() == [[21], [2], [13]]


def test_a_sum_knows_its_shape_if_one_side_does():
    assert add(rows(shape=None), rows()).shape == (3, 1)
    assert add(rows(shape=None), rows(shape=None)).dense_shape is None


def test_dense_of_a_tensor_is_the_tensor():
    assert dense(DENSE) is DENSE


def test_no_rows_at_all():
    none = IndexedSlices(tf.zeros([0, 2]), tf.zeros([0], tf.int32), [3, 2])
    assert dense(none).numpy().tolist() == [[0, 0]] * 3


def test_without_a_shape_rows_cannot_become_dense():
    with pytest.raises(ValueError, match="without `dense_shape` the rows cannot become"):
        dense(rows(shape=None))


def test_what_an_indexed_slices_shows():
    x = rows()
    assert x.shape == x.get_shape() == (3, 1)
    assert rows(shape=None).shape.as_list() == [None, 1]
    assert x.dtype == tf.float32
    assert x.device == DENSE.device
    assert (-x).values.numpy().tolist() == [[-10], [-20]]
    assert repr(rows(shape=None)).startswith("IndexedSlices(indices=")
    assert "dense_shape" not in repr(rows(shape=None))
