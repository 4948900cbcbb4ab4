"""What does an op cost when nothing records it?"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.question import Question, Step, Target

ADDS = 100


question = Question(
    title="x + y without a tape",
    note=(
        "Both are tensors. The target is for what the op adds to the NumPy call inside it: 2.0 is "
        "1.0 µs where NumPy's own add takes 0.5 µs."
    ),
    cases={"16 float32 values": {}},
    targets=(Target("16 float32 values", "numpy", 2.0, added=True),),
    figure=lambda minima: minima["value"] / ADDS,
)


def adds(x: Any, y: Any) -> Step:
    def step() -> Any:
        z = None
        for _ in range(ADDS):
            z = x + y
        return (z,)

    return step


def make_data() -> np.ndarray:
    return np.linspace(0, 1, 32, dtype=np.float32).reshape(2, 16)


@question.program("gradtape", "tensorflow")
def add_tape(tf: Any) -> Step:
    return adds(*map(tf.constant, make_data()))


@question.program("torch")
def add_torch(torch: Any) -> Step:
    return adds(*map(torch.from_numpy, make_data()))


@question.program("numpy")
def add_numpy(np: Any) -> Step:
    return adds(*make_data())
