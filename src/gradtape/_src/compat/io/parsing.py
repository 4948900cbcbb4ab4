"""Examples parsed: tensors made of the features of serialized `tf.train.Example`s."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...core.convert import as_tensor
from ...core.dtypes import DType, as_dtype, float32, int64, string
from ...core.errors import DataLossError, InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ...ops.declare.static import static_int, static_ints
from ...train.summary.wire import fields, floats, integers
from ..strings.text import as_text, scalar_text, text_array
from .features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)

_KINDS = {1: string, 2: float32, 3: int64}  # of values, by the number of the field of a Feature
_DTYPES = (string, float32, int64)


class Values(NamedTuple):
    """The values of a feature of an example."""

    dtype: DType
    values: Any  # a list or an array


Features = Mapping[str, Values]


def _features(data: bytes, number: int = 1) -> dict[str, bytes]:
    """The entries of a map that is a field of a message, unread."""
    found = {}
    for n, _, entry in fields(data):
        if n == number:
            key, value = b"", b""
            for part, _, text in fields(entry):
                key, value = (text, value) if part == 1 else (key, text)
            found[key.decode()] = value
    return found


def _values(data: bytes) -> Values | None:
    """The values of a Feature; None if it has none of any kind."""
    found = None
    for number, _, part in fields(data):
        if number in _KINDS:
            found = Values(_KINDS[number], _list(_KINDS[number], part))
    return found


def _list(dtype: DType, data: bytes) -> Any:
    parts = [(kind, value) for number, kind, value in fields(data) if number == 1]
    if dtype is string:
        return [value for _, value in parts]
    if dtype is float32:
        read = [floats(value) for _, value in parts]
    else:
        read = [integers(kind, value) for kind, value in parts]
    if len(read) == 1:
        return read[0]
    return [value for part in read for value in part]


class Parsed:
    """The features of an example that were asked for, read when they are."""

    def __init__(self, entries: Mapping[str, bytes], op: str, number: int) -> None:
        self._entries = entries
        self._op = op
        self._number = number

    def values(self, key: str, dtype: DType) -> Any:
        """The values of a feature; None if the example has none."""
        data = self._entries.get(key)
        found = None if data is None else self._read(data)
        if found is None:
            return None
        if found.dtype is not dtype:
            raise InvalidArgumentError(
                f"{self._op}: in example {self._number} the feature {key!r} is {found.dtype.name}, "
                f"and {dtype.name} is asked for."
            )
        return found.values

    def _read(self, data: bytes) -> Values | None:
        try:
            return _values(data)
        except DataLossError as error:
            raise InvalidArgumentError(f"{self._op}: {error}") from None

    def required(self, key: str, dtype: DType) -> Any:
        values = self.values(key, dtype)
        if values is None:
            raise InvalidArgumentError(
                f"{self._op}: the feature {key!r} ({dtype.name}) is required, and example "
                f"{self._number} does not have it. Give it a `default_value`."
            )
        return values

    def fixed(self, key: str, dtype: DType, count: int, default: Any) -> Any:
        """The values of a feature of fixed length; an error if there are more or fewer."""
        values = self.values(key, dtype)
        if values is None:
            return self.required(key, dtype) if default is None else default
        if len(values) != count:
            raise InvalidArgumentError(
                f"{self._op}: the feature {key!r} of example {self._number} has {len(values)} "
                f"values, and {count} are asked for."
            )
        return values


def _parsed(data: bytes, op: str, number: int) -> Parsed:
    """An Example, or the context of one."""
    try:
        entries: dict[str, bytes] = {}
        for n, _, part in fields(data):
            if n == 1:
                entries |= _features(part)
    except (DataLossError, TypeError, UnicodeDecodeError) as error:
        raise InvalidArgumentError(
            f"{op}: example {number} is no tf.train.Example: {error}"
        ) from None
    return Parsed(entries, op, number)


def _array(values: Any, dtype: DType) -> Any:
    if dtype is string:
        return text_array(values, (len(values),))
    return np.array(values, dtype.numpy_dtype)


def _joined(parts: list[Any], dtype: DType) -> Any:
    """The values of all examples in one vector."""
    if dtype is string:
        return _array([value for part in parts for value in part], dtype)
    arrays = [np.asarray(part, dtype.numpy_dtype) for part in parts]
    return np.concatenate(arrays) if arrays else np.empty(0, dtype.numpy_dtype)


# The public functions


def parse_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of serialized Examples: of a vector of them with a batch axis, or of one.

    `features` says for each name what to make of it: a tensor (`FixedLenFeature`,
    `FixedLenSequenceFeature`), a SparseTensor (`VarLenFeature`, `SparseFeature`) or a RaggedTensor.
    """
    return _parse(serialized, features, "parse_example")


