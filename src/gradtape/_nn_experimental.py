"""TensorFlow's `tf.nn.experimental`."""

from ._missing import missing_name
from .ops.nn_sampling import general_dropout as general_dropout
from .ops.nn_sampling import stateless_dropout as stateless_dropout


def __getattr__(name: str) -> object:
    raise missing_name("gradtape.nn.experimental", name)
