"""How long does the first call take, which traces and compiles?"""

from __future__ import annotations

import time
from typing import Any

from bench.function._models import CASES, make
from bench.function._training import steady_jax, steady_tape
from bench.question import Question, Step, Target, returned

question = Question(
    title="first call",
    suite="function",
    note=(
        "the first call of a new function: the Python is traced, XLA compiles, one step runs. The "
        "process has compiled before; nothing is cached on disk."
    ),
    cases=CASES,
    targets=tuple(Target(case, "jax", 1.5) for case in CASES),
    measure=returned,
    max_rounds=4,
)


def timed(make_step: Any, module: Any, case: Any) -> Step:
    """Times the first call of a function that is made anew each time."""

    def once() -> Any:
        step = make_step(module, make(**case))
        start = time.perf_counter()
        step()
        return {"value": time.perf_counter() - start}

    return once


@question.program("gradtape", "tensorflow")
def first_tape(tf: Any, **case: Any) -> Step:
    return timed(steady_tape, tf, case)


@question.program("jax")
def first_jax(jax: Any, **case: Any) -> Step:
    return timed(steady_jax, jax, case)