def parse_single_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of one serialized Example; see `parse_example`."""
    scalar_text(serialized, "parse_single_example", "serialized")
    return _parse(serialized, features, "parse_single_example")


def _parse(serialized: Any, features: Any, op: str) -> dict[str, Any]:
    array = as_text(serialized, op, "serialized")
    if array.ndim > 1:
        raise InvalidArgumentError(
            f"{op}: `serialized` must be one text or a vector of them, and has shape {array.shape}."
        )
    _check(features, op)
    examples = [_parsed(text, op, i) for i, text in enumerate(array.reshape(-1))]
    return {
        key: _built(key, features[key], examples, array.ndim == 1, op) for key in sorted(features)
    }


def _check(features: Any, op: str) -> None:
    if not features:
        raise ValueError(f"{op}: `features` says what to make of which feature, and is empty.")


def _dtype(key: str, dtype: Any, op: str) -> DType:
    found = as_dtype(dtype)
    if found not in _DTYPES:
        raise InvalidArgumentError(
            f"{op}: the feature {key!r} must be float32, int64 or string, not {found.name}: others "
            "are not stored. Cast it afterwards."
        )
    return found


def _built(key: str, feature: Any, examples: list[Parsed], batched: bool, op: str) -> Any:
    """What `feature` asks for, of all examples, or of the one that there is."""
    if isinstance(feature, FixedLenFeature):
        return _fixed(key, feature, examples, batched, op)
    if isinstance(feature, FixedLenSequenceFeature):
        return _rows(key, feature, examples, batched, op)
    if isinstance(feature, VarLenFeature):
        dtype = _dtype(key, feature.dtype, op)
        return _sparse([example.values(key, dtype) for example in examples], dtype, batched)
    if isinstance(feature, SparseFeature):
        return _sparse_by_index(key, feature, examples, batched, op)
    if isinstance(feature, RaggedFeature):
        return _ragged(key, feature, examples, batched, op)
    raise ValueError(
        f"{op}: for {key!r} `features` has {feature!r}; expected such as tf.io.FixedLenFeature."
    )


def _fixed(key: str, feature: Any, examples: list[Parsed], batched: bool, op: str) -> Tensor:
    dtype, shape = _dtype(key, feature.dtype, op), static_ints(feature.shape, op, "shape")
    count, default = math.prod(shape), None
    if feature.default_value is not None:
        default = np.asarray(as_tensor(feature.default_value, dtype, op)).reshape(-1)
        if len(default) != count:
            raise InvalidArgumentError(
                f"{op}: the `default_value` of {key!r} has {len(default)} values, and its shape "
                f"{shape} has {count}."
            )
    parts = [example.fixed(key, dtype, count, default) for example in examples]
    array = _joined(parts, dtype)
    return Tensor(array.reshape((len(examples), *shape) if batched else shape))


def _rows(key: str, feature: Any, examples: list[Parsed], batched: bool, op: str) -> Tensor:
    """A FixedLenSequenceFeature of Examples: its values are one row after the other."""
    if not feature.allow_missing:
        raise ValueError(
            f"{op}: FixedLenSequenceFeature needs allow_missing=True, and that of {key!r} has not."
        )
    dtype, shape = _dtype(key, feature.dtype, op), static_ints(feature.shape, op, "shape")
    count = math.prod(shape)
    parts = [example.values(key, dtype) for example in examples]
    parts = [() if part is None else part for part in parts]
    for part in parts:
        if len(part) % count:
            raise InvalidArgumentError(
                f"{op}: the feature {key!r} has {len(part)} values, not a multiple of the {count} "
                f"of its shape {shape}."
            )
    array = _padded(parts, dtype, feature.default_value, op)
    sizes = (array.shape[1] // count, *shape)
    return Tensor(array.reshape((len(examples), *sizes) if batched else sizes))


def _padded(parts: list[Any], dtype: DType, default: Any, op: str) -> Any:
    """The rows filled up to the longest."""
    if default is None:
        filling: Any = b"" if dtype is string else 0
    else:
        filling = np.asarray(as_tensor(default, dtype, op)).reshape(-1)[0]
    result = np.full((len(parts), max(map(len, parts), default=0)), filling, dtype.numpy_dtype)
    for row, part in zip(result, parts, strict=True):
        row[: len(part)] = part if dtype is not string else _array(part, dtype)
    return result


def _sparse(parts: list[Any], dtype: DType, batched: bool) -> Any:
    """A SparseTensor whose rows are the values of the examples, from the left."""
    from ..sparse.sparse_tensor import SparseTensor

    parts = [() if part is None else part for part in parts]
    lengths = np.array([len(part) for part in parts], np.int64)
    columns = _counted(lengths)
    width = max(lengths.tolist(), default=0)
    if not batched:
        return SparseTensor(
            Tensor(columns[:, None]), Tensor(_joined(parts, dtype)), np.array([width], np.int64)
        )
    rows = np.repeat(np.arange(len(parts)), lengths)
    return SparseTensor(
        Tensor(np.stack([rows, columns], 1)),
        Tensor(_joined(parts, dtype)),
        np.array([len(parts), width], np.int64),
    )


def _counted(lengths: Any) -> Any:
    """0 to n - 1 for each n, one after the other."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)


