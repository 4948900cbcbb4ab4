"""TensorFlow's `tf.autodiff`."""

from ._missing import missing_name
from .tape.gradient_tape import GradientTape as GradientTape


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
