from ._src.compat.internals.tracking import (
    TrackableView as TrackableView,
)
from ._src.compat.io.messages import (
    BytesList as BytesList,
    Example as Example,
    Feature as Feature,
    FeatureList as FeatureList,
    FeatureLists as FeatureLists,
    Features as Features,
    FloatList as FloatList,
    Int64List as Int64List,
    SequenceExample as SequenceExample,
)
from ._src.train.checkpoint.checkpoint import Checkpoint as Checkpoint
from ._src.train.checkpoint.folder_state import (
    get_checkpoint_state as get_checkpoint_state,
    latest_checkpoint as latest_checkpoint,
)
from ._src.train.checkpoint.manager import CheckpointManager as CheckpointManager
from ._src.train.checkpoint.reader import (
    list_variables as list_variables,
    load_checkpoint as load_checkpoint,
    load_variable as load_variable,
)
from ._src.train.monitor.monitor import (
    GradientMonitor as GradientMonitor,
    GradientWarning as GradientWarning,
)
