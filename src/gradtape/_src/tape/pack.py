"""Packs: small variables that programs assign, side by side in one array.

XLA takes an array in, and gives one out, in 0.3 µs each, however small. A step of Adam on a tiny
MLP has 19 variables; with a spare array for each its program took 28 µs, and takes 15 with one
array for all: the program cuts it up and puts it together again, which costs next to nothing.

A cell has its place in at most one pack, for good. Its value is there while `cell.device` is that
place: eager code that assigns it stores the value with the cell itself, and the next program that
is lent the pack gathers it. An array of a pack is never written to, so that a program gives a new
one; to take it is one store, before which all variables have their old values and after which the
new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import is_
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.tensor import Tensor

if TYPE_CHECKING:
    from .cell import Cell

_SMALL = 4096
"""Bytes of a variable that is packed: to copy as many takes as long as to hand over an array."""

_FULL = 65536
"""Bytes of a pack: a program that assigns one variable of it copies all of it, in 5 µs."""


class Place:
    """Where a pack has the value of a cell."""

    __slots__ = ("pack", "shape", "start", "stop")

    def __init__(self, pack: Pack, shape: tuple[int, ...], start: int, stop: int) -> None:
        self.pack, self.shape, self.start, self.stop = pack, shape, start, stop

    def read(self, cell: Cell) -> Tensor:
        """The value, which the cell keeps until a program gives the pack another array."""
        pack = self.pack
        array = pack.array
        # A copy, so that a tensor of four bytes does not hold the whole pack in memory.
        tensor = Tensor(self.of(np.asarray(array)).copy(), cell.key)
        with pack.lock:
            pack.read.append(cell)
            if cell.device is self and pack.array is array:  # (no other thread comes between)
                cell.host = tensor
        return tensor

    def of(self, array: Any) -> Any:
        """The part of an array of the pack that is here."""
        return array[self.start : self.stop].reshape(self.shape)


class Pack:
    """Several cells of one dtype, and the array that has the values of those that are in it."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.cells = cells
        self.places: list[Place] = []
        self.read: list[Cell] = []  # cells that have also a tensor of their value
        self.lock = Lock()  # held for a few stores, and never while a program runs
        stop = 0
        for cell in cells:
            like = cell.array()
            start, stop = stop, stop + like.size
            self.places.append(Place(self, like.shape, start, stop))
            cell.place = self.places[-1]
        self.array: Any = np.zeros(stop, cells[0].array().dtype)

    @property
    def is_whole(self) -> bool:
        """Whether the values of all cells are in it."""
        return all(map(is_, [cell.device for cell in self.cells], self.places))

    def gather(self) -> None:
        """Take in the values of cells that are outside; while no other thread changes them."""
        array = np.array(self.array)
        places = zip(self.cells, self.places, strict=True)
        outside = [(cell, place) for cell, place in places if cell.device is not place]
        for cell, place in outside:
            place.of(array)[...] = cell.read()._array
        with self.lock:
            self.array = array
            self.read += [cell for cell, _ in outside]
        for cell, place in outside:
            cell.spare = None
            cell.device = place

    def take(self, array: Any) -> None:
        """Give new values to all cells, whose values are in it."""
        with self.lock:
            self.array = array
            for cell in self.read:
                cell.host = None
            self.read = []


def packs_for(cells: Iterable[Cell], assigned: Iterable[Cell]) -> list[Pack]:
    """The packs of `cells`, when those that are small and `assigned` have got places in some."""
    by_dtype: dict[Any, list[Cell]] = {}
    for cell in assigned:
        array = cell.array()
        if cell.place is None and cell.card is None and array.nbytes <= _SMALL:
            by_dtype.setdefault(array.dtype, []).append(cell)
    for several in by_dtype.values():
        for some in _parts(several, lambda cell: cell.array().nbytes):
            if len(some) > 1:
                Pack(some)
    return list(dict.fromkeys([cell.place.pack for cell in cells if cell.place is not None]))


def _parts(cells: list[Cell], size: Callable[[Cell], int]) -> list[list[Cell]]:
    """The cells in their order, in parts none of which is too large for a pack."""
    parts: list[list[Cell]] = [[]]
    filled = 0
    for cell in cells:
        filled += size(cell)
        if filled > _FULL:
            parts.append([])
            filled = size(cell)
        parts[-1].append(cell)
    return parts
