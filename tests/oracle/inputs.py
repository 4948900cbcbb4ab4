"""What a case is, and how its input arrays are drawn."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

import ml_dtypes  # noqa: F401  (makes np.dtype("bfloat16") known)
import numpy as np

BOTH = ("float64", "float32")
HALVES = ("float16", "bfloat16")

# Drawn values are multiples of this: exact in float32, and they compress well.
GRID = 1024


@dataclass(frozen=True)
class Input:
    """`draw(rng)` gives an array in double precision; `cast` brings it to the dtype of the run."""

    draw: Callable


def normal(*shape):
    return Input(lambda rng: np.round(rng.normal(size=shape) * GRID) / GRID)


def uniform(low, high, *shape):
    return Input(lambda rng: np.round(rng.uniform(low, high, size=shape) * GRID) / GRID)


def positive(*shape):
    return uniform(0.5, 2.5, *shape)


def unit(*shape):
    """Inside (-1, 1), away from its ends."""
    return uniform(-0.9, 0.9, *shape)


def nonzero(*shape):
    """Both signs, away from 0."""
    size = uniform(0.4, 2.0, *shape)
    return Input(lambda rng: size.draw(rng) * rng.choice([-1.0, 1.0], size=shape))


def distinct(*shape):
    """No two elements closer than 0.25: for sort, max and other ops with ties."""

    def draw(rng):
        count = int(np.prod(shape))
        return ((rng.permutation(count) - count // 2) * 0.375 + 0.0625).reshape(shape)

    return Input(draw)


def integers(low, high, *shape):
    return Input(lambda rng: rng.integers(low, high, size=shape))


def booleans(*shape):
    return Input(lambda rng: rng.integers(0, 2, size=shape).astype(bool))


def probabilities(*shape):
    """Positive, with sum 1 along the last axis."""

    def draw(rng):
        p = rng.uniform(0.1, 1.0, size=shape)
        return p / p.sum(-1, keepdims=True)

    return Input(draw)


def complexes(*shape):
    """Away from 0 and from the real and imaginary axes, where branch cuts are."""
    part = nonzero(*shape)
    return Input(lambda rng: part.draw(rng) + 1j * part.draw(rng))


def given(values, dtype=None):
    """An explicit array; without `dtype`, floats take the dtype of the run and ints are int32."""
    array = np.asarray(values, dtype)
    return Input(lambda rng: array)


def cast(array, dtype):
    """Floating and complex arrays in the precision of `dtype`, integers as int32."""
    if array.dtype == np.float64:
        return array.astype(dtype)
    if array.dtype == np.complex128:
        return array.astype("complex64" if dtype == "float32" else "complex128")
    return array.astype("int32") if array.dtype == np.int64 else array


@dataclass(frozen=True)
class Case:
    """A program that runs unchanged on TensorFlow and gradtape.

    `fn(tf, *tensors)` gives a tensor or nested lists and tuples of them. Derivatives up to `order`
    are compared; `differs` says why gradtape departs from TensorFlow above order `agrees`.
    With `linear` the output is weighted by constants only (for infinite outputs).
    """

    name: str
    fn: Callable
    inputs: tuple
    dtypes: tuple = BOTH
    order: int = 2
    linear: bool = False
    differs: str = ""
    agrees: int = 2

    def draw(self, dtype, seed=0):
        rng = np.random.default_rng(zlib.crc32(f"{seed}/{self.name}".encode()))
        return [cast(np.asarray(x.draw(rng)), dtype) for x in self.inputs]


def call(path, *args, **kwargs):
    """`call("math.cumsum", axis=1)` is `lambda tf, *xs: tf.math.cumsum(*xs, axis=1)`."""
    find = attrgetter(path)
    return lambda tf, *xs: find(tf)(*xs, *args, **kwargs)


def case(name, fn, *inputs, **options):
    return Case(name, fn, inputs, **options)
