"""particle: where to put a charge so that a particle in its field lands at the origin."""

from __future__ import annotations

from typing import Any

from bench.gradbench import gradbench
from bench.gradbench._solver import (
    Function,
    Tools,
    autograd_tools,
    jax_tools,
    minimize,
    minimize_jax,
    tape_tools,
    torch_tools,
)
from bench.question import Step
from bench.systems import compiled

SOLUTION = 0.2071918746486116

question = gradbench(
    "particle",
    {
        f"{modes}, {{trials}} trial": {"modes": modes, "trials": 1}
        for modes in ("rr", "rf", "fr", "ff")
    },
    "The outer and the inner mode of differentiation, r reverse and f forward; the first steps of "
    "the solver, each of 350 steps in time. JAX's loop has no reverse mode.",
    max_rounds=2,
)


def make_potential(tools: Tools, w: Any) -> Function:
    top, up, bottom = map(tools.tensor, ([10.0, 10.0], [0.0, 1.0], [10.0, 0.0]))
    charge = top - w * up
    return lambda x: 1.0 / tools.norm(x - charge) + 1.0 / tools.norm(x - bottom)


def landing(x: Any, v: Any) -> Any:
    return (x[0] - x[1] / v[1] * v[0]) ** 2


def cost(tools: Tools, w: Any, inner: str) -> Any:
    slope = tools.gradients[inner](make_potential(tools, w))
    x, v = map(tools.tensor, ([0.0, 8.0], [0.75, 0.0]))
    while (new := x + 0.1 * v)[1] > 0:
        x, v = new, v - 0.1 * slope(x)
    return landing(x, v)


def solve(tools: Tools, modes: str, trials: int | None) -> Step:
    outer, inner = modes
    start = tools.tensor(0.0)
    return lambda: (minimize(tools, lambda w: cost(tools, w, inner), outer, start, trials),)


@question.program("gradtape")
def particle_tape(tf: Any, modes: str, trials: int | None) -> Step:
    return solve(tape_tools(tf), modes, trials)


@question.program("torch")
def particle_torch(torch: Any, modes: str, trials: int | None) -> Step:
    return solve(torch_tools(torch), modes, trials)


@question.program("autograd")
def particle_autograd(autograd: Any, modes: str, trials: int | None) -> Step:
    return solve(autograd_tools(autograd), modes, trials)


@question.program("jax")
def particle_jax(jax: Any, modes: str, trials: int | None) -> Step | None:
    outer, inner = modes
    if outer == "r":
        return None
    tools = jax_tools(jax)

    def cost(w: Any) -> Any:
        slope = tools.gradients[inner](make_potential(tools, w))
        x, v = jax.lax.while_loop(
            lambda state: (state[0] + 0.1 * state[1])[1] > 0,
            lambda state: (state[0] + 0.1 * state[1], state[1] - 0.1 * slope(state[0])),
            (tools.tensor([0.0, 8.0]), tools.tensor([0.75, 0.0])),
        )
        return landing(x, v)

    return compiled(jax, lambda w: (minimize_jax(jax, cost, outer, w, trials),), tools.tensor(0.0))
