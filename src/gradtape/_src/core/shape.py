"""TensorShape: the shape of a tensor, a tuple of ints with TensorFlow's extra methods."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, SupportsIndex, overload


def broadcasts_to(shape: Iterable[int], wanted: Iterable[int]) -> bool:
    """Whether an array of `shape` can be broadcast to the shape `wanted`."""
    ours, theirs = [*shape][::-1], [*wanted][::-1]
    pairs = zip(ours, theirs, strict=False)
    return len(ours) <= len(theirs) and all([n in (1, m) for n, m in pairs])


class TensorShape(tuple[Any, ...]):
    """A tuple of dimensions; None is an unknown one, `TensorShape(None)` has unknown rank."""

    _unknown = False

    @classmethod
    def of(cls, dims: tuple[int, ...]) -> TensorShape:
        """The shape of an array: its dimensions are ints already."""
        return tuple.__new__(cls, dims)

    def __new__(cls, dims: Iterable[Any] | int | None = ()) -> TensorShape:
        if dims is None:
            entries: tuple[Any, ...] = ()
        elif isinstance(dims, int):
            entries = (dims,)
        else:
            entries = tuple(None if d is None or d == -1 else int(d) for d in dims)
        self = super().__new__(cls, entries)
        if dims is None or (isinstance(dims, TensorShape) and dims._unknown):
            self._unknown = True
        return self

    @property
    def rank(self) -> int | None:
        return None if self._unknown else tuple.__len__(self)

    ndims = rank

    @property
    def dims(self) -> list[Any] | None:
        return None if self._unknown else list(self)

    def as_list(self) -> list[Any]:
        self._require_rank("as_list()")
        return list(self)

    def num_elements(self) -> int | None:
        return math.prod(self) if self.is_fully_defined() else None

    def is_fully_defined(self) -> bool:
        return not self._unknown and None not in tuple(self)

    def assert_is_fully_defined(self) -> None:
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined.")

    def is_compatible_with(self, other: Any) -> bool:
        """Whether some fully defined shape matches both."""
        other = TensorShape(other)
        if self._unknown or other._unknown:
            return True
        return len(self) == len(other) and all(
            a is None or b is None or a == b for a, b in zip(self, other, strict=True)
        )

    def assert_is_compatible_with(self, other: Any) -> None:
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are incompatible.")

    def merge_with(self, other: Any) -> TensorShape:
        """The shape that knows what either knows."""
        second = TensorShape(other)
        self.assert_is_compatible_with(second)
        if self._unknown:
            return second
        if second._unknown:
            return self
        return TensorShape(a if a is not None else b for a, b in zip(self, second, strict=True))

    def concatenate(self, other: Any) -> TensorShape:
        other = TensorShape(other)
        if self._unknown or other._unknown:
            return TensorShape(None)
        return TensorShape((*self, *other))

    def with_rank(self, rank: int) -> TensorShape:
        if self._unknown:
            return TensorShape([None] * rank)
        if len(self) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}.")
        return self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        if not self._unknown and len(self) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}.")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        if not self._unknown and len(self) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}.")
        return self

    def assert_has_rank(self, rank: int | None) -> None:
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}.")

    def assert_same_rank(self, other: Any) -> None:
        second = TensorShape(other)
        if None not in (self.rank, second.rank) and self.rank != second.rank:
            raise ValueError(f"Shapes {self} and {second} must have the same rank.")

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The shape that knows what both know."""
        second = TensorShape(other)
        if self._unknown or second._unknown or len(self) != len(second):
            return TensorShape(None)
        return TensorShape(a if a == b else None for a, b in zip(self, second, strict=True))

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every shape that fits this one fits `other`."""
        if not isinstance(other, TensorShape):
            return False
        if self._unknown or other._unknown:
            return other._unknown
        return len(self) == len(other) and all(
            b is None or a == b for a, b in zip(self, other, strict=True)
        )

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    # A size is None where it is not known: see core/annotations.py on `| Any`.
    @overload
    def __getitem__(self, index: SupportsIndex) -> int | Any: ...
    @overload
    def __getitem__(self, index: slice) -> TensorShape: ...
    def __getitem__(self, index: Any) -> Any:
        self._require_rank("indexing")
        entry = super().__getitem__(index)
        return TensorShape(entry) if isinstance(index, slice) else entry

    def __len__(self) -> int:
        self._require_rank("len()")
        return super().__len__()

    def __bool__(self) -> bool:
        return not self._unknown

    def __eq__(self, other: object) -> bool:
        if other is None:
            return self._unknown
        if not isinstance(other, (tuple, list)):
            return False
        unknown = isinstance(other, TensorShape) and other._unknown
        if self._unknown or unknown:
            return self._unknown and unknown
        # (Not by tuple(self), which asks this class for its length and its entries: 0.3 µs.)
        return tuple.__eq__(self, other if isinstance(other, tuple) else tuple(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return super().__hash__()

    def __repr__(self) -> str:
        return f"TensorShape({None if self._unknown else list(self)})"

    def __str__(self) -> str:
        if self._unknown:
            return "<unknown>"
        return f"({', '.join(map(str, self))}{',' if len(self) == 1 else ''})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (None if self._unknown else tuple(self),)

    def count(self, value: Any, /) -> int:
        return tuple(self).count(value)

    def index(self, value: Any, start: SupportsIndex = 0, stop: SupportsIndex = 2**31, /) -> int:
        return tuple(self).index(value, start, stop)

    def _require_rank(self, use: str) -> None:
        if self._unknown:
            raise ValueError(f"{use} needs a known rank, and the rank of this shape is unknown.")


def _restored(sizes: tuple[int | None, ...] | None) -> TensorShape:
    """A pickle names this function, not the class, whose public place changes with the alias."""
    return TensorShape(sizes)
