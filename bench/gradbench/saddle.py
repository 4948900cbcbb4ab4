"""saddle: the least of the greatest values of a function, through the solver that finds them."""

from __future__ import annotations

from typing import Any

from bench.gradbench import gradbench
from bench.gradbench._solver import (
    Tools,
    autograd_tools,
    minimize,
    minimize_jax,
    tape_tools,
    torch_tools,
)
from bench.question import Step
from bench.systems import compiled

SOLUTION = 8.246324826140356e-06

question = gradbench(
    "saddle",
    {
        f"{modes}, {{trials}} trial": {"modes": modes, "trials": 1}
        for modes in ("rr", "rf", "fr", "ff")
    },
    "The outer and the inner mode of differentiation, r reverse and f forward; the first steps of "
    "the outer solver, each with 155 steps of the inner one. JAX's loop has no reverse mode.",
    max_rounds=2,
)


def f(x: Any, y: Any) -> Any:
    return x[0] ** 2 + x[1] ** 2 - (y[0] ** 2 + y[1] ** 2)


def solve(tools: Tools, modes: str, trials: int | None) -> Step:
    outer, inner = modes
    start = tools.tensor([1.0, 1.0])

    def greatest(x: Any, mode: str) -> Any:
        return minimize(tools, lambda y: -f(x, y), mode, start)

    def step() -> Any:
        x = minimize(tools, lambda x: f(x, greatest(x, inner)), outer, start, trials)
        return x, greatest(x, outer)

    return step


@question.program("gradtape")
def saddle_tape(tf: Any, modes: str, trials: int | None) -> Step:
    return solve(tape_tools(tf), modes, trials)


@question.program("torch")
def saddle_torch(torch: Any, modes: str, trials: int | None) -> Step:
    return solve(torch_tools(torch), modes, trials)


@question.program("autograd")
def saddle_autograd(autograd: Any, modes: str, trials: int | None) -> Step:
    return solve(autograd_tools(autograd), modes, trials)


@question.program("jax")
def saddle_jax(jax: Any, modes: str, trials: int | None) -> Step | None:
    outer, inner = modes
    if outer == "r":
        return None
    start = jax.numpy.ones(2)

    def greatest(x: Any, mode: str) -> Any:
        return minimize_jax(jax, lambda y: -f(x, y), mode, start)

    def g(start: Any) -> Any:
        x = minimize_jax(jax, lambda x: f(x, greatest(x, inner)), outer, start, trials)
        return x, greatest(x, outer)

    return compiled(jax, g, start)
