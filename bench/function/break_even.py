"""When does compiling pay: what do the first call and the later ones cost, beside eager ones?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

from bench.function._models import CASES, make
from bench.function._training import tape_step
from bench.question import Question, Step, returned

SIZES = ("MLP (32, 10, 32, 3)", "MLP (128, 784, 256, 10)", "CNN (32, 28, 28, 1)")
WHAT = ("eager call", "compiled call", "first call", "first call of a later process")

question = Question(
    title="When compiling pays",
    suite="compiling",
    note=(
        "a training step with Adam, each figure from a process of its own: a call that runs as "
        "plain Python, a compiled call, the first call with all that it imports, and the same when "
        "an earlier process has compiled the program. First calls in CPU time: it is one call, and "
        "nothing in it waits."
    ),
    cases={f"{what}, {size}": {"what": what, "size": size} for size in SIZES for what in WHAT},
    measure=returned,
    max_rounds=5,
)


@question.program("gradtape")
def calls(tf: Any, what: str, size: str) -> Step:
    folder = tempfile.TemporaryDirectory()
    if what == "first call of a later process":
        run_in_process(size, what, folder.name)

    def measured() -> dict[str, float]:
        if what != "first call":
            return {"value": run_in_process(size, what, folder.name)}
        with tempfile.TemporaryDirectory() as empty:
            return {"value": run_in_process(size, what, empty)}

    return measured


def run_in_process(size: str, what: str, folder: str) -> float:
    done = subprocess.run(
        [sys.executable, "-m", __name__, json.dumps([size, what])],
        env={**os.environ, "GRADTAPE_CACHE": folder},
        stdout=subprocess.PIPE,
        check=True,
    )
    return float(done.stdout)


def seconds(size: str, what: str) -> float:
    import gradtape as tf

    tf.config.run_functions_eagerly(what == "eager call")
    model = make(**CASES[size])
    step, _ = tape_step(tf, model)
    x, labels = tf.constant(model.inputs), tf.constant(model.labels)
    is_first = what.startswith("first")
    clock = time.process_time if is_first else time.perf_counter
    times = []
    for _ in range(1 if is_first else 50):
        start = clock()
        step(x, labels).numpy()
        times.append(clock() - start)
    return min(times)


if __name__ == "__main__":
    print(seconds(*json.loads(sys.argv[1])))
