"""What does a whole Jacobian cost?"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.question import Question, Step, Target
from bench.systems import compiled

question = Question(
    title="Jacobian of tanh(v @ A)",
    suite="derivatives",
    note=(
        "v is one row; with respect to v. PyTorch: torch.func.jacrev, JAX: jit of jacrev, "
        "autograd: jacobian."
    ),
    cases={"100×100": {"n": 100}, "1000×1000": {"n": 1000}},
    targets=(
        Target("100×100", "torch", 0.2),
        Target("100×100", "tensorflow", 0.01),
        Target("1000×1000", "torch", 0.1),
    ),
    max_rounds=10,
)


def make_data(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    a = rng.normal(0, n**-0.5, (n, n))
    return rng.normal(size=(1, n)).astype(np.float32), a.astype(np.float32)


@question.program("gradtape", "tensorflow")
def jacobian_tape(tf: Any, n: int) -> Step:
    v, a = map(tf.constant, make_data(n))

    def step() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(v)
            y = tf.tanh(v @ a)
        return y, tape.jacobian(y, v)

    return step


@question.program("torch")
def jacobian_torch(torch: Any, n: int) -> Step:
    v, a = map(torch.from_numpy, make_data(n))

    def f(v: Any) -> Any:
        y = torch.tanh(v @ a)
        return y, y

    jacobian = torch.func.jacrev(f, has_aux=True)
    return lambda: jacobian(v)[::-1]


@question.program("jax")
def jacobian_jax(jax: Any, n: int) -> Step:
    v, a = map(jax.numpy.asarray, make_data(n))

    def f(v: Any) -> Any:
        y = jax.numpy.tanh(v @ a)
        return y, y

    return compiled(jax, lambda v: jax.jacrev(f, has_aux=True)(v)[::-1], v)


@question.program("autograd")
def jacobian_autograd(autograd: Any, n: int) -> Step:
    v, a = make_data(n)
    anp = autograd.numpy
    jacobian = autograd.jacobian(lambda v: anp.tanh(anp.dot(v, a)))
    return lambda: (np.tanh(v @ a), jacobian(v))


@question.program("numpy")
def jacobian_numpy(np: Any, n: int) -> Step:
    v, a = make_data(n)

    def step() -> Any:
        y = np.tanh(v @ a)
        return y, (1 - y.T * y.T) * a.T

    return step
