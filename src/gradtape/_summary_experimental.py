"""TensorFlow's `tf.summary.experimental`."""

from ._missing import missing_name
from .train.summaries import get_step as get_step
from .train.summaries import set_step as set_step
from .train.summaries import summary_scope as summary_scope


def __getattr__(name: str) -> object:
    raise missing_name("gradtape.summary.experimental", name)
