"""What ops refuse because of their values, checked by the program that is being traced.

See `Graph.check`, and docs/decisions/0017.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import jax
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

    So the op is run again, on the values that it had. `subject` is computed from its arguments;
    if it is known while the function is traced, only a wrong one is left to the program, which may
    never come here.
    """
    running = _running.get()
    if running is not None and (is_symbolic(subject) or not holds(subject)):
        op, arrays, params = running
        check(holds, subject, functools.partial(_run_eagerly, op, params), *arrays)


def decided_here(subject: Any, holds: Callable[[Any], Any]) -> bool:
    """Whether an op can be asked at once if it takes these values.

    They are known, and either right, or the program comes to the op whenever it is called.
    """
    if is_symbolic(subject):
        return False
    graph = current_graph()
    return graph is None or graph.always_runs or bool(holds(subject))


def _run_eagerly(op: Any, params: dict[str, Any], *arrays: Any) -> None:
    op.call(*map(Tensor, arrays), **params)
    came = ", ".join(map(str, map(spec_of, arrays)))
    raise InvalidArgumentError(
        f"{op.name}: XLA finds no answer for these values, where NumPy does: they lie at the edge "
        f"of what the op takes. Received: {came}."
    )


def not_finite(arrays: list[Any]) -> Any:
    """1 if there is an Inf or a NaN in one of these, else 0.

    XLA makes one loop of the tests of several arrays of a shape. A product with a vector is
    quicker, for large matrices: XLA leaves it to a library. The elements of the vector are so small
    that no sum overflows; and the barrier keeps XLA from moving factors, which may have made the
    Inf, to the other side of the product.
    """
    tests: dict[Any, list[Any]] = {}
    found = []
    for array in map(jnp.asarray, arrays):
        if not jnp.issubdtype(array.dtype, jnp.inexact):
            continue
        if array.dtype in _TINY and array.ndim > 1 and array.size >= _LARGE:
            small = jnp.full(array.shape[-1:], _TINY[array.dtype], array.dtype)
            sums = jnp.matmul(jax.lax.optimization_barrier(array), small)
            found.append(jnp.isfinite(sums).all())
        else:
            tests.setdefault((array.shape, array.dtype), []).append(jnp.isfinite(array))
    for same in tests.values():
        for start in range(0, len(same), 16):
            found.append(functools.reduce(jnp.logical_and, same[start : start + 16]).all())
    return 1 - functools.reduce(jnp.logical_and, found, np.True_).astype(np.int32)


def in_range(x: Any, low: int | None, high: int) -> Any:
    """Whether all elements lie in [low, high), of an array of NumPy or JAX."""
    if not x.size:
        return True
    if type(x) is np.ndarray and low == 0 and x.dtype in _UNSIGNED:
        # As unsigned numbers the negative ones are large: one pass for both bounds.
        return np.maximum.reduce(x.view(_UNSIGNED[x.dtype]), None) < high
    below = x.max() < high
    return below if low is None else (x.min() >= low) & below
