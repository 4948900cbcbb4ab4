"""Cell: where a variable's bytes live: with eager code (the host), with XLA (the device), or both.

Eager code reads and assigns a cell. Compiled programs borrow cells through a `Loan`. No other
module counts references to arrays, or knows the locks.

    state     host      device    how it comes about
    host      tensor    None      it was made, or assigned
    device    None      array     a program gave it back, and no eager code has read it since
    both      tensor    array     it was read after that, or lent twice without a change between
    private   None      None      it was updated in place, and no eager code has read it since

On the device a small value lies in a pack with others (pack.py): then `device` is its place there.

                       from host           from device     from both       from private
    read               host                both            both            host
    assign, update     host                host            host            host
    writable           private             private         private         private
    lend               host, then both     device          both            host, then both
    take_back          device              device          device          device

**On a GPU** "the host" is the eager engine of the card: its arrays and XLA's share memory, so that
lending and reading copy nothing. XLA takes no spare array that shares its memory: one that eager
code has read is not used again.

**No one sees half a value.** An array that a tensor or a program may read is never written: a
program writes into a spare array of the cell, its value of the step before, and the two change
places when all of it is computed. So a step that fails, or is interrupted, has changed nothing.
Only `writable` gives out the array of the value itself, and takes it out of sight first: a reader
waits for the lock until it is written.

**No interrupt comes between the parts of a change.** Python runs the handler of a signal between
two of its instructions. So updates in place are one call of C (`make_calls`), and when new values
are stored in many cells, all are stored before an exception goes on (`change`, `Loan.take_back`).
Locks are taken by `with`: between `acquire()` and `try` an interrupt could come.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from sys import getrefcount
from threading import RLock
from typing import Any

import numpy as np

from ..core.placement import card_of
from ..core.tensor import Tensor
from ..core.tracing import current_graph
from .pack import Pack, Place, packs_for

_lock = RLock()
"""Held while a value changes, and by a program that changes values, from `lend` to `take_back`."""

_callback_lock = RLock()
"""Held in its place by a program that calls Python: that code, in a thread of XLA, may read and
assign variables itself."""


def changing() -> AbstractContextManager[Any]:
    """A block in which no other thread changes a value."""
    return _lock


def change(
    cells: Sequence[Cell], arrays: Sequence[Any], calls: Sequence[Iterator[Any]] = ()
) -> None:
    """Make calls that write into arrays, then give cells new arrays; inside of `changing`.

    All of it is done, or nothing if an interrupt comes. For `calls` see `make_calls`.
    """
    made = [True] if not calls else []
    try:
        if calls:
            make_calls([*calls, map(made.append, [True])])
        _store(cells, arrays)
    except BaseException:
        if made:
            _store(cells, arrays)
        raise


def all_or_nothing(cells: Sequence[Cell], changes: Callable[[], None]) -> None:
    """Make several changes of cells, after which, if an exception ends them, none was made.

    Their values of before are held meanwhile: what is written in place is written into a copy.
    (While a function is traced nothing is changed yet: a compiled call is whole by itself.)
    """
    if current_graph() is not None:
        changes()
        return
    before = [cell.read()._array for cell in cells]
    try:
        changes()
    except BaseException:
        with _lock:
            change(cells, before)
        raise


def _store(cells: Sequence[Cell], arrays: Sequence[Any]) -> None:
    for cell, array in zip(cells, arrays, strict=True):
        tensor = Tensor(array, cell.key)
        cell.device = cell._private = None  # before a reader can see the new value
        cell.host = tensor


def make_calls(calls: Iterable[Iterator[Any]]) -> None:
    """Run through iterators of C, each step of which is a call: no Python runs in between.

    `map(function, arguments)` is such an iterator, if the function is one of C; and so is a `zip`
    of several, which makes the first call of each, then the second of each.
    """
    deque(chain.from_iterable(calls), maxlen=0)


class Cell:
    """A value that changes, on the host, on the device, or on both."""

    __slots__ = ("_lent", "_private", "card", "device", "host", "key", "place", "spare")

    def __init__(self, array: Any, key: int) -> None:
        self.key = key  # by which tapes know the tensors that are read
        # The engine of the GPU, if eager code has the value there: see "On a GPU" above.
        self.card: Any = None if type(array) is np.ndarray else card_of(array)
        self.host: Tensor | None = Tensor(array, key)
        self.device: Any = None  # an array of JAX, or `place`
        self.place: Place | None = None  # in a pack, if it has one
        self.spare: Any = None  # another one, of another value, for a program to write into
        self._private: Tensor | None = None  # the value, if it is in neither place
        self._lent = 0  # the id of the host's array that was lent last

    def array(self) -> Any:
        """The array where it is, for its shape and dtype."""
        host = self.host
        if host is not None:
            return host._array
        device = self.device
        if device is not None:
            return self.read()._array if type(device) is Place else device
        private = self._private
        return self.read()._array if private is None else private._array

    def read(self) -> Tensor:
        """The value as a tensor."""
        host = self.host
        return self._fetch() if host is None else host

    def _fetch(self) -> Tensor:
        device = self.device
        if device is not None:
            if isinstance(device, Place):
                return device.read(self)
            card = self.card
            array = np.asarray(device) if card is None else card.from_xla(device)
            tensor = Tensor(array, self.key)
            if self.device is device:  # (no other thread comes between this line and the next)
                self.host = tensor
            return tensor
        with _lock:  # until no one writes into the array
            if self._private is not None:
                self.host = self._private
                self._private = None
            return self.read()

    def assign(self, array: Any) -> None:
        """Store an array of eager code."""
        if self.card is not None or type(array) is not np.ndarray:
            array = self.at_home(array)
        tensor = Tensor(array, self.key)
        with _lock:
            self.device = self._private = None  # before a reader can see the new value
            self.host = tensor

    def update(self, function: Callable[[Any, Any], Any], operand: Any) -> None:
        """Store `function(array, operand)` of the present array; no other change comes between."""
        if self.card is not None or type(operand) is not np.ndarray:
            operand = self.at_home(operand)
        with _lock:
            tensor = Tensor(function(self.read()._array, operand), self.key)
            self.device = self._private = None
            self.host = tensor

    def writable(self) -> Any:
        """The NumPy array of the value, for an update in place: no tensor shares it.

        To be called, and the array to be written, inside of `changing`. A tensor that was read
        before keeps its value: then this is a copy, the variable's own.
        """
        if self.card is not None:
            return self._writable_on_card()
        host = self._private
        if host is None:
            host = self._private = self.read()
        self.host = None  # a reader waits from here on; one that came before is counted below
        self.device = self.spare = None
        array = host._array
        if (
            type(array) is not np.ndarray
            or not array.flags.writeable
            or getrefcount(host) > _ALONE
            or getrefcount(array) > _ALONE
            or (
                (base := array.base) is not None
                and (type(base) is not np.ndarray or getrefcount(base) > _ALONE)
            )
        ):
            array = np.array(array)
            self._private = Tensor(array, self.key)
        self._lent = 0
        return array

    def at_home(self, array: Any) -> Any:
        """An array where the values of this cell are."""
        if self.card is not None:
            return self.card.adopt(array)
        other = card_of(array)
        return array if other is None else other.to_numpy(array)

    def _writable_on_card(self) -> Any:
        """A copy too if a program was lent the array, and may still be reading it."""
        lent = self.device is not None or self._lent
        host = self._private
        if host is None:
            host = self._private = self.read()
        self.host = self.device = self.spare = None
        array = host._array
        if (
            lent
            or getrefcount(host) > _ALONE
            or getrefcount(array) > _ALONE
            or array.base is not None
        ):
            array = array.copy()
            self._private = Tensor(array, self.key)
        self.card.forget_xla(array)
        self._lent = 0
        return array

    def _lend(self) -> Any:
        """What a program gets of a value that eager code has."""
        array = self.read()._array
        if self.device is not None:  # a place
            return array
        if self.card is not None:
            self._lent = 1
            self.device = self.card.to_xla(array)
            return self.device
        if self._lent != id(array):
            self._lent = id(array)
            return array
        # The second time without a change: XLA keeps it. (NumPy's costs 3 µs at every call.)
        import jax

        from ..engines.xla.processor import processor

        with jax.enable_x64(True):
            self.device = jax.device_put(array, processor())
        return self.device


class Loan:
    """The cells that a compiled program reads, and those of them that it assigns.

    With `spares` it writes their new values into the spare arrays of the cells, and small ones into
    packs. `calls_python`: it runs the user's Python.
    """

    def __init__(
        self, cells: list[Cell], assigned: list[int], *, spares: bool, calls_python: bool
    ) -> None:
        self.cells = cells
        self.assigned = [cells[i] for i in assigned]
        with _lock:
            self.packs = packs_for(cells, self.assigned) if spares else []
        packed = {cell for pack in self.packs for cell in pack.cells}
        self.loose = [cell for cell in cells if cell not in packed]
        self.assigned_loose = [cell for cell in self.assigned if cell not in packed]
        self.assigned_packs = [
            pack for pack in self.packs if not {*pack.cells}.isdisjoint(self.assigned)
        ]
        self._spares = spares
        self._lock = _callback_lock if calls_python else _lock
        self._on_card = any([cell.card is not None for cell in cells])
        self.changes = 0
        """How often the cells took new values: unchanged by a call that ended before it did so."""

    def run(
        self, program: Callable[[list[Any], list[Any]], tuple[list[Any], Any]], arguments: list[Any]
    ) -> Any:
        """The results of `program(arrays, spares)`, whose new values the cells have taken.

        It gives new values and results, once they are computed. The arrays are the arguments, those
        of the loose cells, and the packs; the values those of `assigned_loose`, and new packs.
        """
        if not self.assigned:
            return program(arguments + self.lend(), [])[1]
        with self._lock:
            values, results = program(arguments + self.lend(), self.lend_spares())
            with _lock:
                self.take_back(values)
            return results

    def lend(self) -> list[Any]:
        """The arrays for the program, which only reads them."""
        # No Python for each cell on the usual way: 50 of them cost 2 µs, and 15 in a loop.
        arrays = [cell.device for cell in self.loose]
        if not _ELSEWHERE.isdisjoint(map(type, arrays)):
            with _lock:
                arrays = [
                    cell._lend() if type(cell.device) in _ELSEWHERE else cell.device
                    for cell in self.loose
                ]
        for pack in self.packs:
            if not pack.is_whole:
                with _lock:
                    pack.gather()
            arrays.append(pack.array)
        return arrays

    def lend_spares(self) -> list[Any]:
        """Arrays for the new values: they are the program's from here on, even if it fails."""
        if not self._spares:
            return []
        cells = self.assigned_loose
        spares = [cell.spare for cell in cells]
        for cell in cells:
            cell.spare = None
        if max(map(getrefcount, spares), default=0) > _ALONE_LENT:  # None counts very many
            for i, count in enumerate(list(map(getrefcount, spares))):
                if count > _ALONE_LENT:  # there is none, or a tensor shares it
                    like, card = cells[i].array(), cells[i].card
                    empty = np.empty if card is None else card.empty_for_xla
                    spares[i] = empty(like.shape, like.dtype)
        return spares

    def take_back(self, values: Sequence[Any]) -> None:
        """Give the assigned cells their new arrays: all of them, or none if an interrupt comes."""
        cells = self.assigned_loose
        spares = [cell.device for cell in cells] if self._spares else [None] * len(cells)
        if Place in map(type, spares):  # it got one for another program, later
            spares = [None if type(spare) is Place else spare for spare in spares]
        if self._on_card:  # what eager code has read shares its memory with a tensor
            spares = [
                None if cell.card is not None and cell.host is not None else spare
                for cell, spare in zip(cells, spares, strict=True)
            ]
        packs = [*zip(self.assigned_packs, values[len(cells) :], strict=True)]
        try:
            self._exchange(cells, spares, values, packs)
        except BaseException:
            self._exchange(cells, spares, values, packs)  # it came after some: the others follow
            raise

    def exclusive(self) -> AbstractContextManager[Any]:
        """A block in which no other call changes what this program assigns."""
        return self._lock if self.assigned else nullcontext()

    def assign(self, arrays: Sequence[Any]) -> None:
        """Store arrays of the host in the cells that the program assigns: in all at once."""
        with _lock:
            homes = zip(self.assigned, arrays, strict=True)
            change(self.assigned, [cell.at_home(array) for cell, array in homes])
            self.changes += 1

    def _exchange(
        self,
        cells: list[Cell],
        spares: list[Any],
        values: Sequence[Any],
        packs: list[tuple[Pack, Any]],
    ) -> None:
        self.changes += 1
        for pack, array in packs:
            pack.take(array)
        for cell, spare, value in zip(cells, spares, values, strict=False):
            cell.spare = spare
            cell.device = value  # eager code fetches it when it reads
            cell.host = None


def _references() -> tuple[int, int]:
    """What `getrefcount` says in `writable`, and in `lend_spares`, of what has a single owner."""
    cell = Cell(None, 0)
    cell.device = object()
    host = cell.host
    spares = [each.device for each in [cell]]
    cell.device = None
    return getrefcount(host), max(map(getrefcount, spares))


_ALONE, _ALONE_LENT = _references()
_ELSEWHERE = {type(None), Place}
"""What `device` may be of a cell whose value is not in an array of its own there."""
