"""Ragged tensors: their class, and what ops do with them. Imported with the first of them."""

from . import elementwise, joining, reduction, selection, shape
from .elementwise import map_flat_values
from .ragged_tensor import RaggedTensor, RaggedTensorSpec

__all__ = [
    "RaggedTensor",
    "RaggedTensorSpec",
    "elementwise",
    "joining",
    "map_flat_values",
    "reduction",
    "selection",
    "shape",
]
