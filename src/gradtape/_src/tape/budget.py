"""A tape with a memory budget: what is dropped to stay within it is computed again on the way back.

Records are data, so an op can be run again. A `Ledger` listens in the place of the tape and keeps,
beside each record, the recipe of its outputs: the op, its inputs (by key, where they have a recipe
themselves) and its parameters. When the values it holds pass the budget, it drops those that are
the cheapest to make again for the bytes that they free. Random draws are no ops but constants, so
they are never drawn anew: the gradients are, bit for bit, those without a budget.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..core.dispatch import make_record
from ..core.op import Op
from ..core.recorder import Observer, Record, heard_by
from ..core.tensor import Tensor

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def parse_bytes(budget: Any) -> int:
    """A number of bytes from an int or a text like "2GB" or "512 MiB"."""
    if isinstance(budget, int) and not isinstance(budget, bool) and budget >= 0:
        return budget
    match = re.fullmatch(r"\s*(\d+\.?\d*)\s*([A-Za-z]*)\s*", budget if type(budget) is str else "")
    if match is None or match[2].upper() not in _UNITS:
        raise ValueError(
            "memory_budget: expected a number of bytes or a text like '2GB' or '512MiB', not "
            f"{budget!r}."
        )
    return int(float(match[1]) * _UNITS[match[2].upper()])


class Stored(NamedTuple):
    """In the place of a tensor: its key, under which the ledger has it or can make it."""

    key: int


class Recipe(NamedTuple):
    """How to make a tensor again."""

    op: Op
    inputs: tuple[Any, ...]  # Stored, or a tensor that the ledger did not make
    params: dict[str, Any]
    output: int | None  # which output, if there are several
    work: float


class Ledger(Observer):
    """Records whose tensors may be dropped and made again."""

    def __init__(self, budget: int | str, persistent: bool, watches_variables: bool) -> None:
        super().__init__()
        self._budget = parse_bytes(budget)
        self.persistent = persistent
        self.watches_variables = watches_variables

    def begin(self, tracked: set[int | None], variables: dict[int, Any]) -> None:
        """Forget what there is, and share the tape's sets."""
        self.tracked = tracked
        self.variables = variables
        self._entries: list[Record] = []
        self._recipes: dict[int, Recipe] = {}
        self._values: dict[int, Tensor] = {}
        self._uses: dict[int, int] = {}
        self.bytes = 0
        self.peak = 0
        self.recomputed = 0

    def __len__(self) -> int:
        return len(self._entries)

    def observe(self, op: Op, inputs: Any, outputs: Any, params: dict[str, Any]) -> None:
        """Keep a record of an executed op, and the recipe of its outputs."""
        made = make_record(op, inputs, outputs, params, self.tracked)
        if made is None:
            return
        record = Record._make(made)
        if hasattr(op, "call"):  # an op of one call (a custom gradient) has no kernel to run again
            self._write_recipes(op, inputs, outputs, params)
        self._entries.append(record._replace(saved=self._store(record.saved)))
        self._shrink()

    def _write_recipes(self, op: Op, inputs: Any, outputs: Any, params: dict[str, Any]) -> None:
        known = self._recipes
        ingredients = tuple([Stored(x._key) if x._key in known else x for x in inputs])
        work = op.work(*inputs, outputs, **params)
        if type(outputs) is tuple:
            for index, y in enumerate(outputs):
                known[y._key] = Recipe(op, ingredients, params, index, work)
        else:
            known[outputs._key] = Recipe(op, ingredients, params, None, work)

    def _store(self, value: Any) -> Any:
        """`value` as it stands in a record: a tensor that can be made again as its key."""
        if type(value) is tuple:
            return tuple([self._store(v) for v in value])
        if not isinstance(value, Tensor) or value._key not in self._recipes:
            return value
        key = value._key
        self._uses[key] = self._uses.get(key, 0) + 1
        self._put(key, value)
        return Stored(key)

    def _put(self, key: int, value: Tensor) -> None:
        if key not in self._values:
            self._values[key] = value
            self.bytes += _own_bytes(value)
            self.peak = max(self.peak, self.bytes)

    def _drop(self, key: int) -> None:
        value = self._values.pop(key, None)
        if value is not None:
            self.bytes -= _own_bytes(value)

    def _shrink(self) -> None:
        """Drop values until the rest fits into the budget."""
        while self.bytes > self._budget:
            candidates = [key for key, value in self._values.items() if _own_bytes(value)]
            if not candidates:
                return
            self._drop(min(candidates, key=self._price))

    def _price(self, key: int) -> float:
        """The work to make a value again, with what is missing for it, per byte it frees."""
        work, open_keys, seen = 0.0, [key], set()
        while open_keys:
            recipe = self._recipes[open_keys.pop()]
            work += recipe.work
            for x in recipe.inputs:
                if isinstance(x, Stored) and x.key not in self._values and x.key not in seen:
                    seen.add(x.key)
                    open_keys.append(x.key)
        return work / _own_bytes(self._values[key])

    def value(self, key: int) -> Tensor:
        """A value that is held, or is made again."""
        waiting = [key]
        made: dict[int, Tensor] = {}
        while waiting:  # not by recursion: a chain may be long
            recipe = self._recipes[waiting[-1]]
            missing = [
                x.key for x in recipe.inputs
                if isinstance(x, Stored) and x.key not in self._values and x.key not in made
            ]  # fmt: skip
            if waiting[-1] in self._values:
                waiting.pop()
            elif missing:
                waiting.extend(missing)
            else:
                current = waiting.pop()
                made[current] = self._make(current, recipe, made)
                if self._uses.get(current):
                    self._put(current, made[current])
        return self._values[key] if key in self._values else made[key]

    def _make(self, key: int, recipe: Recipe, made: dict[int, Tensor]) -> Tensor:
        inputs = [
            (self._values[x.key] if x.key in self._values else made[x.key])
            if isinstance(x, Stored)
            else x
            for x in recipe.inputs
        ]
        with heard_by([]):
            result = recipe.op.call(*inputs, **recipe.params)
        self.recomputed += 1
        return Tensor((result if recipe.output is None else result[recipe.output])._array, key)

    def reversed(self, release: bool) -> Iterator[Record]:
        """The records, last first, with their tensors; with `release` each is let go of after."""
        for position in range(len(self._entries) - 1, -1, -1):
            record = self._entries[position]
            yield record._replace(saved=self._open(record.saved))
            if release:
                self._entries.pop()
                self._release(record.saved)
            self._shrink()

    def _open(self, value: Any) -> Any:
        if isinstance(value, Stored):
            return self.value(value.key)
        if type(value) is tuple:
            return tuple([self._open(v) for v in value])
        return value

    def _release(self, value: Any) -> None:
        if isinstance(value, Stored):
            self._uses[value.key] -= 1
            if not self._uses[value.key]:
                self._drop(value.key)
        elif type(value) is tuple:
            for v in value:
                self._release(v)


def _own_bytes(value: Tensor) -> int:
    """What dropping a tensor frees: nothing, if it is a view of another."""
    array = value._array
    return 0 if getattr(array, "base", None) is not None else int(array.nbytes)
