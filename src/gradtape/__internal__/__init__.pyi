from .._src.compat.internals.eager_tensor import EagerTensor as EagerTensor
from .._src.compat.internals.func_graph import FuncGraph as FuncGraph
from .._src.core.composite import CompositeTensor as CompositeTensor
from . import (
    distribute as distribute,
    eager_context as eager_context,
    function as function,
    smart_cond as smart_cond,
    tf2 as tf2,
    tracking as tracking,
    types as types,
)
