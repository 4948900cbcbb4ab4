"""TensorFlow's `tf.data.experimental`."""

from ._missing import missing_name
from .train.data.options import AutoShardPolicy as AutoShardPolicy
from .train.data.stages import AUTOTUNE as AUTOTUNE
from .train.data.stages import assert_cardinality as assert_cardinality
from .train.data.stages import cardinality as cardinality
from .train.data.stream import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from .train.data.stream import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY


def __getattr__(name: str) -> object:
    raise missing_name("gradtape.data.experimental", name)
