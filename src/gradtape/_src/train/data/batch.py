"""Batches of elements: stacked where they have one shape, or padded to one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import nest
from ...core.convert import as_tensor
from ...core.errors import DTypeError, ShapeError
from ...core.late import late
from ...core.placement import on_host
from ...core.shape import TensorShape
from ...core.tensor import Tensor
from ...ops.declare.static import static_ints
from ...tape.type_specs import TensorSpec
from .element_spec import batch_spec, common_spec, spec_of
from .elements import flatten_up_to


def stack(block: list[Any]) -> Any:
    """The elements of `block`, which must have one shape, as one batch."""
    columns = zip(*map(nest.flatten, block), strict=True)
    return nest.pack(block[0], (_stack_component(i, column) for i, column in enumerate(columns)))


def stack_as(spec: Any, block: list[Any]) -> Any:
    """The elements of `block` as one batch, each component stacked by the rules of its spec."""
    columns = enumerate(zip(*map(nest.flatten, block), strict=True))
    parts = zip(nest.flatten(spec), columns, strict=True)
    return nest.pack(
        spec,
        (
            _stack_component(i, column) if isinstance(part, TensorSpec) else part._stack(column)
            for part, (i, column) in parts
        ),
    )


def rows_spec(spec: Any, row_splits_dtype: Any) -> Any:
    """The specs of elements, of ragged rows where their sizes may differ."""
    return nest.map_structure(lambda part: late.ragged_rows_spec(part, row_splits_dtype), spec)


def stack_rows(block: list[Any], spec: Any, row_splits_dtype: Any) -> Any:
    """The elements of `block` as one batch, ragged where `spec`, or they, leave a size open."""
    # A spec found on zeros may take a size for fixed that depends on values.
    spec = common_spec([spec, *map(spec_of, block)])
    return stack_as(rows_spec(spec, row_splits_dtype), block)


def _stack_component(component: int, tensors: Any) -> Any:
    if not isinstance(tensors[0], Tensor) or hasattr(tensors[0], "_row_spec"):
        return common_spec(map(spec_of, tensors))._stack(tensors)
    arrays = _arrays_of(tensors, "Dataset.batch")
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


def _arrays_of(tensors: Any, op: str) -> list[Any]:
    """The arrays of tensors of one dtype."""
    if not isinstance(tensors[0], Tensor):
        raise DTypeError(
            f"{op}: the elements hold a {type(tensors[0]).__name__}, which cannot be padded. Turn "
            "it into tensors with map or flat_map first."
        )
    arrays = [np.asarray(on_host(tensor._array)) for tensor in tensors]
    for array in arrays:
        if array.dtype != arrays[0].dtype:
            raise DTypeError(
                f"{op}: the elements have different dtypes: {arrays[0].dtype.name} and "
                f"{array.dtype.name}. Cast them to one with map."
            )
    return arrays


# Padding

_OP = "Dataset.padded_batch"


def pad(block: list[Any], shapes: Any, values: Any) -> Any:
    """The elements of `block` as one batch, each component padded with its value to its shape."""
    first = block[0]
    columns = zip(
        zip(*map(nest.flatten, block), strict=True),
        padded_shapes_of(first, shapes),
        _padding_values(first, values),
        strict=True,
    )
    return nest.pack(first, (_pad_component(*column) for column in columns))


def _pad_component(tensors: Any, wanted: TensorShape, value: Any) -> Tensor:
    arrays = _arrays_of(tensors, _OP)
    ranks = {array.ndim for array in arrays} | ({wanted.rank} - {None})
    if len(ranks) > 1:
        raise ShapeError(
            f"{_OP}: the padded shape {wanted} is not compatible with elements of shape "
            f"{TensorShape(arrays[0].shape)}; all must have one rank."
        )
    longest = np.max([array.shape for array in arrays], axis=0, initial=0).astype(int).tolist()
    dims: list[Any] = wanted.dims or [None] * len(longest)
    shape = [most if dim is None else dim for dim, most in zip(dims, longest, strict=True)]
    if any(most > dim for dim, most in zip(shape, longest, strict=True)):
        raise ShapeError(
            f"{_OP}: an element of this batch has size {tuple(longest)}, which is more than "
            f"padded_shapes={wanted} allows. Use None for a dimension to fit the longest element."
        )
    dtype = arrays[0].dtype
    batch = np.full([len(arrays), *shape], _filling(value, dtype), dtype)
    for row, array in enumerate(arrays):
        place: Any = (row, *map(slice, array.shape))
        batch[place] = array
    return Tensor(batch)


def _filling(value: Any, dtype: np.dtype[Any]) -> Any:
    if value is None:
        return b"" if dtype.hasobject else 0
    return as_tensor(value, dtype, _OP)._array


def padded_shapes_of(element: Any, shapes: Any) -> list[TensorShape]:
    """For each component the shape to fill up to, with None for as long as the longest one."""
    if shapes is None:
        return [TensorShape(None) for _ in nest.flatten(element)]
    return [_shape(entry) for entry in flatten_up_to(element, shapes, _OP, "`padded_shapes`")]


def _shape(entry: Any) -> TensorShape:
    if not isinstance(entry, (TensorShape, list, tuple, type(None))):
        entry = static_ints(entry, _OP, "padded_shapes")
    try:
        return TensorShape(entry)
    except TypeError:
        raise DTypeError(
            f"{_OP}: `padded_shapes` must have a shape for each component of the elements, and has "
            f"{entry!r:.100}."
        ) from None


def _padding_values(element: Any, values: Any) -> list[Any]:
    if not nest.is_nested(values):
        return [values] * len(nest.flatten(element))
    return flatten_up_to(element, values, _OP, "`padding_values`")


def padded_spec(spec: Any, shapes: Any, size: int | None) -> Any:
    """The spec of such batches of elements of `spec`."""
    if shapes is None:
        return batch_spec(spec, size)
    wanted = iter(padded_shapes_of(spec, shapes))
    filled = nest.map_structure(lambda part: TensorSpec(next(wanted), part.dtype), spec)
    return batch_spec(filled, size)
