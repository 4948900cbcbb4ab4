from ._src.compat.ragged.creation import (
    constant as constant,
    cross as cross,
    cross_hashed as cross_hashed,
    range as range,
    row_splits_to_segment_ids as row_splits_to_segment_ids,
    segment_ids_to_row_splits as segment_ids_to_row_splits,
)
from ._src.compat.ragged.elementwise import map_flat_values as map_flat_values
from ._src.compat.ragged.joining import stack as stack
from ._src.compat.ragged.selection import (
    boolean_mask as boolean_mask,
    stack_dynamic_partitions as stack_dynamic_partitions,
)
