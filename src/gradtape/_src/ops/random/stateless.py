"""Draws that are pure functions of a seed, a pair of integers: the same seed, the same numbers.

The numbers come from the counter-based generator Philox, keyed by the pair. Inside `@function` they
are computed while it is traced, and are those of eager code, unless the seed or a parameter that
decides the numbers is symbolic: then they come from another generator, and differ from those.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.engine import common_engine
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError
from ...core.placement import on_host, where_python_looks
from ...core.tensor import Tensor, is_symbolic
from ..array.indexing import gather
from ..array.shape import _broadcast_to
from ..declare.static import static_int, static_ints, to_tensor
from . import draws as draws


class Algorithm(Enum):
    """The generators that TensorFlow names. All draws come from Philox."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


_ALGORITHMS = {each.name.lower(): each for each in Algorithm}


def algorithm_of(alg: Any, op: str) -> Algorithm:
    """The Algorithm for itself, its number or its name."""
    if isinstance(alg, Algorithm):
        return alg
    if isinstance(alg, str) and alg.lower() in _ALGORITHMS:
        return _ALGORITHMS[alg.lower()]
    if not isinstance(alg, str):
        try:
            return Algorithm(int(alg))
        except (TypeError, ValueError):
            pass
    raise InvalidArgumentError(
        f'{op}: `alg` must be "philox", "threefry", "auto_select" or a tf.random.Algorithm, not '
        f"{alg!r}."
    )


def _pair(seed: Any, op: str) -> Any:
    array = on_host(where_python_looks(lambda: to_tensor(seed, op))._array)
    if array.shape != (2,) or array.dtype not in dt.INTEGER:
        raise InvalidArgumentError(
            f"{op}: `seed` must be a pair of integers, such as [1, 2]. Received: {array!r:.100}."
        )
    return array


def _random(seed: Any, op: str, alg: Any = None, *parameters: Any) -> Any:
    """The generator for a draw that depends on `seed` and, not only smoothly, on `parameters`."""
    if alg is not None:
        algorithm_of(alg, op)
    arrays = [to_tensor(p, op)._array for p in parameters if p is not None]
    return draws.of_seed(_pair(seed, op), *arrays)


def _shape(shape: Any, op: str) -> tuple[int, ...]:
    return static_ints(shape, op, "shape")


def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dt.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Draws from the normal distribution; differentiable in `mean` and `stddev`."""
    op = "stateless_normal"
    drawn = draws.normals(_random(seed, op, alg), _shape(shape, op), draws.floating(dtype, op))
    return draws.shift_and_scale(Tensor(drawn), mean, stddev)


def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dt.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Draws from the normal distribution, those beyond two standard deviations drawn again."""
    op = "stateless_truncated_normal"
    wanted = draws.floating(dtype, op)
    drawn = draws.truncated_normals(_random(seed, op, alg), _shape(shape, op), wanted)
    return draws.shift_and_scale(Tensor(drawn), mean, stddev)


def stateless_parameterized_truncated_normal(
    shape: Any,
    seed: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    name: str | None = None,
) -> Tensor:
    """Draws from normal distributions between `minvals` and `maxvals`; differentiable by all four.

    The parameters broadcast to `shape`. The draws are quantiles, which move with the parameters.
    """
    op = "stateless_parameterized_truncated_normal"
    dims = _shape(shape, op)
    given = {"means": means, "stddevs": stddevs, "minvals": minvals, "maxvals": maxvals}
    first = next((v for v in given.values() if isinstance(v, Tensor)), None)
    wanted = to_tensor(means, op).dtype if first is None else first.dtype
    mean, stddev, low, high = (
        draws.parameter(v, draws.floating(wanted, op)) for v in given.values()
    )
    draws.fitting(dims, op, means=mean._array, stddevs=stddev._array)
    draws.fitting(dims, op, minvals=low._array, maxvals=high._array)
    if not any(map(is_symbolic, (low._array, high._array))) and (low._array >= high._array).any():
        raise InvalidArgumentError(f"{op}: need minvals < maxvals everywhere.")
    u = draws.uniforms(_random(seed, op), dims, dt.float64).astype(wanted.numpy_dtype)
    drawn = draws._normal_between((low - mean) / stddev, (high - mean) / stddev, Tensor(u))
    return drawn * stddev + mean


