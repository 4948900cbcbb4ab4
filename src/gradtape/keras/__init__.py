"""TensorFlow's `tf.keras`, as far as it is there: optimizers, and the progress bar."""

from .._later import later

_LATER = {"": "optimizers utils"}
__getattr__, __dir__ = later(__name__, globals(), _LATER)
