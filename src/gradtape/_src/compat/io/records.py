"""TFRecord files: records of bytes, each with its length and checksums."""

from __future__ import annotations

import gzip
import io
import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from ...core.errors import DataLossError, FailedPreconditionError, InvalidArgumentError
from ...train.summary.event_file import frame, masked_crc
from .gfile import path_of, tensorflow_errors

_KINDS = ("", "GZIP", "ZLIB")


def compression(kind: Any, op: str) -> str:
    """The name of a compression, as users give it."""
    text = "" if kind is None else kind.decode() if isinstance(kind, bytes) else str(kind)
    if text not in _KINDS:
        raise InvalidArgumentError(f"{op}: the compression must be one of {_KINDS}, not {kind!r}.")
    return text


class TFRecordOptions:
    """How a TFRecord file is compressed; the other options tune zlib."""

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: Any = None,
        input_buffer_size: Any = None,
        output_buffer_size: Any = None,
        window_bits: Any = None,
        compression_level: Any = None,
        compression_method: Any = None,
        mem_level: Any = None,
        compression_strategy: Any = None,
    ) -> None:
        self.compression_type = compression_type
        self.get_compression_type_string(compression_type)
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """The name of the compression: of options, or given by itself."""
        if isinstance(options, TFRecordOptions):
            options = options.compression_type
        return compression(options, "TFRecordOptions")


class TFRecordWriter:
    """Writes records to a file, `with` or without; `options` may be "GZIP" or "ZLIB"."""

    def __init__(self, path: Any, options: Any = None) -> None:
        op = "TFRecordWriter"
        self._name = path_of(path, op)
        kind = TFRecordOptions.get_compression_type_string(options)
        level = getattr(options, "compression_level", None)
        level = -1 if level is None else level
        with tensorflow_errors(op):
            self._file: Any = open(self._name, "wb")  # noqa: SIM115 - `close` closes it
        self._zlib = zlib.compressobj(level, wbits=_wbits(kind)) if kind else None

    def write(self, record: Any) -> None:
        """Write a record: bytes, or a text."""
        self._check_open()
        data = record.encode() if isinstance(record, str) else bytes(record)
        framed = frame(data)
        self._file.write(framed if self._zlib is None else self._zlib.compress(framed))

    def flush(self) -> None:
        """Hand what waits to the operating system."""
        self._check_open()
        if self._zlib is not None:
            self._file.write(self._zlib.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self) -> None:
        """Write what waits, and end."""
        if self._file is not None:
            if self._zlib is not None:
                self._file.write(self._zlib.flush())
            self._file.close()
            self._file = None

    def _check_open(self) -> None:
        if self._file is None:
            raise FailedPreconditionError(f"TFRecordWriter: the writer of {self._name} is closed.")

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            self.close()


def _wbits(kind: str) -> int:
    return zlib.MAX_WBITS | (16 if kind == "GZIP" else 0)


def open_to_read(path: str, kind: str, op: str) -> Any:
    """The file, as bytes that are decompressed while they are read."""
    with tensorflow_errors(op):
        if kind == "GZIP":
            return gzip.open(path)
        file: BinaryIO = open(path, "rb")  # noqa: SIM115 - the reader closes it
    return io.BufferedReader(_Inflated(file)) if kind == "ZLIB" else file


class _Inflated(io.RawIOBase):
    """A stream of zlib as a file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._zlib = zlib.decompressobj()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            data = self._zlib.unconsumed_tail or self._file.read(1 << 16)
            found = self._zlib.decompress(data, len(buffer))
            if found or not data:
                buffer[: len(found)] = found
                return len(found)

    def close(self) -> None:
        self._file.close()
        super().close()


def records_of(path: str, kind: str, op: str) -> Iterator[bytes]:
    """The records of a file."""
    with open_to_read(path, kind, op) as file:
        offset = 0
        while True:
            try:
                head = file.read(12)
                if not head:
                    return
                record = _record(head, file, path, offset)
            except (zlib.error, EOFError, OSError) as error:
                raise DataLossError(f"{op}: {path} is not {kind or 'readable'}: {error}") from None
            yield record
            offset += 16 + len(record)


def tf_record_iterator(path: str, options: Any = None) -> Iterator[bytes]:
    """The records of a file, one after the other."""
    kind = getattr(options, "compression_type", options)
    return records_of(path, compression(kind, "tf_record_iterator"), "tf_record_iterator")


def _record(head: bytes, file: Any, path: str, offset: int) -> bytes:
    if len(head) < 12:
        raise DataLossError(f"TFRecord: {path} ends in the middle of a record, at {offset}.")
    length, crc = struct.unpack("<QI", head)
    if masked_crc(head[:8]) != crc:
        raise DataLossError(
            f"TFRecord: {path} is damaged at {offset}, or is not a TFRecord file, or is compressed."
        )
    record: bytes = file.read(length)
    end = file.read(4)
    if len(record) < length or len(end) < 4:
        raise DataLossError(f"TFRecord: {path} ends in the middle of a record, at {offset}.")
    if masked_crc(record) != struct.unpack("<I", end)[0]:
        raise DataLossError(f"TFRecord: the record at {offset} of {path} is damaged.")
    return record
