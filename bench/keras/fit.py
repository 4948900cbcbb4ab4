"""What does a step of `fit` cost, after the first epoch?"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from bench.keras._models import CASES, LARGE, compiled_model, data, keras_on, timed_epochs
from bench.question import Question, Step, Target, returned

PEERS = ("tensorflow", "jax", "torch")
EPOCHS = 3
TARGETS = tuple(
    Target(case, peer, 1.1 if case in LARGE else 1.0) for case in CASES | LARGE for peer in PEERS
)

question = Question(
    title="fit",
    suite="keras",
    measure=returned,
    note=(
        "one step of `model.fit` with Adam and the accuracy, as Keras runs it by default: the "
        "quickest epoch after the first, over its steps. The target over the best of the three is "
        "one over each."
    ),
    cases=CASES | LARGE,
    targets=TARGETS,
    max_rounds=10,
)


@question.program("gradtape", *PEERS)
def fit(
    module: Any,
    model: str,
    width: int,
    batch: int,
    rows: int,
    clock: Callable[[], float] = time.perf_counter,
) -> Step:
    keras = keras_on(module)
    made = compiled_model(keras, model, width)
    x, y = data(model, rows)
    timed_epochs(keras, made, x, y, batch, 1)

    def once() -> Any:
        seconds = timed_epochs(keras, made, x, y, batch, EPOCHS, clock)
        return {"value": min(seconds) / -(-rows // batch)}

    return once
