"""Part of what TensorFlow has in `tensorflow.python.types.core`."""

from gradtape._src.compat.internals.types import (
    Callable,
    ConcreteFunction,
    GenericFunction,
    PolymorphicFunction,
    Tensor,
)
