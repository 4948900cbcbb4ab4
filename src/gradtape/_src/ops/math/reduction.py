"""Reductions over axes: sums, means, products, extrema, counts, and the places of extrema.

Sums of float16 and bfloat16 are accumulated in float32; sums of integers keep their dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.dtypes import as_dtype
from ...core.errors import DTypeError, InvalidArgumentError
from ...core.pattern import ELEMENTWISE, across
from ...core.spec import Spec
from ...core.take_over import lends_itself
from ...core.tensor import Tensor
from ..array.cast import cast
from ..array.shape import _broadcast_to, _reshape, _transpose, insert_axes
from ..declare.op import op
from ..declare.reduction import (
    HALVES,
    accumulator,
    in_float32,
    reduction,
    reduction_samples,
    restore_axes,
    size_over,
)
from ..declare.static import static_axes, static_axis, to_tensor
from .complex import real_dtype
from .conjugate import conj
from .cumulative import cumprod
from .exponential import exp
from .power import sqrt

_FLOAT32 = np.dtype(np.float32)
_SMALL_STEP = 1e30  # the largest float32 can be moved by so much without overflow

# Sums and means


@reduction(linear="x", dtypes=dt.NUMERIC)
def reduce_sum(xp, x, *, axis, keepdims):
    """The sum of the elements over `axis` (None: all axes; a list: several; []: none).

    The sum over an empty axis is 0. Integers keep their dtype and wrap around.

    >>> reduce_sum([[1, 2], [3, 4]], axis=0)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([4, 6], dtype=int32)>
    """
    dtype = x.dtype
    if dtype not in HALVES:
        return xp.sum(x, axis=axis, dtype=dtype, keepdims=keepdims)
    return xp.sum(x, axis=axis, dtype=_FLOAT32, keepdims=keepdims).astype(dtype)


@reduce_sum.vjp("x")
def _reduce_sum_vjp(g, x: Spec, *, axis, keepdims):
    return _broadcast_to(restore_axes(g, axis, keepdims), shape=x.shape)


@reduction(linear="x", dtypes=dt.NUMERIC)
def reduce_mean(xp, x, *, axis, keepdims):
    """The mean of the elements over `axis`. Integers are truncated toward zero; nothing gives NaN.

    >>> reduce_mean([[1.0, 2.0], [3.0, 4.0]], axis=1)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.5, 3.5], dtype=float32)>
    """
    dtype = x.dtype
    size = size_over(x.shape, axis)
    if dtype in dt.INTEGER:
        total = x.sum(axis=axis, dtype=np.int64, keepdims=keepdims)
        return (xp.abs(total) // max(size, 1) * xp.sign(total)).astype(dtype)
    mean = xp.sum(x, axis=axis, dtype=accumulator(dtype), keepdims=keepdims) / size
    return mean.astype(dtype) if dtype in HALVES else mean


@reduce_mean.vjp("x")
def reduce_mean_vjp(g, x: Spec, *, axis, keepdims):
    return _spread_mean(restore_axes(g, axis, keepdims), shape=x.shape, axis=axis)


@op(
    pattern=ELEMENTWISE,
    linear="x",
    dtypes=dt.INEXACT,
    samples=lambda r: [
        ([r.normal(size=())], {"shape": (4,), "axis": (0,)}),
        ([r.normal(size=(2, 1))], {"shape": (2, 3), "axis": (1,)}),
        ([r.normal(size=(3,))], {"shape": (2, 3), "axis": (0,)}),
    ],
)
def _spread_mean(xp, x, *, shape, axis):
    """Means `x`, divided by the number of elements, in the place of each of these."""
    return xp.broadcast_to(x / xp.number(max(size_over(shape, axis), 1), x.dtype), shape)


@_spread_mean.vjp("x")
def _spread_mean_vjp(g, x: Spec, *, axis):
    means = reduce_mean(g, axis, keepdims=True)
    return _reshape(means, shape=x.shape)


@_spread_mean.batch
def _spread_mean_batch(batched, x, *, shape, axis):
    count = x._array.shape[0]
    x = insert_axes(x, len(shape) + 1 - x.ndim, at=1)
    return _spread_mean(x, shape=(count, *shape), axis=tuple([a + 1 for a in axis]))


@op(
    batch_axes="axis",
    pattern=across("axis"),
    linear="x",
    dtypes=dt.INEXACT,
    samples=lambda r: [
        ([r.normal(size=shape)], {"axis": axis})
        for shape, axis in [
            ((4,), (0,)),
            ((2, 3), (1,)),
            ((2, 3, 2), (0, 2)),
            ((), ()),
            ((0,), (0,)),
        ]
    ],
)
@in_float32
def centered(xp, x, *, axis):
    """`x` less its mean over `axis`: a projection, so it is its own gradient rule."""
    return mean_and_away(xp, x, axis)[1]


@centered.vjp("x")
def _centered_vjp(g, *, axis):
    return centered(g, axis=axis)


def mean_and_away(xp: Any, x: Any, axis: tuple[int, ...]) -> tuple[Any, Any]:
    """The mean of an array over `axis`, which stays, and its distances from it, an array to write.

    They are taken from the first element first: where the elements are large the plain mean is
    rounded, that of [1e8, 1e8 + 8, 1e8 + 16] in float32 to 1e8. The differences are exact, and
    their mean is small.
    """
    first = x[tuple([slice(0, 1) if i in axis else slice(None) for i in range(x.ndim)])]
    kept_shape = tuple([1 if i in axis else n for i, n in enumerate(x.shape)])
    if first.shape != kept_shape:  # there is none, and the mean of nothing is NaN
        near = xp.zeros(kept_shape, dtype=x.dtype)
    else:
        near = first if x.dtype in dt.COMPLEX else xp.clip(first, -_SMALL_STEP, _SMALL_STEP)
    away = x - near
    mean_away = xp.sum(away, axis).reshape(kept_shape) / size_over(x.shape, axis)
    away -= mean_away
    return near + mean_away, away


@reduction(dtypes=dt.INEXACT, result=real_dtype)
@in_float32
def reduce_variance(xp, x, *, axis, keepdims):
    """The mean squared distance from the mean over `axis`; real for complex numbers."""
    spread = mean_square(xp, mean_and_away(xp, x, axis)[1], axis)
    return xp.expand_dims(spread, axis) if keepdims else spread


def mean_square(xp: Any, x: Any, axis: tuple[int, ...]) -> Any:
    """The mean of squared absolute values; `x` is written over."""
    if x.dtype in dt.COMPLEX:
        x = _squares(x)
    else:
        x *= x
    return xp.sum(x, axis) / size_over(x.shape, axis)


def _squares(x: Any) -> Any:
    return x.real**2 + x.imag**2 if x.dtype in dt.COMPLEX else x * x


@reduce_variance.vjp("x")
def reduce_variance_vjp(g, x, *, axis, keepdims):
    factor = g * (2 / max(size_over(x._array.shape, axis), 1))
    return centered(x, axis=axis) * cast(restore_axes(factor, axis, keepdims), x.dtype)


@lends_itself
def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The standard deviation over `axis`: the root of `reduce_variance`.

    Its gradient is NaN where all elements are equal.
    """
    x = to_tensor(input_tensor, "reduce_std")
    if x._array.dtype in HALVES:  # whose variance may overflow where its root does not
        return cast(sqrt(reduce_variance(cast(x, _FLOAT32), axis, keepdims)), x.dtype)
    return sqrt(reduce_variance(x, axis, keepdims))


