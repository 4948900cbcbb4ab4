"""What does it cost to look for Inf and NaN?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.question import Question, Sample, Step, Target, returned
from bench.questions.embedding import seconds
from bench.questions.mlp import make_data

SIZES = [256, 256, 256, 10]
EAGER, COMPILED = "eager MLP (256, 256, 256, 256, 10)", "compiled step (1024, 256, 256, 256, 10)"
SMALL = "compiled step (32, 10, 32, 3)"

question = Question(
    title="a step with enable_check_numerics() over one without",
    note="An MLP, its gradient, and in a compiled step Adam. Both take turns in one process.",
    cases={
        EAGER: {"batch": 256, "sizes": SIZES, "compiled": False},
        COMPILED: {"batch": 1024, "sizes": SIZES, "compiled": True},
        SMALL: {"batch": 32, "sizes": [10, 32, 3], "compiled": True},
    },
    targets=(Target(EAGER, None, 1.3), Target(COMPILED, None, 1.02)),
    unit="",
    measure=returned,
    figure=lambda minima: minima["checked"] / minima["plain"],
)


@question.program("gradtape")
def both_steps(tf: Any, batch: int, sizes: list[int], compiled: bool) -> Step:
    def training_step() -> Callable[[], Any]:
        inputs, classes, arrays = make_data(batch, sizes)
        x, labels = tf.constant(inputs), tf.constant(classes)
        parameters = [tf.Variable(array) for array in arrays]
        adam = tf.optimizers.Adam(1e-4)

        def step() -> None:
            with tf.GradientTape() as tape:
                h = x
                for i in range(0, len(parameters), 2):
                    if i:
                        h = tf.nn.relu(h)
                    h = tf.matmul(h, parameters[i]) + parameters[i + 1]
                loss = tf.reduce_mean(
                    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=h)
                )
            gradients = tape.gradient(loss, parameters)
            if compiled:
                adam.apply_gradients(zip(gradients, parameters, strict=True))

        return tf.function(step) if compiled else step

    plain_step, checked_step = training_step(), training_step()

    def checked(times: int) -> float:
        with tf.debugging.enable_check_numerics():
            return seconds(checked_step, times)

    plain_step()
    checked(1)

    def step() -> Sample:
        turns = [(seconds(plain_step, 5), checked(5)) for _ in range(5)]
        plain, looked_at = zip(*turns, strict=True)
        return {"plain": min(plain), "checked": min(looked_at)}

    return step
