"""The step of an optimizer: its rule as calls of NumPy's ufuncs that write where results belong.

`compile_in_place` runs a rule once on symbols, which list the ufuncs that it calls, and gives
each result a register: the array to be updated once nothing needs its old value any more, else a
scratch array that is free again. The `Kernel` that comes of it runs on any arrays.

A `Step` is what an optimizer does at once, with all its variables. Small arrays get a new array
each, which becomes the value when the step is made. Large ones are written in place, which needs no
memory and a third less time: block by block, so that scratch stays small and in cache, by all
threads. The calls that do so are listed, and made in one go: no interrupt leaves half a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, repeat
from operator import call, itemgetter, setitem
from typing import Any, NamedTuple

import numpy as np

from ...core.engine import ElementProgram
from ...core.placement import on_host
from ...engines.numpy.blocks import Helper, Task, helpers, threads
from ...tape.cell import Cell, change, make_calls

SMALL = 2**16
"""Bytes up to which an update makes a new array."""

BLOCK = 2**17
"""Bytes of an array that are updated at a time, so that what is computed on the way stays in cache.

Adam on 1.9 million float32 values: 5.8 ms by 2**15 bytes, 4.9 by 2**16, 4.5 by 2**17 and 2**18.
"""

LARGE = 2**19
"""Bytes from which threads share an update, by larger blocks: the GIL changes hands at each.

