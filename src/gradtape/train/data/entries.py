"""Entries: how the entries of a block become elements, one by one or a batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Protocol

import numpy as np

from ...core import nest
from ...core.dtypes import DType
from ...core.errors import DTypeError, ShapeError
from ...core.tensor import Tensor
from .blocks import Block, Blocks
from .elements import is_dataset


class Entries(Protocol):
    """What the entries of the blocks of a dataset stand for."""

    def one(self, entry: Any) -> Any:
        """The element of an entry."""

    def many(self, block: Block) -> Any:
        """The elements of a block, stacked into one."""

    def components(self, block: Block, make: Callable[[Entries, Block], Any]) -> Any:
        """An element's structure of `make(entries, block)` for each component by itself."""


class Rows:
    """Entries that are numbers of rows: the elements lie in arrays, and are cut out when needed."""

    def __init__(self, arrays: Any) -> None:
        self.arrays = arrays
        self._columns = nest.flatten(arrays)
        self._pack = _packer(arrays)

    def __len__(self) -> int:
        return len(self._columns[0])

    def in_order(self) -> Blocks:
        yield range(len(self))

    def first(self, count: int) -> Any:
        """The arrays of the first `count` rows."""
        return nest.map_structure(lambda array: array[:count], self.arrays)

    def one(self, entry: Any) -> Any:
        return self._packed([column[entry, ...] for column in self._columns])

    def many(self, block: Any) -> Any:
        if isinstance(block, range):
            rows = slice(block.start, block.stop, block.step)
            return self._packed([column[rows] for column in self._columns])
        # A third of the time of column[block].
        return self._packed([column.take(block, 0) for column in self._columns])

    def components(self, block: Block, make: Callable[[Entries, Block], Any]) -> Any:
        return nest.map_structure(lambda column: make(Rows(column), block), self.arrays)

    def _packed(self, columns: list[Any]) -> Any:
        return self._pack(map(Tensor, columns))


def _packer(structure: Any) -> Callable[[Iterator[Any]], Any]:
    """`nest.pack` for this structure; quick for a tensor alone and for a plain tuple."""
    if not nest.is_nested(structure):
        return next
    if type(structure) is tuple and not any(map(nest.is_nested, structure)):
        return tuple
    return partial(nest.pack, structure)


def rows_of(element: Any, op: str) -> Rows:
    """The rows of an element's tensors, which must be equally many in all of them."""
    tensors = nest.flatten(element)
    if not tensors:
        raise ShapeError(f"{op}: there is no tensor to take rows from.")
    shapes = [tuple(tensor.shape) for tensor in tensors]
    if not all(len(shape) for shape in shapes):
        raise ShapeError(f"{op}: a scalar has no rows. Received shapes: {shapes}.")
    if len({shape[0] for shape in shapes}) > 1:
        raise ShapeError(
            f"{op}: all tensors must have the same number of rows. Received shapes: {shapes}."
        )
    return Rows(nest.map_structure(lambda tensor: np.asarray(tensor._array), element))


class Numbers:
    """Entries that are the elements' own values: integers of some dtype."""

    def __init__(self, dtype: DType) -> None:
        self._dtype = dtype.numpy_dtype

    def one(self, entry: Any) -> Tensor:
        return Tensor(np.asarray(entry, self._dtype))

    def many(self, block: Any) -> Tensor:
        if isinstance(block, range):
            return Tensor(np.arange(block.start, block.stop, block.step).astype(self._dtype))
        return Tensor(block.astype(self._dtype))

    def components(self, block: Block, make: Callable[[Entries, Block], Any]) -> Any:
        return make(self, block)


class Elements:
    """Entries that are elements already."""

    def one(self, entry: Any) -> Any:
        return entry

    def many(self, block: Block) -> Any:
        columns = zip(*map(nest.flatten, block), strict=True)
        return nest.pack(block[0], (_stacked(i, column) for i, column in enumerate(columns)))

    def components(self, block: Block, make: Callable[[Entries, Block], Any]) -> Any:
        columns = zip(*map(nest.flatten, block), strict=True)
        return nest.pack(block[0], (make(self, list(column)) for column in columns))


def _stacked(component: int, tensors: Any) -> Tensor:
    arrays = arrays_of(tensors, "Dataset.batch")
    shape = arrays[0].shape
    for i, array in enumerate(arrays):
        if array.shape != shape:
            raise ShapeError(
                f"Dataset.batch: component {component} of the elements has different shapes: "
                f"{shape} at first and {array.shape} in element {i} of this batch. Give them one "
                "shape, or use padded_batch, which fills up the shorter ones."
            )
    # np.array takes a third of the time of np.stack, but would hold arrays of one string each.
    return Tensor(np.stack(arrays) if arrays[0].dtype.hasobject else np.array(arrays))


def arrays_of(tensors: Any, op: str) -> list[Any]:
    """The arrays of tensors of one dtype."""
    if is_dataset(tensors[0]):
        raise DTypeError(
            f"{op}: the elements hold datasets, which cannot be stacked. Turn each into elements "
            "with flat_map first, e.g. flat_map(lambda window: window.batch(size))."
        )
    arrays = [np.asarray(tensor._array) for tensor in tensors]
    for array in arrays:
        if array.dtype != arrays[0].dtype:
            raise DTypeError(
                f"{op}: the elements have different dtypes: {arrays[0].dtype.name} and "
                f"{array.dtype.name}. Cast them to one with map."
            )
    return arrays
