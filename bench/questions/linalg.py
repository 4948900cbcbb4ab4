"""What do products, solves and factorisations cost in turns, with the threads that there are?"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.question import Question, Step, Target, quickest_of
from bench.systems import all_threads

SIZES = (16, 128, 512)

question = Question(
    title="products, solves and factorisations in turns",
    suite="linalg",
    note=(
        "float64, default threads: the gradient, by x and b, of a loss of x @ x.T, its Cholesky "
        "factor, a triangular solve, a general solve, an inverse and a log-determinant. NumPy and "
        "SciPy each have a pool of threads for them; pools that run in turns wait for each other."
    ),
    cases={f"n = {n}": {"n": n} for n in SIZES},
    targets=tuple(
        Target(f"n = {n}", system, 1.0) for n in SIZES for system in ("torch", "tensorflow")
    ),
    measure=quickest_of(50),
    max_rounds=3,
    own_process=lambda case: all_threads(),
)


def make_data(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, n)), rng.normal(size=(n, n))


@question.program("gradtape", "tensorflow")
def linalg_tape(tf: Any, n: int) -> Step:
    x, b = map(tf.constant, make_data(n))
    identity = tf.eye(n, dtype=tf.float64)

    def step() -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, b])
            matrix = tf.matmul(x, x, transpose_b=True) / n + identity
            factor = tf.linalg.cholesky(matrix)
            half = tf.linalg.triangular_solve(factor, b)
            whole = tf.linalg.solve(matrix + x / n, b)
            inverse = tf.linalg.inv(matrix)
            _, log_det = tf.linalg.slogdet(matrix)
            loss = tf.reduce_sum(half * whole) + tf.reduce_sum(tf.matmul(inverse, b)) + log_det
        return tape.gradient(loss, [x, b])

    return step


@question.program("torch")
def linalg_torch(torch: Any, n: int) -> Step:
    x, b = (torch.from_numpy(array).requires_grad_() for array in make_data(n))
    identity = torch.eye(n, dtype=torch.float64)

    def step() -> Any:
        matrix = x @ x.T / n + identity
        factor = torch.linalg.cholesky(matrix)
        half = torch.linalg.solve_triangular(factor, b, upper=False)
        whole = torch.linalg.solve(matrix + x / n, b)
        inverse = torch.linalg.inv(matrix)
        _, log_det = torch.linalg.slogdet(matrix)
        loss = (half * whole).sum() + (inverse @ b).sum() + log_det
        return torch.autograd.grad(loss, [x, b])

    return step