def _sparse_by_index(key: str, feature: Any, examples: list[Parsed], batched: bool, op: str) -> Any:
    from ..sparse.sparse_tensor import SparseTensor

    dtype = _dtype(key, feature.dtype, op)
    several = isinstance(feature.index_key, (list, tuple))
    keys = list(feature.index_key) if several else [feature.index_key]
    sizes = static_ints(feature.size, op, "size")
    indices, values = [], []
    for number, example in enumerate(examples):
        found = example.values(feature.value_key, dtype)
        found = () if found is None else found
        places = [example.values(each, int64) for each in keys]
        columns = [np.asarray(() if p is None else p, np.int64) for p in places]
        if any(len(column) != len(found) for column in columns):
            raise InvalidArgumentError(
                f"{op}: in example {number} the features {keys} and {feature.value_key!r} have "
                "different numbers of values."
            )
        if not feature.already_sorted:
            order = np.lexsort(columns[::-1])
            columns, found = [c[order] for c in columns], [found[i] for i in order]
        rows = [np.full(len(found), number, np.int64)] if batched else []
        indices.append(np.stack([*rows, *columns], 1))
        values.append(found)
    shape = (len(examples), *sizes) if batched else sizes
    empty = np.empty((0, len(shape)), np.int64)
    return SparseTensor(
        Tensor(np.concatenate([empty, *indices])),
        Tensor(_joined(values, dtype)),
        np.array(shape, np.int64),
    )


