"""SparseTensor: the entries of a tensor that is mostly zeros, each with its place.

What the ops below compute of the places are integers, which no tape follows; the values go through
ordinary ops, and so gradients flow to any order, eagerly and in compiled functions. There the
number of entries is that of the call, and so are the sizes, where the signature has them. An op
whose number of entries depends on values makes a function run as plain Python.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.composite import CompositeTensor, TypeSpec
from ...core.convert import as_tensor, holds_tensor
from ...core.dtypes import DType, as_dtype, float32, int64
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError
from ...core.placement import on_host
from ...core.shape import TensorShape
from ...core.sizes import SizeTensor, any_open, is_open, sizes_as_tensor
from ...core.spec import Spec
from ...core.tensor import Tensor, is_symbolic, zeros_of
from ...ops.array.cast import cast
from ...ops.array.joining import concat, stack
from ...ops.array.slicing import TENSOR, _select, graph_of_shapes
from ...ops.declare.static import known, static_ints
from ...ops.math.arithmetic import divide, multiply
from ...ops.math.reduction import reduce_sum
from ...tape.type_specs import TensorSpec, known_sizes


class SparseTensorValue(NamedTuple):
    """The three parts of a sparse tensor, as arrays."""

    indices: Any
    values: Any
    dense_shape: Any


class SparseTensor(CompositeTensor):
    """A tensor of shape `dense_shape` with `values[i]` at `indices[i]`, and zeros elsewhere.

    >>> st = tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[2, 3])
    >>> tf.sparse.to_dense(st)
    <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
    array([[1, 0, 0],
           [0, 0, 2]], dtype=int32)>

    Most ops expect the places in order, row by row: `tf.sparse.reorder` puts them so.
    """

    _is_tensor = True
    _to_make_tensors = (
        "Make it dense with tf.sparse.to_dense, or see tf.sparse for what there is for it."
    )

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self._indices = as_tensor(indices, int64, "SparseTensor: `indices`")
        self._values = as_tensor(values, op="SparseTensor: `values`")
        self._dense_shape = sizes_tensor(dense_shape)
        self._shape = _known_shape(self._dense_shape)
        self._check()

    def _check(self) -> None:
        places, values = self._indices._array.shape, self._values._array.shape
        sizes = self._dense_shape._array.shape
        if [len(places), len(values), len(sizes)] != [2, 1, 1]:
            raise ShapeError(
                "SparseTensor: `indices` must be a matrix, `values` and `dense_shape` vectors. "
                f"Received shapes: {places}, {values}, {sizes}."
            )
        if places[0] != values[0]:
            raise ShapeError(
                f"SparseTensor: there must be a row of `indices` for each of `values`, and there "
                f"are {places[0]} and {values[0]}."
            )
        if places[1] != sizes[0]:
            raise ShapeError(
                "SparseTensor: `indices` must have a column for each entry of `dense_shape`, and "
                f"there are {places[1]} and {sizes[0]}."
            )

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """A SparseTensor of a SparseTensorValue."""
        return as_sparse(sparse_tensor_value, "SparseTensor.from_value", "sparse_tensor_value")

    @property
    def indices(self) -> Tensor:
        """The places, as a matrix of int64: a row for each entry, a column for each axis."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The entries, as a vector."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The shape, as a vector of int64."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    def get_shape(self) -> TensorShape:
        return self._shape

    def set_shape(self, shape: Any) -> None:
        """Add to what is known of the shape; the two must agree."""
        self._shape = self._shape.merge_with(shape)

    def with_values(self, new_values: Any) -> SparseTensor:
        """A SparseTensor with other values, as many, at the same places."""
        other = SparseTensor(self._indices, new_values, self._dense_shape)
        other._shape = self._shape
        return other

    def consumers(self) -> list[Any]:
        return []

    def _numpy(self) -> Any:
        """The dense array."""
        array = np.zeros(tuple(self._shape), self.dtype.numpy_dtype)
        array[tuple(np.asarray(self._indices).T)] = np.asarray(self._values)
        return array

    @property
    def _type_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec(self._shape, self.dtype)

    def __mul__(self, other: Any) -> Any:  # taken_over.py says what these are
        return multiply(self, other)  # type: ignore[arg-type]

    def __truediv__(self, other: Any) -> Any:
        return divide(self, other)

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )


