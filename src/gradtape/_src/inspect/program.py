"""What a compiled program takes of memory: read from the messages in which XLA accounts for it.

By the numbers of their fields (xla/service/hlo.proto): the logical buffers of a BufferAssignment,
those that there are at the peak of each allocation, and the instructions of the module that define
them, with the frames of the user's code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core.errors import DataLossError
from ..function.memory import Buffer, ProgramMemory
from ..train.summary.wire import BYTES, fields, integers


def memory_of(name: str, footprint: Any) -> ProgramMemory:
    """The ProgramMemory of a program, from its Footprint."""
    try:
        buffers = _at_peak(footprint.assignment, footprint.module)
    except (DataLossError, UnicodeDecodeError):  # another version of XLA's messages
        buffers = []
    return ProgramMemory(
        name,
        footprint.arguments,
        footprint.outputs,
        footprint.aliased,
        footprint.temporary,
        footprint.code,
        buffers,
    )


def _at_peak(assignment: bytes, module: bytes) -> list[Buffer]:
    """The temporary arrays at the peak, the largest first."""
    sizes: dict[int, tuple[int, int]] = {}  # of logical buffers: bytes, and the instruction
    temporary: dict[int, list[int]] = {}  # by allocation, all that have a place in it
    peaks: dict[int, list[int]] = {}
    for number, _, value in fields(assignment):
        if number == 1:
            entry = _message(value)
            defined = _message(entry.get(3, b""))
            sizes[entry.get(1, 0)] = entry.get(2, 0), defined.get(4, 0)
        elif number == 3:
            entry = _message(value)
            if not {3, 5, 7, 12} & entry.keys():  # of a thread, argument, result, constant
                temporary[entry.get(1, 0)] = [
                    _message(each).get(1, 0) for n, _, each in fields(value) if n == 9
                ]
        elif number == 5:
            entry = _message(value)
            peaks[entry.get(1, 0)] = [
                each for n, kind, part in fields(value) if n == 2 for each in integers(kind, part)
            ]
    ops = _instructions(module)
    found = []
    for allocation, placed in temporary.items():
        for buffer in dict.fromkeys(peaks.get(allocation, placed)):
            size, instruction = sizes.get(buffer, (0, 0))
            if size:
                found.append(Buffer(size, *ops.get(instruction, ("", "", 0))))
    return sorted(found, key=lambda buffer: -buffer.bytes)


def _instructions(module: bytes) -> dict[int, tuple[str, str, int]]:
    """What the instructions of a module are called, and their lines, by their ids."""
    frames: list[tuple[str, int]] = []
    computations = []
    for number, kind, value in fields(module):
        if number == 3 and kind == BYTES:
            computations.append(value)
        elif number == 17 and kind == BYTES:
            frames = list(_frames(value))
    found: dict[int, tuple[str, str, int]] = {}
    inside: dict[int, tuple[str, str, int]] = {}  # by computation, of the last that has a line
    for computation in computations:  # those that others call come first
        number_of_computation = _message(computation).get(5, 0)
        for number, _, value in fields(computation):
            if number != 2:
                continue
            entry = _message(value)
            metadata = _message(entry.get(7, b""))
            frame = metadata.get(15, 0)
            file, line = frames[frame - 1] if 0 < frame <= len(frames) else ("", 0)
            op = bytes(metadata.get(2, b"")).decode().rpartition("/")[2]
            named = op or bytes(entry.get(1, b"")).decode(), file, line
            if file:
                inside[number_of_computation] = named
            else:
                called = [c for n, k, part in fields(value) if n == 38 for c in integers(k, part)]
                named = next((inside[c] for c in called if c in inside), named)
            found[entry.get(35, 0)] = named
    return found


def _frames(index: bytes) -> Iterator[tuple[str, int]]:
    """File and line of each frame of a StackFrameIndex."""
    files: list[str] = []
    places: list[dict[int, Any]] = []
    for number, _, value in fields(index):
        if number == 1:
            files.append(bytes(value).decode())
        elif number == 3:
            places.append(_message(value))
        elif number == 4:
            place = places[_message(value).get(1, 1) - 1]
            yield files[place.get(1, 1) - 1], place.get(3, 0)


def _message(value: Any) -> dict[int, Any]:
    """The last value of each field."""
    return {number: each for number, _, each in fields(value)}
