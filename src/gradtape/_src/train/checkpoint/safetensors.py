"""Arrays in a file of the safetensors format, with checksums, complex numbers and strings.

A file is the length of a header (8 bytes, little-endian), the header (JSON: name, dtype, shape and
byte range of each array) and the bytes of the arrays. Any reader of safetensors reads it. What the
format has no place for stands in its metadata, a mapping from text to text:

    gradtape       version of these conventions: "1"
    crc32          JSON {name: CRC-32 of the array's bytes, 8 hexadecimal digits}
    header_crc32   CRC-32 of the header with "00000000" in this place
    encodings      JSON {name: {"dtype", "shape"}} of the arrays that the format has no dtype for:
                   complex numbers are floats with a last axis of 2; strings are bytes, which begin
                   with the length of each string in 8 bytes, little-endian
    links          JSON {path: path}: the object at the first is the one at the second

Nothing in a file is run or unpickled, and nothing in it is believed: `SafetensorsFile` checks every
statement of the header before an array is read, and the checksum of each array that is read. A file
without this metadata comes from another program, and is read without checksums.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Mapping
from io import BufferedReader
from typing import Any, BinaryIO, NamedTuple, TypeGuard, TypeVar
from weakref import finalize

import ml_dtypes
import numpy as np

from ...core.errors import DataLossError, UnimplementedError

_DTYPES = {
    name: np.dtype(dtype)
    for name, dtype in {
        "BOOL": np.bool_,
        "U8": np.uint8,
        "U16": np.uint16,
        "U32": np.uint32,
        "U64": np.uint64,
        "I8": np.int8,
        "I16": np.int16,
        "I32": np.int32,
        "I64": np.int64,
        "F8_E4M3": ml_dtypes.float8_e4m3fn,
        "F8_E5M2": ml_dtypes.float8_e5m2,
        "F16": np.float16,
        "BF16": ml_dtypes.bfloat16,
        "F32": np.float32,
        "F64": np.float64,
    }.items()
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_PARTS: dict[np.dtype[Any], np.dtype[Any]] = {
    np.dtype(np.complex64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.float64),
}
_STRING = np.dtype(object)
_ENCODED = {dtype.name: dtype for dtype in _PARTS} | {"string": _STRING}

_METADATA = "__metadata__"
_UNKNOWN = "00000000"  # a checksum not computed yet
_LONGEST_HEADER = 100_000_000  # the limit of the safetensors library
_MOST_AXES = 64  # the limit of NumPy
_CHUNK = 1 << 20  # bytes that stay in the processor's cache between checksum and copy


class Entry(NamedTuple):
    """One array of a file: what it is, and where its bytes are."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    stored_shape: tuple[int, ...]
    stored_dtype: np.dtype[Any]
    begin: int
    end: int
    crc32: str | None


def dtype_name(dtype: np.dtype[Any]) -> str:
    return "string" if dtype == _STRING else dtype.name


# Writing


def write(file: BinaryIO, arrays: Mapping[str, np.ndarray], links: Mapping[str, str]) -> None:
    """Write `arrays` to `file`, which is open, empty and seekable."""
    if _METADATA in arrays:
        raise ValueError(f"An array cannot be named {_METADATA!r}: safetensors keeps this name.")
    stored = {name: _encoded(name, array) for name, array in arrays.items()}
    # The largest elements first: every array is then aligned to its elements.
    stored = dict(sorted(stored.items(), key=lambda item: -item[1].dtype.itemsize))
    encodings = {
        name: {"dtype": dtype_name(array.dtype), "shape": array.shape}
        for name, array in arrays.items()
        if array.dtype not in _NAMES
    }
    crc32 = dict.fromkeys(stored, _UNKNOWN)
    file.write(_header(stored, crc32, encodings, links))
    for name, array in stored.items():
        crc32[name] = _write_bytes(file, array)
    file.seek(0)
    file.write(_header(stored, crc32, encodings, links))


def _encoded(name: str, array: np.ndarray) -> np.ndarray:
    """`array` in a dtype of the format, its elements in order."""
    if not array.flags.c_contiguous:
        array = array.copy(order="C")
    if array.dtype in _PARTS:
        return array.reshape(-1).view(_PARTS[array.dtype]).reshape(*array.shape, 2)
    if array.dtype == _STRING:
        texts = [bytes(text) for text in array.flat]
        lengths = np.array([len(text) for text in texts], "<u8")
        return np.frombuffer(lengths.tobytes() + b"".join(texts), np.uint8)
    if array.dtype not in _NAMES:
        raise ValueError(f"{name!r} has the dtype {array.dtype.name}, which cannot be saved.")
    return array


