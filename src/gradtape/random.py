"""TensorFlow's `tf.random`."""

from ._missing import missing_name
from .ops.random import normal as normal
from .ops.random import set_seed as set_seed
from .ops.random import shuffle as shuffle
from .ops.random import truncated_normal as truncated_normal
from .ops.random import uniform as uniform


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
