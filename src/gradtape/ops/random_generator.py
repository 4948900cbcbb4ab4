"""`Generator`: a sequence of draws whose state can be read, set, split and skipped."""

from __future__ import annotations

import math
import os
from functools import partial
from typing import Any

import numpy as np

from ..core import dtypes as dt
from ..core.engine import engine_of
from ..core.errors import InvalidArgumentError, UnimplementedError
from ..core.tensor import Tensor
from ..core.tracing import current_graph
from . import _draws as draws
from ._static import static_int, static_ints, to_tensor
from ._undifferentiated import undifferentiated
from .stateless import Algorithm, algorithm_of

_WORDS = 2**64
_PER_DRAW = 256  # by so much the counter moves on for each number drawn, as TensorFlow's does


def create_rng_state(seed: Any, alg: Any) -> Tensor:
    """The state of a Generator from a seed, an integer or a vector of them, and zeros."""
    chosen = algorithm_of(alg, "create_rng_state")
    size = 2 if chosen is Algorithm.THREEFRY else 3
    if isinstance(seed, int):
        values = []
        rest = seed % _WORDS**size
        while rest:
            values.append(rest % _WORDS)
            rest //= _WORDS
    else:
        values = list(static_ints(seed, "create_rng_state", "seed"))
    if len(values) > size:
        raise InvalidArgumentError(
            f"create_rng_state: `seed` fills {len(values)} words of 64 bits; a state has {size}."
        )
    words = [v % _WORDS for v in [*values, *[0] * (size - len(values))]]
    return Tensor(np.array(words, np.uint64).view(np.int64))