def _header(
    stored: Mapping[str, np.ndarray],
    crc32: Mapping[str, str],
    encodings: Mapping[str, Any],
    links: Mapping[str, str],
) -> bytes:
    metadata = {
        "gradtape": "1",
        "crc32": _json(crc32),
        "encodings": _json(encodings),
        "links": _json(links),
        "header_crc32": _UNKNOWN,
    }
    header: dict[str, Any] = {_METADATA: metadata}
    end = 0
    for name, array in stored.items():
        begin, end = end, end + array.nbytes
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": array.shape,
            "data_offsets": [begin, end],
        }
    text = _json(header).encode()
    text += b" " * (-len(text) % 8)  # the arrays begin at a multiple of 8
    if len(text) > _LONGEST_HEADER:
        raise ValueError(f"{len(stored)} arrays need a header of {len(text)} bytes: too long.")
    text = text.replace(_crc_field(_UNKNOWN), _crc_field(_hex(zlib.crc32(text))))
    return len(text).to_bytes(8, "little") + text


def _write_bytes(file: BinaryIO, array: np.ndarray) -> str:
    """Write the bytes of `array`; their checksum."""
    data, crc = _bytes_of(array), 0
    for i in range(0, len(data), _CHUNK):
        chunk = data[i : i + _CHUNK]
        crc = zlib.crc32(chunk, crc)
        file.write(chunk)
    return _hex(crc)


