"""TensorFlow's `tf.data`."""

from . import _data_experimental as experimental
from ._missing import missing_name
from .train.data.dataset import Dataset as Dataset
from .train.data.options import Options as Options
from .train.data.specs import DatasetSpec as DatasetSpec
from .train.data.stages import AUTOTUNE as AUTOTUNE
from .train.data.stream import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from .train.data.stream import Iterator as Iterator
from .train.data.stream import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
