"""particle: where to put a charge so that a particle in its field lands at the origin."""

from __future__ import annotations

from typing import Any

from bench.gradbench import _solver, gradbench
from bench.gradbench._solver import Function, Tools
from bench.question import Step
from bench.systems import compiled

SOLUTION = 0.2071918746486116

question = gradbench(
    "particle",
    {f"{modes}, one gradient": {"modes": modes} for modes in ("rr", "fr")},
    "The cost and its gradient at w = 0, over 350 steps in time that each take a gradient. The "
    "letters are the outer and the inner mode, r reverse and f forward; JAX's loop has no reverse "
    "mode. `solved` takes 85 of these to the solution.",
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
    new = x + 0.1 * v
    while new[1] > 0:  # AutoGraph has no `:=` here
        x, v = new, v - 0.1 * slope(x)
        new = x + 0.1 * v
    return landing(x, v)


def program(tools: Tools, modes: str, solved: bool) -> tuple[Function, Any]:
    """A function, and its argument: where w begins."""
    outer, inner = modes

    def of(w: Any) -> Any:
        return cost(tools, w, inner)

    def found(w: Any) -> Any:
        if solved:
            return (_solver.minimize(tools, of, outer, w),)
        return of(w), tools.gradients[outer](of)(w)

    return found, tools.tensor(0.0)


@question.program("gradtape")
def particle_tape(tf: Any, modes: str, solved: bool = False) -> Step:
    return _solver.step_of(*program(_solver.tape_tools(tf), modes, solved))


@question.program("function")
def particle_function(tf: Any, modes: str, solved: bool = False) -> Step:
    f, start = program(_solver.function_tools(tf), modes, solved)
    return _solver.step_of(tf.function(f, jit_compile=True), start)


@question.program("torch")
def particle_torch(torch: Any, modes: str, solved: bool = False) -> Step:
    return _solver.step_of(*program(_solver.torch_tools(torch), modes, solved))


@question.program("autograd")
def particle_autograd(autograd: Any, modes: str, solved: bool = False) -> Step:
    return _solver.step_of(*program(_solver.autograd_tools(autograd), modes, solved))


@question.program("jax")
def particle_jax(jax: Any, modes: str, solved: bool = False) -> Step | None:
    outer, inner = modes
    if outer == "r":
        return None
    tools = _solver.jax_tools(jax)

    def cost(w: Any) -> Any:
        slope = tools.gradients[inner](make_potential(tools, w))
        x, v = jax.lax.while_loop(
            lambda state: (state[0] + 0.1 * state[1])[1] > 0,
            lambda state: (state[0] + 0.1 * state[1], state[1] - 0.1 * slope(state[0])),
            (tools.tensor([0.0, 8.0]), tools.tensor([0.75, 0.0])),
        )
        return landing(x, v)

    gradient = tools.gradients[outer](cost)

    def f(w: Any) -> Any:
        return (_solver.minimize_jax(jax, cost, outer, w),) if solved else (cost(w), gradient(w))

    return compiled(jax, f, tools.tensor(0.0))
