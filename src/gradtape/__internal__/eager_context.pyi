from .._src.compat.internals.context import eager_mode as eager_mode
