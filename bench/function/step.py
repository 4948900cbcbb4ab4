"""What does a compiled training step cost, once it is compiled?"""

from __future__ import annotations

from typing import Any

from bench.function._models import CASES, make
from bench.function._training import steady_jax, steady_tape
from bench.question import Question, Step, Target, quickest_step

TINY = "MLP (32, 10, 32, 3)"

question = Question(
    title="step",
    suite="function",
    measure=quickest_step,
    note=(
        "one training step as one compiled program, float32: gradtape and TensorFlow with "
        "@tf.function(jit_compile=True) around a tape and variables, JAX with jax.jit, its state "
        "donated. Adam, for the LSTM gradient descent. A step ends when its loss is a NumPy array."
    ),
    cases=CASES,
    targets=tuple(
        target
        for case in CASES
        for target in (
            Target(case, "jax", 1.3 if case == TINY else 1.1),
            Target(case, "tensorflow", 1.0),
        )
    ),
)


@question.program("gradtape", "tensorflow")
def step_tape(tf: Any, **case: Any) -> Step:
    return steady_tape(tf, make(**case))


@question.program("jax")
def step_jax(jax: Any, **case: Any) -> Step:
    return steady_jax(jax, make(**case))
