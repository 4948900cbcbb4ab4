"""A tape with a memory budget gives the same gradients to the last bit, and holds less."""

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.tape.budget import parse_bytes


def layers(depth, width=16, batch=32):
    rng = np.random.default_rng(0)
    weights = [tf.Variable(rng.normal(size=(width, width)).astype("f") / 4) for _ in range(depth)]
    x = tf.constant(rng.normal(size=(batch, width)).astype("f"))
    return x, weights


def loss_of(x, weights, activation=tf.tanh):
    for w in weights:
        x = activation(tf.matmul(x, w) + 0.1)
    return tf.reduce_sum(tf.nn.softmax(x) * x)


def run(budget, depth=12, activation=tf.tanh, persistent=False):
    x, weights = layers(depth)
    with tf.GradientTape(persistent, memory_budget=budget) as tape:
        loss = loss_of(x, weights, activation)
    ledger = tape._ledger
    return [g.numpy() for g in tape.gradient(loss, weights)], ledger


@pytest.mark.parametrize("activation", [tf.tanh, tf.nn.relu, tf.nn.gelu, tf.sigmoid])
@pytest.mark.parametrize("budget", [0, 4000, "10KB", "1GB"])
def test_the_gradients_are_the_same_to_the_last_bit(activation, budget):
    expected, _ = run(None, activation=activation)
    found, _ = run(budget, activation=activation)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_less_is_held_and_some_is_computed_again():
    _, free = run("1GB")
    _, tight = run(free.peak // 2)
    assert free.recomputed == 0
    assert tight.recomputed > 0
    assert (
        tight.peak <= free.peak // 2 + 32 * 16 * 4
    )  # what one op adds before something is dropped


def test_everything_is_let_go_of_after_the_gradient():
    _, ledger = run("10KB")
    assert ledger.bytes == 0
    assert len(ledger) == 0


def test_a_persistent_tape_can_be_asked_again():
    x, weights = layers(6)
    with tf.GradientTape(persistent=True, memory_budget=3000) as tape:
        loss = loss_of(x, weights)
    first = tape.gradient(loss, weights)
    second = tape.gradient(loss, weights)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_second_derivatives():
    x = tf.constant([0.3, -0.7], tf.float64)

    def second(budget):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape(memory_budget=budget) as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.tanh(tf.exp(tf.sin(x)) * x))
            g = inner.gradient(y, x)
        return outer.gradient(g, x).numpy()

    np.testing.assert_array_equal(second(0), second(None))


def test_random_draws_are_not_drawn_again():
    x = tf.ones(100)
    with tf.GradientTape(memory_budget=0) as tape:
        tape.watch(x)
        noise = tf.random.normal([100])
        y = tf.reduce_sum(tf.exp(x * noise))
    np.testing.assert_allclose(tape.gradient(y, x), noise * tf.exp(noise), rtol=1e-6)


def test_custom_gradients_and_views_pass():
    @tf.custom_gradient
    def doubled(x):
        return x * 2, lambda g: g * 2

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(memory_budget=0) as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.square(tf.transpose(doubled(tf.exp(x)))[0]))
    e = np.exp(x.numpy())
    np.testing.assert_allclose(
        tape.gradient(y, x), [[8 * e[0, 0] ** 2, 0], [8 * e[1, 0] ** 2, 0]], rtol=1e-6
    )


@pytest.mark.parametrize(
    "text, size", [("2GB", 2 * 10**9), ("512MiB", 2**29), (" 1.5 kb ", 1500), (7, 7), ("10", 10)]
)
def test_budgets_are_read(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("wrong", ["2 elephants", -1, 1.5, "", True, "1.2.3GB", "."])
def test_other_budgets_are_refused(wrong):
    with pytest.raises(ValueError, match="memory_budget"):
        tf.GradientTape(memory_budget=wrong)
