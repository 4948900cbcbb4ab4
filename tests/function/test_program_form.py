"""In which form ops and variables go to XLA, where that decides how fast a program is."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

pytestmark = pytest.mark.gradtape_only


def test_an_assigned_variable_goes_to_and_fro_between_two_arrays(tf):
    """No step takes new memory, and none writes into the array of another variable."""
    a, b, c = (tf.Variable(np.full((64, 33), float(i), np.float32)) for i in range(3))

    @tf.function
    def rotate():
        total = a + b + c
        for v in (c, a, b):  # not in the order in which they are read
            v.assign(v * 0.5 + total)
        return tf.reduce_sum(total)

    def places():
        rotate()
        return [v._cell.device.unsafe_buffer_pointer() for v in (a, b, c)]

    places()
    places()
    one, other = places(), places()
    assert set(one).isdisjoint(other)
    assert places() == one and places() == other


def test_a_result_does_not_take_the_array_of_a_variable(tf):
    step = tf.Variable(0.0)

    @tf.function
    def advance(x):
        step.assign_add(1.0)
        return x * step

    x = tf.constant(2.0)
    results = [advance(x) for _ in range(2)]
    pointer = step._cell.device.unsafe_buffer_pointer()
    results += [advance(x) for _ in range(2)]
    assert step._cell.device.unsafe_buffer_pointer() == pointer
    assert [float(y) for y in results] == [2.0, 4.0, 6.0, 8.0] and float(step) == 4.0


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_the_gradient_of_a_large_matrix(tf, activation):
    """relu: its transpose is made first; tanh: that would compute it again."""
    rng = np.random.default_rng(0)
    x, w, v = (rng.normal(size=(512, 512)).astype(np.float32) / 16 for _ in range(3))

    @tf.function
    def gradient(x, w, v):
        with tf.GradientTape() as tape:
            tape.watch(v)
            h = getattr(tf.nn, activation)(tf.matmul(x, w))
            loss = tf.reduce_sum(tf.square(tf.matmul(h, v)))
        return tape.gradient(loss, v)

    computed = gradient(*map(tf.constant, (x, w, v)))
    h = x.astype(np.float64) @ w
    h = np.maximum(h, 0) if activation == "relu" else np.tanh(h)
    expected = 2 * h.T @ (h @ v)
    np.testing.assert_allclose(computed, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("activation", "transposed"), [("relu", True), ("tanh", False)])
def test_only_what_is_cheap_is_transposed_first(activation, transposed):
    from gradtape._src.engines.xla.products import matrix_product

    function = {"relu": lambda h: jnp.maximum(h, 0), "tanh": jnp.tanh}[activation]

    def product(x, w, g):
        return matrix_product(function(x @ w), g, True, False)

    like = jax.ShapeDtypeStruct((512, 512), np.float32)
    assert ("optimization_barrier" in str(jax.make_jaxpr(product)(like, like, like))) == transposed


def test_a_label_that_is_no_class_is_refused(tf):
    @tf.function
    def losses(labels, logits):
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)

    logits = tf.constant([[1.0, 2.0], [0.5, 0.0], [3.0, 1.0]])
    computed = losses(tf.constant([1, 0, 0]), logits).numpy()
    np.testing.assert_allclose(computed[0], np.log1p(np.exp(-1.0)), rtol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError):
        losses(tf.constant([1, 2, -1]), logits)
