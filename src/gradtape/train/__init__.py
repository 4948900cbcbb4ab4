"""TensorFlow's `tf.train`: checkpoints, and what watches over training."""

from typing import TYPE_CHECKING

from .._later import later


if TYPE_CHECKING:
    from ._checkpoint_state import get_checkpoint_state as get_checkpoint_state
    from ._checkpoint_state import latest_checkpoint as latest_checkpoint
    from .checkpoint import Checkpoint as Checkpoint
    from .checkpoint import list_variables as list_variables
    from .checkpoint import load_checkpoint as load_checkpoint
    from .checkpoint import load_variable as load_variable
    from .checkpoint_manager import CheckpointManager as CheckpointManager
    from .monitor import GradientMonitor as GradientMonitor
    from .monitor import GradientWarning as GradientWarning

_LATER = {
    "train._checkpoint_state": "get_checkpoint_state latest_checkpoint",
    "train.checkpoint": "Checkpoint list_variables load_checkpoint load_variable",
    "train.checkpoint_manager": "CheckpointManager",
    "train.monitor": "GradientMonitor GradientWarning",
}
__getattr__, __dir__ = later(__name__, globals(), _LATER)
