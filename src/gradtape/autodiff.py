"""TensorFlow's `tf.autodiff`, and functions that differentiate functions."""

from ._missing import missing_name
from .tape.forward import BatchForwardAccumulator as BatchForwardAccumulator
from .tape.forward import ForwardAccumulator as ForwardAccumulator
from .tape.functional import grad as grad
from .tape.functional import hessian as hessian
from .tape.functional import hessian_diag as hessian_diag
from .tape.functional import hvp as hvp
from .tape.functional import jacfwd as jacfwd
from .tape.functional import jacrev as jacrev
from .tape.functional import jvp as jvp
from .tape.functional import value_and_grad as value_and_grad
from .tape.functional import vjp as vjp
from .tape.gradient_tape import GradientTape as GradientTape


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
