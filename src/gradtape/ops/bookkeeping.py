"""What graphs need and eager code does not: groups, tuples, no-ops; and the clock."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ..core import nest
from ..core.tensor import Tensor
from ..core.tracing import current_graph


def no_op(name: str | None = None) -> None:
    """Nothing."""


def group(*inputs: Any, **kwargs: Any) -> None:
    """Nothing: what `inputs` stand for has run already."""
    unknown = set(kwargs) - {"name"}
    if unknown:
        raise ValueError(f"group: there is no argument {sorted(unknown)[0]!r}.")


def tuple(tensors: Any, control_inputs: Any = None, name: str | None = None) -> Any:
    """`tensors`, all of which are there already."""
    return nest.map_structure(lambda x: x, tensors)


def timestamp(name: str | None = None) -> Tensor:
    """The seconds since 1970, as float64."""
    return Tensor(np.float64(time.time()))


def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether `tensor` stands for a value that is not there yet, as inside `@function`."""
    return isinstance(tensor, Tensor) and not isinstance(tensor._array, (np.ndarray, np.generic))


def inside_function() -> bool:
    """Whether `@function` is tracing."""
    return current_graph() is not None
