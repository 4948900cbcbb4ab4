"""TensorFlow's `tf.bitwise`."""

from ._missing import missing_name
from .ops.logic import bitwise_and as bitwise_and
from .ops.logic import bitwise_or as bitwise_or
from .ops.logic import bitwise_xor as bitwise_xor
from .ops.logic import invert as invert
from .ops.logic import left_shift as left_shift
from .ops.logic import right_shift as right_shift


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
