"""EagerTensor: what a tensor that has values counts as."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor, is_symbolic


class _HasValues(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and not is_symbolic(instance._array)


class EagerTensor(metaclass=_HasValues):
    """For `isinstance` only: all tensors but those of a function that is being traced."""

    def __init__(self) -> None:
        raise TypeError("EagerTensor: cannot be made by its class. Use tf.constant(value).")
