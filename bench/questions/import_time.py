"""How long does the import take?"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

from bench.question import Question, Step, Target, returned

question = Question(
    title="import",
    note='Wall time of `python -c "import ..."`, less that of `python -c "pass"`.',
    cases={"in a new process": {}},
    targets=(Target("in a new process", "numpy", 1.5),),
    measure=returned,
    figure=lambda minima: minima["import"] - minima["bare"],
    max_rounds=10,
)


def seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start


@question.program("gradtape", "torch", "tensorflow", "autograd", "numpy")
def import_module(module: Any) -> Step:
    return lambda: {"bare": seconds("pass"), "import": seconds(f"import {module.__name__}")}