With two, on a quiet machine, 0.2 million values take 0.4 ms in place of 0.6, 1.9 million 2.8 in
place of 5.2.
"""

MOST = 2
"""Threads that share an update. (On two cores, with more threads it takes longer.)"""


# A step


class Step:
    """New values of cells, and calls that write into their arrays: made all at once.

    To be filled and made inside of `changing`. Calls are iterators, as `make_calls` takes them.
    """

    def __init__(self) -> None:
        self._cells: list[Cell] = []
        self._values: list[Any] = []  # their new ones
        self._calls: list[Iterator[Any]] = []
        self._shares: list[list[Iterator[Any]]] = []  # of helpers, in large updates
        self._scratch: dict[Any, list[Any]] = {}

    def assign(self, cell: Cell, array: Any) -> None:
        self._cells.append(cell)
        self._values.append(array)

    def clear(self, cell: Cell) -> None:
        self._calls.append(map(cell.writable().fill, [0]))

    def update(self, kernel: Kernel, cells: list[Cell], g: Any, scalars: dict[str, Any]) -> None:
        """Update `cells`, those of a variable and its slots, by the gradient `g`."""
        if cells[0].card is not None:
            self._update_on_card(kernel, cells, g, scalars)
            return
        if type(g) is not np.ndarray:
            g = on_host(g)
        if g.nbytes <= SMALL:
            self._cells += cells
            self._values += kernel.run([cell.read()._array for cell in cells], g, scalars)
            return
        arrays = [cell.writable() for cell in cells]
        if not all([array.flags.c_contiguous for array in arrays]):
            scratch = [[np.empty_like(g)] for _ in range(kernel.scratch)]
            blocks = [[array] for array in (*arrays, g)]
            self._calls.append(kernel.calls(blocks, scalars, scratch))
            return
        flat = [array.reshape(-1) for array in (*arrays, g)]
        block = BLOCK // g.itemsize
        shares = min(threads(), MOST) if g.nbytes >= LARGE else 1
        if shares == 1:
            self._add(self._calls, kernel, flat, scalars, range(0, g.size, block))
            return
        while len(self._shares) < shares - 1:
            self._shares.append([])
        size = g.size // (2 * shares * block) * 2 * block
        for i, calls in enumerate([self._calls, *self._shares[: shares - 1]]):
            stop = g.size if i == shares - 1 else (i + 1) * size
            self._add(calls, kernel, flat, scalars, range(i * size, stop, 2 * block))

    def _update_on_card(
        self, kernel: Kernel, cells: list[Cell], g: Any, scalars: dict[str, Any]
    ) -> None:
        """One launch for a variable and its slots, whatever their size."""
        card = cells[0].card
        inputs = [card.adopt(g), *kernel.numbers(scalars)]
        fused = card.fused(kernel.program, g.dtype)
        if all([cell.card is card for cell in cells]):
            arrays = [cell.writable() for cell in cells]
            arguments = [*arrays, *inputs, *arrays]
            self._calls.append(map(fused, *[[x] for x in arguments]))
            return
        arrays = [card.adopt(cell.read()._array).copy() for cell in cells]
        fused(*arrays, *inputs, *arrays)
        for cell, array in zip(cells, arrays, strict=True):
            self.assign(cell, array if cell.card is card else on_host(array))

    def update_rows(
        self, kernel: Kernel, cells: list[Cell], rows: Any, g: Any, scalars: dict[str, Any]
    ) -> None:
        """Update some rows of `cells`, each named once; the others are not touched."""
        card = cells[0].card
        if card is not None:
            rows = card.adopt(rows)
            parts = [card.adopt(cell.read()._array)[rows] for cell in cells]
            fused = card.fused(kernel.program, g.dtype)
            fused(*parts, card.adopt(g), *kernel.numbers(scalars), *parts)
            for cell, part in zip(cells, parts, strict=True):
                self._calls.append(map(setitem, [cell.writable()], [rows], [part]))
            return
        rows, g = on_host(rows), on_host(g)
        new = kernel.run([cell.read()._array[rows] for cell in cells], g, scalars)
        for cell, part in zip(cells, new, strict=True):
            self._calls.append(map(setitem, [cell.writable()], [rows], [part]))

    def _add(
        self,
        calls: list[Iterator[Any]],
        kernel: Kernel,
        flat: list[Any],
        scalars: dict[str, Any],
        starts: range,
    ) -> None:
        """List the calls for the blocks that begin at `starts`; the gradient is the last array."""
        size = starts.step
        blocks = [[array[start : start + size] for start in starts] for array in flat]
        key = (size, flat[0].dtype, id(calls))  # others for each thread
        found = self._scratch.setdefault(key, [])
        found += [np.empty(size, flat[0].dtype) for _ in range(kernel.scratch - len(found))]
        last = blocks[0][-1].size
        scratch = [[*[array] * (len(starts) - 1), array[:last]] for array in found]
        calls.append(kernel.calls(blocks, scalars, scratch))

    def make(self) -> None:
        """Make the changes: all of them, or none if an interrupt comes."""
        if not self._calls:
            change(self._cells, self._values)
            return
        with np.errstate(all="ignore"):  # a warning, if it is made an error, would be an interrupt
            if not self._shares or helpers.lock.locked():
                calls = [*self._calls, *chain.from_iterable(self._shares)]
                change(self._cells, self._values, calls)
                return
            with helpers.lock:
                self._make_with(helpers.ready(len(self._shares)))

    def _make_with(self, others: list[Helper]) -> None:
        """The same with the helpers for the shares, of which there may be fewer."""
        tasks = [Task(partial(make_calls, share)) for share in self._shares[: len(others)]]
        rest = chain.from_iterable(self._shares[len(others) :])
        begun: list[bool] = []
        begin = [map(begun.append, [True])]
        begin += [map(h.begin, [task]) for h, task in zip(others, tasks, strict=True)]
        try:
            change(self._cells, self._values, [*begin, *self._calls, *rest])
            for task in tasks:
                task.finish()
        except BaseException:
            if begun:
                for task in tasks:  # an interrupt, wherever it came, waits for the rest
                    task.finish()
            raise


# Running


class UfuncCall(NamedTuple):
    """One call of a ufunc, on registers: those of its operands, and the one for its result."""

    ufunc: Any
    registers: tuple[int, ...]


class Kernel:
    """Calls of ufuncs that give arrays new values.

    Registers hold, in this order, the arrays, the gradient, the scalars, the arrays for the new
    values (which may be the same), and scratch arrays.
    """

    def __init__(
        self,
        ufunc_calls: list[UfuncCall],
        size: int,
        scalars: tuple[str, ...],
        scratch: int,
        program: ElementProgram,
    ) -> None:
        self.program = program
        self._scalars = scalars
        self.scratch = scratch
        self._picks = [(ufunc, itemgetter(*registers)) for ufunc, registers in ufunc_calls]
        self.run = self._written_out(ufunc_calls, size)
        """`run(arrays, g, scalars)` is what becomes of the arrays by the gradient `g`: new ones."""

    def _written_out(self, ufunc_calls: list[UfuncCall], size: int) -> Callable[..., list[Any]]:
        """The calls as the lines of a function.

        Adam on four small arrays takes 11.5 µs; by a loop over calls and a list of registers, 17.5.
        """
        first_new = size + 1 + len(self._scalars)
        new = [f"r{first_new + i}" for i in range(size + self.scratch)]
        lines = [
            "def run(arrays, g, scalars):",
            "".join(f"r{i}, " for i in range(size)) + "= arrays",
            f"r{size} = g",
            *[f"r{size + 1 + i} = scalars[{name!r}]" for i, name in enumerate(self._scalars)],
            "shape, dtype = g.shape, g.dtype",
            *[f"{register} = empty(shape, dtype)" for register in new],
        ]
        names: dict[str, Any] = {"empty": np.empty}
        for i, (ufunc, registers) in enumerate(ufunc_calls):
            names[f"ufunc{i}"] = ufunc
            lines.append(f"ufunc{i}({', '.join(f'r{n}' for n in registers)})")
        lines.append(f"return [{', '.join(new[:size])}]")
        exec(compile("\n    ".join(lines), f"{__file__}, a kernel", "exec"), names)
        run: Callable[..., list[Any]] = names["run"]
        return run

    def numbers(self, scalars: dict[str, Any]) -> list[Any]:
        """The scalars in the order of the program, as numbers (or arrays of the GPU)."""
        return [scalars[name][()] for name in self._scalars]

    def calls(
        self, blocks: list[list[Any]], scalars: dict[str, Any], scratch: list[list[Any]]
    ) -> Iterator[Any]:
        """The same in place, block after block, as calls to be made later: see `make_calls`.

        `blocks` are those of each array and, last, of the gradient.
        """
        constants = [repeat(scalars[name]) for name in self._scalars]
        registers = [*blocks, *constants, *blocks[:-1], *scratch]
        calls: list[Iterator[Any]] = []
        for ufunc, pick in self._picks:
            if ufunc in _OF_PYTHON:
                of_c, each = _OF_PYTHON[ufunc], zip(*pick(registers), strict=False)
                calls.append(map(call, [partial(of_c, x, y, out=out) for x, y, out in each]))
            else:
                calls.append(map(ufunc, *pick(registers)))
        return zip(*calls, strict=True)  # the first call on the first block, the second on it...


# Listing the calls of a rule


def _listed(ufunc: Any) -> Any:
    """An operator of symbols: it lists a call of `ufunc`."""
    return lambda self, *others: self._listing.call(ufunc, self, *others)


class _Symbol:
    """A value of a rule whose calls are being listed."""

    def __init__(self, listing: _Listing) -> None:
        self._listing = listing

    __add__, __sub__, __neg__ = _listed(np.add), _listed(np.subtract), _listed(np.negative)
    __mul__, __truediv__, __pow__ = _listed(np.multiply), _listed(np.divide), _listed(np.power)

    def _refuse(self, other: Any) -> _Symbol:
        return self._listing.call(None, other, self)

    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rpow__ = _refuse


class _Listing:
    """The `xp` of a rule whose calls are being listed: NumPy's ufuncs by name."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, tuple[_Symbol, ...], _Symbol]] = []

    def call(self, ufunc: Any, *operands: _Symbol) -> _Symbol:
        for operand in operands:
            if not isinstance(operand, _Symbol):
                raise TypeError(
                    f"A rule has the number {operand!r} in it. Give it a name in `scalars`, and "
                    "take it from there: a rule works on arrays and scalars of their dtype."
                )
        result = _Symbol(self)
        self.calls.append((ufunc, operands, result))
        return result

    def __getattr__(self, name: str) -> Callable[..., _Symbol]:
        ufunc = _BY_KEYWORD.get(name) or getattr(np, name)
        return lambda *operands: self.call(ufunc, *operands)


