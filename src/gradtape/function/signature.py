"""Signatures: what of the arguments of a call decides which trace serves it.

Tensors count by dtype and shape, Python values by value, variables and other objects by identity.
`Signature.leaves` are the tensors and variables, the inputs of the trace.
"""

from __future__ import annotations

import weakref
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, MappingView
from typing import Any

import numpy as np

from ..core.convert import as_tensor
from ..core.cotangent import IndexedSlices
from ..core.tensor import Tensor
from ..tape.type_specs import TensorSpec
from ..tape.variable import Variable

_VALUES = (int, float, bool, complex, str, bytes, type(None), type(Ellipsis), slice)


class Identity:
    """The very object, as a key; it does not keep the object alive where that can be avoided."""

    def __init__(self, value: Any) -> None:
        self._hash = id(value)
        try:
            self._get: Callable[[], Any] = weakref.ref(value)
        except TypeError:
            self._get = lambda: value

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self._get() is other._get() is not None

    def __repr__(self) -> str:
        return f"the {type(self._get()).__name__} at {self._hash:#x}"


def tensor_of_array(value: Any) -> Any:
    """A NumPy array as the tensor that a function takes it for; anything else as it is."""
    return as_tensor(value) if isinstance(value, (np.ndarray, np.generic)) else value


class Open:
    """A tensor some of whose sizes do not belong to the signature: one trace serves them all."""

    def __init__(
        self, tensor: Tensor, sizes: tuple[int | None, ...], is_spec: bool = False
    ) -> None:
        self.tensor = tensor
        self.sizes = sizes
        self.is_spec = is_spec  # made of a TensorSpec: there are no sizes to fall back upon


def describe(value: Any, leaves: list[Any]) -> Any:
    """What of an argument belongs to the signature; its tensors and variables go to `leaves`."""
    kind = type(value)
    if kind is Tensor:
        array = value._array
        if array.dtype == object:  # text, which XLA has not: a constant of the trace
            return (Tensor, array.shape, tuple(array.flat))
        leaves.append(value)
        return (array.dtype, array.shape)
    if kind is Open:
        leaves.append(value)
        return (value.tensor._array.dtype, value.sizes)
    if isinstance(value, _VALUES):
        # 1, 1.0 and True are equal, and so are 0.0 and -0.0: the type and the text tell them apart.
        return (kind, repr(value)) if kind in (float, complex, slice) else (kind, value)
    if isinstance(value, Variable):
        leaves.append(value)
        # The very variable: the function may see it by closure too, and then it is the same one.
        return (Identity(value), value._array_outside().shape)
    if isinstance(value, (Tensor, np.ndarray, np.generic)):
        return describe(Tensor(as_tensor(value, op="@function")._array), leaves)
    if isinstance(value, TensorSpec):
        return describe(stand_in(value), leaves)
    if isinstance(value, IndexedSlices):
        parts = [describe(part, leaves) for part in (value.values, value.indices)]
        return (IndexedSlices, *parts, tuple(value.shape))
    if isinstance(value, (list, tuple, deque, MappingView)):
        return (kind, *(describe(v, leaves) for v in value))
    if isinstance(value, Mapping):
        return (kind, *((key, describe(v, leaves)) for key, v in value.items()))
    if isinstance(value, (type, np.dtype, range, frozenset)):
        return value
    return Identity(value)


def without_sizes(key: Any) -> Any:
    """A signature in which tensors count by dtype and rank only."""
    if not isinstance(key, tuple):
        return key
    if len(key) == 2 and isinstance(key[0], np.dtype):
        return key[0], len(key[1])
    return tuple([without_sizes(part) for part in key])


def stand_in(spec: TensorSpec) -> Any:
    """A tensor of this shape and dtype, for tracing; it takes no memory."""
    if spec.shape.rank is None:
        raise ValueError(f"@function: {spec} says nothing of the rank, which a trace needs.")
    sizes = tuple(spec.shape)
    zeros = np.broadcast_to(
        np.zeros((), spec.dtype.numpy_dtype), [1 if n is None else n for n in sizes]
    )
    return Open(Tensor(zeros), sizes, is_spec=True) if None in sizes else Tensor(zeros)


def replaced(value: Any, leaves: Any) -> Any:
    """The argument with its tensors and variables taken from the iterator `leaves`."""
    if isinstance(value, _VALUES) or (isinstance(value, Tensor) and value._array.dtype == object):
        return value
    if isinstance(value, (Tensor, Variable, Open, np.ndarray, np.generic, TensorSpec)):
        return next(leaves)
    if isinstance(value, IndexedSlices):
        return IndexedSlices(next(leaves), next(leaves), value.dense_shape)
    if isinstance(value, (list, tuple)):
        parts = [replaced(v, leaves) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, MappingView):
        return [replaced(v, leaves) for v in value]
    if isinstance(value, deque):
        return deque([replaced(v, leaves) for v in value], value.maxlen)
    if isinstance(value, Mapping):
        items = {key: replaced(v, leaves) for key, v in value.items()}
        factory = [value.default_factory] if isinstance(value, defaultdict) else []
        return type(value)(*factory, items)
    return value
