"""Random draws. They are constants to a tape, except through the mean and spread they are moved by."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes as dt
from ..core.dtypes import as_dtype
from ..core.errors import DTypeError, InvalidArgumentError
from ..core.tensor import Tensor
from ._static import static_ints, to_tensor
from .creation import cast, constant

_generator: np.random.Generator | None = None  # made on first use: np.random takes a third of NumPy's import


def set_seed(seed: Any) -> None:
    """Begin the sequence of draws anew: the same seed gives the same sequence."""
    global _generator
    _generator = np.random.default_rng(int(seed))


def generator_for(seed: Any = None) -> np.random.Generator:
    """Where a draw comes from: the global sequence, or a sequence of its own for a `seed`."""
    global _generator
    if seed is not None:
        return np.random.default_rng(int(seed))
    if _generator is None:
        _generator = np.random.default_rng()
    return _generator


def normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dt.float32, seed: Any = None, name: Any = None
) -> Tensor:
    """Draws from the normal distribution; differentiable in `mean` and `stddev`."""
    drawn = generator_for(seed).standard_normal(static_ints(shape, "random.normal", "shape"))
    return _moved(_floating(drawn, dtype, "random.normal"), mean, stddev)


def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dt.float32, seed: Any = None, name: Any = None
) -> Tensor:
    """Draws from the normal distribution, those beyond two standard deviations drawn again."""
    random = generator_for(seed)
    drawn = random.standard_normal(static_ints(shape, "random.truncated_normal", "shape"))
    while (outside := np.abs(drawn) > 2).any():
        drawn = np.where(outside, random.standard_normal(drawn.shape), drawn)
    return _moved(_floating(drawn, dtype, "random.truncated_normal"), mean, stddev)


def uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dt.float32, seed: Any = None, name: Any = None
) -> Tensor:
    """Draws from [minval, maxval): floats (differentiable in the bounds), or integers of `dtype`."""
    wanted = as_dtype(dtype)
    dims = static_ints(shape, "random.uniform", "shape")
    random = generator_for(seed)
    if wanted.is_integer:
        if maxval is None:
            raise ValueError("random.uniform: an integer dtype needs `maxval`.")
        low, high = (int(to_tensor(v, "random.uniform")) for v in (minval, maxval))
        if low >= high:
            raise InvalidArgumentError(f"random.uniform: need minval < maxval, and have {low} and {high}.")
        return Tensor(np.asarray(random.integers(low, high, dims, dtype=wanted.numpy_dtype)))
    drawn = _floating(random.random(dims), dtype, "random.uniform")
    low = 0.0 if minval is None else minval
    span = (1.0 if maxval is None else maxval) - low
    return _moved(drawn, low, span)


def shuffle(value: Any, seed: Any = None, name: Any = None) -> Tensor:
    """`value` with its rows in random order; a constant to the tape."""
    array = np.asarray(to_tensor(value, "random.shuffle")._array)
    if not array.ndim:
        return Tensor(array)
    return Tensor(array[generator_for(seed).permutation(array.shape[0])])


def _floating(drawn: Any, dtype: Any, op: str) -> Tensor:
    wanted = as_dtype(dtype)
    if not wanted.is_floating:
        raise DTypeError(f"{op}: `dtype` must be floating, and is {wanted.name}.")
    return Tensor(np.asarray(drawn).astype(wanted.numpy_dtype))


def _moved(drawn: Tensor, offset: Any, scale: Any) -> Tensor:
    """`drawn * scale + offset`, without the work where they are 1 and 0."""
    plain = (int, float)
    if not (isinstance(scale, plain) and scale == 1):
        drawn = drawn * _parameter(scale, drawn)
    if not (isinstance(offset, plain) and offset == 0):
        drawn = drawn + _parameter(offset, drawn)
    return drawn


def _parameter(value: Any, drawn: Tensor) -> Any:
    if isinstance(value, (int, float, np.ndarray, np.generic, list, tuple)):
        return constant(np.asarray(value, drawn._array.dtype))
    return cast(value, drawn.dtype)
