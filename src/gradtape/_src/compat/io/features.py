"""What to make of the features of examples: the specs that `parse_example` takes."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from ...core.dtypes import as_dtype, int32


class FixedLenFeature(NamedTuple):
    """As many values as `shape` holds, in each example: a tensor.

    An example without it gets `default_value`, or is an error if there is none.
    """

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """A row of tensors of `shape`: a tensor, padded with `default_value` to the longest row."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """Any number of values: a SparseTensor."""

    dtype: Any


class SparseFeature(NamedTuple):
    """Values of one feature at the places that others tell: a SparseTensor of size `size`."""

    index_key: Any
    value_key: str
    dtype: Any
    size: Any
    already_sorted: bool = False


class _RowSplits(NamedTuple):
    key: str


class _RowLengths(NamedTuple):
    key: str


class _RowStarts(NamedTuple):
    key: str


class _RowLimits(NamedTuple):
    key: str


class _ValueRowIds(NamedTuple):
    key: str


class _UniformRowLength(NamedTuple):
    length: int


class _RaggedFeature(NamedTuple):
    dtype: Any
    value_key: str | None = None
    partitions: Any = ()
    row_splits_dtype: Any = int32
    validate: bool = False


class RaggedFeature(_RaggedFeature):
    """Any number of values: a RaggedTensor; `partitions` name features that part them further."""

    RowSplits: ClassVar = _RowSplits
    RowLengths: ClassVar = _RowLengths
    RowStarts: ClassVar = _RowStarts
    RowLimits: ClassVar = _RowLimits
    ValueRowIds: ClassVar = _ValueRowIds
    UniformRowLength: ClassVar = _UniformRowLength

    def __new__(
        cls,
        dtype: Any,
        value_key: str | None = None,
        partitions: Any = (),
        row_splits_dtype: Any = int32,
        validate: bool = False,
    ) -> RaggedFeature:
        kinds = (_RowSplits, _RowLengths, _RowStarts, _RowLimits, _ValueRowIds, _UniformRowLength)
        given = tuple(_UniformRowLength(p) if isinstance(p, int) else p for p in partitions)
        for partition in given:
            if not isinstance(partition, kinds):
                raise TypeError(
                    "RaggedFeature: `partitions` must be such as tf.io.RaggedFeature.RowLengths("
                    f"key), not {partition!r}."
                )
        dtypes = as_dtype(dtype), as_dtype(row_splits_dtype)
        return super().__new__(cls, dtypes[0], value_key, given, dtypes[1], validate)
