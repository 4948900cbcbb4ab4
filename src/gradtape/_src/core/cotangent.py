"""Cotangents: tensors, or rows of one (IndexedSlices), summed by the key of what they belong to."""

from __future__ import annotations

from typing import Any

from .composite import CompositeTensor
from .dtypes import DType
from .late import late
from .shape import TensorShape
from .sizes import SizeTensor, is_open
from .tensor import Tensor, is_symbolic


class IndexedSlices(CompositeTensor):
    """Rows `values` of a tensor of shape `dense_shape`, at `indices` along axis 0; repeats add up.

    The gradient of a look-up: it costs what was looked up, not what could have been.
    """

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        part = late.slices_part
        self.values = part(values)
        self.indices = part(indices)
        self.dense_shape = None if dense_shape is None else part(dense_shape)

    @property
    def shape(self) -> TensorShape:
        if self.dense_shape is None:
            return TensorShape([None, *self.values.shape[1:]])
        if type(self.dense_shape) is SizeTensor:
            return TensorShape([None if is_open(n) else n for n in self.dense_shape.sizes])
        if is_symbolic(self.dense_shape._array):
            return TensorShape([None, *self.values.shape[1:]])
        return TensorShape(self.dense_shape.numpy())

    _is_tensor = True

    @property
    def _type_spec(self) -> Any:
        return late.slices_spec(self)

    @property
    def dtype(self) -> DType:
        return self.values.dtype

    @property
    def device(self) -> str:
        return self.values.device

    def get_shape(self) -> TensorShape:
        return self.shape

    def __repr__(self) -> str:
        dense = "" if self.dense_shape is None else f", dense_shape={self.dense_shape!s}"
        return f"IndexedSlices(indices={self.indices!s}, values={self.values!s}{dense})"

    def _as_tensor(self) -> Tensor:
        """The dense tensor: rows with the same index summed."""
        return late.slices_dense(self)

    def __neg__(self) -> IndexedSlices:
        return late.slices_negative(self)


def add(a: Any, b: Any) -> Any:
    """The sum of two cotangents of one tensor: rows stay rows as long as both are."""
    if type(a) is Tensor and type(b) is Tensor:
        return a + b
    if isinstance(a, IndexedSlices) and isinstance(b, IndexedSlices):
        return late.slices_joined(a, b)
    return dense(a) + dense(b)


def dense(g: Any) -> Tensor:
    return g._as_tensor() if isinstance(g, IndexedSlices) else g
