"""All cases of the comparison with TensorFlow: those of every module cases_*.py of this folder."""

from importlib import import_module
from pathlib import Path

TOPICS = sorted(
    path.stem.removeprefix("cases_") for path in Path(__file__).parent.glob("cases_*.py")
)


def topic(name, seed=0):
    """The cases of one module: its CASES, or its table(seed) where shapes are drawn."""
    module = import_module(f".cases_{name}", __package__)
    return module.table(seed) if hasattr(module, "table") else module.CASES


def table(seed=0):
    """The cases; `seed` chooses the shapes of the random ones. Values come from `Case.draw`."""
    cases = [case for name in TOPICS for case in topic(name, seed)]
    names = [case.name for case in cases]
    assert len(names) == len(set(names)), {n for n in names if names.count(n) > 1}
    return cases
