"""What networks are made of besides activations and losses: bias, moments, dropout, embeddings."""

from __future__ import annotations

import numbers
from typing import Any

from ..core import dtypes as dt
from ..core.convert import operand
from ..core.errors import ShapeError
from ..core.spec import broadcast_shapes
from ..core.tensor import Tensor
from ._declare import op
from ._reduction import accumulator
from ._static import static_ints, to_tensor
from .arithmetic import divide_no_nan, reciprocal, rsqrt, square, squared_difference
from .creation import cast, is_tensor, ones_like, zeros_like
from .joining import concat
from .loss import _all_batched
from .norm import clip_by_norm
from .reduction import reduce_mean, reduce_sum, reduce_variance
from .shape import _reshape

# Bias, moments, normalisation


def bias_add(
    value: Any, bias: Any, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """`value` plus the vector `bias` along the channels: the last axis; axis 1 for "NC..."."""
    if data_format is not None and not data_format.startswith("N"):
        raise ValueError(
            f"bias_add: `data_format` must be 'N...C' or 'NC...', not {data_format!r}."
        )
    x = to_tensor(value, "bias_add")
    b = bias if type(bias) is Tensor else operand(bias, x._array.dtype, "bias_add")
    axis = 1 if data_format is not None and data_format.startswith("NC") else -1
    shape = x._array.shape
    if len(shape) < 2 or b._array.shape != (shape[axis],):
        raise ShapeError(
            "bias_add: `bias` must be a vector with one number for each channel of `value`, which "
            f"has rank 2 at least. Received: value.shape={shape}, bias.shape={b._array.shape}."
        )
    return x + (b if axis == -1 else _reshape(b, shape=(-1, *(1,) * (len(shape) - 2))))


def moments(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance of `x` over `axes`. (`shift` is not used, as in TensorFlow.)"""
    x = to_tensor(x, "moments")
    mean = reduce_mean(x, axes, keepdims)
    if x._array.dtype in dt.FLOATING:
        return mean, reduce_variance(x, axes, keepdims)
    away = squared_difference(x, reduce_mean(x, axes, True))
    return mean, reduce_mean(away, axes, keepdims)


def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance of `x` over `axes`, each element counted `frequency_weights` times."""
    x = to_tensor(x, "weighted_moments")
    weights = cast(to_tensor(frequency_weights, "weighted_moments"), x.dtype)
    count = reduce_sum(weights + zeros_like(x), axes, True)
    mean = divide_no_nan(reduce_sum(weights * x, axes, True), count)
    spread = reduce_sum(weights * squared_difference(x, mean), axes, True)
    variance = divide_no_nan(spread, count)
    if keepdims:
        return mean, variance
    return reduce_sum(mean, axes), reduce_sum(variance, axes)


def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance from the number of elements, their sum and the sum of their squares.

    The sums are those of the elements less `shift`, unless it is None.
    """
    share = reciprocal(to_tensor(counts, "normalize_moments"))
    shifted = mean_ss * share
    variance = variance_ss * share - square(shifted)
    return (shifted if shift is None else shifted + shift), variance


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: float,
    name: str | None = None,
) -> Tensor:
    """`(x - mean) / sqrt(variance + variance_epsilon) * scale + offset`; both may be None."""
    x = to_tensor(x, "batch_normalization")
    factor = rsqrt(to_tensor(variance, "batch_normalization") + variance_epsilon)
    if scale is not None:
        factor = factor * scale
    moved = -mean * factor if offset is None else offset - mean * factor
    return x * cast(factor, x.dtype) + cast(moved, x.dtype)


# Dropout and embeddings


@op(
    nondiff="mask",
    dtypes=dt.FLOATING,
    samples=lambda r: [
        ([r.normal(size=(2, 3)), r.normal(size=(2, 3)) > 0], {"scale": 2.0}),
        ([r.normal(size=(2, 3)), r.normal(size=(2, 1)) > 0], {"scale": 1.5}),
    ],
)
def _drop(xp, x, mask, *, scale):
    """`x * scale` where `mask`, else 0."""
    return xp.masked(x * xp.asarray(scale, x.dtype), mask)


@_drop.vjp("x")
def _drop_vjp(g, mask, *, scale):
    return _drop(g, mask, scale=scale)


@_drop.batch
def _drop_batch(batched, x, mask, *, scale):
    return _drop(*_all_batched(batched, x=x, mask=mask), scale=scale)


def dropout(
    x: Any, rate: Any, noise_shape: Any = None, seed: Any = None, name: str | None = None
) -> Tensor:
    """`x` with each element set to 0 with probability `rate`, and the others divided by `1 - rate`.

    Elements along an axis that is 1 in `noise_shape` are dropped or kept together.
    """
    from .random import uniform

    return drop_elements(
        x, rate, noise_shape, lambda shape, dtype: uniform(shape, dtype=dtype, seed=seed)
    )


def drop_elements(x: Any, rate: Any, noise_shape: Any, uniform_sampler: Any) -> Tensor:
    """Dropout with the numbers from [0, 1) that `uniform_sampler(shape, dtype)` draws."""
    x = to_tensor(x, "dropout")
    if x._array.dtype not in dt.FLOATING:
        raise ValueError(f"dropout: `x` must be floating, as it is scaled, and is {x.dtype.name}.")
    fixed = isinstance(rate, numbers.Real)
    if not (fixed or is_tensor(rate)):
        raise ValueError(f"dropout: `rate` must be a number or a scalar tensor, not {rate!r}.")
    if fixed and not 0 <= rate < 1:
        raise ValueError(f"dropout: `rate` must lie in [0, 1), and is {rate}.")
    if fixed and rate == 0:
        return x
    shape = x._array.shape
    if noise_shape is not None:
        given = list(noise_shape)
        if len(given) == len(shape):
            given = [own if n is None else n for n, own in zip(given, shape, strict=True)]
        noise = static_ints(given, "dropout", "noise_shape")
        broadcast_shapes("dropout", x=shape, noise=noise)
        shape = noise
    drawn = to_tensor(uniform_sampler(shape, dt.of_numpy(accumulator(x._array.dtype))), "dropout")
    if fixed:
        return _drop(x, drawn >= float(rate), scale=1 / (1 - float(rate)))
    rate = cast(rate, x.dtype)
    return _drop(x / (ones_like(rate) - rate), drawn >= cast(rate, drawn.dtype), scale=1.0)


def embedding_lookup(
    params: Any, ids: Any, max_norm: Any = None, name: str | None = None
) -> Tensor:
    """The rows of `params` at the integers `ids`, each clipped to the norm `max_norm`, if given.

    A list of several `params` counts as one table, its parts one below the other. The gradient by
    `params` is an IndexedSlices.
    """
    from .indexing import gather

    if isinstance(params, (list, tuple)) and all(map(is_tensor, params)):
        if not params:
            raise ValueError("embedding_lookup: `params` is empty; it needs one table at least.")
        params = params[0] if len(params) == 1 else concat(params, 0)
    ids = to_tensor(ids, "embedding_lookup")
    rows = gather(params, ids)
    if max_norm is None:
        return rows
    return clip_by_norm(rows, max_norm, axes=list(range(ids.ndim, rows.ndim)))
