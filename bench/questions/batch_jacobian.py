"""What does the Jacobian of every example of a batch cost?"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.question import Question, Step, Target
from bench.systems import compiled

CASE = "(64, 32) to (64, 16)"

question = Question(
    title="batch Jacobian of tanh(x @ W)",
    suite="derivatives",
    note="PyTorch: vmap(jacrev), JAX: jit of it; of each example, with respect to its inputs.",
    cases={CASE: {"batch": 64, "inputs": 32, "outputs": 16}},
    targets=(Target(CASE, "torch", 0.5),),
)


def make_data(batch: int, inputs: int, outputs: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    w = rng.normal(0, inputs**-0.5, (inputs, outputs))
    return rng.normal(size=(batch, inputs)).astype(np.float32), w.astype(np.float32)


@question.program("gradtape", "tensorflow")
def batch_jacobian_tape(tf: Any, **sizes: int) -> Step:
    x, w = map(tf.constant, make_data(**sizes))

    def step() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.tanh(tf.matmul(x, w))
        return (tape.batch_jacobian(y, x),)

    return step


@question.program("torch")
def batch_jacobian_torch(torch: Any, **sizes: int) -> Step:
    x, w = map(torch.from_numpy, make_data(**sizes))
    jacobian = torch.func.vmap(torch.func.jacrev(lambda row: torch.tanh(row @ w)))
    return lambda: (jacobian(x),)


@question.program("jax")
def batch_jacobian_jax(jax: Any, **sizes: int) -> Step:
    x, w = map(jax.numpy.asarray, make_data(**sizes))
    jacobian = jax.vmap(jax.jacrev(lambda row: jax.numpy.tanh(row @ w)))
    return compiled(jax, lambda x: (jacobian(x),), x)


@question.program("numpy")
def batch_jacobian_numpy(np: Any, **sizes: int) -> Step:
    x, w = make_data(**sizes)

    def step() -> Any:
        y = np.tanh(x @ w)
        return ((1 - y * y)[:, :, None] * w.T,)

    return step
