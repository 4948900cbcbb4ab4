"""What ordinary functions do with sparse tensors: those that take some in TensorFlow too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.dtypes import int32
from ...core.tensor import Tensor
from ...ops.array.cast import _identity, _stop_gradient, cast
from ...ops.array.creation import constant
from ...ops.array.shape import rank, shape, size
from ...ops.math import arithmetic as dense, special, trigonometric
from ...ops.math.counting import bincount
from ...ops.math.power import sqrt
from ...ops.math.reduction import reduce_prod
from .arithmetic import divide, multiply
from .reduction import dense_bincount
from .sparse_tensor import SparseTensor


def _of_values(function: Callable[[Any], Any]) -> Callable[[SparseTensor], SparseTensor]:
    """A function of one tensor that is computed entry by entry."""
    return lambda x: x.with_values(function(x.values))


for _function in (
    dense.abs,
    dense.negative,
    dense.square,
    dense.sign,
    sqrt,
    trigonometric.sin,
    trigonometric.tan,
    trigonometric.asin,
    trigonometric.atan,
    trigonometric.asinh,
    trigonometric.atanh,
    trigonometric.tanh,
    special.erf,
    special.bessel_i0e,
    special.bessel_i1e,
    _identity,
    _stop_gradient,
):
    SparseTensor._takes_over(_function)(_of_values(_function))


@SparseTensor._takes_over(cast)
def _cast(x: SparseTensor, dtype: Any) -> SparseTensor:
    return x.with_values(cast(x.values, dtype))


SparseTensor._takes_over(dense.multiply)(multiply)
SparseTensor._takes_over(dense._divide, dense.divide)(divide)
SparseTensor._takes_over(bincount)(dense_bincount)


@SparseTensor._takes_over(shape)
def _shape(input: SparseTensor, out_type: Any = None) -> Tensor:
    return cast(input.dense_shape, int32 if out_type is None else out_type)


@SparseTensor._takes_over(size)
def _size(input: SparseTensor, out_type: Any = None) -> Tensor:
    return cast(reduce_prod(input.dense_shape), int32 if out_type is None else out_type)


@SparseTensor._takes_over(rank)
def _rank(input: SparseTensor) -> Tensor:
    return constant(input.dense_shape.shape[0], int32)
