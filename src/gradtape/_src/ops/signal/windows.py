"""Window functions: the weights that a frame of a signal is multiplied by."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.dtypes import DType, as_dtype
from ...core.errors import DTypeError, InvalidArgumentError
from ...core.tensor import Tensor
from ..array.cast import cast
from ..array.joining import concat
from ..declare.static import static_int
from ..math.cumulative import cumsum
from ..math.exponential import exp
from ..math.power import sqrt
from ..math.special import bessel_i0e


def _length_and_dtype(window_length: Any, dtype: Any, op_name: str) -> tuple[int, DType]:
    length = static_int(window_length, op_name, "window_length")
    if length < 0:
        raise InvalidArgumentError(f"{op_name}: `window_length` must be >= 0, and is {length}.")
    wanted = as_dtype(dtype)
    if not wanted.is_floating:
        raise DTypeError(f"{op_name}: `dtype` must be floating, and is {wanted.name}.")
    return length, wanted


def _raised_cosine(
    window_length: Any, periodic: Any, dtype: Any, mean: float, height: float, op_name: str
) -> Tensor:
    length, wanted = _length_and_dtype(window_length, dtype, op_name)
    if length == 1:
        return Tensor(np.ones(1, wanted.numpy_dtype))
    # As in TensorFlow, only a window of even length becomes periodic.
    period = length - 1 + (bool(periodic) and length % 2 == 0)
    values = mean - height * np.cos(2 * np.pi * np.arange(length) / period)
    return Tensor(values.astype(wanted.numpy_dtype))


def hann_window(
    window_length: Any, periodic: Any = True, dtype: Any = dt.float32, name: str | None = None
) -> Tensor:
    """The Hann window: one period of a raised cosine, zero at its end.

    >>> hann_window(4)
    <tf.Tensor: shape=(4,), dtype=float32, numpy=array([0. , 0.5, 1. , 0.5], dtype=float32)>
    """
    return _raised_cosine(window_length, periodic, dtype, 0.5, 0.5, "hann_window")


def hamming_window(
    window_length: Any, periodic: Any = True, dtype: Any = dt.float32, name: str | None = None
) -> Tensor:
    """The Hamming window: a raised cosine that stays above 0.08."""
    return _raised_cosine(window_length, periodic, dtype, 0.54, 0.46, "hamming_window")


def kaiser_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = dt.float32, name: str | None = None
) -> Tensor:
    """The Kaiser window; the larger `beta`, in which it is differentiable, the narrower."""
    length, wanted = _length_and_dtype(window_length, dtype, "kaiser_window")
    if length == 1:
        return Tensor(np.ones(1, wanted.numpy_dtype))
    half = (length - 1) / 2
    heights = np.sqrt(np.maximum(0, 1 - ((np.arange(length) - half) / half) ** 2))
    beta = cast(beta, wanted)
    scaled = beta * Tensor(heights.astype(wanted.numpy_dtype))
    return exp(scaled - beta) * (bessel_i0e(scaled) / bessel_i0e(beta))


def kaiser_bessel_derived_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = dt.float32, name: str | None = None
) -> Tensor:
    """The window for `mdct` made of the partial sums of a Kaiser window."""
    length, wanted = _length_and_dtype(window_length, dtype, "kaiser_bessel_derived_window")
    sums = cumsum(kaiser_window(length // 2 + 1, beta, wanted))
    half = sqrt(sums[:-1] / sums[-1])
    return concat([half, half[::-1]], axis=0)


def vorbis_window(window_length: Any, dtype: Any = dt.float32, name: str | None = None) -> Tensor:
    """The window of the Vorbis codec, for `mdct`."""
    length, wanted = _length_and_dtype(window_length, dtype, "vorbis_window")
    sines = np.sin(math.pi / max(length, 1) * (np.arange(length) + 0.5))
    return Tensor(np.sin(math.pi / 2 * sines**2).astype(wanted.numpy_dtype))
