"""TensorSpec and its like: what is known of a value without having it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes as dt, nest
from ..core.composite import TypeSpec as TypeSpec
from ..core.convert import as_tensor
from ..core.cotangent import IndexedSlices
from ..core.dtypes import DType, as_dtype
from ..core.errors import ShapeError
from ..core.shape import TensorShape
from ..core.spec import Spec
from ..core.tensor import Tensor, is_symbolic
from .variable import Variable


def _dims(shape: TensorShape) -> tuple[Any, ...] | None:
    return None if shape.rank is None else tuple(shape)


class TensorSpec(TypeSpec):
    """Shape (with None for what is not known) and dtype of a tensor, and a name."""

    _is_composite = False

    def __init__(self, shape: Any, dtype: Any = dt.float32, name: str | None = None) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)
        self._name = name

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def name(self) -> str | None:
        return self._name

    @property
    def value_type(self) -> type:
        return Tensor

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        return cls(spec.shape, spec.dtype, name or spec.name)

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        return (
            isinstance(spec_or_tensor, (TensorSpec, Tensor, Variable))
            and self._dtype is spec_or_tensor.dtype
            and self._shape.is_compatible_with(spec_or_tensor.shape)
        )

    def is_subtype_of(self, other: Any) -> bool:
        if not isinstance(other, TensorSpec) or self._dtype is not other._dtype:
            return False
        own, allowed = _dims(self._shape), _dims(other._shape)
        if own is None or allowed is None:
            return allowed is None
        return len(own) == len(allowed) and all(
            b is None or a == b for a, b in zip(own, allowed, strict=True)
        )

    def most_specific_compatible_type(self, other: Any) -> TensorSpec:
        if not isinstance(other, TensorSpec) or self._dtype is not other._dtype:
            raise ValueError(f"No type is common to {self} and {other}.")
        a, b = _dims(self._shape), _dims(other._shape)
        if a is None or b is None or len(a) != len(b):
            return TensorSpec(None, self._dtype)
        return TensorSpec([x if x == y else None for x, y in zip(a, b, strict=True)], self._dtype)

    def _batch(self, batch_size: int | None) -> TensorSpec:
        return TensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> TensorSpec:
        if self._shape.rank == 0:
            raise ShapeError(
                "Dataset.unbatch: the elements hold a scalar, which has no rows. Leave it out with "
                "map, or give it an axis with x[None]."
            )
        return TensorSpec(None if self._shape.rank is None else self._shape[1:], self._dtype)

    def _sketch(self, graph: Any) -> Tensor:
        tensor: Tensor = graph.tensor(Spec(graph.sizes_of(self._shape), self._dtype.numpy_dtype))
        return tensor

    def _zeros(self, size: int) -> Tensor:
        shape = [size if n is None else n for n in self._shape.as_list()]
        if self._dtype is dt.string:
            return Tensor(np.full(shape, b" ".join([b"0"] * size), object))  # so many words
        return Tensor(np.zeros(shape, self._dtype.numpy_dtype))

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


class IndexedSlicesSpec(TypeSpec):
    """What is known of an IndexedSlices."""

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dt.float32,
        indices_dtype: Any = dt.int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._values_dtype = as_dtype(dtype)
        self._indices_dtype = as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    @staticmethod
    def from_value(value: IndexedSlices) -> IndexedSlicesSpec:
        dense = value.dense_shape
        return IndexedSlicesSpec(
            value.shape,
            value.dtype,
            value.indices.dtype,
            None if dense is None else dense.dtype,
            value.indices.shape,
        )

    @property
    def value_type(self) -> type:
        return IndexedSlices

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def dtype(self) -> DType:
        return self._values_dtype

    def _serialize(self) -> tuple[Any, ...]:
        dtypes = self._values_dtype, self._indices_dtype, self._dense_shape_dtype
        return self._shape, *dtypes, self._indices_shape

    def _to_components(self, value: IndexedSlices) -> tuple[Tensor, ...]:
        if value.dense_shape is None:
            return value.values, value.indices
        return value.values, value.indices, value.dense_shape

    def _from_components(self, components: Any) -> IndexedSlices:
        values, indices, *dense = components
        return IndexedSlices(values, indices, known_sizes(self._shape, *dense))

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        rows = None if self._shape.rank is None else self._shape[1:]
        specs = (
            TensorSpec(self._indices_shape.concatenate(rows), self._values_dtype),
            TensorSpec(self._indices_shape, self._indices_dtype),
        )
        if self._dense_shape_dtype is None:
            return specs
        return *specs, TensorSpec([self._shape.rank], self._dense_shape_dtype)


def known_sizes(shape: TensorShape, sizes: Tensor | None = None) -> Tensor | None:
    """`sizes`, the component of a composite that is its shape, as a constant where that is known.

    In a trace it is symbolic: what is known of the shape belongs to the signature.
    """
    if sizes is None or not is_symbolic(sizes._array) or not shape.is_fully_defined():
        return sizes
    return Tensor(np.asarray(tuple(shape), sizes.dtype.numpy_dtype))


def zeros_of_spec(spec: Any, size: int) -> Any:
    """A value of a nest of specs to try functions on, with `size` for every unknown dimension."""

    def zeros(part: Any) -> Any:
        if hasattr(part, "_zeros"):
            return part._zeros(size)
        return part._from_components(zeros_of_spec(part._component_specs, size))

    return nest.map_structure(zeros, spec)


class TensorArraySpec(TypeSpec):
    """What is known of a TensorArray."""

    _is_composite = False

    def __init__(
        self,
        element_shape: Any = None,
        dtype: Any = dt.float32,
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ) -> None:
        self._element_shape = TensorShape(element_shape)
        self._dtype = as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape

    @property
    def value_type(self) -> type:
        from .tensor_array import TensorArray

        return TensorArray

    @staticmethod
    def from_value(value: Any) -> TensorArraySpec:
        return TensorArraySpec(
            value.element_shape, value.dtype, value.dynamic_size, value.infers_shape
        )

    def is_compatible_with(self, other: Any) -> bool:
        if isinstance(other, self.value_type):
            other = self.from_value(other)
        return (
            isinstance(other, TensorArraySpec)
            and self._dtype is other._dtype
            and self._dynamic_size == other._dynamic_size
            and self._element_shape.is_compatible_with(other._element_shape)
        )

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape

    def __repr__(self) -> str:
        return (
            f"TensorArraySpec(element_shape={self._element_shape}, dtype={self._dtype!r}, "
            f"dynamic_size={self._dynamic_size}, infer_shape={self._infer_shape})"
        )


class NoneTensorSpec(TypeSpec):
    """The description of None in the elements of a dataset, which stands for itself."""

    @property
    def value_type(self) -> type:
        return type(None)

    def _serialize(self) -> tuple[Any, ...]:
        return ()

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        return spec_or_value is None or isinstance(spec_or_value, NoneTensorSpec)

    def _to_components(self, value: None) -> tuple[Any, ...]:
        return ()

    def _from_components(self, components: Any) -> None:
        return None

    @property
    def _component_specs(self) -> tuple[Any, ...]:
        return ()

    def _batch(self, batch_size: int | None) -> NoneTensorSpec:
        return self

    def _unbatch(self) -> NoneTensorSpec:
        return self

    def _stack(self, values: Any) -> None:
        return None


def type_spec_from_value(value: Any) -> TypeSpec:
    """The description of a tensor, of what can become one, of a composite, of a TensorArray."""
    from .tensor_array import TensorArray

    if value is None:
        return NoneTensorSpec()
    if isinstance(value, (Tensor, Variable)):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, TensorArray):
        return TensorArraySpec.from_value(value)
    spec = getattr(value, "_type_spec", None)
    if isinstance(spec, TypeSpec):
        return spec
    try:
        return type_spec_from_value(as_tensor(value))
    except (TypeError, ValueError):
        raise TypeError(f"type_spec_from_value: no type describes {value!r:.200}.") from None