class Generator:
    """A source of random draws with a state of its own.

    The state is a vector of int64: a counter of 128 bits, low word first, and a key (with
    "threefry" a counter of 64 bits and a key). Each number drawn moves the counter on by the same
    amount, whatever is drawn: `skip(n)` leads to the state that drawing `n` numbers leads to.

    >>> g = Generator.from_seed(1)
    >>> g.normal([2]).shape
    TensorShape([2])
    """

    def __init__(
        self, copy_from: Generator | None = None, state: Any = None, alg: Any = None
    ) -> None:
        if copy_from is not None:
            if state is not None or alg is not None:
                raise ValueError("Generator: give `copy_from`, or `state` and `alg`, not both.")
            self._state, self._algorithm = copy_from.state._array, copy_from._algorithm
            return
        if state is None or alg is None:
            raise ValueError(
                "Generator: `state` and `alg` are both needed. Generator.from_seed(seed) makes one."
            )
        self._algorithm = algorithm_of(alg, "Generator")
        if self._algorithm is Algorithm.AUTO_SELECT:
            self._algorithm = Algorithm.PHILOX
        self._state = self._checked(state)
        graph = current_graph()
        if graph is not None:
            graph.create(self, self._state)

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """A Generator in this state."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """A Generator whose draws the integer (or vector of integers) `seed` determines."""
        alg = Algorithm.PHILOX if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A Generator that starts where no other does: from the operating system's randomness."""
        alg = Algorithm.PHILOX if alg is None else alg
        size = 2 if algorithm_of(alg, "Generator") is Algorithm.THREEFRY else 3
        return cls(state=np.frombuffer(os.urandom(8 * size), np.int64), alg=alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """A Generator with this key (an integer) and counter (a vector of one or two)."""
        return cls(state=_joined(key, counter), alg=alg)

    name = "Generator"

    @property
    def _size(self) -> int:
        return 2 if self._algorithm is Algorithm.THREEFRY else 3

    @property
    def state(self) -> Tensor:
        """The state, as a tensor of int64."""
        _refuse_tracing("Generator.state")
        return Tensor(self._state.copy())

    @property
    def key(self) -> Tensor:
        """The part of the state that stays the same while numbers are drawn."""
        _refuse_tracing("Generator.key")
        return Tensor(self._state[-1].copy())

    @property
    def algorithm(self) -> int:
        """The number of the algorithm: 1 for Philox, 2 for ThreeFry. (Here both are Philox.)"""
        return self._algorithm.value

    def reset(self, state: Any) -> None:
        """Go to this state."""
        _refuse_tracing("Generator.reset")
        self._state = self._checked(state)

    def _checked(self, state: Any) -> Any:
        words = to_tensor(state, "Generator.reset")._values("The state of a Generator")
        if words.shape != (self._size,) or words.dtype not in dt.INTEGER:
            raise InvalidArgumentError(
                f"Generator.reset: `state` must be a vector of {self._size} integers, not "
                f"{words!r:.100}."
            )
        return words.astype(np.int64)

    def reset_from_seed(self, seed: Any) -> None:
        """Go to the state in which `from_seed` begins."""
        self.reset(create_rng_state(seed, self._algorithm))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Go to the state with this key and counter."""
        self.reset(_joined(key, counter))

    def skip(self, delta: Any) -> Tensor:
        """Move on as if `delta` numbers had been drawn."""
        _refuse_tracing("Generator.skip")
        self._move(static_int(delta, "Generator.skip", "delta"))
        return self.state

    def _move(self, delta: int) -> None:
        step = delta * _PER_DRAW
        counter = sum((int(w) % _WORDS) * _WORDS**i for i, w in enumerate(self._state[:-1])) + step
        words = [(counter // _WORDS**i) % _WORDS for i in range(self._size - 1)]
        self._state[:-1] = np.array(words, np.uint64).view(np.int64)

    def _next(self, shape: Any, op: str) -> tuple[Any, tuple[int, ...]]:
        """The generator for one call, and the shape; the state is past the call then.

        While a function is traced, each call of that function will move the state on, by as much as
        one number does.
        """
        dims = static_ints(shape, op, "shape")
        return draws.for_calls(self, partial(self._past, 1)) or self._past(math.prod(dims)), dims

    def _past(self, count: int) -> np.random.Generator:
        """NumPy's generator in the present state; the state is past `count` numbers then.

        NumPy's Philox counts with 256 bits. Ours are the upper half, so each call has 2**128 blocks
        of numbers to itself, however many a draw by rejection takes.
        """
        counter = [0, 0, *self._state[:-1].tolist()]
        counter += [0] * (4 - len(counter))
        random = draws.philox([int(self._state[-1]), self._algorithm.value], counter)
        self._move(count)
        return random

    def normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dt.float32,
        name: str | None = None,
    ) -> Tensor:
        """Draws from the normal distribution; differentiable in `mean` and `stddev`."""
        wanted = draws.floating(dtype, "Generator.normal")
        random, dims = self._next(shape, "Generator.normal")
        return draws.moved(Tensor(draws.normals(random, dims, wanted)), mean, stddev)

    def truncated_normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dt.float32,
        name: str | None = None,
    ) -> Tensor:
        """Draws from the normal distribution, those beyond two standard deviations drawn again."""
        wanted = draws.floating(dtype, "Generator.truncated_normal")
        random, dims = self._next(shape, "Generator.truncated_normal")
        return draws.moved(Tensor(draws.truncated_normals(random, dims, wanted)), mean, stddev)

    def uniform(
        self,
        shape: Any,
        minval: Any = 0,
        maxval: Any = None,
        dtype: Any = dt.float32,
        name: str | None = None,
    ) -> Tensor:
        """Draws from [minval, maxval): floats (differentiable in the bounds), or integers."""
        op = "Generator.uniform"
        if maxval is None and draws.numeric(dtype, op).is_integer:
            raise ValueError(f"{op}: an integer dtype needs `maxval`; see uniform_full_int.")
        random, dims = self._next(shape, op)
        return draws.float_or_integers(random, dims, minval, maxval, dtype, op)

    def uniform_full_int(
        self, shape: Any, dtype: Any = dt.uint64, name: str | None = None
    ) -> Tensor:
        """Integers from the whole range of `dtype`."""
        op = "Generator.uniform_full_int"
        wanted = draws.numeric(dtype, op)
        if wanted.is_floating:
            raise InvalidArgumentError(
                f"{op}: `dtype` must be an integer dtype, not {wanted.name}."
            )
        random, dims = self._next(shape, op)
        return Tensor(draws.integers(random, dims, None, None, wanted, op))

    def binomial(
        self, shape: Any, counts: Any, probs: Any, dtype: Any = dt.int32, name: str | None = None
    ) -> Tensor:
        """The successes of `counts` trials with probability `probs`; both broadcast to `shape`."""
        op = "Generator.binomial"
        wanted = draws.numeric(dtype, op)
        random, dims = self._next(shape, op)
        chances = to_tensor(probs, op)
        drawn = draws.binomials(random, dims, counts, chances, wanted, op)
        return undifferentiated(chances, drawn, name=op)

    def make_seeds(self, count: Any = 1) -> Tensor:
        """Seeds for the stateless draws: a [2, count] tensor, a seed in each column."""
        number = static_int(count, "Generator.make_seeds", "count")
        keys = self.uniform_full_int([number], dt.int64)._array
        return Tensor(engine_of(type(keys)).stack([keys, np.zeros(number, np.int64)]))

    def split(self, count: Any = 1) -> list[Generator]:
        """A list of Generators that have nothing to do with each other nor with this one."""
        _refuse_tracing("Generator.split")
        number = static_int(count, "Generator.split", "count")
        keys = self.uniform_full_int([number], dt.int64)._array
        counter = [0] * (self._size - 1)
        return [
            Generator.from_key_counter(int(key), counter, self._algorithm) for key in keys.tolist()
        ]

    def __repr__(self) -> str:
        return f"<Generator {self._algorithm.name.lower()}, state {self._state.tolist()}>"


def _joined(key: Any, counter: Any) -> Any:
    """The state with this key and counter."""
    words = static_ints(counter, "Generator", "counter")
    return np.array([*words, static_int(key, "Generator", "key")], np.int64)


def _refuse_tracing(op: str) -> None:
    """Raise inside `@function`: which state a call will find there is not known yet."""
    if current_graph() is not None:
        raise UnimplementedError(
            f"{op}: inside @function a Generator can draw and make_seeds(), but its state is that "
            "of the moment of the call, unknown while the function is traced. Read or change the "
            "state outside of the function."
        )


_global: Generator | None = None


def get_global_generator() -> Generator:
    """The Generator of the program, made at the first call from a state that is never the same."""
    global _global
    if _global is None:
        _global = Generator.from_non_deterministic_state()
    return _global


def set_global_generator(generator: Generator) -> None:
    """Make this the Generator of the program."""
    global _global
    if not isinstance(generator, Generator):
        raise InvalidArgumentError(
            f"set_global_generator: a Generator is needed, not a {type(generator).__name__}."
        )
    _global = generator
