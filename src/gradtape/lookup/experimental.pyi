from .._src.compat.lookup.tables import (
    DenseHashTable as DenseHashTable,
    MutableHashTable as MutableHashTable,
)
