from ..._src.compat.v1.ops import (
    in_top_k as in_top_k,
)
