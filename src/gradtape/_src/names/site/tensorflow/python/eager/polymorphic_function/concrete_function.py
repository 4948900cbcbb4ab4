"""Part of what TensorFlow has in its module of this name."""

from gradtape._src.function.signature import Traced as ConcreteFunction
