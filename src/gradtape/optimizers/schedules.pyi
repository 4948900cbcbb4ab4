from .._src.train.optimizers.schedules import (
    CosineDecay as CosineDecay,
    CosineDecayRestarts as CosineDecayRestarts,
    ExponentialDecay as ExponentialDecay,
    InverseTimeDecay as InverseTimeDecay,
    LearningRateSchedule as LearningRateSchedule,
    PiecewiseConstantDecay as PiecewiseConstantDecay,
    PolynomialDecay as PolynomialDecay,
    deserialize as deserialize,
    serialize as serialize,
)
