from ..._src.compat.ragged.version_1 import (
    RaggedTensorValue as RaggedTensorValue,
    constant_value as constant_value,
    placeholder as placeholder,
)
from ...ragged import (
    boolean_mask as boolean_mask,
    constant as constant,
    cross as cross,
    cross_hashed as cross_hashed,
    map_flat_values as map_flat_values,
    range as range,
    row_splits_to_segment_ids as row_splits_to_segment_ids,
    segment_ids_to_row_splits as segment_ids_to_row_splits,
    stack as stack,
    stack_dynamic_partitions as stack_dynamic_partitions,
)
