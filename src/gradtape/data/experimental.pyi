from .._src.train.data.base import AUTOTUNE as AUTOTUNE
from .._src.train.data.cardinality import (
    INFINITE_CARDINALITY as INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY,
)
from .._src.train.data.experimental import (
    assert_cardinality as assert_cardinality,
    bucket_by_sequence_length as bucket_by_sequence_length,
    cardinality as cardinality,
    copy_to_device as copy_to_device,
    dense_to_ragged_batch as dense_to_ragged_batch,
    group_by_window as group_by_window,
    ignore_errors as ignore_errors,
    prefetch_to_device as prefetch_to_device,
)
from .._src.train.data.optional import get_next_as_optional as get_next_as_optional
from .._src.train.data.options import (
    AutoShardPolicy as AutoShardPolicy,
    ExternalStatePolicy as ExternalStatePolicy,
)
from ..experimental import Optional as Optional
