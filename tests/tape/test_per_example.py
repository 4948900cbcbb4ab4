"""Per-example gradients against a loop over the examples."""

import numpy as np
import pytest

import gradtape as tf

RNG = np.random.default_rng(0)
B = 5


def mlp(x, w1, b1, w2, b2):
    h = tf.nn.relu(tf.matmul(x, w1) + b1)
    return tf.reduce_sum(tf.square(tf.matmul(h, w2) + b2), 1)


def variables(*shapes):
    return [tf.Variable(RNG.normal(size=s)) for s in shapes]


def by_loop(losses_of, x, sources):
    rows = []
    for i in range(len(x)):
        with tf.GradientTape() as tape:
            loss = losses_of(x[i : i + 1])
        rows.append([tf.convert_to_tensor(g).numpy() for g in tape.gradient(loss, sources)])
    return [np.stack(column) for column in zip(*rows, strict=True)]


def check(losses_of, x, sources):
    with tf.GradientTape() as tape:
        losses = losses_of(x)
    found = tape.per_example_gradient(losses, sources)
    for g, e in zip(found, by_loop(losses_of, x, sources), strict=True):
        assert g.shape == e.shape
        np.testing.assert_allclose(g.numpy(), e, rtol=1e-10, atol=1e-12)


def test_mlp():
    sources = variables((3, 4), (4,), (4, 2), (2,))
    check(lambda x: mlp(x, *sources), tf.constant(RNG.normal(size=(B, 3))), sources)


def test_a_width_equal_to_the_number_of_examples():
    sources = variables((3, B), (B,), (B, B), (B,))
    check(lambda x: mlp(x, *sources), tf.constant(RNG.normal(size=(B, 3))), sources)


def test_parameters_that_are_computed_from_parameters():
    (u, v) = variables((3, 2), (2, 3))
    x = tf.constant(RNG.normal(size=(B, 3)))
    check(lambda x: tf.reduce_sum(tf.tanh(tf.matmul(x, tf.matmul(u, v) + u @ v)), 1), x, [u, v])


def test_elementwise_parameters_used_twice():
    (w,) = variables((3,))
    x = tf.constant(RNG.normal(size=(B, 3)))
    check(lambda x: tf.reduce_sum(tf.exp(x * w) * w, 1), x, [w])


def test_cross_entropy_and_embedding():
    table, w = variables((7, 3), (3, 4))
    ids = tf.constant(RNG.integers(0, 7, size=(B, 2)))
    labels = RNG.integers(0, 4, size=B)

    def losses_of(ids):
        pooled = tf.reduce_mean(tf.gather(table, ids), 1)
        chosen = labels[: len(ids)] if len(ids) > 1 else labels[losses_of.row : losses_of.row + 1]
        losses_of.row += len(ids) == 1
        return tf.nn.sparse_softmax_cross_entropy_with_logits(chosen, tf.matmul(pooled, w))

    losses_of.row = 0
    check(losses_of, ids, [table, w])


def test_structures_and_unconnected_sources():
    w, other = variables((3,), (2,))
    x = tf.constant(RNG.normal(size=(B, 3)))
    with tf.GradientTape() as tape:
        losses = tf.reduce_sum(x * w, 1)
    found = tape.per_example_gradient(losses, {"w": w, "other": [other]})
    np.testing.assert_allclose(found["w"], x)
    assert found["other"] == [None]


@pytest.mark.parametrize("losses", [tf.constant(1.0), tf.constant([[1.0]]), tf.constant([1])])
def test_losses_must_be_a_floating_vector(losses):
    with tf.GradientTape() as tape:
        pass
    with pytest.raises(ValueError, match="rank 1"):
        tape.per_example_gradient(losses, [])
