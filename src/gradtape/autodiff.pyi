from ._src.tape.forward import (
    BatchForwardAccumulator as BatchForwardAccumulator,
    ForwardAccumulator as ForwardAccumulator,
)
from ._src.tape.functional import (
    grad as grad,
    hessian as hessian,
    hessian_diag as hessian_diag,
    hvp as hvp,
    jacfwd as jacfwd,
    jacrev as jacrev,
    jvp as jvp,
    value_and_grad as value_and_grad,
    vjp as vjp,
)
from ._src.tape.gradient_tape import GradientTape as GradientTape
