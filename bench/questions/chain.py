"""What does a small recorded op cost, forward and backward?"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bench.question import Question, Step, Target

ITERATIONS = 500

question = Question(
    title="chain of 1000 ops",
    note=(
        "500 iterations of y = y * c + d are 1000 ops: forward, then the gradient with respect to "
        "the start value. c and d are tensors of the shape of y that take no gradient."
    ),
    cases={"16 float32 values": {"shape": [16]}, "0-d float32": {"shape": []}},
    targets=(
        Target("16 float32 values", "torch", 0.45),
        Target("16 float32 values", "tensorflow", 0.08),
        Target("0-d float32", "torch", 0.6),
    ),
)


class Data(NamedTuple):
    x: np.ndarray
    c: np.ndarray
    d: np.ndarray


def make_data(shape: list[int]) -> Data:
    rng = np.random.default_rng(0)
    bounds = (0.5, 1.5), (0.995, 1.005), (-0.01, 0.01)
    return Data(*(np.asarray(rng.uniform(*bound, shape), np.float32) for bound in bounds))


@question.program("gradtape", "tensorflow")
def chain_tape(tf: Any, shape: list[int]) -> Step:
    x, c, d = map(tf.constant, make_data(shape))

    def step() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(ITERATIONS):
                y = y * c + d
        return y, tape.gradient(y, x)

    return step


@question.program("torch")
def chain_torch(torch: Any, shape: list[int]) -> Step:
    x, c, d = map(torch.from_numpy, make_data(shape))
    x.requires_grad_()
    ones = torch.ones_like(x)

    def step() -> Any:
        y = x
        for _ in range(ITERATIONS):
            y = y * c + d
        return y, *torch.autograd.grad(y, x, ones)

    return step


@question.program("autograd")
def chain_autograd(autograd: Any, shape: list[int]) -> Step:
    x, c, d = make_data(shape)
    ones = np.ones_like(x)

    def chain(y: Any) -> Any:
        for _ in range(ITERATIONS):
            y = y * c + d
        return y

    def step() -> Any:
        vjp, y = autograd.make_vjp(chain)(x)
        return y, vjp(ones)

    return step


@question.program("numpy")
def chain_numpy(np: Any, shape: list[int]) -> Step:
    x, c, d = make_data(shape)
    ones = np.ones_like(x)

    def step() -> Any:
        y = x
        for _ in range(ITERATIONS):
            y = y * c + d
        g = ones
        for _ in range(ITERATIONS):
            g = g * c
        return y, g

    return step
