"""Cotangents: tensors, or rows of one (IndexedSlices), summed by the key of what they belong to."""

from __future__ import annotations

from typing import Any

from .dtypes import DType
from .shape import TensorShape
from .tensor import Tensor


class IndexedSlices:
    """Rows `values` of a tensor of shape `dense_shape`, at `indices` along axis 0; repeats add up.

    The gradient of a look-up: it costs what was looked up, not what could have been.
    """

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self.values: Tensor = self._tensor(values)
        self.indices: Tensor = self._tensor(indices)
        self.dense_shape: Tensor | None = None if dense_shape is None else self._tensor(dense_shape)

    @property
    def shape(self) -> TensorShape:
        if self.dense_shape is None:
            return TensorShape([None, *self.values.shape[1:]])
        return TensorShape(self.dense_shape.numpy())

    @property
    def dtype(self) -> DType:
        return self.values.dtype

    @property
    def device(self) -> str:
        return self.values.device

    def get_shape(self) -> TensorShape:
        return self.shape

    def __repr__(self) -> str:
        dense = "" if self.dense_shape is None else f", dense_shape={self.dense_shape}"
        return f"IndexedSlices(indices={self.indices}, values={self.values}{dense})"

    # These four are ops, so `gradtape.ops` installs them.

    @staticmethod
    def _tensor(value: Any) -> Tensor:
        raise NotImplementedError

    def _as_tensor(self) -> Tensor:
        """The dense tensor: rows with the same index summed."""
        raise NotImplementedError

    def _joined(self, other: IndexedSlices) -> IndexedSlices:
        """Both sets of rows in one."""
        raise NotImplementedError

    def __neg__(self) -> IndexedSlices:
        raise NotImplementedError


def add(a: Any, b: Any) -> Any:
    """The sum of two cotangents of one tensor: rows stay rows as long as both are."""
    if type(a) is Tensor and type(b) is Tensor:
        return a + b
    if isinstance(a, IndexedSlices) and isinstance(b, IndexedSlices):
        return a._joined(b)
    return dense(a) + dense(b)


def dense(g: Any) -> Tensor:
    return g._as_tensor() if isinstance(g, IndexedSlices) else g
