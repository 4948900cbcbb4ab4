"""What graphs need and eager code does not: groups, tuples, no-ops; and the clock."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ...core import nest
from ...core.op import registry
from ...core.tensor import Tensor
from ...core.tracing import current_graph


def no_op(name: str | None = None) -> None:
    """Nothing."""


def group(*inputs: Any, **kwargs: Any) -> None:
    """Nothing: what `inputs` stand for has run already."""
    unknown = set(kwargs) - {"name"}
    if unknown:
        raise ValueError(f"group: there is no argument {sorted(unknown)[0]!r}.")


def tuple(tensors: Any, control_inputs: Any = None, name: str | None = None) -> list[Any]:
    """`tensors` as they are: eager ops need not be waited for."""
    return nest.map_structure(lambda x: x, tensors)


_undifferentiated: set[str] = set()


def no_gradient(op_type: str) -> None:
    """Note that ops of this type have no gradient: for types of the user's own.

    A gradient here belongs to its op, so nothing is looked up by the name of a type.
    """
    if not isinstance(op_type, str):
        raise TypeError(f"no_gradient: `op_type` must be a string, not {op_type!r}.")
    if op_type in _undifferentiated or op_type in registry:
        raise KeyError(f"no_gradient: it is said already what the gradient of {op_type!r} is.")
    _undifferentiated.add(op_type)


def timestamp(name: str | None = None) -> Tensor:
    """The seconds since 1970, as float64."""
    return Tensor(np.float64(time.time()))


def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether `tensor` stands for a value that is not there yet, as inside `@function`."""
    return isinstance(tensor, Tensor) and not isinstance(tensor._array, (np.ndarray, np.generic))


def inside_function() -> bool:
    """Whether `@function` is tracing."""
    return current_graph() is not None
