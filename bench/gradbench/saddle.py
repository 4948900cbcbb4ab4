"""saddle: the least of the greatest values of a function, through the solver that finds them."""

from __future__ import annotations

from typing import Any

from bench.gradbench import _solver, gradbench
from bench.gradbench._solver import Function, Tools
from bench.question import Step
from bench.systems import compiled

SOLUTION = 8.246324826140356e-06

question = gradbench(
    "saddle",
    {f"{modes}, one gradient": {"modes": modes} for modes in ("rr", "rf", "fr", "ff")},
    "max f(x, .) and its gradient by x, through the 155 steps of the solver that finds it; and "
    "where it is. The letters are the outer and the inner mode, r reverse and f forward; JAX's "
    "loop has no reverse mode. `solved` takes 155 of these to the solution.",
    max_rounds=2,
)


def f(x: Any, y: Any) -> Any:
    return x[0] ** 2 + x[1] ** 2 - (y[0] ** 2 + y[1] ** 2)


def program(tools: Tools, modes: str, solved: bool) -> tuple[Function, Any]:
    """A function, and its argument: where all begins."""
    outer, inner = modes

    def peaks(start: Any) -> Any:
        def greatest(x: Any, mode: str) -> Any:
            return _solver.minimize(tools, lambda y: -f(x, y), mode, start)

        def peak(x: Any) -> Any:
            return f(x, greatest(x, inner))

        if solved:
            x = _solver.minimize(tools, peak, outer, start)
            return x, greatest(x, outer)
        return peak(start), tools.gradients[outer](peak)(start), greatest(start, outer)

    return peaks, tools.tensor([1.0, 1.0])


@question.program("gradtape")
def saddle_tape(tf: Any, modes: str, solved: bool = False) -> Step:
    return _solver.step_of(*program(_solver.tape_tools(tf), modes, solved))


@question.program("function")
def saddle_function(tf: Any, modes: str, solved: bool = False) -> Step:
    f, start = program(_solver.function_tools(tf), modes, solved)
    return _solver.step_of(tf.function(f, jit_compile=True), start)


@question.program("torch")
def saddle_torch(torch: Any, modes: str, solved: bool = False) -> Step:
    return _solver.step_of(*program(_solver.torch_tools(torch), modes, solved))


@question.program("autograd")
def saddle_autograd(autograd: Any, modes: str, solved: bool = False) -> Step:
    return _solver.step_of(*program(_solver.autograd_tools(autograd), modes, solved))


@question.program("jax")
def saddle_jax(jax: Any, modes: str, solved: bool = False) -> Step | None:
    outer, inner = modes
    if outer == "r":
        return None

    def greatest(x: Any, mode: str, start: Any) -> Any:
        return _solver.minimize_jax(jax, lambda y: -f(x, y), mode, start)

    def g(start: Any) -> Any:
        def peak(x: Any) -> Any:
            return f(x, greatest(x, inner, start))

        if not solved:
            return peak(start), jax.jacfwd(peak)(start), greatest(start, outer, start)
        x = _solver.minimize_jax(jax, peak, outer, start)
        return x, greatest(x, outer, start)

    return compiled(jax, g, jax.numpy.ones(2))
