"""How much memory does recompute_grad save?"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.question import Question, Step, Target, returned

BLOCKS, BATCH, WIDTH = 16, 1024, 32

question = Question(
    title="peak bytes of 16 blocks",
    suite="derivatives",
    note=(
        "Each block is h + gelu(normalized(h) @ w1 + b1) @ w2 + b2, of width 32 and 128 inside, "
        "at batch 1024. The highest that the forward and the backward pass reach together, by "
        "tracemalloc, less what was there before: the tape, the gradients, and what is on the way."
    ),
    cases={"plain": {"recompute": False}, "recompute_grad": {"recompute": True}},
    targets=(Target("recompute_grad", None, 0.25, over_case="plain"),),
    unit="B",
    measure=returned,
    max_rounds=2,
)


def make_data() -> tuple[np.ndarray, list[list[np.ndarray]]]:
    rng = np.random.default_rng(0)
    shapes = (WIDTH, 4 * WIDTH), (4 * WIDTH,), (4 * WIDTH, WIDTH), (WIDTH,)
    blocks = [
        [rng.normal(0, 0.5 * shape[0] ** -0.5, shape).astype(np.float32) for shape in shapes]
        for _ in range(BLOCKS)
    ]
    return rng.normal(size=(BATCH, WIDTH)).astype(np.float32), blocks


def make_model(tf: Any, recompute: bool = False) -> tuple[Callable[[], Any], list[Any]]:
    """The loss of the blocks, as a function to call under a tape, and the variables."""
    inputs, arrays = make_data()
    x = tf.constant(inputs)
    layers = [[tf.Variable(array) for array in block] for block in arrays]

    def block(h: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
        centered = h - tf.reduce_mean(h, axis=1, keepdims=True)
        variance = tf.reduce_mean(tf.square(centered), axis=1, keepdims=True)
        normalized = centered * tf.math.rsqrt(variance + 1e-5)
        return h + tf.matmul(tf.nn.gelu(tf.matmul(normalized, w1) + b1), w2) + b2

    def loss() -> Any:
        h = x
        for w1, b1, w2, b2 in layers:
            h = run(h, w1, b1, w2, b2)
        return tf.reduce_mean(tf.square(h))

    run = tf.recompute_grad(block) if recompute else block
    return loss, [variable for layer in layers for variable in layer]


@question.program("gradtape")
def peak_bytes(tf: Any, recompute: bool) -> Step:
    loss_of, variables = make_model(tf, recompute)

    def gradients() -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of()
        return tape.gradient(loss, variables)

    plain, parameters = make_model(tf)
    with tf.GradientTape() as tape:
        loss = plain()
    for ours, expected in zip(gradients(), tape.gradient(loss, parameters), strict=True):
        np.testing.assert_allclose(ours.numpy(), expected.numpy(), rtol=1e-4, atol=1e-6)

    def step() -> dict[str, float]:
        gradients()
        gc.collect()
        tracemalloc.start()
        try:
            gradients()
            return {"value": tracemalloc.get_traced_memory()[1]}
        finally:
            tracemalloc.stop()

    return step
