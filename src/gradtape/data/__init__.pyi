from .._src.compat.io.datasets import (
    FixedLengthRecordDataset as FixedLengthRecordDataset,
    TextLineDataset as TextLineDataset,
    TFRecordDataset as TFRecordDataset,
)
from .._src.train.data.base import AUTOTUNE as AUTOTUNE
from .._src.train.data.cardinality import (
    INFINITE_CARDINALITY as INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY,
)
from .._src.train.data.dataset import (
    Dataset as Dataset,
    DatasetSpec as DatasetSpec,
)
from .._src.train.data.iterator import Iterator as Iterator
from .._src.train.data.options import Options as Options
from . import experimental as experimental
