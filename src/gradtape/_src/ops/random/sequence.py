"""Random draws in sequence.

They are constants to a tape, except through the parameters they depend on smoothly: mean, spread,
bounds, and the shape of a gamma distribution.

Inside `@function` each call draws anew: every sequence that a function draws from supplies a key to
each call, and the numbers come from the key. So `set_seed` determines them, but they are not those
of the same draws made eagerly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, TypeVar
from zlib import crc32

import numpy as np

from ...core import dtypes as dt
from ...core.draws import per_element, refuse_batches
from ...core.engine import engine_of
from ...core.errors import DTypeError, SymbolicTensorError
from ...core.spec import broadcast_shapes
from ...core.tensor import Tensor
from ...core.tracing import current_graph
from ..array.shape import _broadcast_to
from ..array.undifferentiated import undifferentiated
from ..declare.static import static_int, static_ints, to_tensor
from . import draws as draws

R = TypeVar("R")

_WITHOUT_SEED = 87654321  # the global seed for ops with a seed of their own, where none was set


class _Streams:
    """The sequences in progress. (Made on first use: np.random takes a third of NumPy's import.)"""

    seed: int | None = None
    common: Any = None
    by_op: dict[tuple[str, int], Any]


_streams = _Streams()
_streams.by_op = {}


def set_seed(seed: Any) -> None:
    """Begin all sequences of draws anew: the same seed gives the same sequences.

    A draw without a seed of its own takes the next numbers of the one common sequence. One with a
    seed takes those of a sequence of its own, which the op, its seed and the global seed determine:

    >>> set_seed(1)
    >>> first, second = normal([2], seed=5), normal([2], seed=5)  # two different ones
    >>> set_seed(1)
    >>> bool(normal([2], seed=5)[0] == first[0])
    True
    """
    _streams.seed = None if seed is None else _whole(seed, "set_seed")
    _streams.common = None
    _streams.by_op = {}


def generator_for(seed: Any = None, op: str = "", per_element: bool = False) -> Any:
    """Where an op draws from: the common sequence, or the one of this op and its `seed`.

    While a function is traced, what it gives has the methods of NumPy's Generator too, but draws
    when the function is called.

    Inside vectorized_map each element has its own draws: an op that does not draw `per_element`
    for all of them at once refuses, and the function runs in a loop.
    """
    if not per_element:
        refuse_batches(op or "random")
    name = None if seed is None else (op, _whole(seed, op))
    if current_graph() is not None:
        return draws.for_calls(_host(name), _host(name))
    return _generator(name)


@cache
def _host(name: tuple[str, int] | None) -> Callable[[], np.random.Generator]:
    """What gives the sequence of this name; one object for each name, whatever the seed set."""
    return partial(_generator, name)


def _generator(name: tuple[str, int] | None) -> np.random.Generator:
    """The common sequence, or the one of an op and a seed, where it has come to."""
    if name is None:
        if _streams.common is None:
            entropy = None if _streams.seed is None else [_unsigned(_streams.seed)]
            _streams.common = np.random.default_rng(entropy)
        return _streams.common
    if name not in _streams.by_op:
        common = _WITHOUT_SEED if _streams.seed is None else _streams.seed
        entropy = [_unsigned(common), _unsigned(name[1]), crc32(name[0].encode())]
        _streams.by_op[name] = np.random.default_rng(entropy)
    return _streams.by_op[name]


def _whole(seed: Any, op: str) -> int:
    """The seed as an integer: of a float, what stands before the point."""
    try:
        return int(seed)
    except SymbolicTensorError:
        raise
    except (TypeError, ValueError, OverflowError):
        raise DTypeError(f"{op}: `seed` must be an integer, not {seed!r:.100}.") from None


def _unsigned(seed: int) -> int:
    return seed % 2**64


class Repeatable:
    """The draws of a block from the common sequence, to be made again by another block.

    >>> draws = Repeatable()
    >>> with draws.first():
    ...     x = normal([2])
    >>> bool(draws.again(lambda: normal([2]))[0] == x[0])
    True
    """

    def __init__(self) -> None:
        self._state: Any = None
        self._keys: list[Any] = []  # while a function is traced, in place of the state

    @contextmanager
    def first(self) -> Iterator[None]:
        graph = current_graph()
        if graph is None:
            self._state = _generator(None).bit_generator.state
            yield
        else:
            with graph.noting_keys(self._keys):
                yield

    def again(self, function: Callable[[], R]) -> R:
        """`function()`, which draws the same numbers; draws after it go on as if it had not been.

        (Not a block: an interrupt when it is left would have later draws repeat those numbers.)
        """
        graph = current_graph()
        if graph is not None:
            with graph.repeating_keys(self._keys):
                return function()
        generator = _generator(None).bit_generator
        before = generator.state
        try:
            generator.state = self._state
            return function()
        finally:
            generator.state = before


def _shape(shape: Any, op: str) -> tuple[int, ...]:
    return static_ints(shape, op, "shape")


def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dt.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Draws from the normal distribution; differentiable in `mean` and `stddev`."""
    dims, wanted = _shape(shape, "random.normal"), draws.floating(dtype, "random.normal")
    random = generator_for(seed, "random.normal", per_element=True)
    drawn = per_element(lambda each: draws.normals(random, each, wanted), dims)
    return draws.shift_and_scale(drawn, mean, stddev)


def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dt.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Draws from the normal distribution, those beyond two standard deviations drawn again."""
    op = "random.truncated_normal"
    dims, wanted = _shape(shape, op), draws.floating(dtype, op)
    random = generator_for(seed, op, per_element=True)
    drawn = per_element(lambda each: draws.truncated_normals(random, each, wanted), dims)
    return draws.shift_and_scale(drawn, mean, stddev)


def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dt.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Draws from [minval, maxval): floats (differentiable in the bounds), or integers of `dtype`.

    Floats are below 1 by default; integers need `maxval`.
    """
    op = "random.uniform"
    if maxval is None and draws.numeric(dtype, op).is_integer:
        raise ValueError(f"{op}: an integer dtype needs `maxval`.")
    random = generator_for(seed, op, per_element=True)
    return draws.float_or_integers(
        random, _shape(shape, op), minval, maxval, dtype, op, per_element
    )


def gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = dt.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """`shape` draws for each pair of parameters: gamma variables of shape `alpha` and rate `beta`.

    The result has the shape `shape` followed by that of the parameters. Differentiable by both: by
    `alpha` through implicit reparameterisation, as the quantile that was drawn moves with it.
    """
    op = "random.gamma"
    wanted = draws.floating(dtype, op)
    a = draws.parameter(alpha, wanted)
    b = None if beta is None else draws.parameter(beta, wanted)
    own = (
        a._array.shape
        if b is None
        else broadcast_shapes(op, alpha=a._array.shape, beta=b._array.shape)
    )
    each = _broadcast_to(a, shape=(*_shape(shape, op), *own))
    drawn = draws.gammas(generator_for(seed, op), each, op)
    return drawn if b is None else drawn / b


def poisson(
    shape: Any, lam: Any, dtype: Any = dt.float32, seed: Any = None, name: str | None = None
) -> Tensor:
    """`shape` draws from the Poisson distribution for each rate in `lam`. There is no gradient."""
    op = "random.poisson"
    rates = to_tensor(lam, op)
    dims = (*_shape(shape, op), *rates._array.shape)
    drawn = draws.poissons(generator_for(seed, op), dims, rates, draws.numeric(dtype, op), op)
    return undifferentiated(rates, drawn, name=op)


def categorical(
    logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None, name: str | None = None
) -> Tensor:
    """For each row of `logits` that many classes, drawn with probabilities softmax(logits).

    No gradient. The classes are int64 unless `dtype` says otherwise.
    """
    op = "random.categorical"
    wanted = draws.numeric(dt.int64 if dtype is None else dtype, op)
    count = static_int(num_samples, op, "num_samples")
    return draws.categories(generator_for(seed, op), logits, count, wanted, op)


def shuffle(value: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """`value` with its rows in random order; a constant to the tape."""
    array = to_tensor(value, "random.shuffle")._array
    if not array.ndim:
        return Tensor(array)
    order = generator_for(seed, "random.shuffle").permutation(array.shape[0])
    return Tensor(engine_of(type(order)).take(array, order, 0))
