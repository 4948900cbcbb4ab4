"""kmeans: Newton's direction for the centroids of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.gradbench import Prepared, gradbench, tape_program
from bench.question import Step
from bench.systems import compiled

question = gradbench(
    "kmeans",
    {
        f"k={k} n={n} d={d}": {"k": k, "n": n, "d": d}
        for k, n, d in ((10, 1000, 8), (100, 10000, 8))
    },
    "The gradient of the sum of squared distances to the nearest centroid over the diagonal of its "
    "Hessian, by one Hessian-vector product: gradtape and JAX forward over reverse, PyTorch and "
    "autograd reverse over reverse.",
)


def make_data(k: int, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n, d))
    return points, points[:k] + rng.normal(0, 0.1, (k, d))  # no cluster is empty


def objective(xp: Any, points: Any, centroids: Any) -> Any:
    products = xp.dot(points, xp.transpose(centroids))
    distances = xp.sum(centroids**2, axis=1) - 2 * products
    return xp.sum(points**2) + xp.sum(xp.min(distances, axis=1))


@tape_program(question)
def kmeans_tape(tf: Any, k: int, n: int, d: int) -> Prepared:
    def newton(points: Any, centroids: Any) -> Any:
        ones = tf.ones_like(centroids)
        with tf.autodiff.ForwardAccumulator(centroids, ones) as accumulator:
            with tf.GradientTape() as tape:
                tape.watch(centroids)
                products = tf.matmul(points, centroids, transpose_b=True)
                distances = tf.reduce_sum(centroids**2, 1) - 2.0 * products
                cost = tf.reduce_sum(points**2) + tf.reduce_sum(tf.reduce_min(distances, 1))
            gradient = tape.gradient(cost, centroids)
        return cost, gradient / accumulator.jvp(gradient)

    return newton, *make_data(k, n, d)


@question.program("torch")
def kmeans_torch(torch: Any, k: int, n: int, d: int) -> Step:
    points, centroids = map(torch.from_numpy, make_data(k, n, d))
    centroids.requires_grad_()

    def step() -> Any:
        distances = (centroids**2).sum(1) - 2 * points @ centroids.T
        cost = (points**2).sum() + distances.min(1).values.sum()
        (gradient,) = torch.autograd.grad(cost, centroids, create_graph=True)
        (diagonal,) = torch.autograd.grad(gradient.sum(), centroids)
        return cost, gradient / diagonal

    return step


@question.program("jax")
def kmeans_jax(jax: Any, k: int, n: int, d: int) -> Step:
    def f(points: Any, centroids: Any) -> Any:
        value_and_grad = jax.value_and_grad(lambda c: objective(jax.numpy, points, c))
        ones = jax.numpy.ones_like(centroids)
        (cost, gradient), (_, diagonal) = jax.jvp(value_and_grad, (centroids,), (ones,))
        return cost, gradient / diagonal

    return compiled(jax, f, *make_data(k, n, d))


@question.program("autograd")
def kmeans_autograd(autograd: Any, k: int, n: int, d: int) -> Step:
    points, centroids = make_data(k, n, d)
    anp = autograd.numpy
    value_and_grad = autograd.value_and_grad(lambda c: objective(anp, points, c))

    def summed(centroids: Any) -> Any:
        gradient = autograd.grad(lambda c: objective(anp, points, c))(centroids)
        return anp.sum(gradient)

    def step() -> Any:
        cost, gradient = value_and_grad(centroids)
        return cost, gradient / autograd.grad(summed)(centroids)

    return step
