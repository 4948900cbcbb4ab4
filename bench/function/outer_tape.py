"""What does a gradient cost whose tape stands outside of the compiled function?"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.function._models import CASES, make
from bench.function._training import loss_of_jax
from bench.question import Question, Step, Target, quickest_step

question = Question(
    title="tape outside",
    suite="function",
    measure=quickest_step,
    note=(
        "the loss is a compiled function, the tape around its call is not: two programs, the "
        "forward one handing what it saved to the backward one. TensorFlow the same; JAX one "
        "program, jax.jit of value_and_grad. No optimizer."
    ),
    cases=CASES,
    targets=tuple(
        Target(case, "tensorflow", 1.0) for case in CASES if CASES[case]["model"] != "lstm"
    ),
)


@question.program("gradtape", "tensorflow")
def outer_tape(tf: Any, **case: Any) -> Step | None:
    if tf.__name__ == "tensorflow" and case["model"] == "lstm":
        return None  # "Support for TensorList crossing the XLA/TF boundary is not implemented"
    model = make(**case)
    parameters = {name: tf.Variable(array) for name, array in model.parameters.items()}
    trained = list(parameters.values())
    x, labels = tf.constant(model.inputs), tf.constant(model.labels)

    @tf.function(jit_compile=True)
    def loss_of(x: Any, labels: Any) -> Any:
        return model.of_tape(tf, parameters, x, labels)

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(x, labels)
        gradients = tape.gradient(loss, trained)
        return loss.numpy(), *[g.numpy() for g in gradients]

    return step


@question.program("jax")
def one_program(jax: Any, **case: Any) -> Step:
    jax.config.update("jax_enable_x64", False)
    model = make(**case)
    value_and_grad = jax.jit(jax.value_and_grad(loss_of_jax(jax, model)))
    given = jax.device_put((list(model.parameters.values()), model.inputs, model.labels))

    def step() -> Any:
        loss, gradients = value_and_grad(*given)
        return np.asarray(loss), *[np.asarray(g) for g in gradients]

    return step
