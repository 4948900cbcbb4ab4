"""Complex numbers and their parts. (`abs` and `sign` are in `arithmetic`.)"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.errors import DTypeError, NotATensorError
from ...core.take_over import take_over
from ...core.tensor import Tensor
from ..declare.elementwise import elementwise
from ..declare.static import to_tensor
from .conjugate import conj as conj
from .logic import zero_like_scalar


def real_dtype(dtype: Any) -> Any:
    """The NumPy dtype of the absolute values and parts of numbers of `dtype`."""
    return dt.of_numpy(dtype).real_dtype.numpy_dtype


def _complex_dtype(dtype: Any) -> Any:
    return np.result_type(dtype, np.complex64)


def _complex_samples(r: Any) -> list[Any]:
    return [
        ([r.normal(size=shape) + 1j * r.normal(size=shape)], {}) for shape in [(3,), (), (2, 0)]
    ]


@elementwise(
    dtypes=frozenset([np.dtype(np.float32), np.dtype(np.float64)]),
    real=lambda g: real(g),
    imag=lambda g: imag(g),
    result=_complex_dtype,
)
def _complex(xp, real, imag):
    return xp.make_complex(real, imag)


def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """The complex numbers with parts `real` and `imag`, both float32 or both float64.

    >>> complex([1.0, 2.0], 3.0)
    <tf.Tensor: shape=(2,), dtype=complex64, numpy=array([1.+3.j, 2.+3.j], dtype=complex64)>
    """
    return _complex(real, imag)


def to_complex(x: Tensor) -> Tensor:
    """The real `x` as complex numbers."""
    return _complex(x, zero_like_scalar(x))


@elementwise(
    dtypes=dt.COMPLEX, input=lambda g: to_complex(g), result=real_dtype, samples=_complex_samples
)
def _real(xp, input):
    return xp.real(input)


def real(input: Any, name: str | None = None) -> Tensor:
    """The real part of each element; a real `input` itself."""
    try:
        input = to_tensor(input, "real")
    except NotATensorError as error:
        return take_over(error, real, input)
    if input._array.dtype in dt.COMPLEX:
        return _real(input)
    if not input.dtype.is_numeric:
        raise DTypeError(f"real: `input` is {input.dtype.name}, and must be numeric.")
    return input


@elementwise(
    dtypes=dt.COMPLEX,
    input=lambda g: _complex(zero_like_scalar(g), g),
    result=real_dtype,
    samples=_complex_samples,
)
def _imag(xp, input):
    return xp.imag(input)


def imag(input: Any, name: str | None = None) -> Tensor:
    """The imaginary part of each element; zeros, that no gradient passes, for a real `input`."""
    try:
        input = to_tensor(input, "imag")
    except NotATensorError as error:
        return take_over(error, imag, input)
    if input._array.dtype in dt.COMPLEX:
        return _imag(input)
    return Tensor(np.zeros(input._array.shape, input._array.dtype))


@elementwise(
    dtypes=dt.COMPLEX,
    input=lambda g, input: to_complex(g) / _complex(-_imag(input), -_real(input)),
    result=real_dtype,
    samples=_complex_samples,
)
def _angle(xp, input):
    return xp.angle(input)


def angle(input: Any, name: str | None = None) -> Tensor:
    """The argument of each complex number, in (-pi, pi].

    Of a real `input` it is pi where negative and 0 elsewhere, and no gradient passes.
    """
    try:
        input = to_tensor(input, "angle")
    except NotATensorError as error:
        return take_over(error, angle, input)
    dtype = input._array.dtype
    if dtype in dt.COMPLEX:
        return _angle(input)
    if dtype not in dt.FLOATING:
        raise DTypeError(f"angle: `input` is {input.dtype.name}, and must be floating or complex.")
    return _real_angle(input)


@elementwise(dtypes=dt.FLOATING)
def _real_angle(xp, input):
    return xp.where(
        input < 0, xp.asarray(np.pi, dtype=input.dtype), xp.asarray(0, dtype=input.dtype)
    )
