"""What does a call of a compiled function with many variables add to the call of the program?"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.question import Question, Step, Target, quickest_step

COUNT, SIZE = 50, 16
CASE = f"{COUNT} variables"

question = Question(
    title="call",
    suite="function",
    measure=quickest_step,
    note=(
        f"a compiled function that adds 1 to each of {COUNT} variables of {SIZE} numbers, beside "
        f"jax.jit of the same with {COUNT} donated arrays."
    ),
    cases={CASE: {}},
    targets=(
        Target(CASE, "jax", 15e-6, difference=True),
        Target(CASE, "tensorflow", 1.0),
    ),
)


def start_values() -> list[np.ndarray]:
    return [np.full(SIZE, i, np.float32) for i in range(COUNT)]


@question.program("gradtape", "tensorflow")
def call_tape(tf: Any) -> Step:
    variables = [tf.Variable(array) for array in start_values()]

    @tf.function(jit_compile=True)
    def advance() -> Any:
        for v in variables:
            v.assign_add(tf.ones(SIZE))
        return tf.reduce_sum(variables[0])

    return lambda: (advance().numpy(), *variables)


@question.program("jax")
def call_jax(jax: Any) -> Step:
    jax.config.update("jax_enable_x64", False)
    state = jax.device_put(start_values())

    def add(state: Any) -> Any:
        advanced = [v + 1.0 for v in state]
        return jax.numpy.sum(advanced[0]), advanced

    advance = jax.jit(add, donate_argnums=0)

    def step() -> Any:
        nonlocal state
        total, state = advance(state)
        return np.asarray(total), *state

    return step