@reduction(dtypes=dt.NUMERIC)
@in_float32
def reduce_euclidean_norm(xp, x, *, axis, keepdims):
    """The root of the sum of squared absolute values over `axis`, in the dtype of `x`.

    Its gradient is NaN at the zero vector.
    """
    numbers = x.astype(np.float64) if x.dtype in dt.INTEGER else x
    return xp.sqrt(_squares(numbers).sum(axis=axis, keepdims=keepdims)).astype(x.dtype)


@reduce_euclidean_norm.vjp("x")
def _reduce_euclidean_norm_vjp(g, out, x, *, axis, keepdims):
    return x * restore_axes(g / out, axis, keepdims)


# Products


def _product_samples(r: np.random.Generator) -> list[Any]:
    zeros = r.normal(size=(3, 4)) * [[1, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1]]
    rest = [([zeros], {"axis": axis, "keepdims": False}) for axis in [(1,), (0, 1)]]
    several = r.normal(size=(2, 3, 2)) + 1j * r.normal(size=(2, 3, 2))
    return [*reduction_samples(r), *rest, ([several], {"axis": (0, 2), "keepdims": False})]


@reduction(dtypes=dt.NUMERIC, samples=_product_samples)
def reduce_prod(xp, x, *, axis, keepdims):
    """The product of the elements over `axis`; 1 over an empty axis.

    The gradient is the product of the other elements, also where elements are zero.
    """
    dtype = x.dtype
    if dtype not in HALVES:
        return x.prod(axis=axis, dtype=dtype, keepdims=keepdims)
    return x.prod(axis=axis, dtype=_FLOAT32, keepdims=keepdims).astype(dtype)


@reduce_prod.vjp("x")
def _reduce_prod_vjp(g, x, *, axis, keepdims):
    return restore_axes(g, axis, keepdims) * conj(_product_of_others(x, axis))


