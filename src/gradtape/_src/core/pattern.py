"""Patterns: what a declaration says about which elements of the output depend on which inputs.

The `pattern` of an op is one of three:

- None: every output on every element of every argument. Always right, and the default.
- MOVES: each element of the output is a sum of some elements of the argument, each taken once, or
  does not depend on it. Which ones depends on no value of a differentiable argument.
- a function of the position of an input, its shape, the shape of an output and the static
  parameters, that gives the axes along which elements stay apart, as pairs (axis of the input, axis
  of the output): where the indices along a pair differ, there is no dependence. Pairs of axes of
  different size, as broadcasting makes them, say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

Shape = tuple[int, ...]
AxisPairs = list[tuple[int, int]]
AxisRule = Callable[[int, Shape, Shape, Mapping[str, Any]], AxisPairs]
Pattern = AxisRule | Literal["moves"] | None

MOVES: Literal["moves"] = "moves"


def aligned(inside: int) -> AxisRule:
    """Axes broadcast, counted from the last; the last `inside` ones of each argument mix."""

    def pairs(position: int, x: Shape, out: Shape, params: Mapping[str, Any]) -> AxisPairs:
        offset = len(out) - len(x)
        return [(i, i + offset) for i in range(len(x) - inside) if i + offset >= 0]

    return pairs


def leading(inside: int) -> AxisRule:
    """The first axes of the argument are those of the output; its last `inside` ones mix."""

    def pairs(position: int, x: Shape, out: Shape, params: Mapping[str, Any]) -> AxisPairs:
        return [(i, i) for i in range(len(x) - inside)]

    return pairs


def across(name: str) -> AxisRule:
    """The axes that the static parameter `name` holds mix, and are kept or dropped."""

    def pairs(position: int, x: Shape, out: Shape, params: Mapping[str, Any]) -> AxisPairs:
        given = params[name]
        axes = given if isinstance(given, (tuple, list)) else (given,)
        mixed = {axis % len(x) for axis in axes} if x else set()
        stay = [i for i in range(len(x)) if i not in mixed]
        return [(i, i if len(out) == len(x) else place) for place, i in enumerate(stay)]

    return pairs


ELEMENTWISE = aligned(0)
each_matrix = leading(2)
