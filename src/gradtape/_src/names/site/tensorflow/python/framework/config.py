"""Part of what TensorFlow has in `tensorflow.python.framework.config`."""

from gradtape._src.compat.config.devices import (
    list_logical_devices,
    list_physical_devices,
)
from gradtape._src.compat.config.settings import (
    disable_op_determinism,
    enable_op_determinism,
    is_op_determinism_enabled,
)
