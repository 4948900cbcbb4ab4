"""Random draws inside compiled programs: NumPy's Generator, as ops use it, on `jax.random`.

A key is an array of two words: see keys.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count as numbers
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from .keys import fold_in, split, typed


class KeyedGenerator:
    """Draws by the methods of `numpy.random.Generator`, each with the next key of `next_key()`.

    Parameters of distributions may be tracers. Their values are not checked: a program that is
    compiled has none yet.
    """

    def __init__(self, next_key: Callable[[], Any]) -> None:
        self._next_key = lambda: typed(next_key())
        self._next_words = next_key

    @classmethod
    def of_seed(cls, words: Any) -> KeyedGenerator:
        """The generator of a pair of integers of up to 64 bits: the same pair, the same draws."""
        wide = jnp.asarray(words).astype(jnp.int64).astype(jnp.uint64)
        key = wide.astype(jnp.uint32)
        for high in (wide >> 32).astype(jnp.uint32):
            key = fold_in(key, high)
        return cls._of_key(key)

    @classmethod
    def _of_key(cls, key: Any) -> KeyedGenerator:
        number = numbers()
        return cls(lambda: fold_in(key, next(number)))

    # Of a continuous variable

    def random(self, size: Any = (), dtype: Any = np.float64) -> Any:
        return jax.random.uniform(self._next_key(), _shape(size), dtype)

    def uniform(self, low: Any, high: Any) -> Any:
        return low + (high - low) * self.random()

    def standard_normal(self, size: Any = (), dtype: Any = np.float64) -> Any:
        return jax.random.normal(self._next_key(), _shape(size), dtype)

    def truncated_normal(self, size: Any, dtype: Any) -> Any:
        """Standard normal numbers between -2 and 2."""
        return jax.random.truncated_normal(self._next_key(), -2.0, 2.0, _shape(size), dtype)

    def standard_gamma(self, shape: Any, size: Any) -> Any:
        """By rejection, after Marsaglia and Tsang (2000), until no element is left.

        (jax.random.gamma loops for each element by itself: 8 times slower for half a million of
        them on a CPU, and 6 s to compile.)
        """
        alpha = jnp.broadcast_to(jnp.asarray(shape), _shape(size))
        # A variable of shape alpha < 1 is one of shape alpha + 1 times a power of a uniform one.
        d = jnp.where(alpha < 1, alpha + 1, alpha) - 1 / 3
        c = jax.lax.rsqrt(9 * d)

        def propose(state: Any) -> Any:
            key, volume, waiting = state
            key, *keys = split(key, (3,))
            x = jax.random.normal(typed(keys[0]), d.shape, d.dtype)
            u = 1 - jax.random.uniform(typed(keys[1]), d.shape, d.dtype)
            v = (1 + c * x) ** 3
            logs = 0.5 * x * x + d * (1 - v + jnp.log(jnp.maximum(v, jnp.finfo(d.dtype).tiny)))
            refused = (v <= 0) | (jnp.log(u) >= logs)
            return key, jnp.where(waiting, v, volume), waiting & refused

        possible = jnp.isfinite(c) & jnp.isfinite(d)
        start = (self._next_words(), jnp.full(d.shape, jnp.nan, d.dtype), possible)
        _, volume, _ = jax.lax.while_loop(lambda state: state[2].any(), propose, start)
        u = jax.random.uniform(self._next_key(), d.shape, d.dtype)
        return d * volume * jnp.where(alpha < 1, u ** (1 / alpha), 1)

    # Of a discrete variable

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Any = (),
        dtype: Any = np.int64,
        endpoint: bool = False,
    ) -> Any:
        if high is None:
            low, high = 0, low
        if isinstance(low, Tracer) or isinstance(high, Tracer):
            # From 8 bits, numbers of an odd range would not be equally likely.
            wide = np.int32 if np.dtype(dtype).itemsize < 4 else dtype
            return jax.random.randint(self._next_key(), _shape(size), low, high, wide).astype(dtype)
        span = high - low + endpoint
        width = np.dtype(np.uint32 if span <= 2**32 else np.uint64)
        if span & (span - 1):
            offset = jax.random.randint(self._next_key(), _shape(size), 0, span, width)
        else:  # a power of two: some of the bits
            bits = jax.random.bits(self._next_key(), _shape(size), width)
            offset = bits & width.type(span - 1)
        # Modulo 2**64 the sum is right, whatever the signs.
        start = np.uint64(low % 2**64)
        return (offset.astype(np.uint64) + start).astype(dtype)

    def permutation(self, x: Any) -> Any:
        return jax.random.permutation(self._next_key(), x if isinstance(x, int) else jnp.asarray(x))

    def poisson(self, lam: Any, size: Any) -> Any:
        rates = jnp.broadcast_to(jnp.asarray(lam), _shape(size))
        # (JAX draws these with keys of Threefry only.)
        key = jax.random.wrap_key_data(self._next_words(), impl="threefry2x32")
        return jax.random.poisson(key, rates, dtype=np.int64)

    def binomial(self, n: Any, p: Any, size: Any) -> Any:
        chances = jnp.asarray(p)
        counts = jnp.asarray(n).astype(chances.dtype)
        drawn = jax.random.binomial(
            self._next_key(), counts, chances, _shape(size), dtype=chances.dtype
        )
        return drawn.astype(np.int64)

    def categories(self, logits: Any, number: int) -> Any:
        """For each row of `logits` so many classes, by inverting the cumulated probabilities."""
        weights = jax.nn.softmax(jnp.asarray(logits).astype(np.float64), axis=1)
        totals = jnp.cumsum(weights, axis=1)
        wanted = self.random((totals.shape[0], number)) * totals[:, -1:]
        found = jax.vmap(partial(jnp.searchsorted, side="right"))(totals, wanted)
        # Rounding may lead past the last class that has a weight.
        last = logits.shape[1] - 1 - jnp.argmax(weights[:, ::-1] > 0, axis=1, keepdims=True)
        return jnp.minimum(found, last)

    def different(self, draw: Callable[[Any, int], Any], count: int) -> tuple[Any, Any]:
        """The first `count` different ones of the numbers >= 0 from `draw(random, n)`.

        And how many were drawn until then.
        """
        key = self._next_words()

        def draw_more(state: Any) -> Any:
            rounds, held, _, _ = state
            new = draw(self._of_key(fold_in(key, rounds)), count)
            every = jnp.concatenate([held, new.astype(np.int64)])
            order = jnp.argsort(every, stable=True)
            ascending = every[order]
            repeated = jnp.concatenate([np.zeros(1, bool), ascending[1:] == ascending[:-1]])
            first = jnp.zeros(2 * count, bool).at[order].set(~repeated) & (every >= 0)
            place = jnp.where(first, jnp.cumsum(first) - 1, count)
            held = jnp.full(count, -1, np.int64).at[place].set(every, mode="drop")
            tries = rounds * count + jnp.argmax(place == count - 1) - count + 1
            return rounds + 1, held, first.sum(), tries

        start = (np.int64(0), jnp.full(count, -1, np.int64), np.int64(0), np.int64(0))
        _, held, _, tries = jax.lax.while_loop(lambda s: s[2] < count, draw_more, start)
        return held, tries


def _shape(size: Any) -> tuple[int, ...]:
    return (size,) if isinstance(size, int) else tuple(size)
