"""Effects of a function: what happens each time that it runs, rather than once, while traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.engine import engine_of
from ...core.tensor import Tensor, is_symbolic
from ...core.tracing import current_graph


def at_run_time(action: Callable[..., None], *arrays: Any, unless: Any = None) -> None:
    """Call `action(*arrays)` whenever the function being traced comes to this line.

    The symbolic ones of the arrays then have their values. With `unless`, a bool that may be
    symbolic, not where it is true, as far as that can be avoided: `action` looks for itself, and
    arrays that it would only look at stay where they are.
    """

    def run(*values: Any) -> None:
        given = iter(values)
        action(*[next(given) if is_symbolic(array) else array for array in arrays])

    symbolic = [array for array in arrays if is_symbolic(array)]
    if is_symbolic(unless):
        engine_of(type(unless)).call_unless(unless, run, *symbolic)
    elif not unless:
        current_graph().at_run_time(run, *symbolic)


def waits_for_run_time(*tensors: Tensor) -> bool:
    """Whether a check of these tensors is made when the function being traced runs.

    It is made at once where all values are known, but not in a branch or a loop: whether the
    program comes there is not known.
    """
    graph = current_graph()
    if graph is None:
        return False
    return not graph.always_runs or any(is_symbolic(x._array) for x in tensors)
