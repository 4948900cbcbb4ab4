"""Sizes that a trace leaves open: None to the user, a symbol of JAX inside.

`tf.shape(x)` of a tensor with an open size is a tensor like others, and knows its sizes as well.
What is computed from it in the way of sizes knows them too, so that it can be the shape of another
tensor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .engine import engine_of
from .errors import DynamicSizeError
from .placement import on_host
from .tensor import Tensor

_FOLLOWED = frozenset(
    ["add", "subtract", "multiply", "negative", "getitem", "concat", "stack", "reshape",
     "broadcast_to", "reduce_prod", "identity", "stop_gradient"]
)  # fmt: skip
"""The ops whose kernel says of sizes what it says of numbers."""


class SizesNeeded(Exception):
    """A trace with open sizes cannot serve: there is to be one for each shape that comes.

    With `only_now` it cannot serve one call, which has other sizes than it was made for.
    """

    def __init__(self, reason: str, only_now: bool = False) -> None:
        super().__init__(reason)
        self.only_now = only_now


class BranchNeeded(SizesNeeded):
    """A call was to take a branch that could not be compiled, and is not in the program."""

    def __init__(self, why: DynamicSizeError) -> None:
        super().__init__(str(why))
        self.why = why


def is_open(size: Any) -> bool:
    """Whether a size is a symbol, of which only a call says the number."""
    return hasattr(type(size), "get_vars")  # of JAX, told apart without importing it


def any_open(value: Any) -> Any:
    """An open size in a shape, a key of slices or a nest of them; None if there is none."""
    if isinstance(value, (tuple, list)):
        for part in value:
            found = None if type(part) is int else any_open(part)
            if found is not None:
                return found
        return None
    if isinstance(value, slice):
        return any_open((value.start, value.stop, value.step))
    return value if is_open(value) else None


def size_of(value: Any) -> Any:
    """The size that an open size or a SizeTensor of one element is; else the value itself."""
    return value.sizes.item() if type(value) is SizeTensor and value.sizes.size == 1 else value


class SizeTensor(Tensor):
    """Integers of a traced function of which is known what sizes they are."""

    __slots__ = ("sizes",)
    __module__ = Tensor.__module__  # wherever a tensor is said to be from

    def __init__(self, array: Any, sizes: Any) -> None:
        super().__init__(array)
        self.sizes = sizes  # a NumPy array of objects: ints and symbols

    @staticmethod
    def _intercept(op: Any, inputs: Any, params: dict[str, Any]) -> Any:
        result = op.call(*map(_plain, inputs), **params)
        kernel: Any
        if op.name == "floordiv":
            kernel = np.floor_divide
        elif op.name in ("cast", "cast_discrete"):
            kernel = _as_they_are
        elif op.name in _FOLLOWED:
            kernel = op.on(engine_of(np.ndarray))
        else:
            return result
        try:
            sizes = kernel(*map(_sizes_of, inputs), **params)
        except Exception:  # not exact, or not known: then it is a number and no size
            return result
        return tensor_of(np.asarray(sizes, object), result)


def tensor_of(sizes: Any, result: Tensor) -> Tensor:
    """`result`, known to be these sizes; a constant, if no symbol is among them."""
    dtype = result._array.dtype
    if dtype.kind not in "iu":
        return result
    if not any(map(is_open, sizes.flat)):
        return Tensor(sizes.astype(dtype))
    return SizeTensor(result._array, sizes)


def sizes_as_tensor(sizes: Any, dtype: Any) -> Tensor:
    """A shape, or one size, some of them open, as an integer tensor."""
    values = np.array(sizes, object)
    xp = engine_of(type(any_open(list(values.flat))))
    numbers = [xp.number(n, dtype) for n in values.flat]
    array = xp.stack(numbers) if values.ndim else numbers[0]
    return tensor_of(values, Tensor(array))


def _as_they_are(sizes: Any, **params: Any) -> Any:
    return sizes


def _plain(x: Any) -> Any:
    return Tensor(x._array) if type(x) is SizeTensor else x


def _sizes_of(x: Any) -> Any:
    if type(x) is SizeTensor:
        return x.sizes
    return np.asarray(on_host(x._array)).astype(object)
