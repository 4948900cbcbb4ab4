"""How do costs grow with the length of a tape, the size of arrays, the number of things?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.question import Question, Run, Sample, Step, Target, quickest_step, timed

LINES: dict[str, tuple[int, ...]] = {
    "op on a tape": (100, 1_000, 10_000, 100_000, 1_000_000),
    "element of an array": tuple(10**k for k in range(9)),
    "variable": (1, 10, 100, 1_000, 10_000),
    "leaf of a nest": (1, 10, 100, 1_000, 10_000, 100_000),
    "row of a Jacobian": (10, 50, 100, 500, 1_000, 5_000),
}
"""What is counted, and how many of them there are. A line of the figure each."""

BENDS: dict[str, tuple[int, int, float]] = {
    "op on a tape": (1_000, 1_000_000, 1.6),
    "element of an array": (10_000_000, 100_000_000, 1.3),
    "variable": (100, 10_000, 1.6),
    "leaf of a nest": (1_000, 100_000, 1.3),
    "row of a Jacobian": (500, 5_000, 1.3),
}
"""From which number to which one the cost of each is to stay, and by what factor it may grow.

With more than some thousand ops or variables they are larger than the caches of the processor, and
so are arrays of a million elements: that costs PyTorch 1.6, 1.5 and 3.5 times as much.
"""


@timed
def of_each(step: Step, run: Run) -> Sample:
    """Wall time of the quickest step, for each of those that it counts."""
    return {"value": quickest_step(step, run)["value"] / run.case["n"]}


def title(line: str, n: int) -> str:
    return f"{line}, one of {n:,}"


question = Question(
    title="time of each",
    suite="sizes",
    note=(
        "Forward and gradient, for each op of a chain, each element, variable, or row; for a leaf, "
        "a nest flattened and mapped. A line that does not bend is a cost that does not grow."
    ),
    cases={title(line, n): {"line": line, "n": n} for line, sizes in LINES.items() for n in sizes},
    targets=tuple(
        Target(title(line, last), None, factor, over_case=title(line, first))
        for line, (first, last, factor) in BENDS.items()
    ),
    measure=of_each,
    max_rounds=3,
)

LAYERS = (8, 32)  # what a Jacobian is taken by, and what is in between


def make_data(line: str, n: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)

    def draw(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32)

    match line:
        case "op on a tape":
            return [draw(16), draw(16) / 1e6]
        case "element of an array":
            return [draw(n)]
        case "variable":
            return [draw(16) for _ in range(n)]
        case "leaf of a nest":
            return [draw(2)]
    inner, middle = LAYERS
    return [draw(inner), draw(inner, middle), draw(middle, n)]


def nest_of(leaf: Any, n: int) -> dict[str, list[Any]]:
    """A list of leaves for each of some names."""
    return {f"part {i}": [leaf] * len(range(i, n, 10)) for i in range(min(n, 10))}


@question.program("gradtape")
def sizes_tape(tf: Any, line: str, n: int) -> Step:
    arrays = make_data(line, n)
    make = tf.Variable if line == "variable" else tf.constant
    sources = [make(a) for a in arrays]
    x, *others = sources
    nest = nest_of(x, n if line == "leaf of a nest" else 0)

    def chain() -> Any:
        y = x
        for _ in range(n):
            y = y + others[0]
        return y

    def squares() -> Any:
        return tf.add_n([v * v for v in sources])

    def gradient(f: Callable[[], Any], by: Any) -> Callable[[], Any]:
        def step() -> Any:
            with tf.GradientTape() as tape:
                tape.watch(by)
                y = f()
            return y, *tf.nest.flatten(tape.gradient(y, by))

        return step

    def leaves() -> Any:
        doubled = tf.nest.map_structure(lambda leaf: leaf, nest)
        return tf.nest.flatten(doubled)[-1:]

    def jacobian() -> Any:
        a, b = others
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.tanh(tf.linalg.matvec(b, tf.tanh(tf.linalg.matvec(a, x, True)), True))
        return y, tape.jacobian(y, x)

    return {
        "op on a tape": gradient(chain, x),
        "element of an array": gradient(lambda: tf.tanh(x) * x, x),
        "variable": gradient(squares, sources),
        "leaf of a nest": leaves,
        "row of a Jacobian": jacobian,
    }[line]


@question.program("torch")
def sizes_torch(torch: Any, line: str, n: int) -> Step | None:
    sources = [torch.from_numpy(a).requires_grad_() for a in make_data(line, n)]
    x, *others = sources

    def chain() -> Any:
        y, c = x, others[0].detach()
        for _ in range(n):
            y = y + c
        return y

    def squares() -> Any:
        return torch.stack([v * v for v in sources]).sum(0)

    def gradient(f: Callable[[], Any], by: list[Any]) -> Callable[[], Any]:
        def step() -> Any:
            y = f()
            return y, *torch.autograd.grad(y, by, torch.ones_like(y))

        return step

    def jacobian() -> Any:
        a, b = (other.detach() for other in others)
        layers = lambda x: torch.tanh(torch.tanh(x @ a) @ b)  # noqa: E731
        return layers(x), torch.autograd.functional.jacobian(layers, x.detach())

    return {
        "op on a tape": gradient(chain, [x]),
        "element of an array": gradient(lambda: torch.tanh(x) * x, [x]),
        "variable": gradient(squares, sources),
        "leaf of a nest": None,
        "row of a Jacobian": jacobian,
    }[line]
