"""TensorFlow's `tf.config`, as far as it means something here."""

from ._missing import missing_name
from .function import functions_run_eagerly as functions_run_eagerly
from .function import run_functions_eagerly as run_functions_eagerly


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
