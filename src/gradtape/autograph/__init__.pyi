from .._src.function.autograph.public import (
    set_verbosity as set_verbosity,
    to_code as to_code,
    to_graph as to_graph,
    trace as trace,
)
from . import experimental as experimental
