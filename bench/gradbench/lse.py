"""lse: the logarithm of a sum of exponentials, from its parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.gradbench import Prepared, gradbench, tape_program
from bench.question import Step
from bench.systems import compiled

question = gradbench(
    "lse",
    {f"n={n}": {"n": n} for n in (2500, 160000)},
    "The gradient of max(x) + log(sum(exp(x - max(x)))).",
)


def make_data(n: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=n)


def objective(xp: Any, x: Any) -> Any:
    largest = xp.max(x)
    return largest + xp.log(xp.sum(xp.exp(x - largest)))


@tape_program(question)
def lse_tape(tf: Any, n: int) -> Prepared:
    def value_and_gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            largest = tf.reduce_max(x)
            y = largest + tf.math.log(tf.reduce_sum(tf.exp(x - largest)))
        return y, tape.gradient(y, x)

    return value_and_gradient, make_data(n)


@question.program("torch")
def lse_torch(torch: Any, n: int) -> Step:
    x = torch.from_numpy(make_data(n)).requires_grad_()

    def step() -> Any:
        y = objective(torch, x)
        return y, *torch.autograd.grad(y, x)

    return step


@question.program("jax")
def lse_jax(jax: Any, n: int) -> Step:
    return compiled(jax, jax.value_and_grad(lambda x: objective(jax.numpy, x)), make_data(n))


@question.program("autograd")
def lse_autograd(autograd: Any, n: int) -> Step:
    x = make_data(n)
    value_and_grad = autograd.value_and_grad(lambda x: objective(autograd.numpy, x))
    return lambda: value_and_grad(x)
