from .._src.compat.internals.types import Tensor as Tensor
