"""What does it cost to have gradients explained?"""

from __future__ import annotations

from typing import Any

from bench.question import Question, Sample, Step, Target, returned
from bench.questions.embedding import seconds
from bench.questions.mlp import make_data

CASE = "MLP (32, 10, 32, 3)"

question = Question(
    title="gradient with explain=True over one without",
    note="The MLP of `mlp` and its gradient. Both take turns in one process, 10 steps at a time.",
    cases={CASE: {"batch": 32, "sizes": [10, 32, 32, 3]}},
    targets=(Target(CASE, None, 3.0),),
    unit="",
    measure=returned,
    figure=lambda minima: minima["explained"] / minima["plain"],
)


@question.program("gradtape")
def both_gradients(tf: Any, batch: int, sizes: list[int]) -> Step:
    inputs, classes, arrays = make_data(batch, sizes)
    x, labels = tf.constant(inputs), tf.constant(classes)
    parameters = w1, b1, w2, b2, w3, b3 = [tf.Variable(array) for array in arrays]

    def gradient(**options: Any) -> None:
        with tf.GradientTape(**options) as tape:
            h1 = tf.nn.relu(tf.matmul(x, w1) + b1)
            h2 = tf.nn.relu(tf.matmul(h1, w2) + b2)
            logits = tf.matmul(h2, w3) + b3
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        tape.gradient(loss, parameters)

    def step() -> Sample:
        turns = [
            (seconds(gradient, 10), seconds(lambda: gradient(explain=True), 10)) for _ in range(5)
        ]
        plain, explained = zip(*turns, strict=True)
        return {"plain": min(plain), "explained": min(explained)}

    return step
