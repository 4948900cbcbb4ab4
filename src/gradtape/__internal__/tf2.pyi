from .._src.compat.internals.context import enabled as enabled
