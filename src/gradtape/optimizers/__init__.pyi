from .._src.train.optimizers.adam import (
    Adam as Adam,
    Adamax as Adamax,
    AdamW as AdamW,
    Nadam as Nadam,
)
from .._src.train.optimizers.adaptive import (
    Adadelta as Adadelta,
    Adagrad as Adagrad,
    Ftrl as Ftrl,
    RMSprop as RMSprop,
)
from .._src.train.optimizers.base import Optimizer as Optimizer
from .._src.train.optimizers.lion import Lion as Lion
from .._src.train.optimizers.loss_scale import LossScaleOptimizer as LossScaleOptimizer
from .._src.train.optimizers.serialization import (
    deserialize as deserialize,
    get as get,
    serialize as serialize,
)
from .._src.train.optimizers.sgd import SGD as SGD
from . import schedules as schedules
