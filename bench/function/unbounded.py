"""What does the gradient of a loop cost of which nobody knows how many rounds it makes?"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.question import Question, Step, Target, quickest_step

SIZES = {"100 rounds, (64, 16)": (100, 16), "200 rounds, (64, 128)": (200, 128)}

question = Question(
    title="a loop without a bound",
    suite="function",
    measure=quickest_step,
    note=(
        "tf.while_loop with a matrix product and tanh in each round, and its gradient, in one "
        "compiled function; with `maximum_iterations`, and without. JAX: scan."
    ),
    cases={
        f"{size}, {kind}": {"rounds": rounds, "width": width, "bounded": kind == "bounded"}
        for size, (rounds, width) in SIZES.items()
        for kind in ("bounded", "open")
    },
    targets=tuple(
        Target(f"{size}, open", None, 1.5, over_case=f"{size}, bounded") for size in SIZES
    ),
)


def arrays(width: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    weights = rng.normal(0.0, width**-0.5, (width, width)).astype(np.float32)
    return np.ones((64, width), np.float32), weights


@question.program("gradtape", "tensorflow")
def with_tape(tf: Any, rounds: int, width: int, bounded: bool) -> Step:
    x, w = map(tf.constant, arrays(width))
    limit = tf.constant(rounds)

    @tf.function
    def gradient(x: Any, limit: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            _, y = tf.while_loop(
                lambda i, y: i < limit,
                lambda i, y: (i + 1, tf.tanh(y @ w)),
                (tf.constant(0), x),
                maximum_iterations=rounds if bounded else None,
            )
        return tape.gradient(y, x)

    return lambda: [gradient(x, limit).numpy()]


@question.program("jax")
def with_scan(jax: Any, rounds: int, width: int, bounded: bool) -> Step | None:
    if not bounded:
        return None  # "Reverse-mode differentiation does not work for lax.while_loop"
    jax.config.update("jax_enable_x64", False)
    x, w = jax.device_put(arrays(width))

    def last(x: Any) -> Any:
        step = lambda y, _: (jax.numpy.tanh(y @ w), None)  # noqa: E731
        return jax.lax.scan(step, x, None, rounds)[0].sum()

    compiled = jax.jit(jax.grad(last))
    return lambda: [np.asarray(compiled(x))]
