"""TensorFlow's `tf.keras`, as far as it is there: optimizers, and the progress bar."""

from typing import TYPE_CHECKING

from .._later import later

if TYPE_CHECKING:
    from .. import optimizers as optimizers
    from .. import utils as utils

_LATER = {"": "optimizers utils"}
__getattr__, __dir__ = later(__name__, globals(), _LATER)
