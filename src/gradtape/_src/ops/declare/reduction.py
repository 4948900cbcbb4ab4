"""`reduction`: the declarator of ops that reduce axes; and the dtype in which sums are taken.

From a kernel it makes the primitive and the public function with TensorFlow's signature, the spec,
the batching rule and the samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core import dtypes as dt
from ...core.dispatch import nary
from ...core.errors import NotATensorError
from ...core.op import Op, parameters_of
from ...core.pattern import across
from ...core.spec import Spec
from ...core.take_over import take_over
from ...core.tensor import Tensor
from ..array.shape import _reshape
from .op import public
from .static import static_axes, to_tensor

if TYPE_CHECKING:
    from ...core.annotations import Reduction

HALVES = frozenset({np.dtype(np.float16), dt.bfloat16.numpy_dtype})
_FLOAT32 = np.dtype(np.float32)


def reduction_samples(r: np.random.Generator) -> list[Any]:
    cases = [
        ((), (), False),
        ((4,), (0,), False),
        ((2, 3), (0, 1), False),
        ((2, 3), (1,), True),
        ((2, 3, 2), (0, 2), False),
        ((3, 1), (1,), False),
        ((2, 0), (0,), False),
        ((2, 2), (), False),
    ]
    return [([r.normal(size=s)], {"axis": axis, "keepdims": keep}) for s, axis, keep in cases]


def reduction(**properties: Any) -> Callable[[Callable[..., Any]], Reduction]:
    """Declare a reduction by its kernel `(xp, x, *, axis, keepdims)`; `axis` is a sorted tuple.

    The properties are those in the table of `core.op.Op`. Gradient rules follow with `.vjp("x")`.
    """

    def declare(kernel: Callable[..., Any]) -> Reduction:
        family = {"samples": reduction_samples, "pattern": across("axis"), "batch_axes": "axis"}
        declared = Op(kernel, alike="x", **family | properties)
        primitive = public(declared, nary(declared))
        op_name = declared.name

        def spec(x: Spec, *, axis: tuple[int, ...], keepdims: bool) -> Spec:
            sizes = [(1 if i in axis else size) for i, size in enumerate(x.shape)]
            shape = sizes if keepdims else [size for i, size in enumerate(x.shape) if i not in axis]
            return Spec(tuple(shape), np.dtype(declared.result(x.dtype)))

        def reduce(
            input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
        ) -> Tensor:
            x = input_tensor
            if type(x) is not Tensor:
                try:
                    x = to_tensor(x, op_name)
                except NotATensorError as error:
                    return take_over(error, reduce, x, axis, keepdims)
            axes = static_axes(axis, len(x._array.shape), op_name)
            return primitive(x, axis=axes, keepdims=bool(keepdims))

        declared.spec(spec)
        reduce = public(declared, reduce)
        declared.call = primitive
        return reduce

    return declare


def restore_axes(x: Tensor, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    """A reduced `x` with the axes it lost, to broadcast against what it was reduced from."""
    if keepdims or axis == tuple(range(len(axis))):
        return x  # broadcasting supplies leading axes by itself
    sizes = iter(x._array.shape)
    ndim = len(x._array.shape) + len(axis)
    return _reshape(x, shape=tuple([1 if i in axis else next(sizes) for i in range(ndim)]))


def size_over(shape: tuple[int, ...], axis: tuple[int, ...]) -> int:
    """How many elements are reduced to one."""
    return math.prod([shape[a] for a in axis])


def in_float32(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of several steps on 16-bit floats: in float32, with its results rounded once."""

    @wraps(kernel)
    def run(xp: Any, *arrays: Any, **params: Any) -> Any:
        for array in arrays:
            if array.dtype in HALVES:
                half = array.dtype
                break
        else:
            return kernel(xp, *arrays, **params)
        wide = [a.astype(_FLOAT32) if a.dtype in HALVES else a for a in arrays]
        results = kernel(xp, *wide, **params)
        if type(results) is tuple:
            return tuple([y.astype(half) for y in results])
        return results.astype(half)

    run.parameters = parameters_of(kernel)
    return run


def accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which sums of `dtype` are taken."""
    return _FLOAT32 if dtype in HALVES else dtype
