"""RowPartition: how a sequence of values is cut into rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.composite import CompositeTensor, TypeSpec
from ...core.convert import as_tensor
from ...core.dtypes import DType, as_dtype
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.sizes import is_open, size_of, sizes_as_tensor
from ...core.tensor import Tensor, is_symbolic
from ...ops.array.cast import cast
from ...ops.array.creation import range as range_of
from ...ops.array.indexing import gather
from ...ops.array.joining import concat
from ...ops.array.shape import shape
from ...ops.declare.static import known, static_int
from ...ops.effects.debugging import assert_equal, assert_less_equal, assert_non_negative
from ...ops.math.counting import bincount
from ...ops.math.cumulative import cumsum
from ...ops.math.ordering import searchsorted
from ...tape.type_specs import TensorSpec

_INTEGERS = (dt.int32, dt.int64)


class RowPartition(CompositeTensor):
    """How a sequence of `nvals` values is cut into `nrows` rows, one after the other.

    Row i has the values `row_splits[i] : row_splits[i + 1]`. Made by the class methods, from any
    of the ways to say it.

    >>> RowPartition.from_row_lengths([2, 0, 1]).value_rowids().numpy()
    array([0, 0, 2])
    """

    _to_make_tensors = "Use one of its encodings, such as partition.row_splits()."

    def __init__(
        self,
        row_splits: Any,
        row_lengths: Any = None,
        value_rowids: Any = None,
        nrows: Any = None,
        uniform_row_length: Any = None,
        nvals: Any = None,
        internal: bool = False,
    ) -> None:
        if not internal:
            raise ValueError(
                "RowPartition: the constructor is private. Use one of the class methods, such as "
                "RowPartition.from_row_lengths()."
            )
        self._row_splits = row_splits
        self._row_lengths = row_lengths
        self._value_rowids = value_rowids
        self._uniform_row_length = uniform_row_length
        self._nvals = nvals

    # From each encoding

    @classmethod
    def from_row_splits(
        cls, row_splits: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Row i is `row_splits[i] : row_splits[i + 1]`; the first is 0, the last `nvals`."""
        splits = _integers(row_splits, "row_splits", dtype, dtype_hint)
        if splits._array.shape == (0,):
            raise InvalidArgumentError(
                "from_row_splits: `row_splits` is empty. It begins with 0: [0] for no rows."
            )
        if validate:
            assert_equal(splits[0], 0, "from_row_splits: `row_splits` must begin with 0.")
            assert_less_equal(
                splits[:-1], splits[1:], "from_row_splits: `row_splits` must not decrease."
            )
        return cls(splits, internal=True)

    @classmethod
    def from_row_lengths(
        cls, row_lengths: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Row i has `row_lengths[i]` values."""
        lengths = _integers(row_lengths, "row_lengths", dtype, dtype_hint)
        if validate:
            assert_non_negative(lengths, "from_row_lengths: `row_lengths` must not be negative.")
        splits = concat([Tensor(np.zeros(1, lengths._array.dtype)), cumsum(lengths)], 0)
        return cls(splits, row_lengths=lengths, internal=True)

    @classmethod
    def from_row_starts(
        cls,
        row_starts: Any,
        nvals: Any,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """Row i begins at `row_starts[i]`; the last ends at `nvals`."""
        starts = _integers(row_starts, "row_starts", dtype, dtype_hint)
        count = _scalar(nvals, "nvals", starts.dtype)
        return cls.from_row_splits(concat([starts, count[None]], 0), validate)

    @classmethod
    def from_row_limits(
        cls, row_limits: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Row i ends before `row_limits[i]`, where the next one begins."""
        limits = _integers(row_limits, "row_limits", dtype, dtype_hint)
        zero = Tensor(np.zeros(1, limits._array.dtype))
        return cls.from_row_splits(concat([zero, limits], 0), validate)

    @classmethod
    def from_value_rowids(
        cls,
        value_rowids: Any,
        nrows: Any = None,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """Value i belongs to row `value_rowids[i]`; these do not decrease. Later rows are empty."""
        rowids = _integers(value_rowids, "value_rowids", dtype, dtype_hint)
        if nrows is None:
            ids = known(rowids, "from_value_rowids", "value_rowids")
            nrows = int(ids[-1]) + 1 if ids.size else 0
        count = static_int(nrows, "from_value_rowids", "nrows")
        if count < 0:
            raise InvalidArgumentError(f"from_value_rowids: `nrows` must be >= 0, and is {count}.")
        if validate:
            say = "from_value_rowids: `value_rowids` must not decrease, and lie in [0, nrows)."
            assert_less_equal(rowids[:-1], rowids[1:], say)
            assert_less_equal(0, rowids[:1], say)
            assert_less_equal(rowids[-1:], count - 1, say)
        if is_symbolic(rowids._array):
            numbers = range_of(number(count + 1, rowids.dtype))
            splits = searchsorted(rowids, numbers, out_type=rowids.dtype)
        else:
            lengths = bincount(cast(rowids, dt.int64), minlength=count, maxlength=count)
            splits = cls.from_row_lengths(cast(lengths, rowids.dtype), False)._row_splits
        nvals = number(rowids._array.shape[0], rowids.dtype)
        return cls(splits, value_rowids=rowids, nvals=nvals, internal=True)

    @classmethod
    def from_uniform_row_length(
        cls,
        uniform_row_length: Any,
        nvals: Any = None,
        nrows: Any = None,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """All rows have `uniform_row_length` values. If that is 0, `nrows` must be given."""
        length = _scalar(uniform_row_length, "uniform_row_length", dtype, dtype_hint)
        dtype = length.dtype
        if nvals is None and nrows is None:
            raise ValueError("from_uniform_row_length: give `nvals` or `nrows`.")
        size = size_of(static_int(length, "from_uniform_row_length", "uniform_row_length"))
        if not is_open(size) and size < 0:
            raise InvalidArgumentError(
                f"from_uniform_row_length: `uniform_row_length` must be >= 0, and is {size}."
            )
        if nvals is not None:
            nvals = _scalar(nvals, "nvals", dtype)
        if nrows is None:
            if not is_open(size) and size == 0:
                count = static_int(nvals, "from_uniform_row_length", "nvals")
                if count:
                    raise InvalidArgumentError(
                        f"from_uniform_row_length: rows of length 0 do not hold {count} values."
                    )
                raise ValueError("from_uniform_row_length: rows of length 0 need `nrows`.")
            nrows = nvals // length
        nrows = _scalar(nrows, "nrows", dtype)
        total = nrows * length
        if nvals is not None and validate:
            assert_equal(
                total, nvals, "from_uniform_row_length: uniform_row_length * nrows must be nvals."
            )
        splits = range_of(nrows + 1) * length
        return cls(splits, uniform_row_length=length, nvals=total, internal=True)

    # The encodings

    @property
    def dtype(self) -> DType:
        """The dtype of the encodings: int32 or int64."""
        return self._row_splits.dtype  # type: ignore[no-any-return]

    def row_splits(self) -> Tensor:
        """Where rows begin and end: row i is `row_splits[i] : row_splits[i + 1]`."""
        return self._row_splits  # type: ignore[no-any-return]

    def row_lengths(self) -> Tensor:
        """The number of values of each row."""
        if self._row_lengths is None:
            self._row_lengths = self.row_limits() - self.row_starts()
        return self._row_lengths  # type: ignore[no-any-return]

    def row_starts(self) -> Tensor:
        """Where each row begins."""
        return self._row_splits[:-1]  # type: ignore[no-any-return]

    def row_limits(self) -> Tensor:
        """Where each row ends."""
        return self._row_splits[1:]  # type: ignore[no-any-return]

    def value_rowids(self) -> Tensor:
        """The row of each value."""
        if self._value_rowids is None:
            splits = self._row_splits._array
            if is_symbolic(splits):
                # Not `repeat`: the number of values, where it is known, makes this a program.
                values = range_of(self.nvals())
                self._value_rowids = searchsorted(
                    self.row_limits(), values, side="right", out_type=self.dtype
                )
            else:
                rows = np.arange(len(splits) - 1, dtype=splits.dtype)
                self._value_rowids = Tensor(np.repeat(rows, np.diff(splits)))
        return self._value_rowids  # type: ignore[no-any-return]

    def offsets_in_rows(self) -> Tensor:
        """The place of each value in its row."""
        return range_of(self.nvals()) - gather(self.row_starts(), self.value_rowids())

    def nrows(self) -> Tensor:
        """The number of rows."""
        return shape(self._row_splits, self.dtype)[0] - 1

    def nvals(self) -> Tensor:
        """The number of values."""
        return self._row_splits[-1] if self._nvals is None else self._nvals  # type: ignore[no-any-return]

    def uniform_row_length(self) -> Tensor | None:
        """The length of all rows, if it was said to be one; else None."""
        return self._uniform_row_length  # type: ignore[no-any-return]

    def is_uniform(self) -> bool:
        """Whether all rows were said to have one length."""
        return self._uniform_row_length is not None

    @property
    def static_nrows(self) -> int | None:
        """The number of rows as a Python int, or None while that is not known."""
        size = self._row_splits._array.shape[0]
        return None if is_open(size) else int(size) - 1

    @property
    def static_nvals(self) -> int | None:
        """The number of values as a Python int, or None while that is not known."""
        return static_value(self.nvals())

    @property
    def static_uniform_row_length(self) -> int | None:
        """The uniform row length as a Python int; None without one, or while it is not known."""
        return None if self._uniform_row_length is None else static_value(self._uniform_row_length)

    def with_dtype(self, dtype: Any) -> RowPartition:
        """The same rows, in int32 or int64."""
        wanted = as_dtype(dtype)
        if wanted not in _INTEGERS:
            raise ValueError(f"RowPartition: `dtype` must be int32 or int64, not {wanted.name}.")
        if wanted is self.dtype:
            return self
        return self._changed(lambda part: None if part is None else cast(part, wanted))

    def _with_nvals(self, size: Tensor) -> RowPartition:
        """The same rows, of `size` values: what a RaggedTensor knows of them from their shape."""
        if self._nvals is not None:
            return self
        same = self._changed(lambda part: part)
        same._nvals = cast(size, self.dtype)
        return same

    def _changed(self, change: Callable[[Any], Any]) -> RowPartition:
        return RowPartition(
            change(self._row_splits),
            row_lengths=change(self._row_lengths),
            value_rowids=change(self._value_rowids),
            uniform_row_length=change(self._uniform_row_length),
            nvals=change(self._nvals),
            internal=True,
        )

    @property
    def _type_spec(self) -> RowPartitionSpec:
        return RowPartitionSpec.from_value(self)

    def __repr__(self) -> str:
        if self._uniform_row_length is not None:
            parts = {"nrows": self.nrows(), "uniform_row_length": self._uniform_row_length}
        else:
            parts = {"row_splits": self._row_splits}
        shown = [f"{k}={v if is_symbolic(v._array) else v.numpy()}" for k, v in parts.items()]
        return f"tf.RowPartition({', '.join(shown)})"


class RowPartitionSpec(TypeSpec):
    """What is known of a RowPartition."""

    def __init__(
        self,
        nrows: int | None = None,
        nvals: int | None = None,
        uniform_row_length: int | None = None,
        dtype: Any = dt.int64,
    ) -> None:
        self._nrows = nrows
        self._nvals = nvals
        self._uniform_row_length = uniform_row_length
        self._dtype = as_dtype(dtype)

    @classmethod
    def from_value(cls, value: RowPartition) -> RowPartitionSpec:
        # The number of values is not part of it, as in TensorFlow: it is a matter of the values.
        return cls(value.static_nrows, None, value.static_uniform_row_length, value.dtype)

    @property
    def value_type(self) -> type:
        return RowPartition

    @property
    def nrows(self) -> int | None:
        return self._nrows

    @property
    def nvals(self) -> int | None:
        return self._nvals

    @property
    def uniform_row_length(self) -> int | None:
        return self._uniform_row_length

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def _component_specs(self) -> Any:
        size = None if self._nrows is None else self._nrows + 1
        return (TensorSpec([size], self._dtype),)

    def _to_components(self, value: RowPartition) -> Any:
        return (value.row_splits(),)

    def _from_components(self, components: Any) -> RowPartition:
        size = self._uniform_row_length
        length = None if size is None else number(size, self._dtype)
        return RowPartition(components[0], uniform_row_length=length, internal=True)

    def _serialize(self) -> tuple[Any, ...]:
        return self._nrows, self._nvals, self._uniform_row_length, self._dtype

    def __repr__(self) -> str:
        return (
            f"RowPartitionSpec(nrows={self._nrows}, nvals={self._nvals}, "
            f"uniform_row_length={self._uniform_row_length}, dtype={self._dtype!r})"
        )


def number(value: Any, dtype: DType) -> Tensor:
    """A size, which may be open in a trace, as an integer tensor."""
    if is_open(value):
        return sizes_as_tensor(value, dtype.numpy_dtype)
    return Tensor(np.asarray(value, dtype.numpy_dtype))


def static_value(x: Tensor) -> int | None:
    """The value of an integer tensor of rank 0; None where only a call says it."""
    return None if is_symbolic(x._array) else int(x._array)


def _integers(value: Any, name: str, dtype: Any, hint: Any) -> Tensor:
    """A vector of int32 or int64, int64 if it is free to choose."""
    found = _as_integers(value, name, dtype, hint)
    if found.ndim != 1:
        raise ShapeError(f"RowPartition: `{name}` must be a vector, and has shape {found.shape}.")
    return found


def _scalar(value: Any, name: str, dtype: Any, hint: Any = None) -> Tensor:
    found = _as_integers(value, name, dtype, hint)
    if found.ndim:
        raise ShapeError(f"RowPartition: `{name}` must be a number, and has shape {found.shape}.")
    return found


def _as_integers(value: Any, name: str, dtype: Any, hint: Any) -> Tensor:
    if isinstance(value, (list, tuple, int)) and not isinstance(value, bool):
        try:
            return as_tensor(value, dtype or hint or dt.int64, "RowPartition")
        except TypeError:
            pass  # a list that holds tensors, or no integers: the next lines say
    found = as_tensor(value, op="RowPartition")
    if isinstance(value, np.ndarray) and found.dtype is not dt.int32 and found.dtype.is_integer:
        found = cast(found, dt.int64)
    if dtype is not None and found.dtype in _INTEGERS:
        found = cast(found, dtype)
    if found.dtype not in _INTEGERS:
        raise ValueError(
            f"RowPartition: `{name}` must be int32 or int64, and is {found.dtype.name}."
        )
    return found


def partition_dtype(*values: Any) -> DType:
    """The dtype of the partitions of these, of which one is ragged; they must agree."""
    found: set[DType] = {v._row_partition.dtype for v in values if hasattr(v, "_row_partition")}
    if len(found) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes, int32 and int64; use "
            "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
        )
    return found.pop()