def _ragged(key: str, feature: Any, examples: list[Parsed], batched: bool, op: str) -> Any:
    """The values of a RaggedFeature, parted by its partitions within each example."""
    from ..ragged.ragged_tensor import RaggedTensor

    dtype = _dtype(key, feature.dtype, op)
    splits_dtype = as_dtype(feature.row_splits_dtype).numpy_dtype
    parts = [example.values(feature.value_key or key, dtype) for example in examples]
    parts = [() if part is None else part for part in parts]
    lengths = np.array([len(part) for part in parts], splits_dtype)  # of what each example has
    layers: list[Any] = []
    for partition in reversed(feature.partitions):
        rows = [_row_lengths(partition, example, count, op)
                for example, count in zip(examples, lengths, strict=True)]  # fmt: skip
        layers.append((partition, np.concatenate([np.empty(0, splits_dtype), *rows])))
        lengths = np.array([len(each) for each in rows], splits_dtype)
    result: Any = Tensor(_joined(parts, dtype))
    for partition, row_lengths in layers:
        if isinstance(partition, RaggedFeature.UniformRowLength):
            result = RaggedTensor.from_uniform_row_length(
                result, Tensor(np.asarray(partition.length, splits_dtype)), len(row_lengths)
            )
        else:
            result = RaggedTensor.from_row_lengths(
                result, row_lengths.astype(splits_dtype), validate=feature.validate
            )
    if not batched:
        return result
    return RaggedTensor.from_row_lengths(result, lengths, validate=False)


