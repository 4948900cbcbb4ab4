"""ht: the Jacobian of the distances between a posed hand and points measured on it."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bench.gradbench import Prepared, gradbench, tape_program
from bench.question import Step
from bench.systems import compiled

BONES, VERTICES, TRIANGLES, PARAMETERS = 22, 544, 1084, 26

question = gradbench(
    "ht",
    {
        f"{variant} N={n}": {"variant": variant, "n": n}
        for variant, n in (("simple", 100), ("complicated", 100))
    },
    "A synthetic hand of 22 bones and 544 vertices, N points: the Jacobian of the 3 N residuals by "
    "26 pose parameters, and (complicated) by the place of each point in its triangle. Forward "
    "mode: jacfwd, in autograd one product for each column.",
    max_rounds=3,
)


class Hand(NamedTuple):
    base: np.ndarray  # relative to the parent, (bones, 4, 4)
    inverse: np.ndarray  # of the absolute base, (bones, 4, 4)
    positions: np.ndarray  # (vertices, 4)
    weights: np.ndarray  # (bones, vertices, 1)
    angles: np.ndarray  # the place of each angle of each bone in (theta, 0), (bones, 3)
    corners: np.ndarray  # the vertices of each point, (1 or 3, N)
    us: np.ndarray  # where in its triangle, (2, N)
    points: np.ndarray  # (N, 3)
    theta: np.ndarray


PARENTS = [-1, 0, *(1 if j == 0 else 2 + 4 * f + j - 1 for f in range(5) for j in range(4))]


def make_data(variant: str, n: int) -> Hand:
    rng = np.random.default_rng(0)
    base = np.tile(np.eye(4), (BONES, 1, 1))
    base[:, :3, :3] = np.linalg.qr(rng.normal(size=(BONES, 3, 3)))[0]
    base[:, :3, 3] = rng.normal(0, 0.3, (BONES, 3))
    inverse = np.linalg.inv(chained(np, base))
    positions = np.hstack([rng.normal(size=(VERTICES, 3)), np.ones((VERTICES, 1))])
    weights = rng.dirichlet(np.full(BONES, 0.2), VERTICES).T[:, :, None]
    # A finger has four bones: two angles for the first, one for the next two, none for its tip.
    angles = np.full((BONES, 3), PARAMETERS)
    for finger in range(5):
        angles[2 + 4 * finger, :2] = 6 + 4 * finger, 7 + 4 * finger
        angles[3 + 4 * finger : 5 + 4 * finger, 0] = 8 + 4 * finger, 9 + 4 * finger
    if variant == "simple":
        corners = rng.integers(0, VERTICES, (1, n))
    else:
        triangles = rng.integers(0, VERTICES, (TRIANGLES, 3))
        corners = triangles[rng.integers(0, TRIANGLES, n)].T
    us, points, theta = rng.uniform(0, 0.5, (2, n)), rng.normal(size=(n, 3)), rng.normal(size=26)
    return Hand(base, inverse, positions, weights, angles, corners, us, points, 0.5 * theta)


def start(hand: Hand) -> np.ndarray:
    """What to differentiate by: the pose, after a common shift of the us where there are any.

    A point depends on its own us only, so the two columns of the shift hold all their derivatives.
    """
    return hand.theta if len(hand.corners) == 1 else np.concatenate([np.zeros(2), hand.theta])


def chained(xp: Any, relatives: Any) -> Any:
    absolutes: list[Any] = []
    for i, parent in enumerate(PARENTS):
        above = relatives[i] if parent < 0 else xp.matmul(absolutes[parent], relatives[i])
        absolutes.append(above)
    return xp.stack(absolutes)


def euler(sin: Any, cos: Any) -> list[Any]:
    """The entries of Rz Ry Rx, row by row; the angles stand in the order x, z, y."""
    (sx, sz, sy), (cx, cz, cy) = sin, cos
    return [
        *(cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx),
        *(sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx),
        *(-sy, cy * sx, cy * cx),
    ]


def rodrigues(u: Any, sin: Any, cos: Any) -> list[Any]:
    """The entries of the rotation about the unit vector u, row by row."""
    (x, y, z), rest = u, 1.0 - cos
    return [
        *(x * x * rest + cos, x * y * rest - z * sin, x * z * rest + y * sin),
        *(y * x * rest + z * sin, y * y * rest + cos, y * z * rest - x * sin),
        *(z * x * rest - y * sin, z * y * rest + x * sin, z * z * rest + cos),
    ]


def objective(xp: Any, z: Any, hand: Hand) -> Any:
    """The residuals, 3 N of them, in NumPy's names."""
    theta = z[-PARAMETERS:]
    angles = xp.concatenate((theta, np.zeros(1)))[hand.angles]
    sin, cos = xp.sin(angles), xp.cos(angles)
    entries = euler([sin[:, j] for j in range(3)], [cos[:, j] for j in range(3)])
    turns = xp.reshape(xp.stack(entries, axis=1), (BONES, 3, 3))
    turned = xp.matmul(hand.base[:, :, :3], turns)
    relatives = xp.concatenate((turned, hand.base[:, :, 3:]), axis=2)
    transforms = xp.matmul(chained(xp, relatives), hand.inverse)[:, :3]
    moved = xp.matmul(hand.positions, xp.swapaxes(transforms, 1, 2))
    skin = xp.sum(hand.weights * moved, axis=0)

    square = xp.sum(theta[:3] ** 2)
    bent = square > 1e-8
    angle = xp.sqrt(xp.where(bent, square, 1.0))
    about = rodrigues([theta[j] / angle for j in range(3)], xp.sin(angle), xp.cos(angle))
    rotation = xp.where(bent, xp.reshape(xp.stack(about), (3, 3)), np.eye(3))
    skin = xp.dot(skin, rotation.T) + theta[3:6]

    places = [skin[corner] for corner in hand.corners]
    if len(places) > 1:
        u, v = ((hand.us[j] + z[j])[:, None] for j in range(2))
        places = [u * places[0] + v * places[1] + (1 - u - v) * places[2]]
    return xp.reshape(hand.points - places[0], (-1,))


