"""Spec: what is known of an array without its values; and the rules by which shapes combine."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

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
    except ValueError:
        raise ShapeError(
            f"{op}: shapes do not broadcast together: {describe_shapes(shapes)}. Sizes must be "
            "equal or 1, counted from the last axis; reshape or expand_dims one argument."
        ) from None


def describe_shapes(shapes: dict[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name}.shape={shape}" for name, shape in shapes.items())


def same_dtype(op: str, **specs: Spec) -> np.dtype[Any]:
    """The one dtype of the named arguments, or a DTypeError that says how to cast."""
    (first, spec), *others = specs.items()
    for name, other in others:
        if other.dtype != spec.dtype:
            raise DTypeError(
                f"{op}: `{first}` is {spec.dtype.name} and `{name}` is {other.dtype.name}; tensors "
                f"of different dtypes do not mix. Cast one: tf.cast({name}, tf.{spec.dtype.name})."
            )
    return spec.dtype


def check_axis(op: str, axis: Any, ndim: int, name: str = "axis") -> int:
    """`axis` counted from the front, or a ShapeError."""
    index = int(axis)
    if not -ndim <= index < ndim:
        raise ShapeError(
            f"{op}: `{name}`={index} is out of range for a tensor of rank {ndim}; it must lie in "
            f"[{-ndim}, {ndim})."
        )
    return index % ndim if ndim else 0
