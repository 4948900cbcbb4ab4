from ..._src.compat.sparse.version_1 import (
    ctc_beam_search_decoder as ctc_beam_search_decoder,
    ctc_loss as ctc_loss,
)
from ..._src.compat.v1.nn import (
    avg_pool as avg_pool,
    conv2d_transpose as conv2d_transpose,
    convolution as convolution,
    max_pool as max_pool,
)