# These two ufuncs alone take their third argument by name only.
_BY_KEYWORD: dict[str, Callable[[Any, Any, Any], Any]] = {
    "maximum": lambda x, y, out: np.maximum(x, y, out=out),
    "minimum": lambda x, y, out: np.minimum(x, y, out=out),
}
_OF_PYTHON = {function: getattr(np, name) for name, function in _BY_KEYWORD.items()}


# Allocating registers


def compile_in_place(rule: Callable[..., list[Any]], size: int, scalars: tuple[str, ...]) -> Kernel:
    """The kernel of `rule(xp, arrays, g, scalars)`, which gives the new values of `size` arrays."""
    listing = _Listing()
    arrays = [_Symbol(listing) for _ in range(size)]
    g = _Symbol(listing)
    constants = {name: _Symbol(listing) for name in scalars}
    results = rule(listing, arrays, g, constants)

    register_order = [*arrays, g, *constants.values()]
    register = {symbol: i for i, symbol in enumerate(register_order)}
    outputs = len(register)  # the first register for a new value
    first_scratch = outputs + size
    last_read = dict.fromkeys(arrays, -1)
    last_read |= {x: i for i, (_, operands, _) in enumerate(listing.calls) for x in operands}
    home = {result: i for i, result in enumerate(results)}
    free: list[int] = []
    calls = []
    scratch = 0
    for i, (ufunc, operands, out) in enumerate(listing.calls):
        read = {register[x] for x in operands if last_read[x] == i}
        free += [each for each in read if each >= first_scratch]
        if out in home and last_read[arrays[home[out]]] <= i:
            register[out] = outputs + home[out]
        elif free:
            register[out] = free.pop()
        else:
            register[out] = first_scratch + scratch
            scratch += 1
        if out in home:
            last_read[out] = len(listing.calls)
        calls.append(UfuncCall(ufunc, (*[register[x] for x in operands], register[out])))
    # What was still needed when its result was there is written over at the end.
    calls += [
        UfuncCall(np.positive, (register[x], outputs + i))
        for x, i in home.items()
        if register[x] != outputs + i
    ]
    return Kernel(calls, size, scalars, scratch, _program(listing, register_order, results))


def _program(
    listing: _Listing, inputs: list[_Symbol], results: Sequence[_Symbol]
) -> ElementProgram:
    """The calls without registers, as other engines take them."""
    number = {symbol: i for i, symbol in enumerate(inputs)}
    steps = []
    for ufunc, operands, out in listing.calls:
        name = _OF_PYTHON.get(ufunc, ufunc).__name__
        steps.append((name, tuple([number[x] for x in operands])))
        number[out] = len(number)
    return ElementProgram(len(inputs), tuple(steps), tuple([number[x] for x in results]))