def _row_lengths(partition: Any, example: Parsed, count: int, op: str) -> Any:
    """The lengths of the rows into which a partition parts `count` values of an example."""
    if isinstance(partition, RaggedFeature.UniformRowLength):
        length = static_int(partition.length, op, "length")
        return np.full(count // length if length else 0, length, np.int64)
    found = example.values(partition.key, int64)
    numbers = np.asarray(() if found is None else found, np.int64)
    if isinstance(partition, RaggedFeature.RowLengths):
        return numbers
    if isinstance(partition, RaggedFeature.RowSplits):
        return np.diff(numbers)
    if isinstance(partition, RaggedFeature.RowStarts):
        return np.diff(numbers, append=count)
    if isinstance(partition, RaggedFeature.RowLimits):
        return np.diff(numbers, prepend=0)
    return np.bincount(numbers) if len(numbers) else numbers


# Sequences


def parse_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Context, sequences, and the lengths of those that are tensors, of SequenceExamples."""
    op = "parse_sequence_example"
    array = as_text(serialized, op, "serialized")
    if array.ndim != 1:
        raise ShapeError(f"{op}: `serialized` must be a vector, and has shape {array.shape}.")
    return _parse_sequences(array, context_features, sequence_features, True, op)


def parse_single_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Context and sequences of one SequenceExample."""
    op = "parse_single_sequence_example"
    array = text_array([scalar_text(serialized, op, "serialized")], (1,))
    return _parse_sequences(array, context_features, sequence_features, False, op)[:2]


def _parse_sequences(
    array: Any, context: Any, sequences: Any, batched: bool, op: str
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    if not context and not sequences:
        raise ValueError(f"{op}: give `context_features` or `sequence_features`.")
    contexts = [_parsed(text, op, i) for i, text in enumerate(array)]
    lists = [_Lists(text, op, i) for i, text in enumerate(array)]
    found = {
        key: _built(key, feature, contexts, batched, op)
        for key, feature in sorted((context or {}).items())
    }
    rows: dict[str, Any] = {}
    lengths: dict[str, Any] = {}
    for key, feature in sorted((sequences or {}).items()):
        if isinstance(feature, FixedLenSequenceFeature):
            rows[key], lengths[key] = _sequence(key, feature, lists, batched, op)
        elif isinstance(feature, VarLenFeature):
            rows[key] = _sparse_sequence(key, feature, lists, batched, op)
        elif isinstance(feature, RaggedFeature):
            rows[key] = _ragged_sequence(key, feature, lists, batched, op)
        else:
            raise ValueError(f"{op}: {feature!r} is no feature of sequences, as for {key!r}.")
    return found, rows, lengths


class _Lists:
    """The lists of features of a SequenceExample."""

    def __init__(self, data: bytes, op: str, number: int) -> None:
        self._op, self._number = op, number
        self._entries: dict[str, bytes] = {}
        try:
            for n, _, part in fields(data):
                if n == 2:
                    self._entries |= _features(part)
        except (DataLossError, TypeError, UnicodeDecodeError) as error:
            raise InvalidArgumentError(f"{op}: {error}") from None

    def steps(self, key: str, dtype: DType) -> list[Any] | None:
        """The values of each step of a list; None if there is no such list."""
        data = self._entries.get(key)
        if data is None:
            return None
        steps = [value for number, _, value in fields(data) if number == 1]
        return [
            () if (found := Parsed({key: step}, self._op, self._number).values(key, dtype)) is None
            else found
            for step in steps
        ]  # fmt: skip


def _sequence(
    key: str, feature: Any, lists: list[_Lists], batched: bool, op: str
) -> tuple[Tensor, Tensor]:
    dtype, shape = _dtype(key, feature.dtype, op), static_ints(feature.shape, op, "shape")
    count = math.prod(shape)
    parts = []
    for number, each in enumerate(lists):
        steps = each.steps(key, dtype)
        if steps is None and not feature.allow_missing:
            raise InvalidArgumentError(
                f"{op}: the list {key!r} is required, and example {number} does not have it. Pass "
                "allow_missing=True."
            )
        for step in steps or ():
            if len(step) != count:
                raise InvalidArgumentError(
                    f"{op}: a step of {key!r} in example {number} has {len(step)} values, and its "
                    f"shape {shape} has {count}."
                )
        parts.append(_joined(steps or [], dtype))
    array = _padded(parts, dtype, feature.default_value, op)
    lengths = np.array([len(part) // max(count, 1) for part in parts], np.int64)
    sizes = (max(lengths.tolist(), default=0), *shape)
    return Tensor(array.reshape((len(lists), *sizes) if batched else sizes)), Tensor(lengths)


def _sparse_sequence(key: str, feature: Any, lists: list[_Lists], batched: bool, op: str) -> Any:
    from ..sparse.sparse_tensor import SparseTensor

    dtype = _dtype(key, feature.dtype, op)
    examples = [each.steps(key, dtype) or [] for each in lists]
    steps = [step for example in examples for step in example]
    counts = np.array([len(example) for example in examples], np.int64)
    lengths = np.array([len(step) for step in steps], np.int64)
    columns = [
        np.repeat(np.repeat(np.arange(len(examples)), counts), lengths),
        np.repeat(_counted(counts), lengths),
        _counted(lengths),
    ]
    shape = np.array(
        [len(lists), *[max(each.tolist(), default=0) for each in (counts, lengths)]], np.int64
    )
    first = 0 if batched else 1
    return SparseTensor(
        Tensor(np.stack(columns[first:], 1)), Tensor(_joined(steps, dtype)), shape[first:]
    )


def _ragged_sequence(key: str, feature: Any, lists: list[_Lists], batched: bool, op: str) -> Any:
    from ..ragged.ragged_tensor import RaggedTensor

    if feature.partitions:
        raise InvalidArgumentError(f"{op}: the RaggedFeature of {key!r} must have no partitions.")
    dtype = _dtype(key, feature.dtype, op)
    splits_dtype = as_dtype(feature.row_splits_dtype).numpy_dtype
    examples = [each.steps(feature.value_key or key, dtype) or [] for each in lists]
    steps = [step for example in examples for step in example]
    inner = RaggedTensor.from_row_lengths(
        Tensor(_joined(steps, dtype)),
        np.array([len(step) for step in steps], splits_dtype),
        validate=False,
    )
    if not batched:
        return inner
    counts = np.array([len(example) for example in examples], splits_dtype)
    return RaggedTensor.from_row_lengths(inner, counts, validate=False)
