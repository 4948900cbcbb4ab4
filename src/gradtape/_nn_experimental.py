"""TensorFlow's `tf.nn.experimental`."""

from typing import TYPE_CHECKING

from ._later import later


if TYPE_CHECKING:
    from .ops.nn_sampling import general_dropout as general_dropout
    from .ops.nn_sampling import stateless_dropout as stateless_dropout

_LATER = {
    "ops.nn_sampling": "general_dropout stateless_dropout",
}
__getattr__, __dir__ = later("gradtape.nn.experimental", globals(), _LATER)
