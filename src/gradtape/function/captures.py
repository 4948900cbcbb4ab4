"""What a function can see without being given it: tensors by closure, which tapes may watch later.

A trace must know them, for a tensor that no tape watched when it was made may be watched at a later
call. Python does not say what a function will look at, so this follows what it holds: its closure
and globals, those of the functions it names, the attributes of objects, and containers.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Mapping
from itertools import islice
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..core.tensor import Tensor, is_symbolic
from ..tape.variable import Variable

_MOST = 2000
"""So many objects are looked at, the nearest first."""

_WITHOUT = (int, float, complex, str, bytes, type(None), type, ModuleType, np.ndarray, Variable)
_OTHERS = ("gradtape", "numpy", "jax", "jaxlib", "builtins")


def tensors_in_sight(*roots: Any) -> list[Tensor]:
    """The tensors that can be reached from these objects."""
    found: list[Tensor] = []
    seen: set[int] = set()
    waiting = deque(roots)
    while waiting and len(seen) < _MOST:
        value = waiting.popleft()
        if isinstance(value, _WITHOUT) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Tensor):
            if type(value) is Tensor and not is_symbolic(value._array):
                found.append(value)
        else:
            waiting.extend(islice(_parts(value), _MOST))
    return found


def _parts(value: Any) -> Any:
    """What an object holds."""
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, (list, tuple, deque)):
        return value
    if isinstance(value, FunctionType):
        return [] if _is_of_others(value.__module__) else _names(value)
    if isinstance(value, MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if _is_of_others(type(value).__module__):
        return [value.python_function] if hasattr(value, "python_function") else []
    return getattr(value, "__dict__", {}).values()


def _names(function: FunctionType) -> list[Any]:
    """The values of the globals and of the names by closure that a function mentions."""
    names = function.__globals__
    values = [names[name] for name in function.__code__.co_names if name in names]
    for cell in function.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # not assigned yet
            continue
    return [*values, *(function.__defaults__ or ())]


def _is_of_others(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _OTHERS
