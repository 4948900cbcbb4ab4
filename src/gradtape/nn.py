"""TensorFlow's `tf.nn`."""

from ._missing import missing_name
from .ops.exponential import sigmoid as sigmoid
from .ops.exponential import softplus as softplus
from .ops.norm import l2_loss as l2_loss
from .ops.norm import l2_normalize as l2_normalize
from .ops.ordering import top_k as top_k
from .ops.reduction import zero_fraction as zero_fraction
from .ops.trigonometric import tanh as tanh


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
