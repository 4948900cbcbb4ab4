"""Memory of large results, used again when the results are gone.

Memory that the system gives anew comes page by page, each filled with zeros when it is first
touched: four results of 16 MB take 29 ms, in memory that was used before 2.2. The allocator of C
returns large pieces to the system as soon as they are free, so some of them are held back here.
"""

from __future__ import annotations

import math
import os
from threading import RLock
from typing import Any
from weakref import ref

import numpy as np

SMALL = 2**19
"""Bytes below which the allocator of C itself keeps what is free."""

MOST = 2**28
"""Bytes that are held, lent and spare together."""


class _Owner:
    """The owner of a result's memory, which lives as long as any array that looks at it."""

    __slots__ = ("__array_interface__", "__weakref__", "_memory")

    def __init__(self, memory: Any) -> None:
        self._memory = memory
        self.__array_interface__ = memory.__array_interface__


class _Loan(ref):
    """What is called, with itself, when the owner is gone."""

    __slots__ = ("memory",)
    memory: Any


class _Store:
    """The memory that is held.

    When an owner goes, a function of C puts its loan into `_returned`, and no Python runs: an
    interrupt there would be lost. All else is done when memory is needed.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._loans: dict[int, _Loan] = {}  # oldest first
        self._returned: list[Any] = []
        self._spare: dict[int, list[Any]] = {}  # by size in bytes

    def held(self) -> int:
        """The bytes that are lent or spare."""
        spare = sum([size * len(pieces) for size, pieces in self._spare.items()])
        return spare + sum([loan.memory.size for loan in self._loans.values()])

    def take(self, size: int) -> _Owner:
        with self._lock:
            while self._returned:
                loan = self._returned.pop()
                if self._loans.pop(id(loan), None) is not None:
                    self._spare.setdefault(loan.memory.size, []).append(loan.memory)
            pieces = self._spare.get(size)
            memory = pieces.pop() if pieces else self._new(size)
            owner = _Owner(memory)
            if size <= MOST:
                loan = _Loan(owner, self._returned.append)
                loan.memory = memory
                self._loans[id(loan)] = loan
            return owner

    def _new(self, size: int) -> Any:
        """If this makes too much, what is spare is let go of: it is of sizes of earlier times.

        Then the oldest loans are forgotten: of arrays that stay.
        """
        if size <= MOST and self.held() + size > MOST:
            self._spare.clear()
            excess = self.held() + size - MOST
            while excess > 0:
                excess -= self._loans.pop(next(iter(self._loans))).memory.size
        return np.empty(size, np.uint8)


_store = _Store()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_store.__init__)


def empty(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array of any values, as `np.empty` makes one; it takes 4 µs."""
    size = math.prod(shape) * dtype.itemsize
    if size < SMALL or dtype.hasobject:
        return np.empty(shape, dtype)
    return np.asarray(_store.take(size)).view(dtype).reshape(shape)
