"""How much memory does the gradient of a loop need of which nobody knows the number of rounds?"""

from __future__ import annotations

import resource
import sys
from typing import Any

from bench.function.unbounded import with_tape
from bench.question import Question, Step, Target, returned

ROUNDS, WIDTH = 1100, 512

question = Question(
    title="memory of a loop without a bound",
    suite="function",
    unit="B",
    measure=returned,
    max_rounds=1,
    note=(
        f"the peak of the resident memory that three calls add: `unbounded`, {ROUNDS} rounds, "
        f"(64, {WIDTH})."
    ),
    cases={kind: {"bounded": kind == "bounded"} for kind in ("bounded", "open")},
    targets=(Target("open", None, 1.5, over_case="bounded"),),
    own_process=lambda case: {},
)


def peak() -> int:
    """In bytes. (Linux counts in kilobytes, macOS in bytes.)"""
    found = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found if sys.platform == "darwin" else found * 1024


@question.program("gradtape", "tensorflow")
def peak_of_three_calls(tf: Any, bounded: bool) -> Step:
    with_tape(tf, 2, 8, bounded)()  # what the first call of any function loads
    step = with_tape(tf, ROUNDS, WIDTH, bounded)

    def measured() -> dict[str, float]:
        before = peak()
        for _ in range(3):
            step()
        return {"value": float(peak() - before)}

    return measured
