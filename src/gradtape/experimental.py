"""TensorFlow's `tf.experimental`, and what gradtape adds to it."""

from ._missing import missing_name
from .tape.scopes import enable_numpy_behavior
from .tape.scopes import numpy_promotion as numpy_promotion


class numpy:
    """TensorFlow's `tf.experimental.numpy`: the switch to NumPy's rules of promotion."""

    experimental_enable_numpy_behavior = staticmethod(enable_numpy_behavior)


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
