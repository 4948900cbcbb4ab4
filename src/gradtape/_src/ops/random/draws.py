"""Draws from a generator, in every dtype: what all ways of drawing share.

The generator is NumPy's; while a function is traced, one with the same methods that draws anew at
each call of the function (`for_calls`). Then the results are symbolic, and so may parameters be,
whose values are not checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from threading import local
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.dtypes import DType, as_dtype
from ...core.engine import engine_of
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError
from ...core.placement import GPU, placement
from ...core.shape import broadcasts_to
from ...core.tensor import Tensor, is_symbolic, tell_left
from ...core.tracing import current_graph
from ..array.cast import cast
from ..array.creation import constant
from ..declare.elementwise import elementwise
from ..declare.reduction import accumulator
from ..declare.static import to_tensor
from ..math.exponential import _wide, exp
from ..math.gamma import _igamma_per_density, _per_density


class _Philox(local):
    bits: Any = None


_philox = _Philox()


def philox(key: Any, counter: Any = (0, 0, 0, 0)) -> np.random.Generator:
    """A generator at this key (2 words) and counter (4 words), good until the next call.

    One Philox for each thread is set to the state: 7 µs, where a new one takes 59.
    """
    if _philox.bits is None:
        _philox.bits = np.random.Philox(0)
    words = [np.array([w % 2**64 for w in part], np.uint64) for part in (counter, key)]
    _philox.bits.state = {
        "bit_generator": "Philox",
        "state": {"counter": words[0], "key": words[1]},
        "buffer": np.zeros(4, np.uint64),
        "buffer_pos": 4,
        "has_uint32": 0,
        "uinteger": 0,
    }
    return np.random.Generator(_philox.bits)


def for_calls(stream: Any, host: Callable[[], np.random.Generator]) -> Any:
    """A generator for the function being traced, if any: it draws anew at each of its calls.

    Each call takes a key from `host()`, so that what seeds the generators of NumPy seeds it too.
    `stream` stands for that sequence: what one function draws from it has one key.
    """
    graph = current_graph()
    if graph is None:
        return None
    from ...engines.xla.engine import engine

    def words() -> Any:
        return np.frombuffer(host().bytes(8), np.uint32)

    return engine.generator(partial(graph.next_key, stream, words))


def of_seed(pair: Any, *parameters: Any) -> Any:
    """The generator that a pair of integers determines; symbolic if it or a parameter is."""
    symbolic = [array for array in (pair, *parameters) if is_symbolic(array)]
    if not symbolic:
        return philox(pair.tolist())
    return engine_of(type(symbolic[0])).seeded_generator(pair)


def _of_numpy(random: Any) -> bool:
    return isinstance(random, np.random.Generator)


def _of_card(what: str, random: Any, shape: Any, dtype: DType) -> Any:
    """What the GPU draws, inside of a block for it; None if it is not to.

    From a generator that is a Philox the numbers are those of the host. Any other sequence gives
    the key of one, so `set_seed` determines them too.
    """
    if not placement.blocks or placement.block != GPU or not _of_numpy(random):
        return None
    card = placement.card
    if card is None:
        return None
    bits = random.bit_generator
    if isinstance(bits, np.random.Philox):
        state = bits.state["state"]
        key, counter = state["key"].tolist(), state["counter"].tolist()
        bits.advance(2**72)  # numbers that another draw from this generator shall not have again
    else:
        key, counter = random.integers(0, 2**64, 2, np.uint64).tolist(), [0, 0, 0, 0]
    drawn = card.drawn(what, key, counter, math.prod(shape), dtype.numpy_dtype)
    if drawn is None:  # they are few: the host has the same ones sooner
        with_key = philox(key, counter)
        drawn = card.adopt(_BY_HOST[what](with_key, shape, dtype))
    return drawn.reshape(shape)


def floating(dtype: Any, op: str) -> DType:
    wanted = as_dtype(dtype)
    if not wanted.is_floating:
        raise DTypeError(f"{op}: `dtype` must be floating, and is {wanted.name}.")
    return wanted


def numeric(dtype: Any, op: str, name: str = "dtype") -> DType:
    wanted = as_dtype(dtype)
    if not (wanted.is_floating or wanted.is_integer):
        raise DTypeError(f"{op}: `{name}` must be an integer or floating dtype, not {wanted.name}.")
    return wanted


def normals(random: Any, shape: Any, dtype: DType) -> Any:
    """Standard normal numbers."""
    drawn = _of_card("normal", random, shape, dtype)
    return _normals(random, shape, dtype) if drawn is None else drawn


def _normals(random: Any, shape: Any, dtype: DType) -> Any:
    drawn = random.standard_normal(shape, accumulator(dtype.numpy_dtype))
    return drawn.astype(dtype.numpy_dtype, copy=False)


def truncated_normals(random: Any, shape: Any, dtype: DType) -> Any:
    """Standard normal numbers, those beyond 2 drawn again."""
    if not _of_numpy(random):
        drawn = random.truncated_normal(shape, accumulator(dtype.numpy_dtype))
        return drawn.astype(dtype.numpy_dtype)
    drawn = _of_card("truncated_normal", random, shape, dtype)
    return _truncated_normals(random, shape, dtype) if drawn is None else drawn


def _truncated_normals(random: Any, shape: Any, dtype: DType) -> Any:
    drawn = _normals(random, math.prod(shape), dtype)
    outside = np.flatnonzero(np.abs(drawn) > 2)
    while outside.size:
        drawn[outside] = _normals(random, outside.size, dtype)
        outside = outside[np.abs(drawn[outside]) > 2]
    return drawn.reshape(shape)


def uniforms(random: Any, shape: Any, dtype: DType) -> Any:
    """Numbers from [0, 1): also in 16 bits never 1, which rounding would make of 0.9999."""
    drawn = _of_card("uniform", random, shape, dtype)
    return _uniforms(random, shape, dtype) if drawn is None else drawn


def _uniforms(random: Any, shape: Any, dtype: DType) -> Any:
    if dtype.size > 2:
        return random.random(shape, dtype.numpy_dtype)
    steps = 2**11 if dtype is dt.float16 else 2**8
    return (random.integers(0, steps, shape) / steps).astype(dtype.numpy_dtype)


_BY_HOST = {"normal": _normals, "truncated_normal": _truncated_normals, "uniform": _uniforms}


def integers(random: Any, shape: Any, low: Any, high: Any, dtype: DType, op: str) -> Any:
    """Integers from [low, high), equally likely; of the whole range of `dtype` if both are None."""
    if low is None and high is None:
        low, high = dtype.min, dtype.max
        return random.integers(low, high, shape, dtype.numpy_dtype, endpoint=True)
    given = [0 if v is None else v for v in (low, high)]
    # (A Python integer is no tensor yet: it may be one that only uint64 holds.)
    bounds = [np.asarray(v) if type(v) is int else to_tensor(v, op)._array for v in given]
    for name, bound in zip(("minval", "maxval"), bounds, strict=True):
        if bound.ndim or bound.dtype.kind not in "iu":
            raise InvalidArgumentError(
                f"{op}: with an integer dtype `{name}` must be one integer, not {bound!r:.100}."
            )
    if any(map(is_symbolic, bounds)):
        return random.integers(*bounds, shape, dtype.numpy_dtype)
    first, last = (int(bound) for bound in bounds)
    if not dtype.min <= first < last <= dtype.max + 1:
        raise InvalidArgumentError(
            f"{op}: need minval < maxval, both in the range of {dtype.name}, and have {first} and "
            f"{last}."
        )
    return random.integers(first, last, shape, dtype.numpy_dtype)


def _once(draw: Callable[[Any], Any], shape: Any) -> Tensor:
    drawn = draw(shape)
    return Tensor(placement.placed(drawn) if placement.blocks else drawn)


def float_or_integers(
    random: Any, shape: Any, minval: Any, maxval: Any, dtype: Any, op: str, make: Any = _once
) -> Tensor:
    """Draws from [minval, maxval): floats, differentiable in the bounds, or integers.

    `make(draw, shape)` is the tensor of what `draw(shape)` gives.
    """
    wanted = numeric(dtype, op)
    if wanted.is_integer:
        return make(lambda each: integers(random, each, minval, maxval, wanted, op), shape)
    drawn = make(lambda each: uniforms(random, each, wanted), shape)
    low = 0.0 if minval is None else minval
    return shift_and_scale(drawn, low, (1.0 if maxval is None else maxval) - low)


def shift_and_scale(drawn: Tensor, offset: Any, scale: Any) -> Tensor:
    """`drawn * scale + offset`, without the work where they are 1 and 0."""
    plain = (int, float)
    if not (isinstance(scale, plain) and scale == 1):
        drawn = drawn * parameter(scale, drawn.dtype)
    if not (isinstance(offset, plain) and offset == 0):
        drawn = drawn + parameter(offset, drawn.dtype)
    return drawn


def parameter(value: Any, dtype: DType) -> Tensor:
    """A parameter of a distribution as a tensor of the dtype of the draws."""
    if isinstance(value, (int, float, np.ndarray, np.generic, list, tuple)):
        return constant(value, dtype) if isinstance(value, (list, tuple)) else constant(
            np.asarray(value, dtype.numpy_dtype)
        )  # fmt: skip
    return cast(value, dtype)


def valid_values(value: Any, op: str, name: str, low: float, high: float = math.inf) -> Any:
    """The values of a parameter, in double precision, if they lie in [low, high].

    One that is symbolic stays unchecked, in its own precision or single precision.
    """
    array = to_tensor(value, op)._array
    if array.dtype not in dt.REAL:
        raise DTypeError(f"{op}: `{name}` must be real numbers, not {array.dtype.name}.")
    if is_symbolic(array):
        return array.astype(accumulator(array.dtype) if array.dtype in dt.FLOATING else np.float64)
    array = array.astype(np.float64)
    if not ((array >= low) & (array <= high)).all():
        wanted = f">= {low:g}" if high == math.inf else f"in [{low:g}, {high:g}]"
        raise InvalidArgumentError(f"{op}: `{name}` must be {wanted}. Received: {array!r:.200}.")
    return array


def fitting(shape: Any, op: str, **parameters: Any) -> None:
    """Refuse parameters that do not broadcast to the shape of the result."""
    for name, value in parameters.items():
        if not broadcasts_to(value.shape, shape):
            raise ShapeError(
                f"{op}: `{name}` of shape {tuple(value.shape)} cannot be broadcast to "
                f"shape={tuple(shape)}."
            )


def poissons(random: Any, shape: Any, lam: Any, dtype: DType, op: str) -> Tensor:
    rates = valid_values(lam, op, "lam", 0)
    fitting(shape, op, lam=rates)
    try:
        drawn = random.poisson(rates, shape)
    except ValueError as error:
        raise InvalidArgumentError(f"{op}: {error}. Received: lam={rates!r:.200}.") from None
    return Tensor(drawn.astype(dtype.numpy_dtype))


def binomials(random: Any, shape: Any, counts: Any, probs: Any, dtype: DType, op: str) -> Tensor:
    n, p = valid_values(counts, op, "counts", 0), valid_values(probs, op, "probs", 0, 1)
    fitting(shape, op, counts=n, probs=p)
    return Tensor(random.binomial(n.astype(np.int64), p, shape).astype(dtype.numpy_dtype))


def categories(random: Any, logits: Any, num_samples: int, dtype: DType, op: str) -> Tensor:
    """For each row of `logits` classes drawn by inverting the cumulated probabilities."""
    given = to_tensor(logits, op)
    tell_left(given, "categorical")
    x = given._array
    if x.dtype not in dt.FLOATING:
        raise DTypeError(f"{op}: `logits` must be floating, and are {x.dtype.name}.")
    if x.ndim != 2 or num_samples < 0:
        raise ShapeError(
            f"{op}: `logits` must be a matrix [batch, classes] and `num_samples` >= 0. Received: "
            f"logits.shape={x.shape}, num_samples={num_samples}."
        )
    rows, classes = x.shape
    if not rows or not num_samples:
        return Tensor(np.zeros((rows, num_samples), dtype.numpy_dtype))
    best = x.max(1, keepdims=True) if classes else np.full((rows, 1), np.nan)
    if not is_symbolic(best) and not np.isfinite(best).all():
        raise InvalidArgumentError(
            f"{op}: each row of `logits` needs a class, its largest logit finite. NaN, or -Inf "
            "alone, are no distribution."
        )
    if not _of_numpy(random):
        return Tensor(random.categories(x, num_samples).astype(dtype.numpy_dtype))
    weights = np.exp((x - best).astype(np.float64 if x.dtype == np.float64 else np.float32))
    totals = weights.cumsum(1, dtype=np.float64)
    # Row i moved to [i, i + 1): one search for all. A class without weight is never found.
    offset = np.arange(rows)[:, None]
    totals /= totals[:, -1:] * (1 + 1e-15)
    last = (totals < totals[:, -1:]).sum(1, keepdims=True)
    wanted = random.random((rows, num_samples)) * totals[:, -1:] + offset
    totals += offset
    found = np.searchsorted(totals.reshape(-1), wanted, side="right") - offset * classes
    return Tensor(np.minimum(found, last).astype(dtype.numpy_dtype))


# Gamma variables, differentiable by their shape parameter


def _gamma_samples(r):
    a = r.uniform(0.5, 4, size=(2, 3))
    return [([a, a.copy(), r.gamma(a)], {}), ([a[0], a[0].copy(), r.gamma(a, size=(2, 3))], {})]


@elementwise(
    alike="all",
    alpha=lambda out, alpha: -_igamma_per_density(alpha, out, order=1),
    dtypes=dt.FLOATING,
    samples=_gamma_samples,
)
def _gamma_sample(xp, alpha, drawn_at, drawn):
    """Gamma variables drawn at `drawn_at`, as functions of `alpha` that keep their quantile.

    Away from `drawn_at` the value is correct to first order; the gradient is that of the quantile.
    """
    if alpha is drawn_at:
        return drawn
    slope = -_wide(partial(_per_density, xp, order=1), drawn_at, drawn)
    return drawn + (alpha - drawn_at) * slope


def gammas(random: Any, alpha: Tensor, op: str) -> Tensor:
    """A gamma variable for each element of `alpha`, in its dtype; never 0."""
    rates = valid_values(alpha, op, "alpha", 0)
    dtype = alpha.dtype
    drawn = random.standard_gamma(rates, rates.shape)
    least = float(dtype._limits().tiny)
    drawn = engine_of(type(drawn)).maximum(drawn, least).astype(dtype.numpy_dtype)
    return _gamma_sample(alpha, alpha, Tensor(drawn))


# Normal variables between two bounds, differentiable by the bounds


def _between_samples(r):
    u = r.uniform(0.05, 0.95, size=(2, 3))
    return [
        ([r.uniform(-2, -0.5, size=(2, 3)), r.uniform(0.5, 2, size=(2, 3)), u], {}),
        ([r.uniform(0.5, 1, size=3), r.uniform(1.5, 2, size=(2, 1)), u], {}),
    ]


@elementwise(
    alike="all",
    low=lambda out, low, u: exp((out * out - low * low) * 0.5) * (1 - u),
    high=lambda out, high, u: exp((out * out - high * high) * 0.5) * u,
    dtypes=dt.FLOATING,
    samples=_between_samples,
)
def _normal_between(xp, low, high, u):
    """The quantile `u` of the standard normal distribution between `low` and `high`."""
    return _wide(partial(_quantile_between, xp), low, high, u)


def _quantile_between(xp: Any, low: Any, high: Any, u: Any) -> Any:
    # In the upper tail, where probabilities are near 1, the mirror image keeps the digits.
    mirror = low > 0
    lower, upper = xp.where(mirror, -high, low), xp.where(mirror, -low, high)
    first, last = xp.special("ndtr", lower), xp.special("ndtr", upper)
    below = xp.where(mirror, 1 - u, u)
    value = xp.special("ndtri", first + below * (last - first))
    return xp.clip(xp.where(mirror, -value, value), low, high)
