"""Memory of large results, used again when the results are gone.

Memory that the system gives anew comes page by page, each filled with zeros when it is first
touched: four results of 16 MB take 29 ms, in memory that was used before 2.2. The allocator of C
returns large pieces to the system as soon as they are free, so some of them are held back here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

SMALL = 2**19
"""Bytes below which the allocator of C itself keeps what is free."""

MOST = 2**28
"""Bytes that are held for results to come."""

_spare: dict[int, list[Any]] = {}  # by size in bytes


def empty(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array of any values, as `np.empty` makes one; it takes 2 µs."""
    size = math.prod(shape) * dtype.itemsize
    if size < SMALL or dtype.hasobject:
        return np.empty(shape, dtype)
    try:
        memory = _spare[size].pop()
    except (KeyError, IndexError):
        memory = np.empty(size, np.uint8)
    return np.asarray(_Lent(memory)).view(dtype).reshape(shape)


def _take_back(memory: Any) -> None:
    """Hold it for another result. If that is too much, let go of all the others.

    (What is held then is no longer of the sizes that are needed, or does not suffice anyway.)
    """
    held = sum([size * len(pieces) for size, pieces in list(_spare.items())])
    if held + memory.size > MOST:
        _spare.clear()
    _spare.setdefault(memory.size, []).append(memory)


class _Lent:
    """The owner of a result's memory, which lives as long as any array that looks at it."""

    __slots__ = ("__array_interface__", "_memory")

    def __init__(self, memory: Any) -> None:
        self._memory = memory
        self.__array_interface__ = memory.__array_interface__

    def __del__(self, take_back: Any = _take_back) -> None:
        take_back(self._memory)
