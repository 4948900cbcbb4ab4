"""What does a whole eager training step cost: tape, gradient, and Adam?"""

from __future__ import annotations

from typing import Any

from bench.question import Question, Step, Target
from bench.questions.mlp import make_data

question = Question(
    title="training step, 3-layer MLP and Adam",
    suite="train",
    note=(
        "Forward, gradient and one step of Adam, eagerly. Cases are (batch, in, hidden, out). "
        "PyTorch's Adam is the default one."
    ),
    cases={
        "(32, 10, 32, 3)": {"batch": 32, "sizes": [10, 32, 32, 3]},
        "(128, 784, 256, 10)": {"batch": 128, "sizes": [784, 256, 256, 10]},
    },
    targets=(
        Target("(32, 10, 32, 3)", "torch", 0.7),
        Target("(32, 10, 32, 3)", "tensorflow", 0.06),
        Target("(128, 784, 256, 10)", "torch", 1.2),
    ),
)


@question.program("gradtape", "tensorflow")
def train_tape(tf: Any, batch: int, sizes: list[int]) -> Step:
    inputs, classes, arrays = make_data(batch, sizes)
    x, labels = tf.constant(inputs), tf.constant(classes)
    parameters = w1, b1, w2, b2, w3, b3 = [tf.Variable(array) for array in arrays]
    optimizer = tf.optimizers.Adam(1e-4)

    def step() -> Any:
        with tf.GradientTape() as tape:
            h1 = tf.nn.relu(tf.matmul(x, w1) + b1)
            h2 = tf.nn.relu(tf.matmul(h1, w2) + b2)
            logits = tf.matmul(h2, w3) + b3
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, parameters)
        optimizer.apply_gradients(zip(gradients, parameters, strict=True))
        return ()  # the values change from step to step

    return step


@question.program("torch")
def train_torch(torch: Any, batch: int, sizes: list[int]) -> Step:
    inputs, classes, arrays = make_data(batch, sizes)
    x, labels = torch.from_numpy(inputs), torch.from_numpy(classes)
    parameters = [torch.from_numpy(array.T.copy()).requires_grad_() for array in arrays]
    w1, b1, w2, b2, w3, b3 = parameters
    linear, relu = torch.nn.functional.linear, torch.nn.functional.relu
    cross_entropy = torch.nn.functional.cross_entropy
    optimizer = torch.optim.Adam(parameters, 1e-4)

    def step() -> Any:
        optimizer.zero_grad()
        h1 = relu(linear(x, w1, b1))
        h2 = relu(linear(h1, w2, b2))
        loss = cross_entropy(linear(h2, w3, b3), labels)
        loss.backward()
        optimizer.step()
        return ()

    return step
