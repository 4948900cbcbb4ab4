"""Results that have no gradient, and say so: what TensorFlow answers with a LookupError."""

from __future__ import annotations

import numpy as np

from ..core.errors import NoGradientError
from ._declare import op


@op(
    nondiff="result",
    samples=lambda r: [([np.array([3, 1, 3]), np.array([3, 1])], {"name": "unique"})],
)
def no_gradient(xp, x, result, *, name):
    """`result`, that was computed from `x` by `name`: an error to a gradient that would pass to `x`."""
    return result


@no_gradient.vjp("x")
def _no_gradient_vjp(g, *, name):
    raise NoGradientError(
        f"{name}: there is no gradient, and the target depends on its result. Pass stop_gradient(x) if "
        "none is wanted."
    )


@no_gradient.batch
def _no_gradient_batch(batched, x, result, *, name):
    if "result" in batched:
        return no_gradient(x, result, name=name)
    return NotImplemented


@no_gradient.spec
def _no_gradient_spec(x, result, *, name):
    return result
