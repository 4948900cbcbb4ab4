"""What does a step of Adam cost, once the gradients are there?"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.question import Question, Step, Target
from bench.questions.mlp import make_data

question = Question(
    title="Adam's step",
    suite="train",
    note=(
        "The gradients are given; cases are the sizes of the layers of an MLP. NumPy is Adam by "
        "hand, written into arrays that exist: the least that calls of NumPy can take."
    ),
    cases={
        "(10, 32, 3)": {"sizes": [10, 32, 3]},
        "(784, 256, 10)": {"sizes": [784, 256, 10]},
        "(784, 1024, 1024, 10)": {"sizes": [784, 1024, 1024, 10]},
    },
    targets=(
        Target("(10, 32, 3)", "torch", 0.4),
        Target("(784, 256, 10)", "torch", 1.2),
        Target("(784, 1024, 1024, 10)", "torch", 1.2),
    ),
)

RATE, EPSILON = 0.01, 1e-7


def weights_and_gradients(sizes: list[int]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    _, _, weights = make_data(1, sizes)
    rng = np.random.default_rng(1)
    return weights, [rng.normal(size=w.shape).astype(np.float32) for w in weights]


@question.program("gradtape", "tensorflow")
def adam_tape(tf: Any, sizes: list[int]) -> Step:
    weights, gradients = weights_and_gradients(sizes)
    variables, gradients = list(map(tf.Variable, weights)), list(map(tf.constant, gradients))
    optimizer = tf.optimizers.Adam(RATE, epsilon=EPSILON)

    def step() -> Any:
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return variables

    return step


@question.program("torch")
def adam_torch(torch: Any, sizes: list[int]) -> Step:
    weights, gradients = weights_and_gradients(sizes)
    parameters = [torch.from_numpy(w).requires_grad_() for w in weights]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = torch.from_numpy(gradient)
    optimizer = torch.optim.Adam(parameters, RATE, eps=EPSILON)

    def step() -> Any:
        optimizer.step()
        return parameters

    return step


@question.program("numpy")
def adam_numpy(np: Any, sizes: list[int]) -> Step:
    weights, gradients = weights_and_gradients(sizes)
    state = [
        (w, g, *[np.zeros_like(w) for _ in range(3)])
        for w, g in zip(weights, gradients, strict=True)
    ]
    take_1, take_2, epsilon = (np.array(x, np.float32) for x in (0.1, 0.001, EPSILON))
    count = 0

    def step() -> Any:
        nonlocal count
        count += 1
        rate = np.array(RATE * (1 - 0.999**count) ** 0.5 / (1 - 0.9**count), np.float32)
        for w, g, m, v, t in state:
            np.subtract(g, m, t)
            np.multiply(t, take_1, t)
            np.add(m, t, m)
            np.multiply(g, g, t)
            np.subtract(t, v, t)
            np.multiply(t, take_2, t)
            np.add(v, t, v)
            np.sqrt(v, t)
            np.add(t, epsilon, t)
            np.divide(m, t, t)
            np.multiply(t, rate, t)
            np.subtract(w, t, w)
        return weights

    return step