def _product_of_others(x: Tensor, axis: tuple[int, ...]) -> Tensor:
    """For each element, the product of the others it is multiplied with: without a division."""
    shape = x._array.shape
    order = (*[i for i in range(len(shape)) if i not in axis], *axis)
    rows = _transpose(x, perm=order)
    rows_shape = rows._array.shape
    line = _reshape(rows, shape=(*rows_shape[: len(shape) - len(axis)], size_over(shape, axis)))
    others = cumprod(line, -1, exclusive=True) * cumprod(line, -1, exclusive=True, reverse=True)
    back = tuple(sorted(range(len(order)), key=order.__getitem__))
    return _transpose(_reshape(others, shape=rows_shape), perm=back)


# Extrema


def _extremum(reduce: Any, lowest: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    if size_over(x.shape, axis):
        return reduce(axis=axis, keepdims=keepdims)
    return reduce(axis=axis, keepdims=keepdims, initial=lowest)


@reduction(dtypes=dt.REAL)
def reduce_max(xp, x, *, axis, keepdims):
    """The largest element over `axis`; NaN if any element is NaN.

    Over an empty axis it is -inf, or the least integer of the dtype. Elements that tie share the
    gradient equally.
    """
    lowest = np.iinfo(x.dtype).min if x.dtype in dt.INTEGER else -np.inf
    return _extremum(x.max, lowest, x, axis, keepdims)


@reduction(dtypes=dt.REAL)
def reduce_min(xp, x, *, axis, keepdims):
    """The smallest element over `axis`; NaN if any element is NaN.

    Over an empty axis it is inf, or the greatest integer of the dtype. Elements that tie share the
    gradient equally.
    """
    highest = np.iinfo(x.dtype).max if x.dtype in dt.INTEGER else np.inf
    return _extremum(x.min, highest, x, axis, keepdims)


@reduce_max.vjp("x")
@reduce_min.vjp("x")
def _extremum_vjp(g, out, x, *, axis, keepdims):
    chosen = _indicator(x, restore_axes(out, axis, keepdims))
    count = reduce_sum(chosen, axis, keepdims)
    return chosen * restore_axes(g / count, axis, keepdims)


@op(
    nondiff="all",
    samples=lambda r: [([r.integers(0, 2, (2, 3)) * 1.0, r.integers(0, 2, (2, 1)) * 1.0], {})],
)
def _indicator(xp, x, y):
    """1 where `x` equals `y`, else 0, in the dtype of `x`."""
    return (x == y).astype(x.dtype)


@_indicator.batch
def _indicator_batch(batched, x, y):
    rank = max(x.ndim - ("x" in batched), y.ndim - ("y" in batched))
    return _indicator(*(_batch_first(v, name in batched, rank) for name, v in (("x", x), ("y", y))))


def _batch_first(x: Tensor, is_batched: bool, rank: int) -> Tensor:
    shape = x._array.shape
    if not is_batched or len(shape) > rank:
        return x
    return _reshape(x, shape=(shape[0], *(1,) * (rank + 1 - len(shape)), *shape[1:]))


def _bool_samples(r: np.random.Generator) -> list[Any]:
    return [([tensors[0] > 0], params) for tensors, params in reduction_samples(r)]


@reduction(nondiff="all", dtypes=dt.BOOL, samples=_bool_samples)
def reduce_all(xp, x, *, axis, keepdims):
    """Whether all elements over `axis` are true; true over an empty axis."""
    return x.all(axis=axis, keepdims=keepdims)


@reduction(nondiff="all", dtypes=dt.BOOL, samples=_bool_samples)
def reduce_any(xp, x, *, axis, keepdims):
    """Whether any element over `axis` is true; false over an empty axis."""
    return x.any(axis=axis, keepdims=keepdims)


@reduction(dtypes=dt.FLOATING)
@in_float32
def reduce_logsumexp(xp, x, *, axis, keepdims):
    """`log(sum(exp(x)))` over `axis`, without overflow; -inf over an empty axis.

    An element that is -inf has gradient 0; where all are, the gradient is NaN.
    """
    shift = _finite_max(xp, x, axis)
    total = xp.log(xp.exp(x - shift).sum(axis=axis, keepdims=True)) + shift
    return total if keepdims else xp.squeeze(total, axis)


def _finite_max(xp: Any, x: Any, axis: Any) -> Any:
    largest = _extremum(x.max, -np.inf, x, axis, True)
    return xp.where(xp.isfinite(largest), largest, xp.zeros((), x.dtype))


@reduce_logsumexp.vjp("x")
def _reduce_logsumexp_vjp(g, x, *, axis, keepdims):
    # Not exp(x - out): of an output near 1e4, float32 has lost what decides the gradient.
    exponentials = exp(x - _exp_shift(x, axis=axis))
    return exponentials * (restore_axes(g, axis, keepdims) / reduce_sum(exponentials, axis, True))


@op(batch_axes="axis", nondiff="all", samples=lambda r: [([r.normal(size=(2, 3))], {"axis": (1,)})])
def _exp_shift(xp, x, *, axis):
    """The largest element over `axis`, or 0 if it is not finite: what to subtract before `exp`."""
    return _finite_max(xp, x, axis)


# Counting and finding


def _index_samples(r: np.random.Generator) -> list[Any]:
    return [
        ([r.normal(size=(4,))], {"axis": 0, "dtype": np.dtype(np.int64)}),
        ([r.normal(size=(2, 3, 2))], {"axis": 1, "dtype": np.dtype(np.int32)}),
        ([np.array([[1.0, 3.0, 3.0]])], {"axis": 1, "dtype": np.dtype(np.int64)}),
        ([r.normal(size=(2, 0))], {"axis": 0, "dtype": np.dtype(np.int64)}),
    ]


def _index_spec(x, *, axis, dtype):
    if not x.shape[axis]:
        raise InvalidArgumentError(
            f"argmax, argmin: axis {axis} of `input` is empty (input.shape={x.shape}), so no "
            "element of it is the largest or smallest."
        )
    return Spec((*x.shape[:axis], *x.shape[axis + 1 :]), dtype)


@op(batch_axes="axis", nondiff="all", alike="x", dtypes=dt.REAL | dt.BOOL, samples=_index_samples)
def _argmax(xp, x, *, axis, dtype):
    return xp.argmax(x, axis=axis).astype(dtype)


@op(batch_axes="axis", nondiff="all", alike="x", dtypes=dt.REAL | dt.BOOL, samples=_index_samples)
def _argmin(xp, x, *, axis, dtype):
    return xp.argmin(x, axis=axis).astype(dtype)


for _primitive in (_argmax, _argmin):
    _primitive.spec(_index_spec)


def _index(primitive: Any, input: Any, axis: Any, output_type: Any) -> Tensor:
    name = primitive.op.name
    x = to_tensor(input, name)
    dtype = as_dtype(output_type).numpy_dtype
    if dtype not in dt.INTEGER:
        raise DTypeError(f"{name}: `output_type` must be an integer dtype, not {dtype.name}.")
    axis = static_axis(0 if axis is None else axis, x.ndim, name)
    return primitive(x, axis=axis, dtype=dtype)


def argmax(
    input: Any, axis: Any = None, output_type: Any = dt.int64, name: str | None = None
) -> Tensor:
    """The index of the largest element along `axis` (None: axis 0), the first of those that tie.

    NaN counts as larger than every number, as in NumPy. No gradient.
    """
    return _index(_argmax, input, axis, output_type)


def argmin(
    input: Any, axis: Any = None, output_type: Any = dt.int64, name: str | None = None
) -> Tensor:
    """The index of the smallest element along `axis` (None: axis 0), the first of those that tie.

    NaN counts as smaller than every number, as in NumPy. No gradient.
    """
    return _index(_argmin, input, axis, output_type)


@op(
    batch_axes="axis",
    nondiff="all",
    samples=lambda r: [
        (
            [r.integers(0, 2, (2, 3)) * 1.0],
            {"axis": axis, "keepdims": keep, "dtype": np.dtype(dtype)},
        )
        for axis, keep, dtype in [((0,), True, "int64"), ((0, 1), False, "float32")]
    ],
)
def _count_nonzero(xp, x, *, axis, keepdims, dtype):
    nonzero = x.astype(bool) if x.dtype == object else x != 0
    return nonzero.sum(axis=axis, keepdims=keepdims, dtype=np.int64).astype(dtype)


def count_nonzero(
    input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: Any = dt.int64,
    name: str | None = None,
) -> Tensor:
    """How many elements over `axis` are not zero (strings: not empty). No gradient."""
    x = to_tensor(input, "count_nonzero")
    axes = static_axes(axis, x.ndim, "count_nonzero")
    numpy_dtype = as_dtype(dtype).numpy_dtype
    return _count_nonzero(x, axis=axes, keepdims=bool(keepdims), dtype=numpy_dtype)


def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The fraction of elements that are zero, as float32; NaN for an empty tensor. No gradient."""
    x = to_tensor(value, "zero_fraction")
    size = x._array.size
    nonzero = count_nonzero(x, dtype=dt.int64)
    return cast(size - nonzero, dt.float32) / size
