"""What static tables are filled with: tensors of keys and values, or the lines of a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.convert import as_tensor
from ...core.dtypes import DType, as_dtype, int64, string
from ...core.errors import InvalidArgumentError, NotFoundError
from ...core.tensor import Tensor
from ..strings.basic import to_number
from ..strings.text import text_tensor, values_of


class TableInitializerBase:
    """Base of what fills a table: it knows the dtypes, and `initialize(table)` does it."""

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype = as_dtype(key_dtype)
        self._value_dtype = as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        return self._value_dtype

    def initialize(self, table: Any) -> Any:
        """Fill the table."""
        raise NotImplementedError(f"{type(self).__name__} has no `initialize`.")


class KeyValueTensorInitializer(TableInitializerBase):
    """Keys and values from two tensors, or lists."""

    def __init__(
        self,
        keys: Any,
        values: Any,
        key_dtype: Any = None,
        value_dtype: Any = None,
        name: str | None = None,
    ) -> None:
        op = "KeyValueTensorInitializer"
        self._keys = as_tensor(keys, key_dtype, op)
        self._values = as_tensor(values, value_dtype, op)
        self._name = name or "key_value_init"
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: Any) -> None:
        table._fill(self._keys, self._values)


class TextFileIndex:
    """What of a line a TextFileInitializer takes; a number >= 0 is a column."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(TableInitializerBase):
    """Keys and values from the lines of a file: a column, the whole line, or its number.

    `vocab_size` is the number of lines, if fewer than all; `delimiter` is between columns, and
    `value_index_offset` is added to line numbers.
    """

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        self._filename = filename
        self._key_index, self._value_index = key_index, value_index
        self._vocab_size = vocab_size
        self._delimiter = delimiter
        self._offset = value_index_offset
        self._name = name or "text_file_init"
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"TextFileInitializer: `vocab_size` must be > 0, not {vocab_size}.")
        for which, index, dtype in (
            ("key", key_index, self.key_dtype), ("value", value_index, self.value_dtype)
        ):  # fmt: skip
            if index < TextFileIndex.WHOLE_LINE:
                raise ValueError(
                    f"TextFileInitializer: `{which}_index` must be a column, or one of "
                    f"tf.lookup.TextFileIndex, not {index}."
                )
            if index == TextFileIndex.LINE_NUMBER and dtype is not int64:
                raise ValueError(
                    f"TextFileInitializer: `{which}_dtype` must be int64 for line numbers, not "
                    f"{dtype.name}."
                )
            if index == TextFileIndex.WHOLE_LINE and not (dtype.is_integer or dtype is string):
                raise ValueError(
                    f"TextFileInitializer: `{which}_dtype` must be an integer or string for whole "
                    f"lines, not {dtype.name}."
                )

    def initialize(self, table: Any) -> None:
        lines = self._lines()
        keys = self._column(lines, self._key_index, self.key_dtype, 0)
        values = self._column(lines, self._value_index, self.value_dtype, self._offset)
        table._fill(keys, values)

    def _path(self) -> str:
        text = self._filename
        if isinstance(text, Tensor):
            text = values_of(text, "TextFileInitializer", "filename")[()]
        return text.decode() if isinstance(text, bytes) else str(text)

    def _lines(self) -> list[bytes]:
        path = self._path()
        try:
            with open(path, "rb") as file:
                lines = file.read().split(b"\n")
        except OSError as error:
            raise NotFoundError(f"TextFileInitializer: {path}: {error.strerror}.") from None
        if not lines[-1]:
            lines.pop()
        if self._vocab_size is not None:
            if len(lines) < self._vocab_size:
                raise InvalidArgumentError(
                    f"TextFileInitializer: {path} has {len(lines)} lines, and `vocab_size` is "
                    f"{self._vocab_size}."
                )
            lines = lines[: self._vocab_size]
        lines = [line.removesuffix(b"\r") for line in lines]
        if b"" in lines:
            raise InvalidArgumentError(
                f"TextFileInitializer: line {lines.index(b'')} of {path} is empty."
            )
        return lines

    def _column(self, lines: list[bytes], index: int, dtype: DType, offset: int) -> Tensor:
        if index == TextFileIndex.LINE_NUMBER:
            return Tensor(np.arange(offset, offset + len(lines), dtype=np.int64))
        texts = lines
        if index >= 0:
            rows = [line.split(self._delimiter.encode()) for line in lines]
            for number, row in enumerate(rows):
                if len(row) <= index:
                    raise InvalidArgumentError(
                        f"TextFileInitializer: line {number} of {self._path()} has {len(row)} "
                        f"columns, and column {index} is asked for."
                    )
            texts = [row[index] for row in rows]
        tensor = text_tensor(texts, (len(texts),))
        return tensor if dtype is string else to_number(tensor, dtype)
