"""Part of what TensorFlow has in `tensorflow.python.distribute.distribute_lib`."""

from gradtape._src.compat.distribute.strategy import (
    ReplicaContext,
    Strategy,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)
