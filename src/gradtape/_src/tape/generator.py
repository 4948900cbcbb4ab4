"""`Generator`: a sequence of draws whose state can be read, set, split and skipped."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from ..core import dtypes as dt
from ..core.engine import engine_of
from ..core.errors import InvalidArgumentError
from ..core.placement import on_host, where_python_looks
from ..core.tensor import Tensor, is_symbolic
from ..core.tracing import current_graph
from ..core.trackable import Trackable
from ..ops.array.undifferentiated import undifferentiated
from ..ops.declare.static import static_int, static_ints, to_tensor
from ..ops.random import draws
from ..ops.random.stateless import Algorithm, algorithm_of
from .variable import Variable

_WORDS = 2**64
_ODD = 0x2851F42D4C957F2D  # spreads the bits of what is multiplied by it
_PER_DRAW = 256  # by so much the counter moves on for each number drawn, as TensorFlow's does


def create_rng_state(seed: Any, alg: Any) -> Tensor:
    """The state of a Generator from a seed, an integer or a vector of them, and zeros."""
    chosen = algorithm_of(alg, "create_rng_state")
    size = 2 if chosen is Algorithm.THREEFRY else 3
    if isinstance(seed, (int, float)):
        values = []
        rest = int(seed) % _WORDS**size
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


class Generator(Trackable):
    """A source of random draws with a state of its own.

    The state is a vector of int64: a counter of 128 bits, low word first, and a key (with
    "threefry" a counter of 64 bits and a key). Each number drawn moves the counter on by the same
    amount, whatever is drawn: `skip(n)` leads to the state that drawing `n` numbers leads to.

    The state is a variable: inside `@function` a Generator draws from the state that a call finds,
    and leaves the state that eager code would leave. (The numbers are others.) One is made there as
    a variable is, on the first call.

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
            self._algorithm: Algorithm = copy_from._algorithm
            self._variable = _state_variable(copy_from.state)
            return
        if state is None or alg is None:
            raise ValueError(
                "Generator: `state` and `alg` are both needed. Generator.from_seed(seed) makes one."
            )
        self._algorithm = algorithm_of(alg, "Generator")
        if self._algorithm is Algorithm.AUTO_SELECT:
            self._algorithm = Algorithm.PHILOX
        self._variable = _state_variable(self._valid_state(state))

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
        return cls(state=_state_of(key, counter), alg=alg)

    name = "Generator"

    @property
    def _size(self) -> int:
        return 2 if self._algorithm is Algorithm.THREEFRY else 3

    @property
    def state(self) -> Tensor:
        """The state, as a tensor of int64."""
        return self._variable.value()

    @property
    def key(self) -> Tensor:
        """The part of the state that stays the same while numbers are drawn."""
        return self.state[-1]

    @property
    def algorithm(self) -> int:
        """The number of the algorithm: 1 for Philox, 2 for ThreeFry. (Here both are Philox.)"""
        return int(self._algorithm.value)

    def reset(self, state: Any) -> None:
        """Go to this state."""
        self._variable.assign(self._valid_state(state))

    def _valid_state(self, state: Any) -> Tensor:
        given = where_python_looks(lambda: to_tensor(state, "Generator.reset"))
        words = on_host(given._array)
        if words.shape != (self._size,) or words.dtype not in dt.INTEGER:
            raise InvalidArgumentError(
                f"Generator.reset: `state` must be a vector of {self._size} integers, not "
                f"{words!r:.100}."
            )
        return Tensor(words.astype(np.int64))

    def reset_from_seed(self, seed: Any) -> None:
        """Go to the state in which `from_seed` begins."""
        self.reset(create_rng_state(seed, self._algorithm))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Go to the state with this key and counter."""
        self.reset(_state_of(key, counter))

    def skip(self, delta: Any) -> Tensor:
        """Move on as if `delta` numbers had been drawn."""
        amount = delta._array if isinstance(delta, Tensor) else delta
        if not is_symbolic(amount):
            amount = static_int(delta, "Generator.skip", "delta")
        self._move(self.state._array, amount)
        return self.state

    def _move(self, state: Any, delta: Any) -> None:
        """Go on from this state by so many numbers: an addition of 128 bits, or of 64."""
        if not is_symbolic(state) and not is_symbolic(delta):
            counter = sum([w % _WORDS * _WORDS**i for i, w in enumerate(state[:-1].tolist())])
            counter += delta * _PER_DRAW
            words = [counter // _WORDS**i % _WORDS for i in range(self._size - 1)]
            state = state.copy()
            state[:-1] = np.array(words, np.uint64).view(np.int64)
            self._variable._cell.assign(state)
            return
        xp = engine_of(type(delta if is_symbolic(delta) else state))
        if is_symbolic(delta):
            step = (delta.astype(np.int64) * _PER_DRAW).astype(np.uint64)
            high = xp.where(delta < 0, np.uint64(_WORDS - 1), np.uint64(0))
        else:
            step = np.uint64(delta * _PER_DRAW % _WORDS)
            high = np.uint64((delta * _PER_DRAW >> 64) % _WORDS)
        words = xp.asarray(state).astype(np.uint64)
        moved = [words[0] + step]
        if self._size == 3:
            moved.append(words[1] + high + (moved[0] < step).astype(np.uint64))
        self._variable.assign(Tensor(xp.stack([*moved, words[-1]]).astype(np.int64)))

    def _next(self, shape: Any, op: str) -> tuple[Any, tuple[int, ...]]:
        """The generator for one call, and the shape; the state is past the call then."""
        dims = static_ints(shape, op, "shape")
        graph = current_graph()
        if graph is None:
            array = self._variable._cell.read()._array
            random = self._at(array)
            self._move(array, math.prod(dims))
            return random, dims
        state = self.state._array

        def pair() -> Any:
            self._move(state, math.prod(dims))
            return self._mixed(state)

        return engine_of(type(state)).seeded_generator(graph.repeatable(pair)), dims

    def _at(self, state: Any) -> np.random.Generator:
        """NumPy's generator in this state.

        NumPy's Philox counts with 256 bits. Ours are the upper half, so each call has 2**128 blocks
        of numbers to itself, however many a draw by rejection takes.
        """
        words = state.tolist()
        counter = [0, 0, *words[:-1]]
        counter += [0] * (4 - len(counter))
        return draws.philox([words[-1], self._algorithm.value], counter)

    def _mixed(self, state: Any) -> Any:
        """A symbolic state as a pair of integers: of no two states that occur the same one."""
        xp = engine_of(type(state))
        counter = state[0] // _PER_DRAW
        if self._size == 3:
            counter = counter ^ (state[1] * _ODD)
        return xp.stack([state[-1] + self._algorithm.value * _ODD, counter])

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
        return draws.shift_and_scale(Tensor(draws.normals(random, dims, wanted)), mean, stddev)

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
        return draws.shift_and_scale(
            Tensor(draws.truncated_normals(random, dims, wanted)), mean, stddev
        )

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
        return undifferentiated(chances, drawn, name=op)  # type: ignore[no-any-return]

    def make_seeds(self, count: Any = 1) -> Tensor:
        """Seeds for the stateless draws: a [2, count] tensor, a seed in each column."""
        number = static_int(count, "Generator.make_seeds", "count")
        keys = self.uniform_full_int([number], dt.int64)._array
        return Tensor(engine_of(type(keys)).stack([keys, np.zeros(number, np.int64)]))

    def split(self, count: Any = 1) -> list[Generator]:
        """A list of Generators that have nothing to do with each other nor with this one."""
        number = static_int(count, "Generator.split", "count")
        keys = self.uniform_full_int([number], dt.int64)._array
        xp = engine_of(type(keys))
        zeros = np.zeros(self._size - 1, np.int64)
        states = [xp.concatenate([zeros, keys[i : i + 1]]) for i in range(number)]
        return [Generator(state=Tensor(state), alg=self._algorithm) for state in states]

    def __repr__(self) -> str:
        state = self._variable._cell.array().tolist()
        return f"<Generator {self._algorithm.name.lower()}, state {state}>"


def _state_variable(state: Tensor) -> Variable:
    return where_python_looks(  # type: ignore[no-any-return]
        lambda: Variable(state, trainable=False, dtype=dt.int64, name="StateVar")
    )


def _state_of(key: Any, counter: Any) -> Any:
    """The state with this key and counter."""
    words = static_ints(counter, "Generator", "counter")
    return np.array([*words, static_int(key, "Generator", "key")], np.int64)


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
