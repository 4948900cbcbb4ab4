"""What does it cost to watch the gradients of a training?"""

from __future__ import annotations

from typing import Any

from bench.question import Question, Step, Target
from bench.questions.mlp import make_data

question = Question(
    title="training step, MLP (128, 784, 256, 10)",
    suite="training",
    note=(
        "The MLP of `mlp`, its gradient, and a step of gradient descent with momentum; then the "
        "same with train.GradientMonitor called in each step, all its histograms included."
    ),
    cases={"plain": {"monitored": False}, "with GradientMonitor": {"monitored": True}},
    targets=(Target("with GradientMonitor", None, 1.1, over_case="plain"),),
)


@question.program("gradtape")
def training_step(tf: Any, monitored: bool) -> Step:
    from gradtape.train.monitor import GradientMonitor

    inputs, classes, arrays = make_data(128, [784, 256, 256, 10])
    x, labels = tf.constant(inputs), tf.constant(classes)
    parameters = w1, b1, w2, b2, w3, b3 = [tf.Variable(array) for array in arrays]
    velocities = [tf.Variable(tf.zeros_like(variable)) for variable in parameters]
    monitor = GradientMonitor() if monitored else None

    def step() -> Any:
        with tf.GradientTape() as tape:
            h1 = tf.nn.relu(tf.matmul(x, w1) + b1)
            h2 = tf.nn.relu(tf.matmul(h1, w2) + b2)
            logits = tf.matmul(h2, w3) + b3
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, parameters)
        if monitor:
            monitor(gradients, parameters)
        for variable, velocity, gradient in zip(parameters, velocities, gradients, strict=True):
            velocity.assign(0.9 * velocity + gradient)
            variable.assign_sub(1e-4 * velocity)
        return gradients

    return step
