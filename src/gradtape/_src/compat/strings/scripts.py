"""The scripts of Unicode: which code point belongs to Latin, Greek, Han and so on."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from ...core.convert import as_tensor
from ...core.dtypes import int32
from ...core.tensor import Tensor
from .text import elementwise, values_of

_UNKNOWN = 103  # USCRIPT_UNKNOWN of ICU
_COUNT = 0x110000


class _Script(NamedTuple):
    name: str
    number: int
    ranges: list[tuple[int, int]]


@cache
def _scripts() -> list[_Script]:
    text = files(__package__).joinpath("unicode_scripts.txt").read_text(encoding="ascii")
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return [_Script(name, int(number), [*map(_range, rest)]) for name, number, *rest in lines]


def _range(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    return int(low, 16), int(high or low, 16)


@cache
def _numbers() -> Any:
    """The number of the script of each code point."""
    numbers = np.full(_COUNT, _UNKNOWN, np.int32)
    for script in _scripts():
        for low, high in script.ranges:
            numbers[low : high + 1] = script.number
    return numbers


def ranges_of_script(name: str) -> list[tuple[int, int]]:
    """The code points of a script by its name; none if there is no such script."""
    return next((script.ranges for script in _scripts() if script.name == name), [])


@elementwise
def unicode_script(input: Any, name: str | None = None) -> Tensor:
    """The number that ICU gives the script of each code point; -1 for what is none.

    >>> unicode_script([1, 31, 38]).numpy()
    array([0, 0, 0], dtype=int32)
    """
    codes = values_of(as_tensor(input, int32, "unicode_script"), "unicode_script")
    valid = (codes >= 0) & (codes < _COUNT)
    return Tensor(np.where(valid, _numbers()[np.where(valid, codes, 0)], np.int32(-1)))
