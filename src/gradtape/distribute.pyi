from ._src.compat.distribute.strategy import (
    InputContext as InputContext,
    MirroredStrategy as MirroredStrategy,
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
    OneDeviceStrategy as OneDeviceStrategy,
    ParameterServerStrategy as ParameterServerStrategy,
    ReplicaContext as ReplicaContext,
    Strategy as Strategy,
    StrategyExtended as StrategyExtended,
    TPUStrategy as TPUStrategy,
    experimental_set_strategy as experimental_set_strategy,
    get_replica_context as get_replica_context,
    get_strategy as get_strategy,
    has_strategy as has_strategy,
    in_cross_replica_context as in_cross_replica_context,
)
from ._src.compat.distribute.values import (
    DistributedDataset as DistributedDataset,
    DistributedIterator as DistributedIterator,
    DistributedValues as DistributedValues,
    ReduceOp as ReduceOp,
)
