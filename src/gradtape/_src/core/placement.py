"""Where new values live: on the host, or on the GPU, if there is one in use.

An op runs where its arrays are, so this is asked only where values are made: by variables, by what
becomes a tensor inside of a block `with device(...)`, and by what compiled functions give back.
The GPU is looked for when it is first asked about. GRADTAPE_DEVICE=cpu keeps all on the host.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from .dtypes import INEXACT
from .engine import Engine, engine_of

CPU, GPU = "CPU", "GPU"


class Placement:
    """Which engine holds new values. One object for the process: `placement`."""

    soft = True
    """Whether an op that the GPU has no kernel for may run on the CPU, and so a block for a device
    that is not there."""

    tf32 = True
    """Whether a GPU may round the factors of products of float32 to 10 bits, as its tensor cores
    take them. A trace is for one or the other."""

    log = False
    """Whether the device of each new variable, and of what a block makes, is logged."""

    def __init__(self) -> None:
        self._look: Callable[[], tuple[Engine | None, str]] | None = None
        self.blocks = False  # whether there was ever a block for a device, in any thread
        self.block_of_thread: ContextVar[str | None] = ContextVar("device", default=None)

    def supply(self, look: Callable[[], tuple[Engine | None, str]]) -> None:
        """Let `look()` find the engine of a GPU, or give None and the reason."""
        self._look = look

    card: Engine | None
    """The engine of the GPU; None if there is none, or it is not to be used."""

    reason: str
    """Why there is no GPU in use; "" if there is one."""

    def __getattr__(self, name: str) -> Any:
        if name not in ("card", "reason"):
            raise AttributeError(name)
        self._find()  # once: an ordinary attribute ever after, which a compiled call looks at
        return self.__dict__[name]

    def _find(self) -> None:
        wanted = os.environ.get("GRADTAPE_DEVICE", "").upper().strip("/").partition(":")[0]
        if wanted not in ("", CPU, GPU):
            raise ValueError(
                f"GRADTAPE_DEVICE={os.environ['GRADTAPE_DEVICE']!r}: it can be cpu or gpu."
            )
        card, reason = None, "GRADTAPE_DEVICE=cpu"
        if wanted != CPU and self._look is not None:
            card, reason = self._look()
        if wanted == GPU and card is None:
            raise RuntimeError(f"GRADTAPE_DEVICE=gpu, and there is no GPU to be used: {reason}.")
        self.card, self.reason = card, reason

    def hide(self) -> None:
        """Use no GPU from here on."""
        self.card, self.reason = None, "it is hidden"

    def forget(self) -> None:
        """Look for the GPU again when it is next asked about."""
        self.__dict__.pop("card", None)
        self.__dict__.pop("reason", None)

    # Blocks

    def enter(self, kind: str | None) -> Any:
        self.blocks = True
        return self.block_of_thread.set(kind)

    def leave(self, token: Any) -> None:
        self.block_of_thread.reset(token)

    @property
    def block(self) -> str | None:
        """The device of the block around this line: "CPU", "GPU", or None."""
        return self.block_of_thread.get() if self.blocks else None

    # Answers

    def placed(self, array: Any) -> Any:
        """An array on the device of the block around this line; without one, as it is."""
        block = self.block
        if block is None or array.dtype == object or hasattr(type(array), "_trace"):
            return array
        return on_device(array, block)

    def new_variable(self, array: Any) -> Any:
        """The array of a new variable, where it is to live.

        Without a block: numbers with a gradient on the GPU, others (counters, text) on the host,
        where Python looks at them.
        """
        block = self.block
        card = self.card
        if block is None and (card is None or array.dtype not in INEXACT):
            return array
        if array.dtype == object or hasattr(type(array), "_trace"):
            return array
        array = on_device(array, block or GPU)
        if self.log:
            import logging  # 2 ms, for this line alone

            place = CPU if card_of(array) is None else GPU
            logging.getLogger("gradtape").info("A variable of shape %s: %s", array.shape, place)
        return array


placement = Placement()


cards: dict[type, Any] = {}
"""The engines of GPUs by the type of their arrays."""

beside_cards: list[Callable[[], None]] = []
"""What is called when the first of them is there: CPUs without one pay nothing for it."""


def enter_card(kind: type, engine: Any) -> None:
    """Let an engine be that of a GPU, whose arrays are of this type."""
    cards[kind] = engine
    for tell in beside_cards:
        tell()


def card_of(array: Any) -> Any:
    """The engine of an array that is on a GPU; None for any other, symbols and what is no array."""
    return cards.get(type(array))


def where_it_is(array: Any, make: Callable[[], Any]) -> Any:
    """`make()`, on the GPU if this array is there and no block says otherwise."""
    if card_of(array) is None or placement.block is not None:
        return make()
    return _made_on(GPU, make)


def where_python_looks(make: Callable[[], Any]) -> Any:
    """`make()` on the host, also inside of a block for the GPU: seeds, and states of generators."""
    return make() if placement.block is None else _made_on(CPU, make)


def _made_on(kind: str, make: Callable[[], Any]) -> Any:
    token = placement.enter(kind)
    try:
        return make()
    finally:
        placement.leave(token)


def on_device(array: Any, kind: str) -> Any:
    """An array on the host or on the GPU: itself, if it is there already."""
    if kind == CPU:
        return on_host(array)
    card = placement.card
    return array if card is None or not engine_of(type(array)).is_host else card.asarray(array)


def on_host(array: Any) -> Any:
    """An array of NumPy in place of one on a device of its own; others, and symbols, as is."""
    card = card_of(array)
    return array if card is None else card.to_numpy(array)
