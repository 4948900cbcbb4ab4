"""Results that have no gradient, and say so: what TensorFlow answers with a LookupError."""

from __future__ import annotations

import numpy as np

from ...core.errors import NoGradientError
from ..declare.op import op


@op(
    nondiff="result",
    samples=lambda r: [([np.array([3, 1, 3]), np.array([3, 1])], {"name": "unique"})],
)
def undifferentiated(xp, x, result, *, name):
    """`result`, computed from `x` by `name`: an error to a gradient that would pass to `x`."""
    return result


@undifferentiated.vjp("x")
def _undifferentiated_vjp(g, *, name):
    raise NoGradientError(
        f"{name}: there is no gradient, and the target depends on its result. Pass "
        "stop_gradient(x) if none is wanted."
    )


@undifferentiated.batch
def _undifferentiated_batch(batched, x, result, *, name):
    if "result" in batched:
        return undifferentiated(x, result, name=name)
    return NotImplemented


@undifferentiated.spec
def _undifferentiated_spec(x, result, *, name):
    return result
