"""Part of what TensorFlow has in `tensorflow.python.eager.context`."""

from gradtape._src.compat.config.devices import (
    LogicalDevice,
    PhysicalDevice,
)
from gradtape._src.compat.internals.context import (
    _reset_context,
    async_wait,
    context,
    eager_mode,
    executing_eagerly,
    in_graph_mode,
)
