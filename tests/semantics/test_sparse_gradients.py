"""docs/semantics.md, section K: sparse gradients (IndexedSlices)."""

import numpy as np
import pytest

from .helpers import grad, raises, same

TABLE = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def is_slices(tf, g, indices, values, dense_shape=(3, 2)):
    """That g is an IndexedSlices with just these contents."""
    assert isinstance(g, tf.IndexedSlices)
    same(g.indices, indices)
    same(g.values, values)
    same(g.dense_shape, dense_shape)


def is_dense(tf, g, expected):
    assert isinstance(g, tf.Tensor)
    same(g, expected)


def table(tf):
    return tf.Variable(TABLE)


@pytest.mark.parametrize("lookup", ["gather", "embedding_lookup"])
def test_K1_gather_of_a_variable(tf, lookup):
    function = tf.gather if lookup == "gather" else tf.nn.embedding_lookup
    weights = tf.constant([[1.0, 1.0], [10.0, 10.0], [100.0, 100.0]])
    g = grad(tf, lambda v: function(v, [2, 0, 2]) * weights, table(tf))
    is_slices(tf, g, [2, 0, 2], [[1.0, 1.0], [10.0, 10.0], [100.0, 100.0]])


def test_K1_with_axis_0_said(tf):
    g = grad(tf, lambda v: tf.gather(v, tf.constant([1, 1]), axis=0), table(tf))
    is_slices(tf, g, [1, 1], [[1.0, 1.0], [1.0, 1.0]])


def test_K2_gather_of_a_watched_tensor(tf):
    g = grad(tf, lambda x: tf.gather(x, [2, 0, 2]), tf.constant(TABLE))
    is_slices(tf, g, [2, 0, 2], [[1.0, 1.0]] * 3)


def test_K3_conversion_sums_repeats(tf):
    g = grad(tf, lambda v: tf.gather(v, [2, 0, 2]), table(tf))
    expected = [[1.0, 1.0], [0.0, 0.0], [2.0, 2.0]]
    is_dense(tf, tf.convert_to_tensor(g), expected)
    is_dense(tf, tf.identity(tf.convert_to_tensor(g)), expected)


def test_K3_tensor_functions_convert_by_themselves(tf):
    g = grad(tf, lambda v: tf.gather(v, [2, 0, 2]), table(tf))
    is_dense(tf, tf.multiply(g, 2.0), [[2.0, 2.0], [0.0, 0.0], [4.0, 4.0]])
    is_dense(tf, tf.add(tf.ones((3, 2)), g), [[2.0, 2.0], [1.0, 1.0], [3.0, 3.0]])
    is_dense(tf, tf.reduce_sum(g), 6.0)


def test_K4_several_gathers_are_concatenated(tf):
    def f(v):
        return tf.reduce_sum(tf.gather(v, [0, 1])) + 10.0 * tf.reduce_sum(tf.gather(v, [1]))

    g = grad(tf, f, table(tf))
    assert isinstance(g, tf.IndexedSlices)
    assert sorted(g.indices.numpy().tolist()) == [0, 1, 1]
    assert sorted(g.values.numpy()[:, 0].tolist()) == [1.0, 1.0, 10.0]
    same(g.dense_shape, [3, 2])
    is_dense(tf, tf.convert_to_tensor(g), [[1.0, 1.0], [11.0, 11.0], [0.0, 0.0]])


def test_K5_sparse_and_dense_give_dense(tf):
    def f(v):
        return tf.reduce_sum(tf.gather(v, [0, 0])) + tf.reduce_sum(v * v)

    is_dense(tf, grad(tf, f, table(tf)), [[4.0, 6.0], [6.0, 8.0], [10.0, 12.0]])


def test_K6_an_operation_in_between_makes_it_dense(tf):
    g = grad(tf, lambda v: tf.gather(v * 2.0, [2, 0, 2]), table(tf))
    is_dense(tf, g, [[2.0, 2.0], [0.0, 0.0], [4.0, 4.0]])


def test_K6_identity_passes_the_slices_on(tf):
    g = grad(tf, lambda v: tf.gather(tf.identity(v), [2, 0]), table(tf))
    is_slices(tf, g, [2, 0], [[1.0, 1.0], [1.0, 1.0]])


@pytest.mark.parametrize(
    "f, expected",
    [
        (lambda tf, v: tf.gather(v, [1, 1], axis=1), [[0.0, 2.0]] * 3),
        (lambda tf, v: v[0], [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]),
        (lambda tf, v: v[1:, 0], [[0.0, 0.0], [1.0, 0.0], [1.0, 0.0]]),
        (
            lambda tf, v: tf.gather_nd(v, [[0, 1], [2, 0], [0, 1]]),
            [[0.0, 2.0], [0.0, 0.0], [1.0, 0.0]],
        ),
    ],
    ids=["axis1", "index", "slice", "gather_nd"],
)
def test_K7_other_ways_give_dense(tf, f, expected):
    is_dense(tf, grad(tf, lambda v: f(tf, v), table(tf)), expected)


