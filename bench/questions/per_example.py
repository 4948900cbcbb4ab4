"""What do the gradients of every example's loss cost, beside the gradient of the batch?"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.question import Question, Step, Target
from bench.questions.mlp import make_data
from bench.systems import compiled

BATCH = 256
SIZES = {"(10, 32, 3)": [10, 32, 32, 3], "(64, 128, 10)": [64, 128, 128, 10]}

question = Question(
    title="MLP on 256 examples",
    suite="derivatives",
    note=(
        "relu, softmax cross entropy, float32. per example: the gradient of each of 256 losses; "
        "PyTorch: vmap(grad), JAX: jit of it. The gradients of the second model are 27 MB, and "
        "the time to write them is the limit: NumPy's own ratio is 10 there."
    ),
    cases={
        f"{what}, {name}": {"sizes": sizes, "each": what == "per example"}
        for name, sizes in SIZES.items()
        for what in ("batch", "per example")
    },
    targets=(Target("per example, (10, 32, 3)", None, 3.0, over_case="batch, (10, 32, 3)"),),
    max_rounds=10,
)


@question.program("gradtape")
def per_example_tape(tf: Any, sizes: list[int], each: bool) -> Step:
    inputs, classes, arrays = make_data(BATCH, sizes)
    x, labels = tf.constant(inputs), tf.constant(classes)
    parameters = w1, b1, w2, b2, w3, b3 = [tf.Variable(array) for array in arrays]

    def step() -> Any:
        with tf.GradientTape() as tape:
            h1 = tf.nn.relu(tf.matmul(x, w1) + b1)
            h2 = tf.nn.relu(tf.matmul(h1, w2) + b2)
            logits = tf.matmul(h2, w3) + b3
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            if not each:
                losses = tf.reduce_sum(losses)
        if each:
            return tape.per_example_gradient(losses, parameters)
        return tape.gradient(losses, parameters)

    return step


@question.program("torch")
def per_example_torch(torch: Any, sizes: list[int], each: bool) -> Step:
    inputs, classes, arrays = make_data(BATCH, sizes)
    x, labels = torch.from_numpy(inputs), torch.from_numpy(classes)
    parameters = tuple(torch.from_numpy(array.T.copy()) for array in arrays)
    linear, relu = torch.nn.functional.linear, torch.nn.functional.relu
    cross_entropy = torch.nn.functional.cross_entropy

    def loss_of(parameters: Any, x: Any, labels: Any) -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        h1 = relu(linear(x, w1, b1))
        h2 = relu(linear(h1, w2, b2))
        return cross_entropy(linear(h2, w3, b3), labels, reduction="sum")

    if each:
        gradients = torch.func.vmap(torch.func.grad(loss_of), in_dims=(None, 0, 0))
        return lambda: gradients(parameters, x, labels)
    tracked = [p.clone().requires_grad_() for p in parameters]
    return lambda: torch.autograd.grad(loss_of(tracked, x, labels), tracked)


@question.program("jax")
def per_example_jax(jax: Any, sizes: list[int], each: bool) -> Step:
    x, labels, parameters = make_data(BATCH, sizes)
    one_hot = np.eye(sizes[-1], dtype=np.float32)[labels]

    def loss_of(parameters: Any, x: Any, one_hot: Any) -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        h2 = jax.nn.relu(jax.nn.relu(x @ w1 + b1) @ w2 + b2)
        return -jax.numpy.sum(jax.nn.log_softmax(h2 @ w3 + b3) * one_hot)

    gradient = jax.grad(loss_of)
    f = jax.vmap(gradient, in_axes=(None, 0, 0)) if each else gradient
    return compiled(jax, f, parameters, x, one_hot)


@question.program("numpy")
def per_example_numpy(np: Any, sizes: list[int], each: bool) -> Step:
    x, labels, (w1, b1, w2, b2, w3, b3) = make_data(BATCH, sizes)
    rows = np.arange(BATCH)

    def step() -> Any:
        h1 = np.maximum(x @ w1 + b1, 0)
        h2 = np.maximum(h1 @ w2 + b2, 0)
        logits = h2 @ w3 + b3
        g3 = np.exp(logits - logits.max(axis=1, keepdims=True))
        g3 /= g3.sum(axis=1, keepdims=True)
        g3[rows, labels] -= 1
        g2 = (g3 @ w3.T) * (h2 > 0)
        g1 = (g2 @ w2.T) * (h1 > 0)
        layers = (x, g1), (h1, g2), (h2, g3)
        if each:
            return [part for h, g in layers for part in (h[:, :, None] * g[:, None, :], g)]
        return [part for h, g in layers for part in (h.T @ g, g.sum(axis=0))]

    return step
