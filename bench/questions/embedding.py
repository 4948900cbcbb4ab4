"""Does the gradient of a look-up stay as small as what was looked up?"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.question import Question, Step, Target, returned

CASE = "{count} of {rows} rows of {width}"

question = Question(
    title="embedding gradient / dense update",
    note=(
        "the gradient of an embedding look-up, given the cotangent of the rows, over the time of a "
        "dense update (assign_sub) of the whole table. It stays sparse, or it could not be that "
        "small."
    ),
    cases={CASE: {"rows": 100_000, "width": 64, "count": 4096}},
    targets=(Target(CASE, None, 0.01),),
    suite="nn",
    unit="",
    measure=returned,
    figure=lambda minima: minima["gradient"] / minima["update"],
)


def seconds(action: Callable[[], Any], loops: int) -> float:
    start = time.perf_counter()
    for _ in range(loops):
        action()
    return (time.perf_counter() - start) / loops


@question.program("gradtape", "tensorflow")
def embedding_tape(tf: Any, rows: int, width: int, count: int) -> Step:
    rng = np.random.default_rng(0)
    table = tf.Variable(rng.normal(size=(rows, width)).astype(np.float32))
    change = tf.constant(np.full((rows, width), 1e-6, np.float32))
    indices = tf.constant(rng.integers(0, rows, count))
    g = tf.constant(rng.normal(size=(count, width)).astype(np.float32))
    with tf.GradientTape(persistent=True) as tape:
        found = tf.nn.embedding_lookup(table, indices)

    def gradient() -> Any:
        return tape.gradient(found, table, output_gradients=g)

    assert isinstance(gradient(), tf.IndexedSlices)

    def step() -> dict[str, float]:
        return {
            "gradient": seconds(gradient, 100),
            "update": seconds(lambda: table.assign_sub(change), 3),
        }

    return step
