"""TensorSpec and its like: what is known of a value without having it."""

from __future__ import annotations

from typing import Any

from ..core import dtypes as dt
from ..core.convert import as_tensor
from ..core.cotangent import IndexedSlices
from ..core.dtypes import DType, as_dtype
from ..core.shape import TensorShape
from ..core.tensor import Tensor
from .variable import Variable


class TypeSpec:
    """Base of the descriptions of values: equal if they say the same, and hashable."""

    @property
    def value_type(self) -> type:
        raise NotImplementedError

    def _parts(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether some value fits both."""
        raise NotImplementedError

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every value that fits this fits `other`."""
        return bool(self == other)

    def most_specific_compatible_type(self, other: Any) -> TypeSpec:
        """The narrowest description that this and `other` both fit."""
        if self == other:
            return self
        raise ValueError(f"No type is common to {self} and {other}.")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and bool(self._parts() == other._parts())

    def __hash__(self) -> int:
        return hash((type(self), self._parts()))


def _dims(shape: TensorShape) -> tuple[Any, ...] | None:
    return None if shape.rank is None else tuple(shape)


class TensorSpec(TypeSpec):
    """Shape (with None for what is not known) and dtype of a tensor, and a name."""

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

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        return (
            isinstance(spec_or_value, (TensorSpec, Tensor, Variable))
            and self._dtype is spec_or_value.dtype
            and self._shape.is_compatible_with(spec_or_value.shape)
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

    def _parts(self) -> tuple[Any, ...]:
        return _dims(self._shape), self._dtype, self._name

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
        self._indices_shape = TensorShape(indices_shape)

    @property
    def value_type(self) -> type:
        return IndexedSlices

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        other = spec_or_value
        if isinstance(other, IndexedSlices):
            other = type_spec_from_value(other)
        return (
            isinstance(other, IndexedSlicesSpec)
            and self._shape.is_compatible_with(other._shape)
            and self._indices_shape.is_compatible_with(other._indices_shape)
            and self._parts()[2:5] == other._parts()[2:5]
        )

    def _parts(self) -> tuple[Any, ...]:
        dtypes = self._values_dtype, self._indices_dtype, self._dense_shape_dtype
        return _dims(self._shape), _dims(self._indices_shape), *dtypes

    def __repr__(self) -> str:
        return (
            f"IndexedSlicesSpec(shape={self._shape}, dtype={self._values_dtype!r}, "
            f"indices_dtype={self._indices_dtype!r})"
        )


class TensorArraySpec(TypeSpec):
    """What is known of a TensorArray."""

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

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        other = spec_or_value
        if isinstance(other, self.value_type):
            other = self.from_value(other)
        return (
            isinstance(other, TensorArraySpec)
            and self._dtype is other._dtype
            and self._dynamic_size == other._dynamic_size
            and self._element_shape.is_compatible_with(other._element_shape)
        )

    def _parts(self) -> tuple[Any, ...]:
        return _dims(self._element_shape), self._dtype, self._dynamic_size, self._infer_shape

    def __repr__(self) -> str:
        return (
            f"TensorArraySpec(element_shape={self._element_shape}, dtype={self._dtype!r}, "
            f"dynamic_size={self._dynamic_size}, infer_shape={self._infer_shape})"
        )


def type_spec_from_value(value: Any) -> TypeSpec:
    """The description of a tensor, of what can become one, of IndexedSlices, of a TensorArray."""
    from .tensor_array import TensorArray

    if isinstance(value, (Tensor, Variable)):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, IndexedSlices):
        dense = value.dense_shape
        return IndexedSlicesSpec(
            value.shape,
            value.dtype,
            value.indices.dtype,
            None if dense is None else dense.dtype,
            value.indices.shape,
        )
    if isinstance(value, TensorArray):
        return TensorArraySpec.from_value(value)
    try:
        return type_spec_from_value(as_tensor(value))
    except (TypeError, ValueError):
        raise TypeError(f"type_spec_from_value: no type describes {value!r:.200}.") from None
