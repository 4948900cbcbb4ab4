"""What goes over the bus: counted, and reported if one line does it again and again.

A copy between the host and the card takes as long as a hundred small ops, and waits for all that
the card has to do. What the user asked for (`.numpy()`, `tf.identity` in a block for a device)
is counted only; what happens on the way, because an op met arrays of both sides, is reported once
for the line that made it several times.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import local
from typing import Any

import cupy
import numpy as np

_PACKAGE = str(Path(__file__).parents[3])
_LARGE = 2**16
"""Bytes from which a copy is worth a word: smaller ones go along with the launch of a kernel."""
_SEVERAL = 8


class Transfers:
    """How many copies were made each way, and how many bytes."""

    def __init__(self) -> None:
        self.to_card = self.to_host = 0
        self.bytes_to_card = self.bytes_to_host = 0
        self._lines: Counter[tuple[str, int, bool]] = Counter()

    def count_to_card(self, nbytes: int, silent: bool = False) -> None:
        """A copy to the card; `silent` if the user's line does not say so."""
        self.to_card += 1
        self.bytes_to_card += nbytes
        if silent and nbytes >= _LARGE:
            self._note(nbytes, to_card=True)

    def count_to_host(self, nbytes: int, silent: bool = False) -> None:
        self.to_host += 1
        self.bytes_to_host += nbytes
        if silent and nbytes >= _LARGE:
            self._note(nbytes, to_card=False)

    def _note(self, nbytes: int, to_card: bool) -> None:
        frame = sys._getframe(2)
        while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
            frame = frame.f_back
        place = (frame.f_code.co_filename, frame.f_lineno, to_card)
        self._lines[place] += 1
        if self._lines[place] == _SEVERAL:
            way = "from the host to the GPU" if to_card else "from the GPU to the host"
            logging.getLogger("gradtape").warning(
                "%s:%d: %d bytes were copied %s, for the %dth time at this line. Keep the tensor "
                "where it is used: make it in a block `with tf.device(...)`, or let the dataset "
                "bring it there (tf.data.experimental.prefetch_to_device).",
                place[0], place[1], nbytes, way, _SEVERAL,
            )  # fmt: skip


transfers = Transfers()
"""Those of this process."""


class Counted:
    """The copies made in a block: filled when it ends."""

    to_card = to_host = bytes_to_card = bytes_to_host = 0


@contextmanager
def counted() -> Iterator[Counted]:
    """A block whose copies are counted: what it gives has the numbers when the block is over."""
    names = ("to_card", "to_host", "bytes_to_card", "bytes_to_host")
    before: dict[str, Any] = {name: getattr(transfers, name) for name in names}
    result = Counted()
    try:
        yield result
    finally:
        for name in names:
            setattr(result, name, getattr(transfers, name) - before[name])


class _Uploads(local):
    """A stream for copies, and pinned memory for them: of each thread."""

    def __init__(self) -> None:
        self.stream = cupy.cuda.Stream(non_blocking=True)


_uploads: Any = None


def upload(array: Any) -> Any:
    """A copy on the card, from pinned memory, on a stream of its own.

    It waits until the copy is made: to be called by a thread that prefetches.
    """
    global _uploads
    if _uploads is None:
        _uploads = _Uploads()
    pinned = np.frombuffer(
        cupy.cuda.alloc_pinned_memory(array.nbytes), array.dtype, array.size
    ).reshape(array.shape)
    pinned[...] = array
    result = cupy.empty(array.shape, array.dtype)
    stream = _uploads.stream
    result.set(pinned, stream=stream)
    stream.synchronize()
    return result