def sizes_tensor(dense_shape: Any) -> Tensor:
    if isinstance(dense_shape, TensorShape):
        if not dense_shape.is_fully_defined():
            raise ShapeError(
                f"SparseTensor: `dense_shape` must be fully known, and is {dense_shape}."
            )
        dense_shape = list(dense_shape)
    if isinstance(dense_shape, (list, tuple)) and any_open(dense_shape) is not None:
        return sizes_as_tensor(dense_shape, int64.numpy_dtype)
    if holds_tensor(dense_shape):  # sizes that were computed may be int32
        return stack([cast(n, int64) for n in dense_shape])
    return as_tensor(dense_shape, int64, "SparseTensor: `dense_shape`")


def _known_shape(dense_shape: Tensor) -> TensorShape:
    if type(dense_shape) is SizeTensor:
        return TensorShape([None if is_open(n) else n for n in dense_shape.sizes])
    if is_symbolic(dense_shape._array):
        return TensorShape([None] * dense_shape._array.shape[0])
    return TensorShape(np.asarray(on_host(dense_shape._array)).reshape(-1).tolist())


class SparseTensorSpec(TypeSpec):
    """What is known of a SparseTensor: its shape (None for what is not known) and dtype."""

    def __init__(self, shape: Any = None, dtype: Any = float32) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def value_type(self) -> type:
        return SparseTensor

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        sparse = as_sparse(value, "SparseTensorSpec.from_value", "value")
        return cls(sparse.shape, sparse.dtype)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rank = self._shape.rank
        return [
            TensorSpec([None, rank], int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], int64),
        ]

    def _to_components(self, value: Any) -> list[Tensor]:
        sparse = as_sparse(value, "SparseTensorSpec", "value")
        return [sparse.indices, sparse.values, sparse.dense_shape]

    def _from_components(self, components: Any) -> SparseTensor:
        indices, values, dense_shape = components
        sparse = SparseTensor(indices, values, known_sizes(self._shape, dense_shape))
        sparse.set_shape(self._shape)
        return sparse

    def _sketch(self, graph: Any) -> SparseTensor:
        """(Nobody knows how many entries it has.)"""
        places = TensorSpec([None], int64)._sketch(graph)
        found = unknown_entries(graph.sizes_of(self._shape), self._dtype, places)
        assert found is not None
        return found

    # Rows

    def _batch(self, batch_size: int | None) -> SparseTensorSpec:
        return SparseTensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> SparseTensorSpec:
        if self._shape.rank == 0:
            raise ShapeError("A SparseTensor of rank 0 has no rows.")
        return SparseTensorSpec(None if self._shape.rank is None else self._shape[1:], self._dtype)

    def _stack(self, values: Sequence[SparseTensor]) -> SparseTensor:
        if not values:
            sizes = [0, *[0 if n is None else n for n in self._shape.as_list()]]
            empty = np.zeros((0, len(sizes)), np.int64)
            return SparseTensor(empty, np.zeros(0, self._dtype.numpy_dtype), sizes)
        shapes = [sizes_of(each, "stack") for each in values]
        if len(set(map(len, shapes))) > 1:
            raise ShapeError(f"Sparse tensors of different ranks cannot be stacked: {shapes}.")
        sizes = [len(values), *map(max, *shapes)] if len(values) > 1 else [1, *shapes[0]]
        numbers = np.repeat(np.arange(len(values)), [count_of(each) for each in values])
        places = concat([each.indices for each in values], 0)
        first = Tensor(numbers.astype(np.int64)[:, None])
        return SparseTensor(
            concat([first, places], 1), concat([each.values for each in values], 0), sizes
        )

    def _unstack(self, value: SparseTensor) -> list[SparseTensor]:
        places = known_indices(value, "unstack")
        sizes = sizes_of(value, "unstack")
        if not sizes:
            raise ShapeError("A SparseTensor of rank 0 has no rows.")
        return [
            picked(value, np.flatnonzero(places[:, 0] == i), places[:, 1:], sizes[1:])
            for i in range(sizes[0])
        ]

    def _zeros(self, size: int) -> SparseTensor:
        sizes = [size if n is None else n for n in self._shape.as_list()]
        places = np.zeros((min(size, math.prod(sizes)), len(sizes)), np.int64)
        for axis, column in enumerate(np.unravel_index(np.arange(len(places)), sizes or [1])):
            if sizes:
                places[:, axis] = column
        return SparseTensor(places, TensorSpec([len(places)], self._dtype)._zeros(0), sizes)


