"""The conjugate gradient method."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.convert import as_tensor
from ..core.spec import broadcast_shapes
from ..core.tensor import Tensor
from ..ops.array.creation import zeros
from ..ops.array.shape import broadcast_to, expand_dims
from ..ops.linalg.norm import norm
from ..ops.linalg.operators.operator import LinearOperator
from ..ops.math.complex import real
from ..ops.math.conjugate import conj
from ..ops.math.reduction import reduce_any, reduce_sum
from .control import while_loop


class CGState(NamedTuple):
    """Where the conjugate gradient method stands: after `i` steps, with residual `r`."""

    i: Tensor
    x: Tensor
    r: Tensor
    p: Tensor
    gamma: Tensor


def conjugate_gradient(
    operator: LinearOperator,
    rhs: Any,
    preconditioner: LinearOperator | None = None,
    x: Any = None,
    tol: float = 1e-5,
    max_iter: int = 20,
    name: str = "conjugate_gradient",
) -> CGState:
    """The solution of `operator @ x = rhs`, for a self-adjoint, positive definite operator, by
    steps.

    It ends after `max_iter` steps, or when the residual is at most `tol` times the size of `rhs`
    (of shape [..., N]). `preconditioner` approximates the inverse; `x` is where to start. The
    gradient is that of the steps taken.
    """
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError(
            "conjugate_gradient: `operator` must have the hints is_self_adjoint=True and "
            "is_positive_definite=True."
        )

    def dot(a: Tensor, b: Tensor) -> Tensor:
        return reduce_sum(conj(a) * b, -1)

    b = as_tensor(rhs, None if hasattr(rhs, "dtype") else operator.dtype, "conjugate_gradient")
    batches = {"rhs": tuple(b._array.shape[:-1]), "operator": tuple(operator.batch_shape)}
    if preconditioner is not None:
        batches["preconditioner"] = tuple(preconditioner.batch_shape)
    batch = broadcast_shapes("conjugate_gradient (batch axes)", **batches)
    r = broadcast_to(b, (*batch, b._array.shape[-1]))
    least = norm(r, axis=-1) * tol
    if x is None:
        x = zeros(r.shape, r.dtype)
    else:
        x = as_tensor(x, r.dtype, "conjugate_gradient")
        r = b - operator.matvec(x)
    p = r if preconditioner is None else preconditioner.matvec(r)

    def goes_on(state: CGState) -> Tensor:
        return reduce_any(real(norm(state.r, axis=-1)) > real(least))

    def step(state: CGState) -> tuple[CGState]:
        i, x, r, p, gamma = state
        z = operator.matvec(p)
        alpha = expand_dims(gamma / dot(p, z), -1)
        x = x + alpha * p
        r = r - alpha * z
        q = r if preconditioner is None else preconditioner.matvec(r)
        new_gamma = dot(r, q)
        p = q + expand_dims(new_gamma / gamma, -1) * p
        return (CGState(i + 1, x, r, p, new_gamma),)

    start = CGState(Tensor(np.array(0, np.int32)), x, r, p, dot(r, p))
    (state,) = while_loop(goes_on, step, (start,), maximum_iterations=max_iter)
    return state  # type: ignore[return-value]
