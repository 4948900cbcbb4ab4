"""TensorFlow's `tf.linalg.experimental`."""

from typing import TYPE_CHECKING

from ._later import later


if TYPE_CHECKING:
    from .ops.conjugate_gradient import conjugate_gradient as conjugate_gradient

_LATER = {
    "ops.conjugate_gradient": "conjugate_gradient",
}
__getattr__, __dir__ = later("gradtape.linalg.experimental", globals(), _LATER)
