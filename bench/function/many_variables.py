"""What does a call of a compiled function with many variables add to the call of the program?"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.question import Question, Step, Target

COUNT, SIZE = 50, 16
CASE = f"{COUNT} variables"

question = Question(
    title="call",
    suite="function",
    note=(
        f"a compiled function that adds its argument to each of {COUNT} variables of {SIZE} "
        f"numbers, beside jax.jit of the same with {COUNT} donated arrays."
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
    one = tf.constant(1.0)

    @tf.function(jit_compile=True)
    def advance(x: Any) -> Any:
        for v in variables:
            v.assign_add(x * tf.ones(SIZE))
        return x + 1.0

    def step() -> Any:
        return advance(one).numpy(), *variables

    return step


@question.program("jax")
def call_jax(jax: Any) -> Step:
    jax.config.update("jax_enable_x64", False)
    state, one = jax.device_put((start_values(), np.float32(1)))

    def advance(state: Any, x: Any) -> Any:
        return x + 1.0, [v + x for v in state]

    advance = jax.jit(advance, donate_argnums=0)

    def step() -> Any:
        nonlocal state
        following, state = advance(state, one)
        return np.asarray(following), *state

    return step
