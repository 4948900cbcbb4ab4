from .._src.compat.numpy_names import (
    finfo as finfo,
    iinfo as iinfo,
    select as select,
)
from .._src.tape.scopes import (
    experimental_enable_numpy_behavior as experimental_enable_numpy_behavior,
)

ndarray: type
