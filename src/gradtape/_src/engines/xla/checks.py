"""What ops refuse because of their values, checked by the program that is being traced.

See `Graph.check`, and docs/decisions/0017.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
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

_BITS = {2: np.int16, 4: np.int32, 8: np.int64}
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
        check(holds, subject, partial(_run_eagerly, op, params), *arrays)


def _run_eagerly(op: Any, params: dict[str, Any], *arrays: Any) -> None:
    op.call(*map(Tensor, arrays), **params)
    came = ", ".join(map(str, map(spec_of, arrays)))
    raise InvalidArgumentError(
        f"{op.name}: XLA finds no answer for these values, where NumPy does: they lie at the edge "
        f"of what the op takes. Received: {came}."
    )


def not_finite(arrays: list[Any]) -> Any:
    """1 if there is an Inf or a NaN in one of these, else 0.

    It is the largest exponent of their bits, as integers: XLA computes the maximum of integers with
    vectors, that of floats and their sum one by one.
    """
    found = jnp.int32(0)
    for array in map(jnp.asarray, arrays):
        parts = [array]
        if jnp.iscomplexobj(array):
            parts = [jnp.real(array), jnp.imag(array)]
        for part in parts:
            if not jnp.issubdtype(part.dtype, jnp.floating) or not part.size:
                continue
            integer = _BITS.get(part.dtype.itemsize)
            if integer is None:
                bad = ~jnp.isfinite(part).all()
            else:
                infinity = np.asarray(np.inf, part.dtype).view(integer)
                bits = jax.lax.bitcast_convert_type(part, integer) & infinity
                bad = bits.max() == infinity
            found |= bad.astype(np.int32)
    return found


def in_range(x: Any, low: int | None, high: int) -> Any:
    """Whether all elements lie in [low, high), of an array of NumPy or JAX."""
    if not x.size:
        return True
    if type(x) is np.ndarray and low == 0 and x.dtype in _UNSIGNED:
        # As unsigned numbers the negative ones are large: one pass for both bounds.
        return np.maximum.reduce(x.view(_UNSIGNED[x.dtype]), None) < high
    below = x.max() < high
    return below if low is None else (x.min() >= low) & below