def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dt.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Draws from [minval, maxval): floats (differentiable in the bounds), or integers of `dtype`.

    For integers both bounds may be None: all the numbers of the dtype.
    """
    op = "stateless_uniform"
    if maxval is None and minval is not None and draws.numeric(dtype, op).is_integer:
        raise ValueError(
            f"{op}: an integer dtype needs `maxval`, or minval=None for its whole range."
        )
    bounds = (minval, maxval) if draws.numeric(dtype, op).is_integer else ()
    random = _random(seed, op, alg, *bounds)
    return draws.float_or_integers(random, _shape(shape, op), minval, maxval, dtype, op)


def stateless_gamma(
    shape: Any,
    seed: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = dt.float32,
    name: str | None = None,
) -> Tensor:
    """Gamma variables of shape `alpha` and rate `beta`, which broadcast to `shape`.

    Differentiable by both: by `alpha` through implicit reparameterisation.
    """
    op = "stateless_gamma"
    dims, wanted = _shape(shape, op), draws.floating(dtype, op)
    a = draws.parameter(alpha, wanted)
    draws.fitting(dims, op, alpha=a._array)
    drawn = draws.gammas(_random(seed, op, None, a), _broadcast_to(a, shape=dims), op)
    if beta is None:
        return drawn
    b = draws.parameter(beta, wanted)
    draws.fitting(dims, op, beta=b._array)
    return drawn / b


def stateless_poisson(
    shape: Any, seed: Any, lam: Any, dtype: Any = dt.int32, name: str | None = None
) -> Tensor:
    """Draws from the Poisson distribution of rates `lam`, which broadcast to `shape`."""
    op = "stateless_poisson"
    wanted = draws.numeric(dtype, op)
    return draws.poissons(_random(seed, op, None, lam), _shape(shape, op), lam, wanted, op)


def stateless_binomial(
    shape: Any,
    seed: Any,
    counts: Any,
    probs: Any,
    output_dtype: Any = dt.int32,
    name: str | None = None,
) -> Tensor:
    """Of `counts` trials with probability `probs`, which broadcast to `shape`, the successes."""
    op = "stateless_binomial"
    wanted = draws.numeric(output_dtype, op, "output_dtype")
    random = _random(seed, op, None, counts, probs)
    return draws.binomials(random, _shape(shape, op), counts, probs, wanted, op)


def stateless_categorical(
    logits: Any, num_samples: Any, seed: Any, dtype: Any = dt.int64, name: str | None = None
) -> Tensor:
    """For each row of `logits` that many classes, drawn with probabilities softmax(logits)."""
    op = "stateless_categorical"
    count = static_int(num_samples, op, "num_samples")
    random = _random(seed, op, None, logits)
    return draws.categories(random, logits, count, draws.numeric(dtype, op), op)


def stateless_shuffle(
    value: Any, seed: Any, alg: Any = "auto_select", name: str | None = None
) -> Tensor:
    """`value` with its rows in an order that `seed` determines; differentiable, being a gather."""
    x = to_tensor(value, "stateless_shuffle")
    if not x.ndim:
        raise ShapeError("stateless_shuffle: `value` is a scalar; it needs rows.")
    order = _random(seed, "stateless_shuffle", alg).permutation(x._array.shape[0])
    return gather(x, Tensor(order))


# Seeds from seeds


def split(seed: Any, num: Any = 2, alg: Any = "auto_select") -> Tensor:
    """`num` seeds from one, for draws that are unrelated to each other: a [num, 2] tensor."""
    pair = _pair(seed, "split")
    count = static_int(num, "split", "num")
    random = _random(seed, "split", alg)
    return Tensor(draws.integers(random, (count, 2), None, None, dt.of_numpy(pair.dtype), "split"))


def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> Tensor:
    """A seed from `seed` and an integer, such as the number of a step."""
    number = to_tensor(data, "fold_in")._array
    if number.ndim or number.dtype not in dt.INTEGER:
        raise InvalidArgumentError(f"fold_in: `data` must be one integer, not {number!r:.100}.")
    random = _random(seed, "fold_in", alg)
    first = draws.integers(random, (), None, None, dt.of_numpy(number.dtype), "fold_in")
    return Tensor(common_engine([first, number]).stack([first, number]))


stateless_split = split
stateless_fold_in = fold_in


def index_shuffle(index: Any, seed: Any, max_index: Any) -> Tensor:
    """Where `index` goes in a permutation of 0, ..., `max_index` that `seed`, a pair, determines.

    The permutation is never made: each index is enciphered by itself.
    """
    pairs = np.asarray(on_host(to_tensor(seed, "index_shuffle")._array))
    if pairs.ndim not in (1, 2) or pairs.shape[-1] != 2:
        raise ShapeError(
            f"index_shuffle: `seed` must have shape [2] or [n, 2], and has {list(pairs.shape)}."
        )
    third = np.zeros((*pairs.shape[:-1], 1), pairs.dtype)
    return random_index_shuffle(index, np.concatenate([pairs, third], -1), max_index)


def random_index_shuffle(
    index: Any, seed: Any, max_index: Any, rounds: int = 4, name: str | None = None
) -> Tensor:
    """`index_shuffle` with a seed of three integers."""
    op = "index_shuffle"
    places, seeds, largest = (
        np.asarray(on_host(to_tensor(v, op)._array)) for v in (index, seed, max_index)
    )
    for array, name_ in ((places, "index"), (seeds, "seed"), (largest, "max_index")):
        if array.dtype not in dt.INTEGER:
            raise DTypeError(f"{op}: `{name_}` must be integers, and is {array.dtype.name}.")
    if seeds.ndim not in (1, 2) or seeds.shape[-1] != 3 or places.ndim > 1 or largest.ndim > 1:
        raise ShapeError(
            f"{op}: `index` and `max_index` must be scalars or vectors, `seed` have shape [3] or "
            f"[n, 3]. Received: {places.shape}, {largest.shape} and {seeds.shape}."
        )
    try:
        shape = np.broadcast_shapes(places.shape, largest.shape, seeds.shape[:-1])
    except ValueError:
        raise ShapeError(
            f"{op}: `index`, `max_index` and `seed` do not broadcast together: {places.shape}, "
            f"{largest.shape} and {seeds.shape[:-1]}."
        ) from None
    numbers = np.broadcast_to(places, shape).reshape(-1).astype(np.uint64)
    tops = np.broadcast_to(largest, shape).reshape(-1).astype(np.uint64)
    keys = np.broadcast_to(seeds, (*shape, 3)).reshape(-1, 3).astype(np.uint64)
    if (numbers > tops).any():
        raise InvalidArgumentError(f"{op}: `index` must not exceed `max_index`.")
    permuted = _enciphered(numbers, tops, keys, max(int(rounds), 4))
    return Tensor(permuted.astype(places.dtype).reshape(shape))


def _enciphered(numbers: Any, tops: Any, keys: Any, rounds: int) -> Any:
    """A Feistel cipher on just enough bits, repeated until the result is in range."""
    bits = np.array([max(int(top).bit_length(), 2) for top in np.unique(tops)])
    half = ((bits[np.searchsorted(np.unique(tops), tops)] + 1) // 2).astype(np.uint64)
    mask = (np.uint64(1) << half) - np.uint64(1)
    result = numbers.copy()
    waiting = np.arange(result.size)
    while waiting.size:
        left, right = result[waiting] >> half[waiting], result[waiting] & mask[waiting]
        for turn in range(rounds):
            mixed = _mixed(right + keys[waiting, turn % 3] + np.uint64(turn << 32))
            left, right = right, left ^ (mixed & mask[waiting])
        result[waiting] = (left << half[waiting]) | right
        waiting = waiting[result[waiting] > tops[waiting]]
    return result


def _mixed(x: Any) -> Any:
    """The finaliser of splitmix64: each bit of the result depends on all of `x`."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
