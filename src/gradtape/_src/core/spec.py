"""Spec: what is known of an array without its values; and the rules by which shapes combine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .dtypes import DType, of_numpy
from .errors import DTypeError, ShapeError


class Spec(NamedTuple):
    """Shape and dtype of an array, kept in place of a tensor whose values no rule needs."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __str__(self) -> str:
        return f"{self.dtype.name}{list(self.shape)}"


def spec_of(array: Any) -> Spec:
    return _new_tuple(Spec, (array.shape, array.dtype))  # Spec(...) goes by way of Python: +0.2 µs


_new_tuple = tuple.__new__


def broadcast_shapes(op: str, **shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape of the named arguments under NumPy's broadcasting, or a ShapeError."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except TypeError:  # a size is open, in a trace
        sizes = [_common_size(axis) for axis in _aligned(shapes.values())]
        if None not in sizes:
            return tuple(sizes)
        raise _apart(op, shapes) from None
    except ValueError:
        raise _apart(op, shapes) from None


def _aligned(shapes: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """The sizes of each axis of the common shape, counted from the last axis."""
    rank = max(map(len, shapes))
    return zip(*[(*[1] * (rank - len(shape)), *shape) for shape in shapes], strict=True)


def _common_size(sizes: tuple[Any, ...]) -> Any:
    """The size of an axis, some of them open; None if they are not known to be equal or 1."""
    others = [n for n in sizes if not (isinstance(n, int) and n == 1)]
    if not others:
        return 1
    return others[0] if all([n is others[0] or n == others[0] for n in others]) else None


def _apart(op: str, shapes: dict[str, tuple[int, ...]]) -> ShapeError:
    return ShapeError(
        f"{op}: shapes do not broadcast together: {describe_shapes(shapes)}. Sizes must be "
        "equal or 1, counted from the last axis; reshape or expand_dims one argument."
    )


def describe_shapes(shapes: dict[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name}.shape={shape}" for name, shape in shapes.items())


def same_dtype(
    op: str, takes: frozenset[np.dtype[Any]] | None = None, /, **specs: Spec
) -> np.dtype[Any]:
    """The one dtype of the named arguments, or a DTypeError that says how to cast.

    `takes`: the dtypes that the op takes, so that no cast to another one is advised.
    """
    (first, spec), *others = specs.items()
    for name, other in others:
        if other.dtype != spec.dtype:
            one, two = of_numpy(spec.dtype), of_numpy(other.dtype)
            # Integers are cast to floats: the other way would cut off decimals, and the gradient.
            by_first = _holds(one) >= _holds(two)
            if takes is not None and (spec.dtype in takes) != (other.dtype in takes):
                by_first = spec.dtype in takes
            cast = (name, one) if by_first else (first, two)
            raise DTypeError(
                f"{op}: `{first}` is {one.name} and `{name}` is {two.name}; tensors of different "
                f"dtypes do not mix. Cast one of them, e.g. tf.cast({cast[0]}, tf.{cast[1].name})."
            )
    return spec.dtype


def _holds(dtype: DType) -> int:
    """Which numbers a dtype can hold: the higher, the more."""
    return 2 * dtype.is_complex + dtype.is_floating + dtype.is_numeric


def check_axis(op: str, axis: Any, ndim: int, name: str = "axis") -> int:
    """`axis` counted from the front, or a ShapeError."""
    index = int(axis)
    if not -ndim <= index < ndim:
        raise ShapeError(
            f"{op}: `{name}`={index} is out of range for a tensor of rank {ndim}; it must lie in "
            f"[{-ndim}, {ndim})."
        )
    return index % ndim if ndim else 0