def test_K8_indices_of_any_rank_are_flattened(tf):
    g = grad(tf, lambda v: tf.gather(v, [[0, 2], [0, 1]]), table(tf))
    is_slices(tf, g, [0, 2, 0, 1], [[1.0, 1.0]] * 4)
    g = grad(tf, lambda v: tf.gather(v, 1), table(tf))
    is_slices(tf, g, [1], [[1.0, 1.0]])
    g = grad(tf, lambda v: tf.gather(v, [2, 2]), tf.Variable([1.0, 2.0, 3.0]))
    is_slices(tf, g, [2, 2], [1.0, 1.0], [3])


def test_K9_gather_nd_of_whole_rows(tf):
    g = grad(tf, lambda v: tf.gather_nd(v, [[2], [0], [2]]), table(tf))
    is_slices(tf, g, [2, 0, 2], [[1.0, 1.0]] * 3)


def test_K10_what_indexed_slices_offer(tf):
    g = grad(tf, lambda v: tf.gather(v, [2, 0]), table(tf))
    is_slices(tf, g, [2, 0], [[1.0, 1.0], [1.0, 1.0]])
    assert g.shape == (3, 2)
    assert g.dtype == tf.float32
    is_slices(tf, -g, [2, 0], [[-1.0, -1.0], [-1.0, -1.0]])
    for arithmetic in (
        lambda: g * 2.0,
        lambda: 2.0 * g,
        lambda: g + g,
        lambda: g - 1.0,
        lambda: g / 2.0,
    ):
        with pytest.raises(TypeError):
            arithmetic()


def test_K11_made_by_hand(tf):
    values, indices = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([2, 2])
    g = tf.IndexedSlices(values, indices, dense_shape=tf.constant([3, 2]))
    is_slices(tf, g, [2, 2], [[1.0, 2.0], [3.0, 4.0]])
    is_dense(tf, tf.convert_to_tensor(g), [[0.0, 0.0], [0.0, 0.0], [4.0, 6.0]])
    assert tf.IndexedSlices(values, indices).dense_shape is None


def test_K12_assign_sub_accepts_slices(tf):
    v = table(tf)
    g = grad(tf, lambda v: tf.gather(v, [2, 0, 2]), v)
    v.assign_sub(g)
    same(v.numpy(), [[0.0, 1.0], [3.0, 4.0], [3.0, 4.0]])
    v.assign_add(g)
    same(v.numpy(), TABLE)


def test_K13_scatter_updates_accumulate(tf):
    v = table(tf)
    g = grad(tf, lambda v: tf.gather(v, [2, 0, 2]), v)
    v.scatter_sub(g)
    same(v.numpy(), [[0.0, 1.0], [3.0, 4.0], [3.0, 4.0]])
    v.scatter_add(tf.IndexedSlices(tf.constant([[1.0, 1.0]]), tf.constant([1])))
    same(v.numpy(), [[0.0, 1.0], [4.0, 5.0], [3.0, 4.0]])


@pytest.mark.parametrize("pfor", [True, False])
def test_K14_sparse_gradients_become_dense(tf, pfor):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.gather(v, [2, 0, 2])
    assert isinstance(tape.gradient(y, v), tf.IndexedSlices)
    j = tape.jacobian(y, v, experimental_use_pfor=pfor)
    assert isinstance(j, tf.Tensor)
    expected = np.zeros((3, 2, 3, 2))
    for row, index in enumerate([2, 0, 2]):
        expected[row, :, index, :] = np.eye(2)
    same(j, expected)


def test_K15_slices_cannot_be_a_target(tf):
    v = table(tf)
    with tf.GradientTape(persistent=True) as outer:
        g = grad(tf, lambda v: tf.gather(v, [2, 0]) ** 3, v)
    assert isinstance(g, tf.IndexedSlices)
    with raises(tf, TypeError):
        outer.gradient(g, v)


def test_K15_made_dense_second_derivatives_work(tf):
    v = table(tf)
    with tf.GradientTape() as outer:
        g = grad(tf, lambda v: tf.gather(v, [2, 0]) ** 3, v)
        dense = tf.convert_to_tensor(g)
    second = outer.gradient(dense, v)
    is_slices(tf, second, [2, 0], [[30.0, 36.0], [6.0, 12.0]])
