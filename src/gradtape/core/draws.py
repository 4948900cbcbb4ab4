"""Random draws inside a batch: each element has its own."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from .tensor import Tensor

batches: ContextVar[tuple[Any, ...]] = ContextVar("batches", default=())
"""The batches around this line whose elements draw for themselves, outermost first."""


def drawn(draw: Callable[[tuple[int, ...]], Any], shape: tuple[int, ...]) -> Tensor:
    """The tensor of `draw(shape)`, drawn anew for each element of the batches around."""
    around = batches.get()
    x = Tensor(draw((*(batch.size for batch in around), *shape)))
    for batch in around:
        x = batch.of(x)
    return x
