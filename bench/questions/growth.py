"""Does a long training run keep memory that it should have given back?"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np

from bench.question import Case, Question, Run, Sample, Step, Target

FIRST = 1000
STATM = Path("/proc/self/statm")


def resident_bytes() -> int:
    """Resident memory now; where the system does not tell, its highest value so far."""
    import resource  # not on Windows

    if STATM.exists():
        return int(STATM.read_text().split()[1]) * resource.getpagesize()
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return highest if sys.platform == "darwin" else highest * 1024


def memory_growth(step: Step, run: Run) -> Sample:
    """Memory after all the iterations over memory after the first thousand."""
    iterations = run.case["iterations"]
    if iterations <= FIRST:
        raise ValueError(f"growth needs more than {FIRST} iterations, got {iterations}")
    for _ in range(FIRST):
        step()
    first = memory_now()
    for iteration in range(FIRST, iterations):
        if iteration % FIRST == 0:
            run.report(iteration / iterations)
        step()
    return {"value": memory_now() / first}


def memory_now() -> int:
    """Traced memory in a process that traces from its start, resident memory in another."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0] if tracemalloc.is_tracing() else resident_bytes()


def environment(case: Case) -> dict[str, str]:
    return {"PYTHONTRACEMALLOC": "1"} if case["memory"] == "traced" else {}


question = Question(
    title="memory growth",
    note=(
        "Memory of the process after all the training steps over that after the first thousand, "
        "as the system counts it (resident) and as Python's allocators do (traced)."
    ),
    cases={
        f"{memory}, {{iterations:,}} steps": {"memory": memory, "iterations": 20_000}
        for memory in ("resident", "traced")
    },
    targets=tuple(
        Target(f"{memory}, {{iterations:,}} steps", None, 1.01) for memory in ("resident", "traced")
    ),
    unit="",
    measure=memory_growth,
    max_rounds=1,
    own_process=environment,
)


@question.program("gradtape")
def training_step(tf: Any, memory: str, iterations: int) -> Step:
    w = tf.Variable(np.ones(4, np.float32))
    x = tf.constant(np.linspace(0, 1, 4, dtype=np.float32))

    def step() -> None:
        with tf.GradientTape() as tape:
            error = tf.reduce_sum(w * x) - 1.0
            loss = error * error
        w.assign_sub(0.1 * tape.gradient(loss, w))

    return step
