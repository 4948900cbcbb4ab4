"""What does it cost to watch the gradients of a training?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.question import Question, Sample, Step, Target, returned
from bench.questions.embedding import seconds
from bench.questions.mlp import make_data

STEPS = 10  # measured together: one of them looks at the gradients in detail
CASE = "MLP (128, 784, 256, 10)"

question = Question(
    title="training step with GradientMonitor over one without",
    suite="train",
    note=(
        "The MLP of `mlp`, its gradient, and gradient descent with momentum. Both take turns in "
        f"one process, {STEPS} steps at a time."
    ),
    cases={CASE: {"batch": 128, "sizes": [784, 256, 256, 10]}},
    targets=(Target(CASE, None, 1.1),),
    unit="",
    measure=returned,
    figure=lambda minima: minima["monitored"] / minima["plain"],
)


@question.program("gradtape")
def both_trainings(tf: Any, batch: int, sizes: list[int]) -> Step:
    from gradtape._src.train.monitor.monitor import GradientMonitor

    plain = training(tf, lambda gradients, variables: None, batch, sizes)
    monitored = training(tf, GradientMonitor(), batch, sizes)

    def step() -> Sample:
        turns = [(seconds(plain, STEPS), seconds(monitored, STEPS)) for _ in range(5)]
        plain_times, monitored_times = zip(*turns, strict=True)
        return {"plain": min(plain_times), "monitored": min(monitored_times)}

    return step


def training(tf: Any, watch: Callable[..., Any], batch: int, sizes: list[int]) -> Step:
    inputs, classes, arrays = make_data(batch, sizes)
    x, labels = tf.constant(inputs), tf.constant(classes)
    parameters = w1, b1, w2, b2, w3, b3 = [tf.Variable(array) for array in arrays]
    velocities = [tf.Variable(tf.zeros_like(variable)) for variable in parameters]

    def step() -> None:
        with tf.GradientTape() as tape:
            h1 = tf.nn.relu(tf.matmul(x, w1) + b1)
            h2 = tf.nn.relu(tf.matmul(h1, w2) + b2)
            logits = tf.matmul(h2, w3) + b3
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, parameters)
        watch(gradients, parameters)
        for variable, velocity, gradient in zip(parameters, velocities, gradients, strict=True):
            velocity.assign(0.9 * velocity + gradient)
            variable.assign_sub(1e-4 * velocity)

    return step
