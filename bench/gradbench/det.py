"""det: the determinant, expanded by minors along the first row."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from bench.gradbench import Prepared, gradbench, tape_program
from bench.question import Step
from bench.systems import compiled

question = gradbench(
    "det",
    {
        "l=5, scalars": {"size": 5, "scalars": True},
        "l=7, by levels": {"size": 7, "scalars": False},
    },
    "l! products. scalars: the recursion on single numbers; by levels: all minors of a size at "
    "once, as one array.",
)


def make_data(size: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(size, size))


def minors_of_scalars(rows: Any) -> Any:
    """The determinant of rows of scalars."""
    first, *rest = rows
    if not rest:
        return first[0]
    total = 0.0
    for j, entry in enumerate(first):
        minor = minors_of_scalars([[*row[:j], *row[j + 1 :]] for row in rest])
        total = total + entry * minor if j % 2 == 0 else total - entry * minor
    return total


def kept_columns(size: int) -> np.ndarray:
    """For each column the others: row j is all of 0 ... size - 1 but j."""
    return np.array(list(combinations(range(size), size - 1)))[::-1].copy()


def signs(size: int) -> np.ndarray:
    return (-1.0) ** np.arange(size)


def objective(xp: Any, a: Any, scalars: bool) -> Any:
    size = len(a)
    if scalars:
        return minors_of_scalars([[a[i, j] for j in range(size)] for i in range(size)])

    def levels(a: Any) -> Any:
        n = a.shape[-1]
        if n == 1:
            return a[:, 0, 0]
        minors = xp.swapaxes(a[:, 1:][:, :, kept_columns(n)], 1, 2)
        below = xp.reshape(levels(xp.reshape(minors, (-1, n - 1, n - 1))), (-1, n))
        return xp.sum(a[:, 0] * signs(n) * below, axis=1)

    return levels(a[None])[0]


@tape_program(question)
def det_tape(tf: Any, size: int, scalars: bool) -> Prepared:
    columns = [tf.constant(kept_columns(n)) if n > 1 else None for n in range(size + 1)]
    sign = [tf.constant(signs(n)) for n in range(size + 1)]

    def levels(a: Any) -> Any:
        n = a.shape[-1]
        if n == 1:
            return a[:, 0, 0]
        minors = tf.transpose(tf.gather(a[:, 1:], columns[n], axis=2), (0, 2, 1, 3))
        below = tf.reshape(levels(tf.reshape(minors, (-1, n - 1, n - 1))), (-1, n))
        return tf.reduce_sum(a[:, 0] * sign[n] * below, axis=1)

    def value_and_gradient(a: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(a)
            if scalars:
                y = minors_of_scalars([tf.unstack(row) for row in tf.unstack(a)])
            else:
                y = levels(a[None])[0]
        return y, tape.gradient(y, a)

    return value_and_gradient, make_data(size)


@question.program("torch")
def det_torch(torch: Any, size: int, scalars: bool) -> Step:
    a = torch.from_numpy(make_data(size)).requires_grad_()
    columns = [torch.from_numpy(kept_columns(n)) if n > 1 else None for n in range(size + 1)]
    sign = [torch.from_numpy(signs(n)) for n in range(size + 1)]

    def levels(a: Any) -> Any:
        n = a.shape[-1]
        if n == 1:
            return a[:, 0, 0]
        minors = a[:, 1:][:, :, columns[n]].transpose(1, 2)
        below = levels(minors.reshape(-1, n - 1, n - 1)).reshape(-1, n)
        return torch.sum(a[:, 0] * sign[n] * below, dim=1)

    def step() -> Any:
        if scalars:
            y = minors_of_scalars([row.unbind() for row in a.unbind()])
        else:
            y = levels(a[None])[0]
        return y, *torch.autograd.grad(y, a)

    return step


@question.program("jax")
def det_jax(jax: Any, size: int, scalars: bool) -> Step:
    f = jax.value_and_grad(lambda a: objective(jax.numpy, a, scalars))
    return compiled(jax, f, make_data(size))


@question.program("autograd")
def det_autograd(autograd: Any, size: int, scalars: bool) -> Step:
    a = make_data(size)
    value_and_grad = autograd.value_and_grad(lambda a: objective(autograd.numpy, a, scalars))
    return lambda: value_and_grad(a)
