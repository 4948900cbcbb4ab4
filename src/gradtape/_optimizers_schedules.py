"""Keras' `optimizers.schedules`."""

from .train.optimizers.schedules import CosineDecay as CosineDecay
from .train.optimizers.schedules import CosineDecayRestarts as CosineDecayRestarts
from .train.optimizers.schedules import ExponentialDecay as ExponentialDecay
from .train.optimizers.schedules import InverseTimeDecay as InverseTimeDecay
from .train.optimizers.schedules import LearningRateSchedule as LearningRateSchedule
from .train.optimizers.schedules import PiecewiseConstantDecay as PiecewiseConstantDecay
from .train.optimizers.schedules import PolynomialDecay as PolynomialDecay
from .train.optimizers.schedules import deserialize as deserialize
from .train.optimizers.schedules import serialize as serialize
