"""The programs of the public GradBench suite, one file each, as its definitions have them.

All are in float64, on small synthetic data, and give the value and the derivative. JAX is compiled,
the others are eager. `objective(xp, ...)` is the definition in NumPy's names: JAX and autograd run
it, and so do the tests; gradtape and PyTorch have programs in their own.
"""

from __future__ import annotations

from typing import Any

from bench.question import Question


def gradbench(title: str, cases: dict[str, Any], note: str, max_rounds: int = 5) -> Question:
    return Question(title, cases, suite="gradbench", note=note, max_rounds=max_rounds, ordered=True)
