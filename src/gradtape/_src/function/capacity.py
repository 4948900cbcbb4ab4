"""Capacities: how many rounds of a loop without a bound are kept for its gradient.

A program of XLA has fixed sizes. So it is compiled for a number of rounds, and counts those that
there are. If there were more than it could keep, its results are thrown away, and it is compiled
for that number and run again: see decision 15.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import jax
import numpy as np

from ..core.sizes import is_open
from .reruns import Reruns
from .trace import Trace, sized

_FIRST = 8
"""Rounds that are kept before any have been counted."""


_NAME = "rounds_"


class Capacity:
    """How many rounds of one loop are kept."""

    def __init__(self, trace: Trace, number: int) -> None:
        self.name = f"{_NAME}{number}"
        self.size = trace.size(self.name)  # stands for it in shapes, until a program is compiled
        self.rows = _FIRST

    def grow(self, rounds: int) -> None:
        """Have room for so many rounds."""
        self.rows = enough_for(rounds, self.rows)


def enough_for(rounds: int, rows: int) -> int:
    """The rows to keep so many rounds: `rows`, or up to a quarter more than rounds.

    The number of rounds may rise slowly, and each capacity is compiled for.
    """
    step = 1 << max(rounds.bit_length() - 3, 0)
    return max(rows, -(-rounds // step) * step)


def is_capacity(size: Any) -> bool:
    return is_open(size) and str(size).startswith(_NAME)


class Sizes:
    """Where the numbers that capacities stand for can be looked up: in arrays that are like some.

    The axes count from the last one on: an array may be a batch of such.
    """

    def __init__(self, likes: Sequence[Any]) -> None:
        self._places = [
            (str(size), i, axis - len(like.shape))
            for i, like in enumerate(likes)
            for axis, size in enumerate(like.shape)
            if is_capacity(size)
        ]

    @property
    def names(self) -> list[str]:
        return [name for name, _, _ in self._places]

    def among(self, arrays: Sequence[Any]) -> dict[str, int]:
        return {name: arrays[i].shape[axis] for name, i, axis in self._places}


class Growing:
    """A program compiled for the rounds that loops without a bound turn out to make.

    `function` gives one count for each of `counted`, after its other results. Its arguments are
    like `inputs`; a capacity that is a size of one of them is as large as that one is.
    """

    def __init__(
        self,
        function: Callable[..., Sequence[Any]],
        inputs: Sequence[Any],
        counted: Sequence[Capacity],
        compiled: Callable[[Callable[..., Any]], Callable[..., Sequence[Any]]],
        reruns: Reruns,
    ) -> None:
        self._function = function
        self._counted = counted
        self._compile = compiled
        self._reruns = reruns
        self._sizes = Sizes(inputs)
        self._latest: tuple[dict[str, int], Callable[..., Sequence[Any]]] | None = None

    def __call__(self, *arrays: Any) -> Sequence[Any]:
        with self._reruns.call():
            while True:
                sizes = {c.name: c.rows for c in self._counted}
                sizes |= self._sizes.among(arrays)
                outputs = self._for(sizes)(*arrays)
                end = len(outputs) - len(self._counted)
                rounds = [int(np.asarray(count).max()) for count in outputs[end:]]
                pairs = list(zip(self._counted, rounds, strict=True))
                if all([count <= sizes[c.name] for c, count in pairs]):
                    return outputs[:end]
                del outputs  # before there is a larger one
                for capacity, count in pairs:
                    capacity.grow(count)
                jax.effects_barrier()  # type: ignore[no-untyped-call]
                self._reruns.repeat()

    def prepare(self, rows: Mapping[str, int]) -> None:
        """Compile the program for those of these capacities, given by name, that it has."""
        names = [*[c.name for c in self._counted], *self._sizes.names]
        self._for({name: rows[name] for name in names})

    def _for(self, sizes: dict[str, int]) -> Callable[..., Sequence[Any]]:
        """The program compiled for these sizes; only the latest is kept, for they grow."""
        latest = self._latest
        if latest is None or latest[0] != sizes:

            @wraps(self._function)
            def program(*arrays: Any) -> Any:
                with sized(sizes):
                    return self._function(*arrays)

            with sized(sizes):
                latest = self._latest = sizes, self._compile(program)
        return latest[1]


def growing(
    function: Callable[..., Any],
    inputs: Sequence[Any],
    counted: Sequence[Capacity],
    compiled: Callable[[Callable[..., Any]], Callable[..., Any]],
    reruns: Reruns,
) -> Callable[..., Any]:
    """`compiled(function)`; or Growing, if there are capacities in it."""
    if not counted and not any([is_capacity(n) for x in inputs for n in x.shape]):
        return compiled(function)
    return Growing(function, inputs, counted, compiled, reruns)
