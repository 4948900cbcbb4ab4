from .._src.compat.internals.smart_cond import smart_cond as smart_cond
