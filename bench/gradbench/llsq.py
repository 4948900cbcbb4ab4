"""llsq: the least squares of a polynomial to the sign function."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.gradbench import Prepared, gradbench, tape_program
from bench.question import Step
from bench.systems import compiled

question = gradbench(
    "llsq",
    {f"n={n} m={m}": {"n": n, "m": m} for n, m in ((16, 128), (1024, 128))},
    "The gradient by the m coefficients; the powers of the n points are part of the run.",
)


def make_data(n: int, m: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=m)


def objective(xp: Any, x: Any, n: int) -> Any:
    t = xp.linspace(-1.0, 1.0, n)
    residuals = xp.sign(t) - xp.dot(xp.vander(t, len(x), increasing=True), x)
    return 0.5 * xp.sum(residuals**2)


@tape_program(question)
def llsq_tape(tf: Any, n: int, m: int) -> Prepared:
    bounds = tf.constant([-1.0, 1.0], tf.float64)

    def value_and_gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            t = tf.linspace(*bounds, n)
            spread = tf.broadcast_to(t[:, None], (n, m))
            powers = tf.math.cumprod(spread, axis=1, exclusive=True)
            residuals = tf.sign(t) - tf.linalg.matvec(powers, x)
            y = 0.5 * tf.reduce_sum(residuals**2)
        return y, tape.gradient(y, x)

    return value_and_gradient, make_data(n, m)


@question.program("torch")
def llsq_torch(torch: Any, n: int, m: int) -> Step:
    x = torch.from_numpy(make_data(n, m)).requires_grad_()

    def step() -> Any:
        t = torch.linspace(-1.0, 1.0, n, dtype=torch.float64)
        residuals = torch.sign(t) - torch.vander(t, m, increasing=True) @ x
        y = 0.5 * torch.sum(residuals**2)
        return y, *torch.autograd.grad(y, x)

    return step


@question.program("jax")
def llsq_jax(jax: Any, n: int, m: int) -> Step:
    f = jax.value_and_grad(lambda x: objective(jax.numpy, x, n))
    return compiled(jax, f, make_data(n, m))


@question.program("autograd")
def llsq_autograd(autograd: Any, n: int, m: int) -> Step:
    x = make_data(n, m)
    anp = autograd.numpy

    def f(x: Any) -> Any:
        t = np.linspace(-1.0, 1.0, n)
        residuals = np.sign(t) - anp.dot(np.vander(t, m, increasing=True), x)
        return 0.5 * anp.sum(residuals**2)

    value_and_grad = autograd.value_and_grad(f)
    return lambda: value_and_grad(x)
