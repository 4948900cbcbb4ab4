"""ode: the last component of a linear chain of equations, by Runge and Kutta's method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.gradbench import Prepared, gradbench, rounds, tape_program
from bench.question import Step
from bench.systems import compiled

question = gradbench(
    "ode",
    {f"n={n} s={s}": {"n": n, "s": s} for n, s in ((1000, 10), (1000, 100))},
    "y' = x * (1, y[:-1]) over s steps of the classic method; the gradient of y[n - 1] by x.",
)


def make_data(n: int, s: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(0.5, 1.5, n)


def runge_kutta(slope: Callable[[Any], Any], y: Any, h: float) -> Any:
    k1 = slope(y)
    k2 = slope(y + h / 2 * k1)
    k3 = slope(y + h / 2 * k2)
    k4 = slope(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def objective(xp: Any, x: Any, s: int) -> Any:
    one = np.ones(1)
    y = np.zeros(len(x))
    for _ in range(s):
        y = runge_kutta(lambda y: x * xp.concatenate((one, y[:-1])), y, 2 / s)
    return y[-1]


@tape_program(question)
def ode_tape(tf: Any, n: int, s: int) -> Prepared:
    one, zeros = tf.ones(1, tf.float64), tf.zeros(n, tf.float64)

    def value_and_gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = zeros
            for _ in rounds(tf, s):
                y = runge_kutta(lambda y: x * tf.concat((one, y[:-1]), 0), y, 2 / s)
            last = y[-1]
        return last, tape.gradient(last, x)

    return value_and_gradient, make_data(n, s)


@question.program("torch")
def ode_torch(torch: Any, n: int, s: int) -> Step:
    x = torch.from_numpy(make_data(n, s)).requires_grad_()
    one, zeros = torch.ones(1, dtype=torch.float64), torch.zeros(n, dtype=torch.float64)

    def step() -> Any:
        y = zeros
        for _ in range(s):
            y = runge_kutta(lambda y: x * torch.cat((one, y[:-1])), y, 2 / s)
        return y[-1], *torch.autograd.grad(y[-1], x)

    return step


@question.program("jax")
def ode_jax(jax: Any, n: int, s: int) -> Step:
    jnp = jax.numpy
    one = jnp.ones(1)

    def last(x: Any) -> Any:
        def advance(y: Any, _: None) -> tuple[Any, None]:
            return runge_kutta(lambda y: x * jnp.concatenate((one, y[:-1])), y, 2 / s), None

        return jax.lax.scan(advance, jnp.zeros(n), None, length=s)[0][-1]

    return compiled(jax, jax.value_and_grad(last), make_data(n, s))


@question.program("autograd")
def ode_autograd(autograd: Any, n: int, s: int) -> Step:
    x = make_data(n, s)
    value_and_grad = autograd.value_and_grad(lambda x: objective(autograd.numpy, x, s))
    return lambda: value_and_grad(x)
