"""What does an eager step of one's own cost: a tape over a Keras model, and a Keras optimizer?"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.keras._models import data, keras_on, mlp
from bench.question import Question, Step, Target, quickest_step

CASE = "MLP (32, 784, 32, 32, 10)"

question = Question(
    title="eager loop",
    suite="keras",
    measure=quickest_step,
    note="`with tf.GradientTape()` over a Keras model, Keras' loss and Adam, without tf.function.",
    cases={CASE: {"width": 32, "batch": 32}},
    targets=(Target(CASE, "tensorflow", 0.5),),
)


@question.program("gradtape", "tensorflow")
def step_of_tape(tf: Any, width: int, batch: int) -> Step:
    keras = keras_on(tf)
    model = mlp(keras, width)
    rng = np.random.default_rng(0)
    model.set_weights([rng.normal(0, 0.05, w.shape) for w in model.get_weights()])
    entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = keras.optimizers.Adam(1e-3)
    x, y = map(tf.constant, data("mlp", batch))

    def once() -> Any:
        with tf.GradientTape() as tape:
            loss = entropy(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss, *model.get_weights()

    return once
