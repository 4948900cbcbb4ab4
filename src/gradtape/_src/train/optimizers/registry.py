"""The optimizers by the names of their classes; LossScaleOptimizer, which wraps one of them, apart.

Keras' files name a class, so every class that such a name can mean stands here.
"""

from __future__ import annotations

from .adam import Adam, Adamax, AdamW, Nadam
from .adaptive import Adadelta, Adagrad, Ftrl, RMSprop
from .base import Optimizer
from .lion import Lion
from .sgd import SGD

OPTIMIZERS: dict[str, type[Optimizer]] = {
    kind.__name__: kind
    for kind in (SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Adamax, Nadam, Lion, Ftrl)
}
