"""What does a dataset add to the NumPy indexing that shuffling and batching need?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bench.question import Question, Step, Target

ROWS = 1_000_000
SIZES = 32, 128, 1024

question = Question(
    title="shuffle and batch 1M rows",
    note=(
        "one epoch of from_tensor_slices((x, y)).shuffle(rows).batch(size), with 10 float32 "
        "columns in x and integers in y. NumPy: a permutation, then x[i] and y[i] for each batch."
    ),
    cases={f"batches of {size}": {"rows": ROWS, "size": size} for size in SIZES},
    targets=tuple(Target(f"batches of {size}", "numpy", 1.5) for size in SIZES),
    suite="train",
    max_rounds=10,
)


def make_data(rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(rows, 10)).astype(np.float32), rng.integers(0, 10, rows)


class Total:
    """The sums over an epoch, for the check that all rows come: made only when asked for."""

    def __init__(self, epoch: Callable[[], Iterator[Any]]) -> None:
        self.epoch = epoch

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        sums = [np.append(np.sum(x, 0, np.float64), np.sum(y)) for x, y in self.epoch()]
        return np.sum(sums, 0, dtype)


def pass_over(epoch: Callable[[], Iterator[Any]]) -> Step:
    def step() -> list[Total]:
        for _x, _y in epoch():
            pass
        return [Total(epoch)]

    return step


@question.program("gradtape")  # TensorFlow takes 50 times as long: not worth the wait
def data_tape(tf: Any, rows: int, size: int) -> Step:
    dataset = tf.data.Dataset.from_tensor_slices(make_data(rows)).shuffle(rows).batch(size)
    return pass_over(lambda: iter(dataset))


@question.program("numpy")
def data_numpy(np: Any, rows: int, size: int) -> Step:
    x, y = make_data(rows)
    rng = np.random.default_rng(1)

    def epoch() -> Iterator[Any]:
        order = rng.permutation(rows)
        for start in range(0, rows, size):
            indices = order[start : start + size]
            yield x[indices], y[indices]

    return pass_over(epoch)
