"""The bytes of protocol buffers: fields, written and read by their numbers."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...core.errors import DataLossError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_FEW = 64  # bytes; a loop of Python is quicker up to here


# Writing


def message(fields: Mapping[int, Any]) -> bytes:
    """A message of `fields` by number; a list is a repeated field, bytes may be a message.

    None, 0 and "" are what a reader takes a missing field for, and are left out; b"" is not, as
    an empty message differs from none.
    """
    return b"".join(
        _field(number, value)
        for number, values in fields.items()
        for value in (values if isinstance(values, list) else [values])
        if value is not None and value != 0 and value != ""
    )


def _field(number: int, value: int | float | str | bytes) -> bytes:
    if isinstance(value, int):
        return _written(number << 3) + _written(value)
    if isinstance(value, float):
        return _written(number << 3 | 1) + struct.pack("<d", value)
    encoded = value.encode() if isinstance(value, str) else value
    return _written(number << 3 | 2) + _written(len(encoded)) + encoded


def _written(value: int) -> bytes:
    """Seven bits a byte, the lowest first; a negative number as its 64 bits."""
    value &= 0xFFFF_FFFF_FFFF_FFFF
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def packed(values: Any) -> bytes:
    """Integers as they stand in one field."""
    return b"".join([_written(int(value)) for value in values])


# Reading


def fields(data: bytes) -> Iterator[tuple[int, int, Any]]:
    """Number, kind and value of each field: an integer, or bytes for all other kinds."""
    at, end = 0, len(data)
    while at < end:
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        value: Any
        if kind == BYTES:
            size, at = varint(data, at)
        elif kind == VARINT:
            value, at = varint(data, at)
            yield number, kind, value
            continue
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
        else:
            raise DataLossError(f"A message has a field of kind {kind}, which does not exist.")
        value, at = data[at : at + size], at + size
        if at > end:
            raise DataLossError("A message ends in the middle of a field.")
        yield number, kind, value


def varint(data: bytes, at: int) -> tuple[int, int]:
    """The number that begins at a place, seven bits a byte, and the place after it."""
    result = shift = 0
    while True:
        try:
            byte = data[at]
        except IndexError:
            raise DataLossError("A message ends in the middle of a number.") from None
        at += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, at
        shift += 7
        if shift > 63:
            raise DataLossError("A message has a number of more than 64 bits.")


def signed(value: int) -> int:
    """The number of 64 bits, read as one with a sign."""
    value &= 0xFFFF_FFFF_FFFF_FFFF
    return value - (1 << 64) if value >> 63 else value


def integers(kind: int, value: Any) -> Any:
    """The int64 values of a field of integers, packed or one alone."""
    if kind == VARINT:
        return [signed(value)]
    if len(value) <= _FEW:
        found, at = [], 0
        while at < len(value):
            number, at = varint(value, at)
            found.append(signed(number))
        return found
    data = np.frombuffer(value, np.uint8)
    ends = np.flatnonzero(data < 0x80)
    if not len(ends) or ends[-1] != len(data) - 1:
        raise DataLossError("A message ends in the middle of a number.")
    starts = np.concatenate([[0], ends[:-1] + 1])
    places = np.arange(len(data)) - np.repeat(starts, ends - starts + 1)
    parts = (data & 0x7F).astype(np.uint64) << (7 * places).astype(np.uint64)
    return np.add.reduceat(parts, starts).view(np.int64)


def floats(value: bytes, dtype: str = "<f4") -> Any:
    """The values of a field of floats, packed or one alone."""
    return np.frombuffer(value, dtype)
