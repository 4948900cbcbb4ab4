"""Dropout: from a sequence of draws, from a generator, or from a seed."""

from __future__ import annotations

import numbers
from functools import partial
from typing import Any

from ...core import dtypes as dt
from ...core.placement import where_it_is
from ...core.spec import broadcast_shapes
from ...core.take_over import lends_itself
from ...core.tensor import Tensor
from ..array.cast import cast
from ..array.creation import is_tensor, ones_like
from ..declare.op import op
from ..declare.reduction import accumulator
from ..declare.static import static_ints, to_tensor
from ..random.sequence import uniform
from ..random.stateless import algorithm_of, stateless_uniform
from .loss import _all_batched


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
    return xp.keep_where(x * x.dtype.type(scale), mask)


@_drop.vjp("x")
def _drop_vjp(g, mask, *, scale):
    return _drop(g, mask, scale=scale)


@_drop.batch
def _drop_batch(batched, x, mask, *, scale):
    return _drop(*_all_batched(batched, x=x, mask=mask), scale=scale)


@lends_itself
def dropout(
    x: Any, rate: Any, noise_shape: Any = None, seed: Any = None, name: str | None = None
) -> Tensor:
    """`x` with each element set to 0 with probability `rate`, and the others divided by `1 - rate`.

    Elements along an axis that is 1 in `noise_shape` are dropped or kept together.
    """
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
    wide = dt.of_numpy(accumulator(x._array.dtype))
    drawn = to_tensor(where_it_is(x._array, partial(uniform_sampler, shape, wide)), "dropout")
    if fixed:
        return _drop(x, drawn >= float(rate), scale=1 / (1 - float(rate)))
    rate = cast(rate, x.dtype)
    return _drop(x / (ones_like(rate) - rate), drawn >= cast(rate, drawn.dtype), scale=1.0)


def general_dropout(
    x: Any, rate: Any, uniform_sampler: Any, noise_shape: Any = None, name: str | None = None
) -> Tensor:
    """`dropout` with the numbers from [0, 1) that `uniform_sampler(shape, dtype)` gives."""
    return drop_elements(x, rate, noise_shape, uniform_sampler)


@lends_itself
def stateless_dropout(
    x: Any,
    rate: Any,
    seed: Any,
    rng_alg: Any = None,
    noise_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """`dropout` as a pure function: `seed`, a pair of integers, determines what is dropped."""
    if rng_alg is not None:
        algorithm_of(rng_alg, "stateless_dropout")
    return drop_elements(
        x, rate, noise_shape, lambda shape, dtype: stateless_uniform(shape, seed, dtype=dtype)
    )
