"""What ops refuse because of their values, checked by the program that is being traced.

See `Graph.check`, and docs/decisions/0017.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...core.errors import InvalidArgumentError
from ...core.interrupts import keep_variable
from ...core.spec import spec_of
from ...core.tensor import Tensor, is_symbolic
from ...core.tracing import current_graph

_running: ContextVar[Any] = ContextVar("running", default=None)
"""The op whose kernel runs, its arrays and its parameters."""
keep_variable(_running)

_TINY = {np.dtype(np.float32): 1e-38, np.dtype(np.float64): 1e-300}
_LARGE = 65536
_UNSIGNED = {np.dtype(np.int32): np.uint32, np.dtype(np.int64): np.uint64}


def noted(op: Any, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of an op, which is known while it runs."""

    def run(*arrays: Any, **params: Any) -> Any:
        token = _running.set((op, arrays, params))
        try:
            return kernel(*arrays, **params)
        finally:
            _running.reset(token)

    return run


def check(holds: Any, subject: Any, say: Any, *arrays: Any, known_as: Any = None) -> None:
    """Let the call of the program raise what `say(*arrays)` does, unless `holds(subject)`."""
    graph = current_graph()
    if graph is not None:  # else it is a kernel alone that is compiled
        graph.check(holds, subject, say, *arrays, known_as=known_as)


def refuse_unless(holds: Any, subject: Any) -> None:
    """Let the call of the program raise what the op that runs raises eagerly.

    So the op is run again, on the values that it had. `subject` is computed from its arguments.
    """
    running = _running.get()
    if is_symbolic(subject) and running is not None:  # else who asks knows what is right
        op, arrays, params = running
        check(holds, subject, functools.partial(_run_eagerly, op, params), *arrays)


def _run_eagerly(op: Any, params: dict[str, Any], *arrays: Any) -> None:
    op.call(*map(Tensor, arrays), **params)
    came = ", ".join(map(str, map(spec_of, arrays)))
    raise InvalidArgumentError(
        f"{op.name}: XLA finds no answer for these values, where NumPy does: they lie at the edge "
        f"of what the op takes. Received: {came}."
    )


def not_finite(arrays: list[Any]) -> Any:
    """1 if there is an Inf or a NaN in one of these, else 0.

    0 times a number is 0, unless it is Inf or NaN. XLA makes a loop for each shape of such sums. Of
    large matrices a product with a vector is quicker, which it leaves to a library; its elements
    are so small that no sum overflows.
    """
    sums: dict[Any, list[Any]] = {}
    total = jnp.float32(0)
    for array in map(jnp.asarray, arrays):
        parts = [jnp.real(array), jnp.imag(array)] if jnp.iscomplexobj(array) else [array]
        for x in parts:
            if not jnp.issubdtype(x.dtype, jnp.floating):
                continue
            if x.dtype in _TINY and x.ndim > 1 and x.size >= _LARGE and x.shape[-1] >= 64:
                small = jnp.full(x.shape[-1:], _TINY[x.dtype], x.dtype)
                total += (jnp.matmul(x, small) * 0).sum().astype(np.float32)
            else:
                sums.setdefault((x.shape, x.dtype), []).append(x * 0)
    for same in sums.values():
        for start in range(0, len(same), 16):
            total += functools.reduce(jnp.add, same[start : start + 16]).sum().astype(np.float32)
    return (total != 0).astype(np.int32)


def in_range(x: Any, low: int | None, high: int) -> Any:
    """Whether all elements lie in [low, high), of an array of NumPy or JAX."""
    if not x.size:
        return True
    if type(x) is np.ndarray and low == 0 and x.dtype in _UNSIGNED:
        # As unsigned numbers the negative ones are large: one pass for both bounds.
        return np.maximum.reduce(x.view(_UNSIGNED[x.dtype]), None) < high
    below = x.max() < high
    return below if low is None else (x.min() >= low) & below
