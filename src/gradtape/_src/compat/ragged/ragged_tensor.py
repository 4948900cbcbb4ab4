"""RaggedTensor: rows of different lengths, as one sequence of values and where to cut it.

The values may be ragged themselves. What the ops are for ragged tensors stands beside, by subject:
`elementwise`, `reduction`, `joining`, `selection`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Self

import numpy as np

from ...core import dtypes as dt
from ...core.composite import (
    CompositeTensor,
    TypeSpec,
    WithValuesCompositeTensorGradient,
)
from ...core.convert import as_tensor
from ...core.dtypes import DType, as_dtype
from ...core.errors import ShapeError, SymbolicTensorError
from ...core.shape import TensorShape
from ...core.tensor import Tensor, is_symbolic
from ...ops.array.cast import cast
from ...ops.array.indexing import gather
from ...ops.array.joining import concat, stack
from ...ops.array.shape import broadcast_to, reshape, shape
from ...ops.declare.static import static_axis, static_int
from ...ops.effects.debugging import assert_equal
from ...ops.operators import OPERATORS
from ...tape.type_specs import TensorSpec
from ..sparse.sparse_tensor import SparseTensor
from .indexing import getitem, merged, ranges
from .padding import longest_row, padded, row_ends
from .row_partition import RowPartition, number, static_value
from .sparse_form import as_sparse, rows_of_sparse


class RaggedTensor(CompositeTensor):
    """A tensor with axes along which slices have different lengths.

    `values` are the values of all rows, one after the other; `row_splits` say where each begins
    and ends. Made by the class methods, or by tf.ragged.constant.

    >>> rt = RaggedTensor.from_row_lengths([3, 1, 4, 1, 5], [2, 0, 3])
    >>> rt
    <tf.RaggedTensor [[3, 1], [], [4, 1, 5]]>
    >>> tf.reduce_sum(rt, axis=1).numpy()
    array([ 4,  0, 10], dtype=int32)
    """

    _to_make_tensors = (
        "Pad the rows, rt.to_tensor(), or let it work on the values of all rows: "
        "tf.ragged.map_flat_values(function, rt)."
    )
    _is_tensor = True
    __composite_gradient__ = WithValuesCompositeTensorGradient()
    __array_priority__ = 100  # ndarray + RaggedTensor is left to RaggedTensor.__radd__

    def __init__(self, values: Any, row_partition: RowPartition, internal: bool = False) -> None:
        if not internal:
            raise ValueError(
                "RaggedTensor: the constructor is private. Use one of the class methods, such as "
                "RaggedTensor.from_row_lengths()."
            )
        self._values = values
        self._row_partition = row_partition._with_nvals(_rows_of(values, row_partition.dtype))

    @classmethod
    def _like(cls, values: Any, row_partition: RowPartition) -> Self:
        return cls(values, row_partition, internal=True)

    @classmethod
    def _from_row_partition(
        cls, values: Any, partition: RowPartition, validate: bool = True
    ) -> RaggedTensor:
        values = _as_values(values, "RaggedTensor")
        if isinstance(values, RaggedTensor) and values._row_partition.dtype is not partition.dtype:
            raise ValueError(
                "RaggedTensor: the partitions of `values` are "
                f"{values._row_partition.dtype.name}, and its own is {partition.dtype.name}. "
                "Convert one with with_row_splits_dtype()."
            )
        if validate:
            _check_count(values, partition, "RaggedTensor")
        return cls(values, partition, internal=True)

    # From values and the rows they belong to

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Row i is `values[row_splits[i] : row_splits[i + 1]]`."""
        partition = RowPartition.from_row_splits(row_splits, validate, dtype_hint=_hint(values))
        return cls._from_row_partition(values, partition, validate)

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Row i has `row_lengths[i]` values."""
        partition = RowPartition.from_row_lengths(row_lengths, validate, dtype_hint=_hint(values))
        return cls._from_row_partition(values, partition, validate)

    @classmethod
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Row i begins at `row_starts[i]`."""
        values = _as_values(values, "from_row_starts")
        count = _rows_of(values, dt.int64)
        partition = RowPartition.from_row_starts(
            row_starts, count, validate, dtype_hint=_hint(values)
        )
        return cls._from_row_partition(values, partition, validate)

    @classmethod
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Row i ends before `row_limits[i]`."""
        partition = RowPartition.from_row_limits(row_limits, validate, dtype_hint=_hint(values))
        return cls._from_row_partition(values, partition, validate)

    @classmethod
    def from_value_rowids(
        cls,
        values: Any,
        value_rowids: Any,
        nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """`values[i]` belongs to row `value_rowids[i]`, which do not decrease."""
        partition = RowPartition.from_value_rowids(
            value_rowids, nrows, validate, dtype_hint=_hint(values)
        )
        return cls._from_row_partition(values, partition, validate)

    @classmethod
    def from_uniform_row_length(
        cls,
        values: Any,
        uniform_row_length: Any,
        nrows: Any = None,
        validate: bool = True,
        name: str | None = None,
    ) -> RaggedTensor:
        """All rows have `uniform_row_length` values: an axis that is not ragged."""
        values = _as_values(values, "from_uniform_row_length")
        hint = _hint(values)
        partition = RowPartition.from_uniform_row_length(
            uniform_row_length, _rows_of(values, hint or dt.int64), nrows, validate, dtype_hint=hint
        )
        return cls._from_row_partition(values, partition, validate)

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: Any,
        nested_row_splits: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """`from_row_splits` once for each ragged axis, the outermost first."""
        return _nested(cls.from_row_splits, flat_values, nested_row_splits, validate)

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: Any,
        nested_row_lengths: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """`from_row_lengths` once for each ragged axis, the outermost first."""
        return _nested(cls.from_row_lengths, flat_values, nested_row_lengths, validate)

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Any,
        nested_nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """`from_value_rowids` once for each ragged axis, the outermost first."""
        if isinstance(nested_value_rowids, Tensor):
            raise TypeError("from_nested_value_rowids: `nested_value_rowids` must be a list.")
        counts = [None] * len(nested_value_rowids) if nested_nrows is None else nested_nrows
        if len(counts) != len(nested_value_rowids):
            raise ValueError(
                "from_nested_value_rowids: `nested_nrows` must have as many entries as "
                f"`nested_value_rowids`. Received: {len(counts)} and {len(nested_value_rowids)}."
            )
        for rowids, nrows in zip(reversed(nested_value_rowids), reversed(counts), strict=True):
            flat_values = cls.from_value_rowids(flat_values, rowids, nrows, validate=validate)
        return flat_values  # type: ignore[no-any-return]

    # From and to tensors

    @classmethod
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: Any = dt.int64,
    ) -> RaggedTensor:
        """The rows of `tensor`: whole, of these `lengths`, or without the `padding` at their ends.

        `lengths` may be a list with the lengths for each of several ragged axes.

        >>> RaggedTensor.from_tensor([[5, 7, 0], [3, 0, 0]], padding=0)
        <tf.RaggedTensor [[5, 7], [3]]>
        """
        dtype = as_dtype(row_splits_dtype)
        if lengths is not None and padding is not None:
            raise ValueError("from_tensor: specify `lengths` or `padding`, but not both.")
        if not isinstance(ragged_rank, int):
            raise TypeError(f"from_tensor: `ragged_rank` must be an int, not {ragged_rank!r}.")
        if ragged_rank <= 0:
            raise ValueError(f"from_tensor: `ragged_rank` must be above 0, and is {ragged_rank}.")
        x = as_tensor(tensor, op="from_tensor")
        if x.ndim <= ragged_rank:
            raise ShapeError(
                f"from_tensor: with ragged_rank={ragged_rank} `tensor` must have more than "
                f"{ragged_rank} axes, and its shape is {x.shape}."
            )
        if isinstance(lengths, (list, tuple)) and lengths and not isinstance(lengths[0], int):
            return cls._of_nested_lengths(x, lengths, dtype)
        sizes = x._array.shape
        inner = reshape(x, (sizes[0] * sizes[1], *sizes[2:]))
        if ragged_rank > 1:
            if lengths is not None:
                raise ValueError("from_tensor: `lengths` must be a list of as many as ragged_rank.")
            values: Any = cls.from_tensor(inner, None, padding, ragged_rank - 1, None, dtype)
        elif lengths is None and padding is None:
            values = inner
        else:
            counts = row_ends(x, lengths, padding, dtype)
            starts = np.arange(sizes[0], dtype=counts.dtype) * sizes[1]
            places, counts = ranges(starts, starts + counts)
            return cls.from_row_lengths(gather(inner, Tensor(places)), Tensor(counts), None, False)
        width, rows = number(sizes[1], dtype), number(sizes[0], dtype)
        return cls.from_uniform_row_length(values, width, rows, validate=False)

    @classmethod
    def _of_nested_lengths(cls, x: Tensor, lengths: Any, dtype: DType) -> RaggedTensor:
        """`x` with its rows cut to `lengths[0]`, their rows to `lengths[1]`, and so on."""
        if x.ndim <= len(lengths):
            raise ShapeError(
                f"from_tensor: {len(lengths)} lists of lengths are for more axes than `tensor` of "
                f"shape {x.shape} has."
            )
        outer = cls.from_tensor(x, as_tensor(lengths[0]), row_splits_dtype=dtype)
        if len(lengths) == 1:
            return outer
        return outer.with_values(cls._of_nested_lengths(outer.values, lengths[1:], dtype))

    def to_tensor(
        self, default_value: Any = None, name: str | None = None, shape: Any = None
    ) -> Tensor:
        """The rows filled up with `default_value` (0, "") to the longest; or to `shape`, and cut.

        Differentiable by the values, and by the `default_value`.
        """
        return padded(self, default_value, shape)

    @classmethod
    def from_sparse(
        cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = dt.int64
    ) -> RaggedTensor:
        """The rows of a sparse matrix, in which the values of each row stand at its beginning."""
        values, rows = rows_of_sparse(st_input, as_dtype(row_splits_dtype))
        return cls._like(values, rows)

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """The values, each at its place, as a SparseTensor."""
        return as_sparse(self)

    def bounding_shape(
        self, axis: Any = None, name: str | None = None, out_type: Any = None
    ) -> Tensor:
        """The shape of the smallest tensor with room for all rows; or its sizes along `axis`."""
        dtype = self._row_partition.dtype if out_type is None else as_dtype(out_type)
        if axis is not None and np.ndim(axis) == 0 and int(axis) == 0:
            return cast(self.nrows(), dtype)
        sizes = [self.nrows(), *[longest_row(each) for each in self._nested_row_partitions]]
        inner = shape(self.flat_values, dtype)[1:]
        bounds = stack([*[cast(size, dtype) for size in sizes], *inner])
        return bounds if axis is None else gather(bounds, axis)

    def numpy(self) -> Any:
        """The rows as a NumPy array; if their lengths differ, one of objects, each a row."""
        if self._is_symbolic():
            raise SymbolicTensorError("RaggedTensor.numpy() needs values, which a trace has not.")
        values, splits = self.values.numpy(), self.row_splits.numpy()
        rows = [values[i:j] for i, j in pairwise(splits)]
        if not rows:
            return np.zeros((0, 0, *values.shape[1:]), values.dtype)
        if len({len(row) for row in rows}) == 1:
            return np.array(rows)
        found = np.empty(len(rows), object)
        found[:] = rows
        return found

    def to_list(self) -> list[Any]:
        """The values as nested Python lists."""
        if self._is_symbolic():
            raise SymbolicTensorError("RaggedTensor.to_list() needs values, which a trace has not.")
        values = self._values
        listed = values.to_list() if isinstance(values, RaggedTensor) else values.numpy().tolist()
        splits = self.row_splits.numpy().tolist()
        return [listed[i:j] for i, j in pairwise(splits)]

    def _is_symbolic(self) -> bool:
        parts = (self.flat_values, *self.nested_row_splits)
        return any(is_symbolic(part._array) for part in parts)

    # What it is made of

    @property
    def _type_spec(self) -> RaggedTensorSpec:
        return RaggedTensorSpec.from_value(self)

    @property
    def dtype(self) -> DType:
        return self._values.dtype  # type: ignore[no-any-return]

    @property
    def shape(self) -> TensorShape:
        """The shape as far as it is known: None for an axis that is ragged."""
        partition = self._row_partition
        sizes = [partition.static_nrows, partition.static_uniform_row_length]
        return TensorShape([*sizes, *self._values.shape[1:]])

    def get_shape(self) -> TensorShape:
        return self.shape

    @property
    def _rank(self) -> int:
        return self.ragged_rank + self.flat_values.ndim

    @property
    def ragged_rank(self) -> int:
        """How many times the flat values are cut into rows."""
        inner = self._values
        return 1 + (inner.ragged_rank if isinstance(inner, RaggedTensor) else 0)

    @property
    def values(self) -> Any:
        """The values of all rows, one after the other: a Tensor or, if rows are, a RaggedTensor."""
        return self._values

    @property
    def flat_values(self) -> Tensor:
        """The values with all ragged axes taken away."""
        inner = self._values
        while isinstance(inner, RaggedTensor):
            inner = inner._values
        return inner  # type: ignore[no-any-return]

    @property
    def row_splits(self) -> Tensor:
        return self._row_partition.row_splits()

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The row splits of all ragged axes, the outermost first."""
        return tuple([each.row_splits() for each in self._nested_row_partitions])

    @property
    def _nested_row_partitions(self) -> tuple[RowPartition, ...]:
        partitions: list[RowPartition] = []
        inner: Any = self
        while isinstance(inner, RaggedTensor):
            partitions.append(inner._row_partition)
            inner = inner._values
        return tuple(partitions)

    @property
    def uniform_row_length(self) -> Tensor | None:
        """The length of all rows, where the axis was made as one that is not ragged."""
        return self._row_partition.uniform_row_length()

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The lengths of the rows along `axis`: ragged themselves, for an axis after the first."""
        axis = static_axis(axis, self._rank, "row_lengths")
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self._row_partition.row_lengths()
        inner = self._values
        if isinstance(inner, RaggedTensor):
            return self.with_values(inner.row_lengths(axis - 1))
        sizes = shape(inner, self._row_partition.dtype)
        return self.with_values(broadcast_to(sizes[axis - 1], inner._array.shape[: axis - 1]))

    def row_starts(self, name: str | None = None) -> Tensor:
        return self._row_partition.row_starts()

    def row_limits(self, name: str | None = None) -> Tensor:
        return self._row_partition.row_limits()

    def value_rowids(self, name: str | None = None) -> Tensor:
        return self._row_partition.value_rowids()

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        count = self._row_partition.nrows()
        return count if out_type is None else cast(count, out_type)

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        return tuple([each.row_lengths() for each in self._nested_row_partitions])

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        return tuple([each.value_rowids() for each in self._nested_row_partitions])

    # With other values, in other rows

    def with_values(self, new_values: Any) -> RaggedTensor:
        """The same rows with other values, of which there must be as many."""
        values = _as_values(new_values, "with_values")
        _check_count(values, self._row_partition, "with_values")
        dtype = self._row_partition.dtype
        if isinstance(values, RaggedTensor) and values._row_partition.dtype is not dtype:
            values = values.with_row_splits_dtype(dt.int64)
            return self._like(values, self._row_partition.with_dtype(dt.int64))
        return self._like(values, self._row_partition)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """The same rows along all ragged axes, with other flat values."""
        if isinstance(self._values, RaggedTensor):
            return self._like(self._values.with_flat_values(new_values), self._row_partition)
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """The same rows with partitions of int32 or int64."""
        wanted = as_dtype(dtype)
        if wanted not in (dt.int32, dt.int64):
            raise ValueError(f"Argument `row_splits` dtype must be int32 or int64, not {wanted!r}.")
        if self._row_partition.dtype is wanted:
            return self
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(wanted)
        return self._like(values, self._row_partition.with_dtype(wanted))

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """The axes from `outer_axis` to `inner_axis` made one.

        >>> tf.ragged.constant([[[1, 2], [3]], [[4]]]).merge_dims(1, 2)
        <tf.RaggedTensor [[1, 2, 3], [4]]>
        """
        rank = self._rank
        outer = static_axis(outer_axis, rank, "merge_dims", "outer_axis")
        inner = static_axis(inner_axis, rank, "merge_dims", "inner_axis")
        if not outer < inner:
            raise ValueError(
                f"merge_dims: `outer_axis` ({outer_axis}) must be before `inner_axis` "
                f"({inner_axis})."
            )
        return merged(self, outer, inner)

    def __getitem__(self, key: Any) -> Any:
        return getitem(self, key)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(static_int(self.nrows(), "RaggedTensor", "nrows")))

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean. Use tf.reduce_any or _all.")

    def __hash__(self) -> int:
        raise TypeError("RaggedTensor is unhashable.")

    def __repr__(self) -> str:
        if self._is_symbolic():
            return f"tf.RaggedTensor(values={self.values}, row_splits={self.row_splits})"
        with np.printoptions(formatter={"all": _text}):  # the rows within an array of rows, too
            return f"<tf.RaggedTensor {_text(self.numpy())}>"


for _name, _operator in OPERATORS.items():
    if "matmul" not in _name:  # as in TensorFlow: rows have no common length to sum over
        setattr(RaggedTensor, _name, _operator)


class RaggedTensorSpec(TypeSpec):
    """What is known of a RaggedTensor; or, with ragged_rank=0, of a tensor that is a row of one.

    Without `ragged_rank` all axes but the first are ragged.
    """

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dt.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = dt.int64,
        flat_values_spec: Any = None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._row_splits_dtype = as_dtype(row_splits_dtype)
        self._flat_values_spec = flat_values_spec
        self._dtype = as_dtype(flat_values_spec.dtype if flat_values_spec is not None else dtype)
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("RaggedTensorSpec: give `ragged_rank`, or a shape of known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError(f"RaggedTensorSpec: `ragged_rank` must be an int, not {ragged_rank!r}.")
        if rank is not None and ragged_rank >= max(rank, 1):
            raise ValueError(
                f"RaggedTensorSpec: `ragged_rank` ({ragged_rank}) must be less than the rank "
                f"({rank})."
            )
        self._ragged_rank = ragged_rank

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The spec of a ragged tensor."""
        return cls(value.shape, value.dtype, value.ragged_rank, value._row_partition.dtype)

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def ragged_rank(self) -> int:
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> DType:
        return self._row_splits_dtype

    @property
    def flat_values_spec(self) -> Any:
        return self._flat_values_spec

    @property
    def value_type(self) -> type:
        return RaggedTensor if self._ragged_rank else Tensor

    def _serialize(self) -> tuple[Any, ...]:
        parts = (self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype)
        return parts if self._flat_values_spec is None else (*parts, self._flat_values_spec)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        if not self._ragged_rank and isinstance(spec_or_value, (Tensor, TensorSpec)):
            return TensorSpec(self._shape, self._dtype).is_compatible_with(spec_or_value)
        return super().is_compatible_with(spec_or_value)

    @property
    def _component_specs(self) -> Any:
        if not self._ragged_rank:
            return [TensorSpec(self._shape, self._dtype)]
        sizes = None if self._shape.rank is None else list(self._shape)
        inner = None if sizes is None else [None, *sizes[self._ragged_rank + 1 :]]
        rows = None if sizes is None or sizes[0] is None else sizes[0] + 1
        counts = [rows, *[None] * (self._ragged_rank - 1)]
        splits = [TensorSpec([count], self._row_splits_dtype) for count in counts]
        return [self._flat_values_spec or TensorSpec(inner, self._dtype), *splits]

    def _to_components(self, value: Any) -> Any:
        if isinstance(value, RaggedTensor):
            return [value.flat_values, *value.nested_row_splits]
        return [value]

    def _from_components(self, components: Any) -> Any:
        values, *nested = components
        for axis, splits in reversed(list(enumerate(nested, 1))):
            size = None if self._shape.rank is None else self._shape[axis]
            length = None if size is None else number(size, self._row_splits_dtype)
            partition = RowPartition(splits, uniform_row_length=length, internal=True)
            values = RaggedTensor._like(values, partition)
        return values

    def _zeros(self, size: int) -> Any:
        """Rows of zeros, with `size` for every unknown length."""
        sizes = [None] * (self._ragged_rank + 1) if self._shape.rank is None else self._shape
        dense = TensorSpec(sizes, self._dtype)._zeros(size)
        if not self._ragged_rank:
            return dense
        rows = RaggedTensor.from_tensor(
            dense, ragged_rank=self._ragged_rank, row_splits_dtype=self._row_splits_dtype
        )
        return self._from_components(self._to_components(rows))

    # Rows

    def _batch(self, batch_size: int | None) -> RaggedTensorSpec:
        sizes = None if self._shape.rank is None else [batch_size, *self._shape]
        return RaggedTensorSpec(sizes, self._dtype, self._ragged_rank + 1, self._row_splits_dtype)

    def _unbatch(self) -> RaggedTensorSpec:
        sizes = None if self._shape.rank is None else self._shape[1:]
        return RaggedTensorSpec(
            sizes, self._dtype, max(self._ragged_rank - 1, 0), self._row_splits_dtype
        )

    def _of_any_size(self) -> RaggedTensorSpec:
        return RaggedTensorSpec(None, self._dtype, self._ragged_rank, self._row_splits_dtype)

    def _stack(self, values: Any) -> Any:
        if not values:
            return self._batch(0)._zeros(0)
        dtype = self._row_splits_dtype
        rows = [
            v.with_row_splits_dtype(dtype)
            if isinstance(v, RaggedTensor)
            else v
            if not self._ragged_rank
            else RaggedTensor.from_tensor(v, ragged_rank=self._ragged_rank, row_splits_dtype=dtype)
            for v in values
        ]
        lengths = stack([_rows_of(row, dtype) for row in rows])
        return RaggedTensor.from_row_lengths(concat(rows, 0), lengths, validate=False)

    def _unstack(self, value: Any) -> list[Any]:
        return list(value)


