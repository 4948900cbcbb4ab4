"""What does a Hessian-vector product cost, beside a gradient?"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.question import Question, Step, Target
from bench.questions.mlp import make_data
from bench.systems import compiled

SIZES = {
    "(32, 10, 32, 3)": {"batch": 32, "sizes": [10, 32, 32, 3]},
    "(128, 784, 256, 10)": {"batch": 128, "sizes": [784, 256, 256, 10]},
}

question = Question(
    title="MLP of tanh",
    suite="derivatives",
    note=(
        "tanh, mean softmax cross entropy, float32: the gradient of all parameters, and the "
        "Hessian times a vector. gradtape: tf.autodiff.hvp; PyTorch and JAX: jvp of grad, "
        "autograd: grad of the product with the gradient."
    ),
    cases={
        f"{what}, {name}": {"product": what == "HVP", **sizes}
        for name, sizes in SIZES.items()
        for what in ("gradient", "HVP")
    },
    targets=tuple(
        Target(f"HVP, {name}", None, 3.0, over_case=f"gradient, {name}") for name in SIZES
    ),
    max_rounds=10,
)


def directions(parameters: list[np.ndarray]) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.normal(0, 0.1, p.shape).astype(np.float32) for p in parameters]


@question.program("gradtape")
def hvp_tape(tf: Any, batch: int, sizes: list[int], product: bool) -> Step:
    inputs, classes, arrays = make_data(batch, sizes)
    x, labels = tf.constant(inputs), tf.constant(classes)
    parameters = [tf.constant(array) for array in arrays]
    vectors = [tf.constant(array) for array in directions(arrays)]

    def loss_of(parameters: Any) -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        h1 = tf.tanh(tf.matmul(x, w1) + b1)
        h2 = tf.tanh(tf.matmul(h1, w2) + b2)
        logits = tf.matmul(h2, w3) + b3
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return tf.reduce_mean(losses)

    def gradient() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(parameters)
            loss = loss_of(parameters)
        return tape.gradient(loss, parameters)

    return (lambda: tf.autodiff.hvp(loss_of, parameters, vectors)) if product else gradient


@question.program("torch")
def hvp_torch(torch: Any, batch: int, sizes: list[int], product: bool) -> Step:
    inputs, classes, arrays = make_data(batch, sizes)
    x, labels = torch.from_numpy(inputs), torch.from_numpy(classes)
    parameters = tuple(torch.from_numpy(array.T.copy()) for array in arrays)
    vectors = tuple(torch.from_numpy(array.T.copy()) for array in directions(arrays))
    linear, cross_entropy = torch.nn.functional.linear, torch.nn.functional.cross_entropy

    def loss_of(*parameters: Any) -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        h1 = torch.tanh(linear(x, w1, b1))
        h2 = torch.tanh(linear(h1, w2, b2))
        return cross_entropy(linear(h2, w3, b3), labels)

    tracked = [p.clone().requires_grad_() for p in parameters]
    gradient = torch.func.grad(loss_of, argnums=tuple(range(len(arrays))))
    if product:
        return lambda: torch.func.jvp(gradient, parameters, vectors)[1]
    return lambda: torch.autograd.grad(loss_of(*tracked), tracked)


@question.program("jax")
def hvp_jax(jax: Any, batch: int, sizes: list[int], product: bool) -> Step:
    x, labels, parameters = make_data(batch, sizes)
    one_hot = np.eye(sizes[-1], dtype=np.float32)[labels]
    gradient = jax.grad(lambda parameters: numpy_loss(jax.numpy, parameters, x, one_hot))
    if not product:
        return compiled(jax, gradient, parameters)
    vectors = directions(parameters)
    return compiled(jax, lambda p, v: jax.jvp(gradient, (p,), (v,))[1], parameters, vectors)


@question.program("autograd")
def hvp_autograd(autograd: Any, batch: int, sizes: list[int], product: bool) -> Step:
    x, labels, parameters = make_data(batch, sizes)
    one_hot = np.eye(sizes[-1], dtype=np.float32)[labels]
    vectors = directions(parameters)
    anp = autograd.numpy
    gradient = autograd.grad(lambda parameters: numpy_loss(anp, parameters, x, one_hot))

    def slope(parameters: Any) -> Any:
        return sum(anp.sum(g * v) for g, v in zip(gradient(parameters), vectors, strict=True))

    if product:
        return lambda: autograd.grad(slope)(parameters)
    return lambda: gradient(parameters)


def numpy_loss(xp: Any, parameters: Any, x: Any, one_hot: Any) -> Any:
    w1, b1, w2, b2, w3, b3 = parameters
    h1 = xp.tanh(xp.dot(x, w1) + b1)
    h2 = xp.tanh(xp.dot(h1, w2) + b2)
    logits = xp.dot(h2, w3) + b3
    shifted = logits - xp.max(logits, axis=1, keepdims=True)
    log_normalizer = xp.log(xp.sum(xp.exp(shifted), axis=1))
    return xp.mean(log_normalizer - xp.sum(shifted * one_hot, axis=1))
