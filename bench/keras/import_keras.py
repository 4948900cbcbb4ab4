"""How long does the import of Keras take, with its backend?"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

from bench.question import Question, Step, Target, returned

PEERS = ("tensorflow", "jax", "torch")
# Keras loads them where it finds them: 1 s, which says nothing about a backend.
WITHOUT = "import sys; sys.modules.update(dict.fromkeys(('matplotlib', 'pandas', 'sklearn'))); "

question = Question(
    title="import of Keras",
    suite="keras",
    note=(
        'Wall time of `python -c "import gradtape as tf; tf.keras.Model"`, for JAX and PyTorch '
        '`import keras; keras.Model`, less that of `python -c "pass"`; without Matplotlib, pandas '
        "and scikit-learn, which Keras loads where they are installed."
    ),
    cases={"in a new process": {}},
    targets=(Target("in a new process", "tensorflow", 0.5),),
    measure=returned,
    figure=lambda minima: minima["import"] - minima["bare"],
    max_rounds=5,
)


def seconds(code: str, backend: str) -> float:
    start = time.perf_counter()
    environment = os.environ | {"KERAS_BACKEND": backend}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    return time.perf_counter() - start


def timed(code: str, backend: str) -> Step:
    return lambda: {"bare": seconds("pass", backend), "import": seconds(WITHOUT + code, backend)}


@question.program("gradtape", "tensorflow")
def import_tape(tf: Any) -> Step:
    return timed(f"import {tf.__name__} as tf; tf.keras.Model", "tensorflow")


@question.program("jax", "torch")
def import_backend(module: Any) -> Step:
    return timed("import keras; keras.Model", module.__name__)
