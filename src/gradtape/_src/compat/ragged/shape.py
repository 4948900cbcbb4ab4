"""DynamicRaggedShape: the shape of a ragged tensor, the lengths of its rows included."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.composite import CompositeTensor
from ...core.convert import as_tensor
from ...core.dtypes import DType, as_dtype
from ...core.shape import TensorShape
from ...core.tensor import Tensor, is_symbolic
from ...ops.array.cast import cast
from ...ops.array.creation import ones, zeros
from ...ops.array.shape import broadcast_to, reshape, shape
from ...ops.declare.static import known, static_axis, static_ints
from .elementwise import on_same_rows
from .ragged_tensor import RaggedTensor, as_ragged_or_tensor
from .row_partition import RowPartition, number


class DynamicRaggedShape(CompositeTensor):
    """What `tf.shape` gives for a ragged tensor: partitions of rows, and the shape of the values.

    >>> tf.shape(tf.ragged.constant([[1, 2], [3]]))
    <DynamicRaggedShape lengths=[2, (2, 1)] num_row_partitions=1>
    """

    _to_make_tensors = "A single size that is not ragged is shape[axis]."

    def __init__(
        self,
        row_partitions: Any,
        inner_shape: Any,
        dtype: Any = None,
        validate: bool = False,
        static_inner_shape: Any = None,
    ) -> None:
        partitions = tuple(row_partitions)
        inner = as_tensor(inner_shape, op="DynamicRaggedShape")
        wanted = as_dtype(dtype or (partitions[0].dtype if partitions else inner.dtype))
        self._row_partitions = tuple([each.with_dtype(wanted) for each in partitions])
        self._inner_shape = cast(inner, wanted)

    @classmethod
    def from_lengths(
        cls, lengths: Any, num_row_partitions: int | None = None, dtype: Any = dt.int64
    ) -> DynamicRaggedShape:
        """The shape with these lengths: a number, or a tuple with one for each row."""
        wanted = as_dtype(dtype)
        ragged = [i for i, n in enumerate(lengths) if np.ndim(n)]
        count = max(ragged, default=0) if num_row_partitions is None else num_row_partitions
        if any(i > count for i in ragged) or 0 in ragged:
            raise ValueError(f"DynamicRaggedShape: no shape has the lengths {lengths!r:.200}.")
        partitions, rows = [], lengths[0]
        for entry in lengths[1 : count + 1]:
            if np.ndim(entry):
                encoded = Tensor(np.asarray(entry, wanted.numpy_dtype))
                partition = RowPartition.from_row_lengths(encoded)
                if partition.static_nrows != rows:
                    raise ValueError(
                        f"DynamicRaggedShape: {entry!r:.100} must have a length for each of the "
                        f"{rows} rows."
                    )
                rows = sum(entry)
            else:
                partition = RowPartition.from_uniform_row_length(
                    number(entry, wanted), nrows=number(rows, wanted)
                )
                rows *= entry
            partitions.append(partition)
        inner = Tensor(np.asarray([rows, *lengths[count + 1 :]], wanted.numpy_dtype))
        return cls(partitions, inner, wanted)

    @classmethod
    def from_row_partitions(cls, row_partitions: Any, dtype: Any = None) -> DynamicRaggedShape:
        """The shape of single values in such rows."""
        if not row_partitions:
            raise ValueError("from_row_partitions: `row_partitions` is empty.")
        return cls(row_partitions, row_partitions[-1].nvals()[None], dtype)

    @classmethod
    def from_tensor(cls, t: Any, dtype: Any = None) -> DynamicRaggedShape:
        """The shape of a ragged tensor or a tensor."""
        value = as_ragged_or_tensor(t, "DynamicRaggedShape")
        if not isinstance(value, RaggedTensor):
            return cls((), shape(value, dtype or dt.int64))
        partitions = value._nested_row_partitions
        return cls(partitions, shape(value.flat_values, partitions[0].dtype), dtype)

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        return self._row_partitions

    @property
    def num_row_partitions(self) -> int:
        return len(self._row_partitions)

    @property
    def inner_shape(self) -> Tensor:
        """The shape of the flat values."""
        return self._inner_shape

    @property
    def inner_rank(self) -> int:
        return int(self._inner_shape._array.shape[0])

    @property
    def rank(self) -> int:
        return self.num_row_partitions + self.inner_rank

    @property
    def dtype(self) -> DType:
        return self._inner_shape.dtype

    def with_dtype(self, dtype: Any) -> DynamicRaggedShape:
        return DynamicRaggedShape(self._row_partitions, self._inner_shape, dtype)

    def is_uniform(self, axis: int) -> bool:
        """Whether all slices have one length along `axis`, as far as that was said."""
        axis = static_axis(axis, self.rank, "is_uniform")
        return not 0 < axis <= self.num_row_partitions or (
            self._row_partitions[axis - 1].is_uniform()
        )

    def static_lengths(self, ragged_lengths: bool = True) -> list[Any]:
        """The lengths along each axis: a number, a tuple of them where it is ragged, or None."""
        if not self._row_partitions:
            return self._inner_sizes()
        sizes: list[Any] = [self._row_partitions[0].static_nrows]
        for partition in self._row_partitions:
            lengths = partition.row_lengths()._array
            if partition.is_uniform():
                sizes.append(partition.static_uniform_row_length)
            elif ragged_lengths and not is_symbolic(lengths):
                sizes.append(tuple(lengths.tolist()))
            else:
                sizes.append(None)
        return [*sizes, *self._inner_sizes()[1:]]

    def _inner_sizes(self) -> list[Any]:
        inner = self._inner_shape
        if hasattr(inner, "sizes") or is_symbolic(inner._array):
            return [None] * self.inner_rank
        return inner.numpy().tolist()  # type: ignore[no-any-return]

    def _to_tensor_shape(self) -> TensorShape:
        return TensorShape([None if isinstance(n, tuple) else n for n in self.static_lengths()])

    def __getitem__(self, index: Any) -> Any:
        """A size that is the same for all rows; or the shape of the first axes."""
        if isinstance(index, slice):
            start, stop, step = index.indices(self.rank)
            if step != 1:
                raise IndexError("DynamicRaggedShape: a slice of a shape must have step 1.")
            return self._first(stop) if not start else self._dense(start, stop)
        axis = static_axis(index, self.rank, "DynamicRaggedShape")
        if not self.is_uniform(axis):
            raise ValueError(f"Index {axis} is not uniform")
        count = self.num_row_partitions
        if axis > count:
            return self._inner_shape[axis - count]
        if not count:
            return self._inner_shape[axis]
        return (
            self._row_partitions[axis - 1].uniform_row_length()
            if axis
            else self._row_partitions[0].nrows()
        )

    def _first(self, count: int) -> DynamicRaggedShape:
        if count > self.num_row_partitions:
            inner = self._inner_shape[: count - self.num_row_partitions]
            return DynamicRaggedShape(self._row_partitions, inner)
        kept = self._row_partitions[: max(count - 1, 0)]
        if not count:
            return DynamicRaggedShape((), self._inner_shape[:0])
        rows = kept[-1].nvals() if kept else self._row_partitions[0].nrows()
        return DynamicRaggedShape(kept, rows[None])

    def _dense(self, start: int, stop: int) -> DynamicRaggedShape:
        if not all(self.is_uniform(axis) for axis in range(start, stop)):
            raise ValueError("All relevant dimensions must be uniform")
        sizes = [int(self[axis]) for axis in range(start, stop)]
        return DynamicRaggedShape((), Tensor(np.asarray(sizes, self.dtype.numpy_dtype)))

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, DynamicRaggedShape) or other.rank != self.rank:
            return Tensor(np.asarray(False))
        return Tensor(np.asarray(self.static_lengths() == other.static_lengths()))

    def __ne__(self, other: object) -> Any:
        return ~(self == other)

    def __hash__(self) -> int:
        raise TypeError("DynamicRaggedShape is unhashable.")

    def __repr__(self) -> str:
        lengths = ", ".join(map(str, self.static_lengths()))
        return (
            f"<DynamicRaggedShape lengths=[{lengths}] num_row_partitions={self.num_row_partitions}>"
        )

    def _filled(self, flat: Any) -> Any:
        """A value of this shape with these flat values."""
        for partition in reversed(self._row_partitions):
            flat = RaggedTensor._like(flat, partition)
        return flat

    def _flat_sizes(self, op: str) -> tuple[int, ...]:
        return static_ints(self._inner_shape, op, "shape")


@RaggedTensor._takes_over(shape)
def _shape(input: Any, out_type: Any = None, name: Any = None) -> DynamicRaggedShape:
    return DynamicRaggedShape.from_tensor(input, out_type or dt.int32)


@RaggedTensor._takes_over(reshape)
def _reshape(tensor: Any, shape: Any, name: Any = None) -> Any:
    return reshape(tensor.flat_values, shape)


@DynamicRaggedShape._takes_over(reshape)
def _reshape_to(tensor: Any, shape: Any, name: Any = None) -> Any:
    value = as_ragged_or_tensor(tensor, "reshape")
    flat = value.flat_values if isinstance(value, RaggedTensor) else value
    return shape._filled(reshape(flat, shape._flat_sizes("reshape")))


@RaggedTensor._takes_over(broadcast_to)
@DynamicRaggedShape._takes_over(broadcast_to)
def _broadcast_to(input: Any, shape: Any, name: Any = None) -> Any:
    if not isinstance(shape, DynamicRaggedShape):
        sizes = known(as_tensor(shape), "broadcast_to", "shape").tolist()
        shape = DynamicRaggedShape.from_lengths(sizes, input.ragged_rank)
    wanted = shape._filled(zeros(shape._flat_sizes("broadcast_to"), dt.int8))
    if not isinstance(wanted, RaggedTensor):
        return broadcast_to(input, shape.inner_shape)
    value = as_ragged_or_tensor(input, "broadcast_to")
    inner = wanted.flat_values._array.shape[1:]

    def chosen(x: Tensor, like: Tensor) -> Tensor:
        return broadcast_to(x, (like._array.shape[0], *inner))

    if isinstance(value, RaggedTensor):
        value = value.with_row_splits_dtype(shape.dtype)
    return on_same_rows(chosen, [value, wanted], "broadcast_to")


@DynamicRaggedShape._takes_over(ones)
def _ones(shape: Any, dtype: Any = dt.float32, name: Any = None, layout: Any = None) -> Any:
    return shape._filled(ones(shape._flat_sizes("ones"), dtype))


@DynamicRaggedShape._takes_over(zeros)
def _zeros(shape: Any, dtype: Any = dt.float32, name: Any = None, layout: Any = None) -> Any:
    return shape._filled(zeros(shape._flat_sizes("zeros"), dtype))