@tape_program(question)
def ht_tape(tf: Any, variant: str, n: int) -> Prepared:
    zero, identity = tf.zeros(1, tf.float64), tf.eye(3, dtype=tf.float64)

    def residuals(z: Any, hand: Hand) -> Any:
        theta = z[-PARAMETERS:]
        angles = tf.gather(tf.concat((theta, zero), 0), hand.angles)
        entries = euler(tf.unstack(tf.sin(angles), axis=1), tf.unstack(tf.cos(angles), axis=1))
        turns = tf.reshape(tf.stack(entries, 1), (BONES, 3, 3))
        turned = tf.matmul(hand.base[:, :, :3], turns)
        relatives = tf.unstack(tf.concat((turned, hand.base[:, :, 3:]), 2))
        transforms = tf.matmul(chained(tf, relatives), hand.inverse)[:, :3]
        moved = tf.matmul(hand.positions, transforms, transpose_b=True)
        skin = tf.reduce_sum(hand.weights * moved, 0)

        square = tf.reduce_sum(theta[:3] ** 2)
        bent = square > 1e-8
        angle = tf.sqrt(tf.where(bent, square, 1.0))
        about = rodrigues(tf.unstack(theta[:3] / angle), tf.sin(angle), tf.cos(angle))
        rotation = tf.where(bent, tf.reshape(tf.stack(about), (3, 3)), identity)
        skin = tf.matmul(skin, rotation, transpose_b=True) + theta[3:6]

        places = [tf.gather(skin, corner) for corner in tf.unstack(hand.corners)]
        if len(places) > 1:
            u, v = tf.unstack((hand.us + z[:2, None])[:, :, None])
            places = [u * places[0] + v * places[1] + (1.0 - u - v) * places[2]]
        return tf.reshape(hand.points - places[0], (-1,))

    def jacobian(z: Any, *arrays: Any) -> Any:
        hand = Hand(*arrays)
        return (tf.autodiff.jacfwd(lambda z: residuals(z, hand))(z),)

    hand = make_data(variant, n)
    return jacobian, start(hand), *hand


@question.program("torch")
def ht_torch(torch: Any, variant: str, n: int) -> Step:
    arrays = make_data(variant, n)
    hand = Hand(*map(torch.from_numpy, arrays))
    z = torch.from_numpy(start(arrays))
    zero, identity = torch.zeros(1, dtype=torch.float64), torch.eye(3, dtype=torch.float64)

    def residuals(z: Any) -> Any:
        theta = z[-PARAMETERS:]
        angles = torch.cat((theta, zero))[hand.angles]
        entries = euler(torch.sin(angles).unbind(1), torch.cos(angles).unbind(1))
        turns = torch.stack(entries, 1).reshape(BONES, 3, 3)
        turned = torch.matmul(hand.base[:, :, :3], turns)
        relatives = torch.cat((turned, hand.base[:, :, 3:]), 2).unbind()
        transforms = torch.matmul(chained(torch, relatives), hand.inverse)[:, :3]
        moved = torch.matmul(hand.positions, transforms.transpose(1, 2))
        skin = (hand.weights * moved).sum(0)

        square = (theta[:3] ** 2).sum()
        bent = square > 1e-8
        angle = torch.sqrt(torch.where(bent, square, 1.0))
        about = rodrigues((theta[:3] / angle).unbind(), torch.sin(angle), torch.cos(angle))
        rotation = torch.where(bent, torch.stack(about).reshape(3, 3), identity)
        skin = skin @ rotation.T + theta[3:6]

        places = [skin[corner] for corner in hand.corners]
        if len(places) > 1:
            u, v = (hand.us + z[:2, None])[:, :, None].unbind()
            places = [u * places[0] + v * places[1] + (1 - u - v) * places[2]]
        return (hand.points - places[0]).reshape(-1)

    jacobian = torch.func.jacfwd(residuals)
    return lambda: (jacobian(z),)


@question.program("jax")
def ht_jax(jax: Any, variant: str, n: int) -> Step:
    hand = make_data(variant, n)
    jacobian = jax.jacfwd(partial(objective, jax.numpy))
    return compiled(jax, lambda z, hand: (jacobian(z, hand),), start(hand), hand)


@question.program("autograd")
def ht_autograd(autograd: Any, variant: str, n: int) -> Step:
    hand = make_data(variant, n)
    z = start(hand)
    push = autograd.make_jvp(lambda z: objective(autograd.numpy, z, hand))
    return lambda: (np.stack([push(z)(unit)[1] for unit in np.eye(len(z))], 1),)
