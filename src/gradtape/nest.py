"""TensorFlow's `tf.nest`."""

from ._missing import missing_name
from .core.nest import assert_same_structure as assert_same_structure
from .core.nest import flatten as flatten
from .core.nest import is_nested as is_nested
from .core.nest import map_structure as map_structure
from .core.nest import pack_sequence_as as pack_sequence_as


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
