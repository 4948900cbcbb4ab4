"""Event files, which TensorBoard reads: protocol buffers in TFRecord frames, written by hand.

A file is a row of frames, each an `Event` with its length and two checksums. The few messages
that summaries need are encoded here, so nothing has to be installed to write them. The numbers of
the fields are those of TensorFlow's event.proto, summary.proto and tensor.proto.
"""

from __future__ import annotations

import os
import socket
import struct
import time
import weakref
from functools import cache
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ...core.dtypes import of_numpy
from .wire import message

# Messages


def plugin_metadata(plugin: str, description: str | None = None, content: bytes = b"") -> bytes:
    """A `SummaryMetadata`: which of TensorBoard's plugins shows the values, and what they are."""
    return message({1: message({1: plugin, 2: content or None}), 3: description})


def summary_value(tag: str, array: Any, metadata: bytes | None) -> bytes:
    """A `Summary` of one value: an array under a tag."""
    return message({1: message({1: tag, 8: tensor_message(array), 9: metadata})})


def event(step: int, summary: bytes | None = None, graph_def: bytes | None = None) -> bytes:
    return message({1: time.time(), 2: step, 4: graph_def, 5: summary})


def tensor_message(array: Any) -> bytes:
    """A `TensorProto`."""
    shape = message({2: [message({1: size}) for size in array.shape]})
    values: dict[int, Any]
    if array.dtype == object:
        values = {8: list(array.flat)}
    else:
        values = {4: array.astype(array.dtype.newbyteorder("<"), order="C").tobytes() or None}
    return message({1: of_numpy(array.dtype).as_datatype_enum, 2: shape, **values})


# Frames


def frame(record: bytes) -> bytes:
    """`record` as TFRecord files hold it: length, checksum of the length, record, checksum."""
    length = struct.pack("<Q", len(record))
    return b"".join(
        [
            length,
            struct.pack("<I", masked_crc(length)),
            record,
            struct.pack("<I", masked_crc(record)),
        ]
    )


def masked_crc(data: bytes) -> int:
    """The checksum, turned and shifted, as it should not lie in the data it is about."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282_EAD8) & 0xFFFF_FFFF


def crc32c(data: bytes) -> int:
    """The CRC-32C (Castagnoli) of `data`.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    if len(data) > 1024:  # 0.2 ms either way
        return _crc32c_of_many(data)
    table, register = _table(), 0xFFFF_FFFF
    for byte in data:
        register = table[(register ^ byte) & 0xFF] ^ register >> 8
    return register ^ 0xFFFF_FFFF


@cache
def _table() -> list[int]:
    """The register after each byte, from a register of zeros."""
    registers = list(range(256))
    for _ in range(8):
        registers = [r >> 1 ^ (0x82F6_3B78 if r & 1 else 0) for r in registers]
    return registers


def _crc32c_of_many(data: bytes) -> int:
    """By halves: the register is linear in the data, so neighbours combine, all pairs at once.

    Leading zeros do not move a register of zeros, so they fill up to a power of two; the initial
    register of ones amounts to the complement of the first four bytes. 25 ms for a megabyte,
    where the loop over bytes takes 120.
    """
    levels = (len(data) - 1).bit_length()
    padded = np.zeros(1 << levels, np.uint8)
    padded[-len(data) :] = np.frombuffer(data, np.uint8)
    padded[-len(data) :][:4] ^= 0xFF
    registers = np.array(_table(), np.uint32)[padded]
    for level in range(levels):
        registers = _shifted(registers[::2], level) ^ registers[1::2]
    return int(registers[0]) ^ 0xFFFF_FFFF


def _shifted(registers: Any, level: int) -> Any:
    """`registers` after 2**level more bytes, all zero: a sum over their four bytes."""
    first, second, third, fourth = _shift_tables(level)
    a, b, c, d = registers.astype("<u4").view(np.uint8).reshape(-1, 4).T
    return first[a] ^ second[b] ^ third[c] ^ fourth[d]


@cache
def _shift_tables(level: int) -> Any:
    """For each of four places and each byte there: the register after 2**level zero bytes."""
    places = np.arange(256, dtype=np.uint32) << np.array([[0], [8], [16], [24]], np.uint32)
    if level:
        return _shifted(_shifted(places.ravel(), level - 1), level - 1).reshape(4, 256)
    return np.array(_table(), np.uint32)[places & 0xFF] ^ places >> np.uint32(8)


# Files

_numbers = count()


class EventFile:
    """A new event file in a folder, which is made if needed.

    Events wait in memory until there are more than `max_queue` of them, `flush_seconds` have
    passed, or `flush` is called. They are then handed to the operating system in one piece, and
    are safe there if this process is killed. At the end of the process, what waits is written.
    """

    def __init__(self, folder: Any, max_queue: int, flush_seconds: float, suffix: str) -> None:
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        now = time.time()
        place = f"{socket.gethostname()}.{os.getpid()}.{next(_numbers)}"
        self.path = folder / f"events.out.tfevents.{int(now):010d}.{place}{suffix}"
        self._max_queue = max_queue
        self._flush_seconds = flush_seconds
        self._waiting: list[bytes] = []
        self._flushed_at = now
        self._lock = Lock()
        self._file = open(self.path, "xb", buffering=0)  # noqa: SIM115 - `close` closes it
        header = message({1: now, 3: "brain.Event:2", 10: message({1: "gradtape"})})
        _append(self._file, [frame(header)])
        self._finalizer = weakref.finalize(self, _finish, self._file, self._waiting)

    @property
    def closed(self) -> bool:
        return self._file.closed

    def add(self, record: bytes) -> None:
        """Write the event `record`, now or later."""
        framed = frame(record)
        with self._lock:
            self._waiting.append(framed)
            due = time.time() - self._flushed_at > self._flush_seconds
            if due or len(self._waiting) > self._max_queue:
                self._flush()

    def flush(self) -> None:
        with self._lock:
            if not self.closed:
                self._flush()

    def close(self) -> None:
        with self._lock:
            self._finalizer()

    def _flush(self) -> None:
        _append(self._file, self._waiting)
        self._flushed_at = time.time()


def _append(file: Any, waiting: list[bytes]) -> None:
    """Write what waits; if that fails (a full disk), leave the file and `waiting` as they were."""
    start, data = file.tell(), memoryview(b"".join(waiting))
    try:
        while data:
            data = data[file.write(data) :]
    except OSError:
        file.seek(start)
        file.truncate()
        raise
    waiting.clear()


def _finish(file: Any, waiting: list[bytes]) -> None:
    with file:
        _append(file, waiting)
