from ._src.compat.sparse.sets import (
    difference as difference,
    intersection as intersection,
    size as size,
    union as union,
)
