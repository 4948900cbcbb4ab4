"""gmm: the log-posterior of a mixture of Gaussians."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bench.gradbench import Prepared, gradbench, tape_program
from bench.question import Step
from bench.systems import compiled

GAMMA, M = 1.0, 0

question = gradbench(
    "gmm",
    {f"d={d} k={k} n={n}": {"d": d, "k": k, "n": n} for d, k, n in ((2, 5, 1000), (10, 25, 1000))},
    "k Gaussians in d dimensions, n points: the gradient by the weights, means and triangular "
    "square roots of the precisions.",
)


class Data(NamedTuple):
    """The parameters, then what is constant."""

    alpha: np.ndarray
    mu: np.ndarray
    q: np.ndarray
    l: np.ndarray  # noqa: E741 - its name in the definition
    x: np.ndarray


def make_data(d: int, k: int, n: int) -> Data:
    rng = np.random.default_rng(31337)
    shapes = (k,), (k, d), (k, d), (k, d * (d - 1) // 2)
    alpha, mu, q, below = (rng.normal(0, 0.5, shape) for shape in shapes)
    return Data(alpha, mu, q, below, rng.normal(size=(n, d)))


def places(d: int) -> np.ndarray:
    """Where the entries of a triangular matrix stand in (diagonal, below by columns, 0)."""
    found = np.full((d, d), d + d * (d - 1) // 2)
    np.fill_diagonal(found, range(d))
    columns, rows = np.triu_indices(d, 1)
    found[rows, columns] = d + np.arange(len(rows))
    return found


def constant(d: int, k: int, n: int) -> float:
    """What does not depend on the parameters."""
    nu = d + M + 1
    log_gamma = d * (d - 1) / 4 * math.log(math.pi)
    log_gamma += sum(math.lgamma((nu - j) / 2) for j in range(d))
    prior = k * (nu * d * math.log(GAMMA / math.sqrt(2)) - log_gamma)
    return prior - n * d / 2 * math.log(2 * math.pi)


def objective(xp: Any, alpha: Any, mu: Any, q: Any, l: Any, x: Any) -> Any:  # noqa: E741
    (k, d), n = mu.shape, len(x)

    def logsumexp(a: Any) -> Any:
        largest = xp.max(a, axis=0)
        return largest + xp.log(xp.sum(xp.exp(a - largest), axis=0))

    diagonal = xp.exp(q)
    roots = xp.concatenate((diagonal, l, np.zeros((k, 1))), axis=1)[:, places(d)]
    z = xp.matmul(roots, x.T - mu[:, :, None])
    beta = (alpha + xp.sum(q, axis=1))[:, None] - 0.5 * xp.sum(z**2, axis=1)
    wishart = 0.5 * GAMMA**2 * (xp.sum(diagonal**2) + xp.sum(l**2)) - M * xp.sum(q)
    return constant(d, k, n) - n * logsumexp(alpha) + xp.sum(logsumexp(beta)) - wishart


@tape_program(question)
def gmm_tape(tf: Any, d: int, k: int, n: int) -> Prepared:
    index, zeros = tf.constant(places(d)), tf.zeros((k, 1), tf.float64)

    def value_and_gradient(points: Any, *parameters: Any) -> Any:
        alpha, mu, q, below = parameters
        with tf.GradientTape() as tape:
            tape.watch(parameters)
            diagonal = tf.exp(q)
            roots = tf.gather(tf.concat((diagonal, below, zeros), 1), index, axis=1)
            z = tf.matmul(roots, points - mu[:, :, None])
            beta = (alpha + tf.reduce_sum(q, 1))[:, None] - 0.5 * tf.reduce_sum(z**2, 1)
            squares = tf.reduce_sum(diagonal**2) + tf.reduce_sum(below**2)
            wishart = 0.5 * GAMMA**2 * squares - M * tf.reduce_sum(q)
            fit = tf.reduce_sum(tf.reduce_logsumexp(beta, 0)) - n * tf.reduce_logsumexp(alpha)
            y = constant(d, k, n) + fit - wishart
        return y, *tape.gradient(y, parameters)

    *parameters, x = make_data(d, k, n)
    return value_and_gradient, x.T, *parameters


@question.program("torch")
def gmm_torch(torch: Any, d: int, k: int, n: int) -> Step:
    *parameters, x = map(torch.from_numpy, make_data(d, k, n))
    alpha, mu, q, below = [p.requires_grad_() for p in parameters]
    index, zeros = torch.from_numpy(places(d)), torch.zeros((k, 1), dtype=torch.float64)

    def step() -> Any:
        diagonal = torch.exp(q)
        roots = torch.cat((diagonal, below, zeros), 1)[:, index]
        z = torch.matmul(roots, x.T - mu[:, :, None])
        beta = (alpha + q.sum(1))[:, None] - 0.5 * (z**2).sum(1)
        wishart = 0.5 * GAMMA**2 * ((diagonal**2).sum() + (below**2).sum()) - M * q.sum()
        fit = torch.logsumexp(beta, 0).sum() - n * torch.logsumexp(alpha, 0)
        y = constant(d, k, n) + fit - wishart
        return y, *torch.autograd.grad(y, parameters)

    return step


@question.program("jax")
def gmm_jax(jax: Any, d: int, k: int, n: int) -> Step:
    def f(*data: Any) -> Any:
        y, gradients = jax.value_and_grad(
            lambda *p: objective(jax.numpy, *p, data[4]), argnums=(0, 1, 2, 3)
        )(*data[:4])
        return y, *gradients

    return compiled(jax, f, *make_data(d, k, n))


@question.program("autograd")
def gmm_autograd(autograd: Any, d: int, k: int, n: int) -> Step:
    *parameters, x = make_data(d, k, n)
    value_and_grad = autograd.value_and_grad(lambda p: objective(autograd.numpy, *p, x))

    def step() -> Any:
        y, gradients = value_and_grad(tuple(parameters))
        return y, *gradients

    return step
