from .._src.compat.internals.types import (
    Callable as Callable,
    ConcreteFunction as ConcreteFunction,
    GenericFunction as GenericFunction,
    PolymorphicFunction as PolymorphicFunction,
)
