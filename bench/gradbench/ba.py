"""ba: the sparse Jacobian of bundle adjustment, cameras and points from their images."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.gradbench import Prepared, gradbench, tape_program
from bench.question import Step
from bench.systems import compiled

question = gradbench(
    "ba",
    {f"n={n} m={m} p={p}": {"n": n, "m": m, "p": p} for n, m, p in ((10, 100, 1000),)},
    "p observations of m points by n cameras: the blocks of the Jacobian, 2 rows by 11 + 3 + 1 "
    "columns for each observation, and that of the weights. gradtape: batch_jacobian, the others: "
    "two reverse passes.",
)


def make_data(n: int, m: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """For each observation its camera (11), point (3) and weight; and the feature it saw."""
    rng = np.random.default_rng(0)
    centre = np.array([0, 0, 0, 0, 0, -5, 1, 0, 0, 0, 0])
    cameras = centre + rng.normal(0, 0.1, (n, 11))
    points, weights = rng.normal(size=(m, 3)), rng.uniform(0.5, 1.5, (p, 1))
    i = np.arange(p)
    return np.hstack([cameras[i % n], points[i % m], weights]), rng.normal(size=(p, 2))


def objective(xp: Any, z: Any, features: Any) -> Any:
    """The weighted errors of the projections; a row of z is a camera, a point and a weight."""
    r, x, w = z[:, :3], z[:, 11:14] - z[:, 3:6], z[:, 14:]

    def dot(a: Any, b: Any) -> Any:
        return xp.sum(a * b, axis=1)[:, None]

    def cross(a: Any, b: Any) -> Any:
        (a0, a1, a2), (b0, b1, b2) = ([c[:, j] for j in range(3)] for c in (a, b))
        return xp.stack((a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0), axis=1)

    square = dot(r, r)
    turned = square > 0
    angle = xp.sqrt(xp.where(turned, square, 1.0))
    u = r / angle
    cos, sin = xp.cos(angle), xp.sin(angle)
    rotated = x * cos + cross(u, x) * sin + u * dot(u, x) * (1 - cos)
    seen = xp.where(turned, rotated, x + cross(r, x))
    image = seen[:, :2] / seen[:, 2:]
    rho = dot(image, image)
    bent = image * (1 + z[:, 9:10] * rho + z[:, 10:11] * rho**2)
    return w * (bent * z[:, 6:7] + z[:, 7:9] - features)


@tape_program(question)
def ba_tape(tf: Any, n: int, m: int, p: int) -> Prepared:
    def errors(z: Any, features: Any) -> Any:
        r, centre, f, origin, k1, k2, x, w = tf.split(z, (3, 3, 1, 2, 1, 1, 3, 1), 1)
        x = x - centre
        square = tf.reduce_sum(r * r, 1, keepdims=True)
        turned = square > 0
        angle = tf.sqrt(tf.where(turned, square, 1.0))
        u = r / angle
        cos, sin = tf.cos(angle), tf.sin(angle)
        along = u * tf.reduce_sum(u * x, 1, keepdims=True)
        rotated = x * cos + tf.linalg.cross(u, x) * sin + along * (1.0 - cos)
        seen = tf.where(turned, rotated, x + tf.linalg.cross(r, x))
        image = seen[:, :2] / seen[:, 2:]
        rho = tf.reduce_sum(image * image, 1, keepdims=True)
        return w * (image * (1.0 + k1 * rho + k2 * rho**2) * f + origin - features)

    def errors_and_blocks(z: Any, features: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(z)
            reprojection = errors(z, features)
        blocks = tape.batch_jacobian(reprojection, z)
        weights = z[:, 14]
        with tf.GradientTape() as tape:
            tape.watch(weights)
            of_weights = 1.0 - weights**2
        return reprojection, of_weights, blocks, tape.gradient(of_weights, weights)

    return errors_and_blocks, *make_data(n, m, p)


@question.program("torch")
def ba_torch(torch: Any, n: int, m: int, p: int) -> Step:
    z, features = map(torch.from_numpy, make_data(n, m, p))
    weights = z[:, 14].clone().requires_grad_()
    z.requires_grad_()
    sizes = 3, 3, 1, 2, 1, 1, 3, 1
    seeds = [torch.eye(2, dtype=torch.float64)[j].expand(p, 2) for j in range(2)]

    def errors(z: Any) -> Any:
        r, centre, f, origin, k1, k2, x, w = z.split(sizes, 1)
        x = x - centre
        square = (r * r).sum(1, keepdim=True)
        turned = square > 0
        angle = torch.sqrt(torch.where(turned, square, 1.0))
        u = r / angle
        cos, sin = torch.cos(angle), torch.sin(angle)
        along = u * (u * x).sum(1, keepdim=True)
        rotated = x * cos + torch.linalg.cross(u, x) * sin + along * (1 - cos)
        seen = torch.where(turned, rotated, x + torch.linalg.cross(r, x))
        image = seen[:, :2] / seen[:, 2:]
        rho = (image * image).sum(1, keepdim=True)
        return w * (image * (1 + k1 * rho + k2 * rho**2) * f + origin - features)

    def step() -> Any:
        reprojection = errors(z)
        rows = [torch.autograd.grad(reprojection, z, s, retain_graph=True)[0] for s in seeds]
        of_weights = 1 - weights**2
        (by_weight,) = torch.autograd.grad(of_weights.sum(), weights)
        return reprojection, of_weights, torch.stack(rows, 1), by_weight

    return step


@question.program("jax")
def ba_jax(jax: Any, n: int, m: int, p: int) -> Step:
    jnp = jax.numpy

    def f(z: Any, features: Any) -> Any:
        reprojection, pull = jax.vjp(lambda z: objective(jnp, z, features), z)
        rows = [pull(jnp.broadcast_to(jnp.eye(2)[j], (p, 2)))[0] for j in range(2)]
        of_weights, pull = jax.vjp(lambda w: 1 - w**2, z[:, 14])
        return reprojection, of_weights, jnp.stack(rows, 1), pull(jnp.ones(p))[0]

    return compiled(jax, f, *make_data(n, m, p))


@question.program("autograd")
def ba_autograd(autograd: Any, n: int, m: int, p: int) -> Step:
    z, features = make_data(n, m, p)
    seeds = [np.broadcast_to(np.eye(2)[j], (p, 2)) for j in range(2)]

    def step() -> Any:
        pull, reprojection = autograd.make_vjp(lambda z: objective(autograd.numpy, z, features))(z)
        rows = [pull(seed) for seed in seeds]
        pull_weights, of_weights = autograd.make_vjp(lambda w: 1 - w**2)(z[:, 14])
        return reprojection, of_weights, np.stack(rows, 1), pull_weights(np.ones(p))

    return step
