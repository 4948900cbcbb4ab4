"""`tf.types`: classes to ask for with `isinstance`."""

from __future__ import annotations

from abc import ABCMeta

from ...core.stand_in import StandIn
from ...core.tensor import Tensor as OwnTensor
from ...function.api import Function
from ...function.method import Method
from ...function.signature import Traced
from ...tape.variable import Variable


class Tensor(StandIn, metaclass=ABCMeta):
    """Base of all that can be used as a tensor: tensors, variables, and classes of other libraries.

    The latter inherit from it, and have a method `__tf_tensor__(dtype, name)`, which gives the
    tensor that they stand for.
    """


class Callable(metaclass=ABCMeta):  # noqa: B024, what is one is registered
    """Base of the functions that are traced."""


class ConcreteFunction(Callable):
    """Base of functions that were traced for one signature."""


class PolymorphicFunction(Callable):
    """Base of functions that are traced for each signature they are called with."""


GenericFunction = PolymorphicFunction

for _kind in (OwnTensor, Variable):
    Tensor.register(_kind)
for _function in (Function, Method):
    PolymorphicFunction.register(_function)
ConcreteFunction.register(Traced)
