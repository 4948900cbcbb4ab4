"""What goes over the bus: counted, and reported if one line does it again and again.

A copy between the host and the card takes as long as a hundred small ops, and waits for all that
the card has to do. What the user asked for (`.numpy()`, `tf.identity` in a block for a device)
is counted only; what happens on the way, because an op met arrays of both sides, is reported once
for the line that made it several times.
"""

from __future__ import annotations

import logging
import os
import sys
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import local
from typing import Any
from weakref import ref

import cupy
import numpy as np

from ...core.tracing import tracing

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
            what = f"{nbytes} bytes were copied {way}, for the {_SEVERAL}th time at this line."
            for witness in tracing.witnesses:
                witness.copied(place[0], place[1], what)
            logging.getLogger("gradtape").warning(
                "%s:%d: %s Keep the tensor where it is used: make it in a block `with "
                "tf.device(...)`, or let the dataset bring it there "
                "(tf.data.experimental.prefetch_to_device).",
                place[0], place[1], what,
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


_PIECE = 2**23  # bytes
_THREADS = 8
"""One thread copies 10 GB/s into pinned memory, the card takes 55 from there."""


class _Uploads(local):
    """A stream for copies, and pinned memory for them: of each thread."""

    def __init__(self) -> None:
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self.begin = cupy.cuda.Event(disable_timing=True)
        self.pieces: list[Any] = []
        self.copied: list[Any] = []  # an event for each piece: the card has read it

    def grow(self, count: int) -> None:
        """Have this many pieces of pinned memory."""
        while len(self.pieces) < count:
            memory = cupy.cuda.alloc_pinned_memory(_PIECE)
            self.pieces.append(np.frombuffer(memory, np.uint8, _PIECE))
            self.copied.append(cupy.cuda.Event(disable_timing=True))


_uploads: Any = None


class _Locked:
    """Large arrays whose memory is pinned where it is, as long as they live.

    To pin 256 MB takes 13 ms, a copy into pinned memory 8: it pays from the second part on, as of
    an array that the batches of a dataset are slices of.
    """

    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}  # by address: a weak reference to the array
        self._pinned: dict[int, Any] = {}
        self._bytes = 0

    def holds(self, array: Any) -> bool:
        """Whether this memory is pinned; pins it if it is time to."""
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if not owner.flags.owndata or owner.nbytes < _LARGE_OWNER or owner is array:
            return False
        address = owner.ctypes.data
        known = self._pinned.get(address)
        if known is not None and known() is owner:
            return True
        seen = self._seen.get(address)
        if seen is None or seen() is not owner:
            self._seen[address] = ref(owner, lambda _: self._seen.pop(address, None))
            return False
        return self._pin(owner, address)

    def _pin(self, owner: Any, address: int) -> bool:
        size = owner.nbytes
        if self._bytes + size > _most_pinned():
            return False
        try:
            cupy.cuda.runtime.hostRegister(address, size, 0)
        except cupy.cuda.runtime.CUDARuntimeError:
            self._bytes = _most_pinned()  # the system allows no more
            return False
        self._bytes += size

        def release(_: Any) -> None:  # before the memory is freed
            cupy.cuda.runtime.hostUnregister(address)
            self._bytes -= size
            self._pinned.pop(address, None)

        self._pinned[address] = ref(owner, release)
        return True


_LARGE_OWNER = 2**26  # bytes


@cache
def _most_pinned() -> int:
    """A quarter of the memory: what is pinned the system cannot use otherwise."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


_locked = _Locked()


@cache
def _copiers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1), "gradtape-upload")


def upload(array: Any) -> Any:
    """A copy on the card, from pinned memory, on a stream of its own.

    Pieces of it are copied into that memory by several threads, and to the card when they are
    there; out of a large array of which this is the second part to come, without that. It waits
    until the copy is made: to be called by a thread that prefetches.
    """
    global _uploads
    if _uploads is None:
        _uploads = _Uploads()
    own = _uploads
    result = cupy.empty(array.shape, array.dtype)
    own.begin.record()
    own.stream.wait_event(own.begin)  # kernels before may still read what that memory held
    if array.flags.c_contiguous and _locked.holds(array):
        cupy.cuda.runtime.memcpyAsync(
            result.data.ptr, array.ctypes.data, array.nbytes, _TO_CARD, own.stream.ptr
        )
        own.stream.synchronize()
        return result
    source = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    starts = range(0, source.size, _PIECE)
    own.grow(min(len(starts), 2 * _THREADS))
    ring = len(own.pieces)
    waiting: deque[tuple[int, int, Any]] = deque()

    def send() -> None:
        number, start, copy = waiting.popleft()
        size = copy.result() if isinstance(copy, Future) else copy
        piece = own.pieces[number]
        cupy.cuda.runtime.memcpyAsync(
            result.data.ptr + start, piece.ctypes.data, size, _TO_CARD, own.stream.ptr
        )
        own.copied[number].record(own.stream)

    for i, start in enumerate(starts):
        if len(waiting) == ring:
            send()
        if i >= ring:
            own.copied[i % ring].synchronize()
        part = source[start : start + _PIECE]
        if len(starts) == 1:
            copy: Any = _copied(own.pieces[0], part)
        else:
            copy = _copiers().submit(_copied, own.pieces[i % ring], part)
        waiting.append((i % ring, start, copy))
    while waiting:
        send()
    own.stream.synchronize()
    return result


def _copied(piece: Any, part: Any) -> int:
    np.copyto(piece[: part.size], part)  # other threads run meanwhile
    return int(part.size)


_TO_CARD = 1  # cudaMemcpyHostToDevice
