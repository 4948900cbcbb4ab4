"""What does a whole training gradient cost, from a tiny model to one that is all matmul?"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from bench.question import Question, Step, Target

question = Question(
    title="3-layer MLP",
    note=(
        "relu, mean softmax cross entropy with integer labels: forward, then the gradient of all "
        "weights and biases. Cases are (batch, in, hidden, out)."
    ),
    cases={
        "(32, 10, 32, 3)": {"batch": 32, "sizes": [10, 32, 32, 3]},
        "(128, 784, 256, 10)": {"batch": 128, "sizes": [784, 256, 256, 10]},
        "(512, 784, 1024, 10)": {"batch": 512, "sizes": [784, 1024, 1024, 10]},
    },
    targets=(
        Target("(32, 10, 32, 3)", "torch", 0.5),
        Target("(128, 784, 256, 10)", "torch", 1.1),
        Target("(512, 784, 1024, 10)", "torch", 1.1),
    ),
)

Parameters = list[np.ndarray]


def make_data(batch: int, sizes: list[int]) -> tuple[np.ndarray, np.ndarray, Parameters]:
    """The inputs, the labels, and w1, b1, w2, b2, w3, b3."""
    rng = np.random.default_rng(0)
    parameters: Parameters = []
    for fan_in, fan_out in pairwise(sizes):
        w = rng.normal(0, (2 / fan_in) ** 0.5, (fan_in, fan_out))
        b = rng.normal(0, 0.1, fan_out)
        parameters += [w.astype(np.float32), b.astype(np.float32)]
    x = rng.normal(size=(batch, sizes[0])).astype(np.float32)
    return x, rng.integers(0, sizes[-1], batch), parameters


@question.program("gradtape", "tensorflow")
def mlp_tape(tf: Any, batch: int, sizes: list[int]) -> Step:
    inputs, classes, arrays = make_data(batch, sizes)
    x, labels = tf.constant(inputs), tf.constant(classes)
    parameters = w1, b1, w2, b2, w3, b3 = [tf.Variable(array) for array in arrays]

    def step() -> Any:
        with tf.GradientTape() as tape:
            h1 = tf.nn.relu(tf.matmul(x, w1) + b1)
            h2 = tf.nn.relu(tf.matmul(h1, w2) + b2)
            logits = tf.matmul(h2, w3) + b3
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        return loss, *tape.gradient(loss, parameters)

    return step


@question.program("torch")
def mlp_torch(torch: Any, batch: int, sizes: list[int]) -> Step:
    inputs, classes, arrays = make_data(batch, sizes)
    x, labels = torch.from_numpy(inputs), torch.from_numpy(classes)
    # PyTorch's own layout: linear() multiplies by the transpose of an (out, in) weight.
    parameters = [torch.from_numpy(array.T.copy()).requires_grad_() for array in arrays]
    w1, b1, w2, b2, w3, b3 = parameters
    linear, relu = torch.nn.functional.linear, torch.nn.functional.relu
    cross_entropy = torch.nn.functional.cross_entropy

    def step() -> Any:
        h1 = relu(linear(x, w1, b1))
        h2 = relu(linear(h1, w2, b2))
        loss = cross_entropy(linear(h2, w3, b3), labels)
        return loss, *torch.autograd.grad(loss, parameters)

    return step


@question.program("autograd")
def mlp_autograd(autograd: Any, batch: int, sizes: list[int]) -> Step:
    x, labels, parameters = make_data(batch, sizes)
    # Faster in autograd than indexing, whose gradient is numpy.add.at.
    one_hot = np.eye(sizes[-1], dtype=np.float32)[labels]
    anp = autograd.numpy

    def loss_of(parameters: Any) -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        h1 = anp.maximum(anp.dot(x, w1) + b1, 0)
        h2 = anp.maximum(anp.dot(h1, w2) + b2, 0)
        logits = anp.dot(h2, w3) + b3
        shifted = logits - anp.max(logits, axis=1, keepdims=True)
        log_normalizer = anp.log(anp.sum(anp.exp(shifted), axis=1))
        return anp.mean(log_normalizer - anp.sum(shifted * one_hot, axis=1))

    value_and_grad = autograd.value_and_grad(loss_of)

    def step() -> Any:
        loss, gradients = value_and_grad(parameters)
        return loss, *gradients

    return step


@question.program("numpy")
def mlp_numpy(np: Any, batch: int, sizes: list[int]) -> Step:
    x, labels, (w1, b1, w2, b2, w3, b3) = make_data(batch, sizes)
    rows = np.arange(batch)

    def step() -> Any:
        h1 = np.maximum(x @ w1 + b1, 0)
        h2 = np.maximum(h1 @ w2 + b2, 0)
        logits = h2 @ w3 + b3
        shifted = logits - logits.max(axis=1, keepdims=True)
        exponentials = np.exp(shifted)
        normalizer = exponentials.sum(axis=1, keepdims=True)
        loss = (np.log(normalizer[:, 0]) - shifted[rows, labels]).mean()

        g3 = exponentials / normalizer
        g3[rows, labels] -= 1
        g3 /= batch
        g2 = (g3 @ w3.T) * (h2 > 0)
        g1 = (g2 @ w2.T) * (h1 > 0)
        layers = (x, g1), (h1, g2), (h2, g3)
        return loss, *(part for h, g in layers for part in (h.T @ g, g.sum(axis=0)))

    return step
