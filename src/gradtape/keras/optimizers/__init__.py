"""Keras' `optimizers`: the module `gradtape.optimizers` itself, as in TensorFlow."""

import sys

from gradtape import optimizers

sys.modules[__name__] = optimizers
sys.modules[f"{__name__}.schedules"] = optimizers.schedules