# What the ops share


def as_sparse(value: Any, op: str, name: str = "sp_input") -> SparseTensor:
    """An argument that must be a SparseTensor."""
    if isinstance(value, SparseTensor):
        return value
    if isinstance(value, SparseTensorValue):
        return SparseTensor(*value)
    raise DTypeError(
        f"{op}: `{name}` must be a SparseTensor, and is a {type(value).__name__}: {value!r:.100}. "
        "tf.sparse.from_dense makes one of a tensor."
    )


def is_sparse(value: Any) -> bool:
    return isinstance(value, (SparseTensor, SparseTensorValue))


def sizes_of(sparse: SparseTensor, op: str) -> tuple[int, ...]:
    """The shape, which decides on the shape of a result."""
    if sparse.shape.is_fully_defined():
        return tuple(sparse.shape)
    return static_ints(sparse.dense_shape, op, "dense_shape")


def count_of(sparse: SparseTensor) -> int:
    """The number of entries."""
    return sparse.values._array.shape[0]  # type: ignore[no-any-return]


def known_indices(sparse: SparseTensor, op: str) -> Any:
    """The places as an array, where they decide on the number of entries of a result."""
    return known(sparse.indices, op, "indices").astype(np.int64, copy=False)


def unknown_entries(sizes: Sequence[Any], dtype: DType, *tensors: Tensor) -> SparseTensor | None:
    """In a FuncGraph, which only learns shapes: a result whose entries these `tensors` decide on.

    None elsewhere, and where their values are known.
    """
    graph = graph_of_shapes(*tensors)
    if graph is None:
        return None
    place, value = Spec((len(sizes),), int64.numpy_dtype), Spec((), dtype.numpy_dtype)
    places, values = graph.of_unknown_length(place, value)
    return SparseTensor(places, values, list(sizes))


def strides(sizes: Sequence[int]) -> list[int]:
    """How far apart the neighbours along each axis are, row by row."""
    return [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]


def numbered(indices: Tensor, sizes: Sequence[int]) -> Tensor:
    """The number of each place, row by row."""
    if not sizes:
        return zeros_of(indices, (indices._array.shape[0],))
    return reduce_sum(indices * sizes_tensor(strides(sizes)), 1)


def places_of(numbers: Tensor, sizes: Sequence[int]) -> Tensor:
    """The places of these numbers: the inverse of `numbered`."""
    if not sizes:
        return zeros_of(numbers, (numbers._array.shape[0], 0))
    columns = []
    for stride, size in zip(strides(sizes), sizes, strict=True):
        column = numbers * 0 if stride == 0 else numbers // stride
        columns.append(column if size == 0 else column % size)
    return stack(columns, 1)


def entries(values: Tensor, which: Any, unique: bool = True) -> Tensor:
    """Rows of a tensor, each at most once if `unique`. (The gradient of tf.gather is sparse.)"""
    found: Tensor = _select(values, as_tensor(which), key=(TENSOR,), unique=unique)
    return found


def picked(
    sparse: SparseTensor, which: Any, indices: Any = None, sizes: Any = None
) -> SparseTensor:
    """The entries of these numbers; their places may be taken from other `indices` and `sizes`."""
    places = known_indices(sparse, "SparseTensor") if indices is None else indices
    shape = sparse.dense_shape if sizes is None else sizes
    return SparseTensor(places[which], entries(sparse.values, which), list(shape))


def check_same_shape(a: SparseTensor, b: SparseTensor, op: str) -> tuple[int, ...]:
    """The shape that two sparse tensors must share."""
    sizes, other = sizes_of(a, op), sizes_of(b, op)
    if sizes != other:
        raise ShapeError(f"{op}: the shapes do not match: {list(sizes)} and {list(other)}.")
    return sizes


def check_inside(places: Any, sizes: Sequence[int], op: str) -> None:
    """Raise if a place, known, lies outside."""
    outside = ((places < 0) | (places >= np.asarray(sizes, np.int64))).any(1)
    if outside.any():
        number = int(outside.argmax())
        raise InvalidArgumentError(
            f"{op}: indices[{number}] = {places[number].tolist()} is out of bounds for the shape "
            f"{list(sizes)}."
        )