def ragged_rows_spec(spec: Any, row_splits_dtype: Any) -> Any:
    """The spec of tensors that become rows of a ragged one where their sizes may differ."""
    if not isinstance(spec, TensorSpec) or spec.shape.rank is None:
        return spec
    unknown = [axis for axis, size in enumerate(spec.shape) if size is None]
    if not unknown:
        return spec
    return RaggedTensorSpec(spec.shape, spec.dtype, max(unknown), row_splits_dtype)


def _text(x: Any) -> str:
    if isinstance(x, np.ndarray):
        # NumPy writes [] for every empty array, of whatever shape.
        return np.array2string(x, separator=", ") if x.size else repr(x.tolist())
    return str(x)


def is_ragged(x: Any) -> bool:
    return isinstance(x, RaggedTensor)


def as_ragged_or_tensor(value: Any, op: str) -> Any:
    """A RaggedTensor as it is, anything else as a tensor."""
    return value if isinstance(value, RaggedTensor) else as_tensor(value, op=op)


def _as_values(values: Any, op: str) -> Any:
    values = as_ragged_or_tensor(values, op)
    if isinstance(values, Tensor) and not values.ndim:
        raise ShapeError(f"{op}: `values` is a scalar, and must have at least one axis.")
    return values


def _hint(values: Any) -> Any:
    return values._row_partition.dtype if isinstance(values, RaggedTensor) else None


def _rows_of(values: Any, dtype: DType) -> Tensor:
    """The size of the first axis."""
    if isinstance(values, RaggedTensor):
        return cast(values.nrows(), dtype)
    return shape(values, dtype)[0]


def _check_count(values: Any, partition: RowPartition, op: str) -> None:
    have, wanted = _rows_of(values, partition.dtype), partition.nvals()
    sizes = static_value(have), static_value(wanted)
    if None in sizes:
        assert_equal(have, wanted, f"{op}: the rows must have as many values as there are.")
    elif sizes[0] != sizes[1]:
        raise ShapeError(f"{op}: the rows have {sizes[1]} values, and there are {sizes[0]}.")


def _nested(make: Any, flat_values: Any, nested: Any, validate: bool) -> RaggedTensor:
    if isinstance(nested, Tensor):
        raise TypeError("RaggedTensor: a list is needed, with an entry for each ragged axis.")
    for each in reversed(nested):
        flat_values = make(flat_values, each, validate=validate)
    return flat_values  # type: ignore[no-any-return]
