"""Random draws inside a batch: each element has its own."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from .errors import InvalidArgumentError, ValuesNeeded
from .tensor import Tensor

batches: ContextVar[tuple[Any, ...]] = ContextVar("batches", default=())
"""The batches around this line whose elements draw for themselves, outermost first."""


def per_element(draw: Callable[[tuple[int, ...]], Any], shape: tuple[int, ...]) -> Tensor:
    """The tensor of `draw(shape)`; inside batches, one drawn for each of their elements."""
    if any([n < 0 for n in shape]):
        raise InvalidArgumentError(f"A random draw: shape={shape} has a negative dimension.")
    around = batches.get()
    x = Tensor(draw((*(batch.size for batch in around), *shape)))
    for batch in around:
        x = batch.of(x)
    return x


def refuse_batches(op: str) -> None:
    """Raise inside a batch, for a draw that cannot be made for all elements together."""
    if batches.get():
        raise ValuesNeeded(f"{op}: each element of a batch draws for itself.")
