"""Transposing: how a derivative that goes backward is turned into one that goes forward.

A gradient rule is linear in its cotangent, so its own gradient maps input tangents to output
tangents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.cotangent import dense
from ..core.recorder import Tape, heard_by, recorders
from ..core.tensor import Tensor, key_of


def recorded(
    f: Callable[[list[Tensor]], Any], inputs: list[Tensor]
) -> tuple[Tensor | None, list[Any]]:
    """`f(inputs)`, dense and with a key, and its records, last first; (None, []) if it is None."""
    tape = Tape()
    tape.tracked.update(map(key_of, inputs))
    with heard_by([*recorders(), tape]):
        output = f(inputs)
        if output is None:
            return None, []
        output = dense(output)
    key_of(output)
    return output, tape.records[::-1]
