"""How long do the first step, which traces and compiles, and the first epoch take?"""

from __future__ import annotations

from typing import Any

from bench.keras._models import CASES, compiled_model, data, keras_on, timed_epochs
from bench.question import Question, Step, Target, returned

ROWS = 60_000  # of MNIST

question = Question(
    title="first epoch",
    suite="keras",
    measure=returned,
    note=(
        f"the first epoch of a new model over as many rows as MNIST has ({ROWS}), and over one "
        "batch alone, which is tracing and compiling. The process has compiled before."
    ),
    cases={
        f"{name}, {what}": {**case, "rows": rows or case["batch"]}
        for name, case in CASES.items()
        for what, rows in (("one step", None), ("60,000 rows", ROWS))
    },
    targets=tuple(Target(f"{case}, 60,000 rows", "tensorflow", 1.0) for case in CASES),
    max_rounds=2,
)


@question.program("gradtape", "tensorflow", "jax")
def first_epoch(module: Any, model: str, width: int, batch: int, rows: int) -> Step:
    keras = keras_on(module)
    x, y = data(model, rows)

    def once() -> Any:
        made = compiled_model(keras, model, width)
        return {"value": timed_epochs(keras, made, x, y, batch, 1)[0]}

    return once
