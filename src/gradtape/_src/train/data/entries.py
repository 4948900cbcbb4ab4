"""Entries: how the entries of a block become elements, one by one or a batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Protocol

import numpy as np

from ...core import nest
from ...core.composite import is_composite
from ...core.dtypes import DType
from ...core.errors import DynamicSizeError, ShapeError
from ...core.placement import on_host
from ...core.tensor import Tensor, is_symbolic, tensors_of
from .batch import stack
from .blocks import Block, Blocks
from .elements import as_row
from .failures import Failure, attempt


class Entries(Protocol):
    """What the entries of the blocks of a dataset stand for."""

    def element(self, entry: Any) -> Any:
        """The element of an entry."""

    def batch(self, block: Block) -> Any:
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

    def element(self, entry: Any) -> Any:
        return self._element_of([column[entry, ...] for column in self._columns])

    def batch(self, block: Any) -> Any:
        if isinstance(block, range):
            rows = slice(block.start, block.stop, block.step)
            return self._element_of([column[rows] for column in self._columns])
        # A third of the time of column[block].
        return self._element_of([column.take(block, 0) for column in self._columns])

    def components(self, block: Block, make: Callable[[Entries, Block], Any]) -> Any:
        return nest.map_structure(lambda column: make(Rows(column), block), self.arrays)

    def _element_of(self, columns: list[Any]) -> Any:
        return self._pack(iter(tensors_of(columns)))


def blocks_of(elements: Iterator[Any]) -> Blocks:
    """Blocks of one element each."""
    return (e if type(e) is Failure else [e] for e in elements)


def elements_of(blocks: Blocks, entries: Entries) -> Iterator[Any]:
    """The elements of all entries."""
    for block in blocks:
        if isinstance(block, Failure):
            yield block
        else:
            yield from map(entries.element, block)


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
        raise _nothing(element, op)
    shapes = [tuple(tensor.shape) for tensor in tensors]
    if not all(len(shape) for shape in shapes):
        raise ShapeError(
            f"{op}: a scalar has no rows. Received shapes: {shapes}. Leave it out, or give it an "
            "axis with x[None]."
        )
    if len({shape[0] for shape in shapes}) > 1:
        raise ShapeError(
            f"{op}: all tensors must have the same number of rows. Received shapes: {shapes}."
        )
    if any(is_symbolic(tensor._array) for tensor in tensors):
        raise DynamicSizeError(
            f"{op}: a tensor that is computed in a function being traced has no rows yet. Use "
            "`for row in tensor` or tf.scan there."
        )
    return Rows(nest.map_structure(lambda tensor: np.asarray(on_host(tensor._array)), element))


def _nothing(element: Any, op: str) -> ShapeError:
    return ShapeError(f"{op}: there is no tensor to take rows from. Received: {element!r:.100}.")


def slices_of(element: Any, op: str) -> list[Any] | None:
    """The rows of an element in which there are composites or None; None if there are neither."""
    parts = [part for part in nest.flatten(element) if part is not None]
    if not nest.composites(element) and len(parts) == len(nest.flatten(element)):
        return None
    columns = [
        _rows_of_composite(part)
        if is_composite(part)
        else [Tensor(row) for row in rows_of(part, op).arrays]
        for part in parts
    ]
    if not columns:
        raise _nothing(element, op)
    counts = [len(column) for column in columns]
    if len(set(counts)) > 1:
        raise ShapeError(f"{op}: all tensors must have the same number of rows, and have {counts}.")
    return [_packed_row(element, row) for row in zip(*columns, strict=True)]


def _packed_row(element: Any, row: tuple[Any, ...]) -> Any:
    parts = iter(row)
    return nest.map_structure(lambda part: None if part is None else next(parts), element)


def _rows_of_composite(value: Any) -> list[Any]:
    spec = value._type_spec
    of_rows = spec._unbatch()
    return [as_row(row, of_rows) for row in spec._unstack(value)]


def unbatch(elements: Iterator[Any]) -> Iterator[Any]:
    """The rows of all elements, one by one."""
    for element in elements:
        rows = attempt(_rows, element)
        if isinstance(rows, Failure):
            yield rows
        else:
            yield from rows


def _rows(element: Any) -> Iterable[Any]:
    slices = slices_of(element, "Dataset.unbatch")
    if slices is not None:
        return slices
    rows = rows_of(element, "Dataset.unbatch")
    return map(rows.element, range(len(rows)))


class Numbers:
    """Entries that are the elements' own values: integers of some dtype."""

    def __init__(self, dtype: DType) -> None:
        self._dtype = dtype.numpy_dtype

    def element(self, entry: Any) -> Tensor:
        return Tensor(np.asarray(entry, self._dtype))

    def batch(self, block: Any) -> Tensor:
        if isinstance(block, range):
            return Tensor(np.arange(block.start, block.stop, block.step).astype(self._dtype))
        return Tensor(block.astype(self._dtype))

    def components(self, block: Block, make: Callable[[Entries, Block], Any]) -> Any:
        return make(self, block)


class Elements:
    """Entries that are elements already."""

    def element(self, entry: Any) -> Any:
        return entry

    def batch(self, block: Any) -> Any:
        return stack(block)

    def components(self, block: Block, make: Callable[[Entries, Block], Any]) -> Any:
        columns = zip(*map(nest.flatten, block), strict=True)
        return nest.pack(block[0], (make(self, list(column)) for column in columns))
