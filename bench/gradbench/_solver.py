"""What particle and saddle share: a solver, and each system's gradient, forward and reverse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

SMALL = 1e-5

Function = Callable[[Any], Any]


class Tools(NamedTuple):
    """`gradients["f"](f)` is the gradient of f by forward mode, `"r"` by reverse mode.

    `number` makes what a loop carries of a Python number.
    """

    tensor: Function
    norm: Function
    gradients: dict[str, Callable[[Function], Function]]
    number: Function = float


def step_of(f: Function, start: Any) -> Callable[[], Any]:
    return lambda: f(start)


def minimize(tools: Tools, f: Function, mode: str, x: Any) -> Any:
    """Gradient descent whose steps grow while they succeed; the value of every step decides."""
    gradient, norm = tools.gradients[mode](f), tools.norm
    eta, accepted = tools.number(SMALL), 0
    value, slope = f(x), gradient(x)
    while norm(slope) > SMALL:
        if accepted == 10:
            eta, accepted = 2 * eta, 0
        new = x - eta * slope
        if norm(x - new) <= SMALL:
            break
        new_value = f(new)
        if new_value < value:
            x, value, slope = new, new_value, gradient(new)
            accepted += 1
        else:
            eta, accepted = eta / 2, 0
    return x


def minimize_jax(jax: Any, f: Function, mode: str, x: Any) -> Any:
    """The same, as one compiled loop."""
    jnp = jax.numpy
    gradient = {"f": jax.jacfwd, "r": jax.grad}[mode](f)
    norm = jnp.linalg.norm if x.ndim else jnp.abs

    def accept(state: Any, new: Any, new_value: Any) -> Any:
        _, _, _, eta, accepted = state
        return new, new_value, gradient(new), eta, accepted + 1

    def reject(state: Any, new: Any, new_value: Any) -> Any:
        x, value, slope, eta, _ = state
        return x, value, slope, eta / 2, 0

    def step_size(state: Any) -> Any:
        return jnp.where(state[4] == 10, 2 * state[3], state[3])

    def unfinished(state: Any) -> Any:
        slope = state[2]
        return jnp.minimum(norm(slope), norm(step_size(state) * slope)) > SMALL

    def body(state: Any) -> Any:
        x, value, slope, _, accepted = state
        eta, accepted = step_size(state), jnp.where(accepted == 10, 0, accepted)
        new = x - eta * slope
        new_value = f(new)
        state = x, value, slope, eta, accepted
        return jax.lax.cond(new_value < value, accept, reject, state, new, new_value)

    return jax.lax.while_loop(unfinished, body, (x, f(x), gradient(x), SMALL, 0))[0]


def tape_tools(tf: Any) -> Tools:
    return Tools(
        tensor=lambda x: tf.constant(x, tf.float64),
        norm=lambda x: tf.sqrt(tf.reduce_sum(x * x)),
        gradients={"f": tf.autodiff.jacfwd, "r": tf.autodiff.grad},
    )


def function_tools(tf: Any) -> Tools:
    """In a function the numbers of a loop are tensors, of a dtype that has to be said."""
    tools = tape_tools(tf)
    return tools._replace(number=tools.tensor)


def torch_tools(torch: Any) -> Tools:
    def forward(f: Function) -> Function:
        def gradient(x: Any) -> Any:
            if not x.ndim:
                return torch.func.jvp(f, (x,), (torch.ones_like(x),))[1]
            units = torch.eye(len(x), dtype=x.dtype)
            return torch.stack([torch.func.jvp(f, (x,), (unit,))[1] for unit in units])

        return gradient

    return Tools(
        tensor=lambda x: torch.tensor(x, dtype=torch.float64),
        norm=lambda x: torch.sqrt(torch.sum(x * x)),
        gradients={"f": forward, "r": torch.func.grad},
    )


def autograd_tools(autograd: Any) -> Tools:
    anp = autograd.numpy

    def forward(f: Function) -> Function:
        def gradient(x: Any) -> Any:
            push = autograd.make_jvp(f)(x)
            if not anp.ndim(x):
                return push(1.0)[1]
            return anp.stack([push(unit)[1] for unit in np.eye(len(x))])

        return gradient

    return Tools(
        tensor=np.array,
        norm=lambda x: anp.sqrt(anp.sum(x * x)),
        gradients={"f": forward, "r": autograd.grad},
    )


def jax_tools(jax: Any) -> Tools:
    return Tools(
        tensor=jax.numpy.array,
        norm=lambda x: jax.numpy.sqrt(jax.numpy.sum(x * x)),
        gradients={"f": jax.jacfwd, "r": jax.grad},
    )
