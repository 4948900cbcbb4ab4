"""TensorFlow's `tf.optimizers`: the optimizers of Keras."""

from . import _optimizers_schedules as schedules
from .train.optimizers.adam import Adam as Adam
from .train.optimizers.adam import Adamax as Adamax
from .train.optimizers.adam import AdamW as AdamW
from .train.optimizers.adam import Nadam as Nadam
from .train.optimizers.adaptive import Adadelta as Adadelta
from .train.optimizers.adaptive import Adagrad as Adagrad
from .train.optimizers.adaptive import Ftrl as Ftrl
from .train.optimizers.adaptive import RMSprop as RMSprop
from .train.optimizers.base import Optimizer as Optimizer
from .train.optimizers.lion import Lion as Lion
from .train.optimizers.loss_scale import LossScaleOptimizer as LossScaleOptimizer
from .train.optimizers.registry import deserialize as deserialize
from .train.optimizers.registry import get as get
from .train.optimizers.registry import serialize as serialize
from .train.optimizers.sgd import SGD as SGD
