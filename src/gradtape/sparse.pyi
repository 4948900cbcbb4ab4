from . import SparseTensor as SparseTensor
from ._src.compat.sparse.arithmetic import (
    add as add,
    map_values as map_values,
    maximum as maximum,
    minimum as minimum,
    softmax as softmax,
)
from ._src.compat.sparse.crossing import (
    cross as cross,
    cross_hashed as cross_hashed,
)
from ._src.compat.sparse.layout import (
    concat as concat,
    expand_dims as expand_dims,
    fill_empty_rows as fill_empty_rows,
    reorder as reorder,
    reset_shape as reset_shape,
    reshape as reshape,
    retain as retain,
    slice as slice,
    split as split,
    transpose as transpose,
)
from ._src.compat.sparse.making import (
    eye as eye,
    from_dense as from_dense,
    to_dense as to_dense,
    to_indicator as to_indicator,
)
from ._src.compat.sparse.matmul import (
    sampled_addmm as sampled_addmm,
    sparse_dense_matmul as sparse_dense_matmul,
)
from ._src.compat.sparse.reduction import (
    bincount as bincount,
    reduce_max as reduce_max,
    reduce_sum as reduce_sum,
)
from ._src.compat.sparse.segments import (
    mask as mask,
    segment_mean as segment_mean,
    segment_sqrt_n as segment_sqrt_n,
    segment_sum as segment_sum,
)