def _bytes_of(array: np.ndarray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _hex(crc: int) -> str:
    return f"{crc:08x}"


def _crc_field(crc: str) -> bytes:
    return f'"header_crc32":"{crc}"'.encode()


# Reading


class SafetensorsFile:
    """A file open for reading, its header checked; `read` gives the arrays."""

    entries: dict[str, Entry]
    links: dict[str, str]

    def __init__(self, file: BufferedReader) -> None:
        self._file = file
        finalize(self, file.close)  # not __del__: in a circle of garbage that may come too late
        self.path = file.name
        self._check()

    def close(self) -> None:
        self._file.close()

    def read(self, name: str) -> np.ndarray:
        """The array called `name`, in memory of its own."""
        entry = self.entries[name]
        array = np.empty(entry.stored_shape, entry.stored_dtype)
        data, crc = _bytes_of(array), 0
        self._file.seek(self._start + entry.begin)
        for i in range(0, len(data), _CHUNK):
            chunk = data[i : i + _CHUNK]
            if self._file.readinto(chunk) != len(chunk):
                raise self._damaged(f"it ends inside the array {name!r}")
            crc = zlib.crc32(chunk, crc)
        if entry.crc32 not in (None, _hex(crc)):
            raise self._damaged(f"the bytes of the array {name!r} do not have their checksum")
        if array.dtype == np.bool_ and np.any(array.view(np.uint8) > 1):
            raise self._damaged(f"the array {name!r} of BOOL holds bytes that are not 0 or 1")
        return self._decoded(name, array, entry)

    def _decoded(self, name: str, array: np.ndarray, entry: Entry) -> np.ndarray:
        if entry.dtype in _PARTS:
            return array.reshape(-1).view(entry.dtype).reshape(entry.shape)
        if entry.dtype == _STRING:
            return self._strings(name, array.tobytes(), entry.shape)
        return array

    def _strings(self, name: str, data: bytes, shape: tuple[int, ...]) -> np.ndarray:
        begin = 8 * math.prod(shape)
        lengths = np.frombuffer(data[:begin], "<u8").tolist()
        if begin + sum(lengths) != len(data):
            raise self._damaged(f"the lengths of the strings in {name!r} do not add up")
        strings = np.empty(len(lengths), object)
        for i, length in enumerate(lengths):
            strings[i] = data[begin : begin + length]
            begin += length
        return strings.reshape(shape)

    # The header. Every value in it may be anything until it was checked.

    def _check(self) -> None:
        size = os.fstat(self._file.fileno()).st_size
        length = int.from_bytes(self._file.read(8), "little")
        if size < 8 or length > min(size - 8, _LONGEST_HEADER):
            raise self._damaged(f"a header of {length} bytes does not fit into its {size} bytes")
        text = self._file.read(length)
        self._start = 8 + length
        header = self._json(text, "the header")
        metadata = self._metadata(header.pop(_METADATA, {}), text)
        self.links = self._json(metadata.get("links", "{}"), "the metadata 'links'", str)
        crc32 = self._json(metadata.get("crc32", "{}"), "the metadata 'crc32'", str)
        encodings = self._json(metadata.get("encodings", "{}"), "the metadata 'encodings'", dict)
        if not encodings.keys() <= header.keys() or (metadata and crc32.keys() != header.keys()):
            raise self._damaged("the metadata and the header name different arrays")
        self.entries = {
            name: self._entry(name, statement, encodings.get(name), crc32.get(name))
            for name, statement in header.items()
        }
        end = 0
        for name, entry in sorted(self.entries.items(), key=lambda item: item[1][4:6]):
            if entry.begin != end:
                raise self._damaged(f"the array {name!r} begins at {entry.begin}, not at {end}")
            end = entry.end
        if end != size - self._start:
            raise self._damaged(
                f"its arrays fill {end} bytes, and there are {size - self._start} after the header"
            )

    def _metadata(self, metadata: Any, text: bytes) -> dict[str, str]:
        """Our own metadata, with a right checksum; none in a file of another program."""
        if not _is_dict_of(metadata, str):
            raise self._damaged("its metadata is not a mapping from text to text")
        if not metadata.keys() & {"gradtape", "crc32", "header_crc32"}:
            if b"header_crc32" in text:
                raise self._damaged("its metadata stands in another place of its header")
            return {}
        crc = metadata.get("header_crc32", "")
        if _hex(zlib.crc32(text.replace(_crc_field(crc), _crc_field(_UNKNOWN)))) != crc:
            raise self._damaged("its header does not have its checksum")
        if metadata.get("gradtape") != "1":
            raise UnimplementedError(
                f"{self.path}: written by a newer gradtape, with the conventions "
                f"{metadata.get('gradtape')!r:.20}. This one knows those of '1'."
            )
        return metadata

    def _json(self, text: bytes | str, what: str, values: type = object) -> dict[str, Any]:
        try:
            found = json.loads(
                str(text, "utf-8") if isinstance(text, bytes) else text,
                object_pairs_hook=_without_repetition,
                parse_constant=_refuse_constant,
            )
        except (ValueError, RecursionError) as error:
            raise self._damaged(f"{what} is not JSON as it should be: {error!s:.200}") from None
        if not _is_dict_of(found, values):
            raise self._damaged(f"{what} is not a mapping to {values.__name__}")
        return found

    def _entry(self, name: str, statement: Any, encoding: Any, crc32: str | None) -> Entry:
        if not isinstance(statement, dict):
            raise self._damaged(f"the header says {statement!r:.100} of the array {name!r}")
        dtype = _DTYPES.get(str(statement.get("dtype")))
        if dtype is None:
            raise self._damaged(
                f"the array {name!r} has the unknown dtype {statement.get('dtype')!r:.100}"
            )
        shape = self._shape(name, statement.get("shape"))
        begin, end = self._range(name, statement.get("data_offsets"))
        if math.prod(shape) * dtype.itemsize != end - begin:
            raise self._damaged(
                f"the array {name!r} of {dtype.name} and shape {shape} does not fill its "
                f"{end - begin} bytes"
            )
        if encoding is None:
            return Entry(shape, dtype, shape, dtype, begin, end, crc32)
        meant = _ENCODED.get(str(encoding.get("dtype")))
        meant_shape = self._shape(name, encoding.get("shape"))
        if meant == _STRING:
            fits = (
                dtype == np.uint8 and len(shape) == 1 and 8 * math.prod(meant_shape) <= end - begin
            )
        else:
            fits = meant in _PARTS and dtype == _PARTS[meant] and shape == (*meant_shape, 2)
        if not fits or meant is None:
            raise self._damaged(
                f"the array {name!r} of {dtype.name} and shape {shape} does not encode "
                f"{encoding!r:.200}"
            )
        return Entry(meant_shape, meant, shape, dtype, begin, end, crc32)

    def _shape(self, name: str, shape: Any) -> tuple[int, ...]:
        if (
            not _is_sizes(shape)
            or len(shape) > _MOST_AXES
            or math.prod(max(n, 1) for n in shape) >= 2**59  # NumPy counts the bytes in 63 bits
        ):
            raise self._damaged(f"the array {name!r} has the shape {shape!r:.100}")
        return tuple(shape)

    def _range(self, name: str, offsets: Any) -> tuple[int, int]:
        if not _is_sizes(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
            raise self._damaged(f"the array {name!r} has the byte range {offsets!r:.100}")
        return offsets[0], offsets[1]

    def _damaged(self, problem: str) -> DataLossError:
        return DataLossError(
            f"{self.path}: {problem}. The file is damaged, or no safetensors file; nothing was "
            "taken from it."
        )


_Value = TypeVar("_Value")


def _is_dict_of(value: Any, values: type[_Value]) -> TypeGuard[dict[str, _Value]]:
    return isinstance(value, dict) and all(isinstance(v, values) for v in value.values())


def _is_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(n) is int and n >= 0 for n in value)


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{max(names, key=names.count)!r:.100} stands there twice")
    return found


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is no JSON")
