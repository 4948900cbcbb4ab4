"""Datasets whose elements are the lines or records of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from ...core.convert import as_tensor
from ...core.dtypes import string
from ...core.errors import InvalidArgumentError
from ...ops.declare.static import static_int
from ...tape.type_specs import TensorSpec
from ...train.data.blocks import Blocks
from ...train.data.cardinality import UNKNOWN_CARDINALITY
from ...train.data.dataset import Dataset
from ...train.data.entries import Elements, blocks_of
from ...train.data.failures import Failure, attempt
from ...train.data.interleave import interleave
from ..strings.text import text_tensor
from .gfile import path_of
from .records import compression, open_to_read, records_of


class _OfFiles(Dataset):
    """Base: the texts that `read(path)` gives of each file, one file after the other."""

    def __init__(
        self,
        filenames: Any,
        read: Callable[[str], Iterable[bytes]],
        at_once: Any,
        op: str,
    ) -> None:
        paths = _paths(filenames, op)
        count = 1 if at_once is None else max(static_int(at_once, op, "num_parallel_reads"), 1)

        def texts_of(path: str) -> Iterator[bytes | Failure]:
            """The texts of a file; a damaged one ends where the damage begins."""
            try:
                yield from read(path)
            except Exception as error:
                yield Failure(error)

        def elements() -> Iterator[Any]:
            texts = interleave(map(partial(attempt, texts_of), paths()), count, 1)
            return map(partial(attempt, lambda text: text_tensor([text], ())), texts)

        super().__init__(
            lambda: blocks_of(elements()),
            Elements(),
            lambda: TensorSpec([], string),
            UNKNOWN_CARDINALITY,
            in_memory=False,
            make_elements=elements,
        )

    # What is made of it is a dataset as any other, not one of files.

    @classmethod
    def _of_elements(cls, *args: Any) -> Any:
        return Dataset._of_elements(*args)

    def _of_same_entries(self, make_blocks: Callable[[], Blocks], cardinality: int) -> Any:
        return Dataset(make_blocks, self._entries, lambda: self.element_spec, cardinality, False)


def _paths(filenames: Any, op: str) -> Callable[[], Iterator[str | Failure]]:
    """What gives the paths: texts, a tensor of them, or a dataset of tensors."""
    given = filenames
    if not isinstance(given, Dataset):
        if hasattr(given, "__fspath__"):
            given = str(given)
        elif isinstance(given, (list, tuple)):
            given = [str(each) if hasattr(each, "__fspath__") else each for each in given]
        empty = isinstance(given, list) and not given
        given = Dataset.from_tensors(as_tensor(given, string if empty else None, op))
    spec = given.element_spec
    if getattr(spec, "dtype", None) is not string:
        raise TypeError(f"{op}: `filenames` must be texts, and are {spec!r}.")

    def paths() -> Iterator[str | Failure]:
        for element in given._elements():
            if isinstance(element, Failure):
                yield element
                continue
            for name in element._array.reshape(-1):
                yield attempt(path_of, name, op)

    return paths


class TFRecordDataset(_OfFiles):
    """The records of TFRecord files, as texts; `compression_type` is "", "GZIP" or "ZLIB".

    The files are read in turns, `num_parallel_reads` at once, if that is given.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        op = "TFRecordDataset"
        kind = compression(compression_type, op)
        super().__init__(filenames, lambda path: records_of(path, kind, op), num_parallel_reads, op)


class TextLineDataset(_OfFiles):
    """The lines of text files, without their ends."""

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        op = "TextLineDataset"
        kind = compression(compression_type, op)

        def lines(path: str) -> Iterator[bytes]:
            with open_to_read(path, kind, op) as file:
                for line in file:
                    yield line.removesuffix(b"\n").removesuffix(b"\r")

        super().__init__(filenames, lines, num_parallel_reads, op)


class FixedLengthRecordDataset(_OfFiles):
    """The pieces of `record_bytes` of files, between a header and a footer that are left out."""

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        op = "FixedLengthRecordDataset"
        kind = compression(compression_type, op)
        size = static_int(record_bytes, op, "record_bytes")
        header = static_int(header_bytes or 0, op, "header_bytes")
        footer = static_int(footer_bytes or 0, op, "footer_bytes")
        if size <= 0:
            raise InvalidArgumentError(f"{op}: `record_bytes` must be > 0, not {size}.")

        def pieces(path: str) -> Iterator[bytes]:
            with open_to_read(path, kind, op) as file:
                data = file.read()
            body = len(data) - header - footer
            if body < 0 or body % size:
                raise InvalidArgumentError(
                    f"{op}: {path} has {len(data)} bytes; without a header of {header} and a "
                    f"footer of {footer}, that is no multiple of `record_bytes`={size}."
                )
            return iter([data[i : i + size] for i in range(header, header + body, size)])

        super().__init__(filenames, pieces, num_parallel_reads, op)
