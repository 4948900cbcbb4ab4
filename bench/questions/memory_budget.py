"""What does a tape that may hold only half of its bytes cost in time?"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.question import Question, Step, Target
from bench.questions.recompute import make_model
from bench.questions.tape_bytes import traced

question = Question(
    title="16 blocks, gradient",
    suite="derivatives",
    note="The blocks of `recompute`, whose tape has memory_budget= half of what it held without.",
    cases={"no budget": {"share": None}, "half the memory": {"share": 0.5}},
    targets=(Target("half the memory", None, 1.5, over_case="no budget"),),
    max_rounds=10,
)


@question.program("gradtape")
def gradient_in_budget(tf: Any, share: float | None) -> Step:
    loss_of, variables = make_model(tf)

    def forward(**options: Any) -> tuple[Any, Any]:
        with tf.GradientTape(**options) as tape:
            loss = loss_of()
        return tape, loss

    def gradient(**options: Any) -> Any:
        tape, loss = forward(**options)
        return tape.gradient(loss, variables)

    if share is None:
        return gradient
    unconstrained = traced(forward, "arrays")()["value"]
    budget = int(share * unconstrained)
    held = traced(lambda: forward(memory_budget=budget), "arrays")()["value"]
    if held > 1.05 * budget:
        raise ValueError(f"a tape with a budget of {budget} bytes holds {held}")
    for ours, expected in zip(gradient(memory_budget=budget), gradient(), strict=True):
        np.testing.assert_array_equal(ours.numpy(), expected.numpy())
    return lambda: gradient(memory_budget=budget)
