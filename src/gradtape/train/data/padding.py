"""Batches of elements of different shapes, filled up to one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import nest
from ...core.convert import as_tensor
from ...core.errors import ShapeError
from ...core.shape import TensorShape
from ...core.tensor import Tensor
from ...ops._static import static_ints
from ...tape.type_specs import TensorSpec
from .elements import flatten_up_to
from .entries import arrays_of
from .specs import batch_spec

_OP = "Dataset.padded_batch"


def padded(block: list[Any], shapes: Any, values: Any) -> Any:
    """The elements of `block` as one batch, each component filled up with its value to its shape."""
    first = block[0]
    columns = zip(
        zip(*map(nest.flatten, block), strict=True),
        padded_shapes(first, shapes),
        _padding_values(first, values),
        strict=True,
    )
    return nest.pack(first, (_padded_column(*column) for column in columns))


def _padded_column(tensors: Any, wanted: TensorShape, value: Any) -> Tensor:
    arrays = arrays_of(tensors, _OP)
    ranks = {array.ndim for array in arrays} | ({wanted.rank} - {None})
    if len(ranks) > 1:
        raise ShapeError(
            f"{_OP}: the padded shape {wanted} is not compatible with elements of shape "
            f"{TensorShape(arrays[0].shape)}; all must have one rank."
        )
    longest = np.max([array.shape for array in arrays], axis=0, initial=0).astype(int).tolist()
    dims = wanted.dims or [None] * len(longest)
    shape = [most if dim is None else dim for dim, most in zip(dims, longest, strict=True)]
    if any(most > dim for dim, most in zip(shape, longest, strict=True)):
        raise ShapeError(
            f"{_OP}: an element of this batch has size {tuple(longest)}, which is more than "
            f"padded_shapes={wanted} allows. Use None for a dimension to fit the longest element."
        )
    dtype = arrays[0].dtype
    batch = np.full([len(arrays), *shape], _filling(value, dtype), dtype)
    for row, array in enumerate(arrays):
        batch[(row, *map(slice, array.shape))] = array
    return Tensor(batch)


def _filling(value: Any, dtype: np.dtype[Any]) -> Any:
    if value is None:
        return b"" if dtype.hasobject else 0
    return as_tensor(value, dtype, _OP)._array


def padded_shapes(element: Any, shapes: Any) -> list[TensorShape]:
    """For each component the shape to fill up to, with None for as long as the longest one."""
    if shapes is None:
        return [TensorShape(None) for _ in nest.flatten(element)]
    return [_shape(entry) for entry in flatten_up_to(element, shapes, _OP, "`padded_shapes`")]


def _shape(entry: Any) -> TensorShape:
    if entry is None or isinstance(entry, (TensorShape, list, tuple)):
        return TensorShape(entry)
    return TensorShape(static_ints(entry, _OP, "padded_shapes"))


def _padding_values(element: Any, values: Any) -> list[Any]:
    if not nest.is_nested(values):
        return [values] * len(nest.flatten(element))
    return flatten_up_to(element, values, _OP, "`padding_values`")


def padded_spec(spec: Any, shapes: Any, size: int | None) -> Any:
    """The spec of such batches of elements of `spec`."""
    if shapes is None:
        return batch_spec(spec, size)
    wanted = iter(padded_shapes(spec, shapes))
    filled = nest.map_structure(lambda part: TensorSpec(next(wanted), part.dtype), spec)
    return batch_spec(filled, size)
