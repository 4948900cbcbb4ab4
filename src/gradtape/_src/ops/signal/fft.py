"""Discrete Fourier transforms over any axes: complex, of real signals, and back to real signals.

Each transform is the gradient rule of its inverse. `norm` says which direction is divided by the
number of points (as in NumPy); the adjoint of a transform is the other one with `norm` exchanged. A
real signal has a spectrum of which half is kept: an element of that half, away from frequency zero
and the highest one, stands for two of the whole. `weight` multiplies those elements, so that the
adjoint of `rfft` with a weight is `irfft` with half of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.convert import as_tensor, holds_tensor
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError
from ...core.pattern import across
from ...core.spec import Spec
from ...core.tensor import Tensor
from ..array.pad import _pad
from ..array.reverse import roll
from ..array.slicing import _getitem
from ..declare.op import op
from ..declare.static import static_axis, static_ints

_REAL = frozenset([np.dtype(np.float32), np.dtype(np.float64)])
_ADJOINT = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


_LINEAR_ALONG_AXES = {"linear": "x", "pattern": across("axes"), "batch_axes": "axes"}


def _complex_samples(r: np.random.Generator) -> list[Any]:
    cases = [
        ((4,), (0,), "backward"),
        ((2, 3), (1,), "ortho"),
        ((2, 3), (0, 1), "forward"),
        ((3, 1, 2), (2, 0), "backward"),
        ((2, 0), (1,), "backward"),
    ]
    return [
        ([r.normal(size=s) + 1j * r.normal(size=s)], {"axes": axes, "norm": norm})
        for s, axes, norm in cases
    ]


@op(**_LINEAR_ALONG_AXES, dtypes=dt.COMPLEX, samples=_complex_samples)
def _fftn(xp, x, *, axes, norm):
    return xp.fft_complex(x, axes, norm, False) if 0 not in x.shape else x


@_fftn.vjp("x")
def _fftn_vjp(g, *, axes, norm):
    return _ifftn(g, axes=axes, norm=_ADJOINT[norm])


@op(**_LINEAR_ALONG_AXES, dtypes=dt.COMPLEX, samples=_complex_samples)
def _ifftn(xp, x, *, axes, norm):
    return xp.fft_complex(x, axes, norm, True) if 0 not in x.shape else x


@_ifftn.vjp("x")
def _ifftn_vjp(g, *, axes, norm):
    return _fftn(g, axes=axes, norm=_ADJOINT[norm])


_HALF_CASES = [
    ((4,), (0,), "backward", 1.0),
    ((5,), (0,), "ortho", 2.0),
    ((2, 3), (0, 1), "backward", 1.0),
    ((4, 1, 3), (2, 0), "forward", 0.5),
    ((2, 1), (1,), "backward", 1.0),
    ((0, 4), (1,), "backward", 1.0),
]


def _rfftn_samples(r: np.random.Generator) -> list[Any]:
    return [
        ([r.normal(size=s)], {"axes": axes, "norm": norm, "weight": weight})
        for s, axes, norm, weight in _HALF_CASES
    ]


@op(**_LINEAR_ALONG_AXES, dtypes=_REAL, samples=_rfftn_samples)
def _rfftn(xp, x, *, axes, norm, weight):
    """The transform along `axes`, of which the last keeps its n // 2 + 1 lower frequencies."""
    if 0 in x.shape:
        return xp.zeros(_halved(x.shape, axes[-1]), np.result_type(x.dtype, np.complex64))
    return _weighted(xp, xp.fft_real(x, axes, norm), axes[-1], x.shape[axes[-1]], weight)


@_rfftn.vjp("x")
def _rfftn_vjp(g, x: Spec, *, axes, norm, weight):
    length = x.shape[axes[-1]]
    return _irfftn(g, axes=axes, norm=_ADJOINT[norm], weight=weight / 2, length=length)


def _irfftn_samples(r: np.random.Generator) -> list[Any]:
    samples = []
    for shape, axes, norm, weight in _HALF_CASES:
        half = _halved(shape, axes[-1])
        params = {"axes": axes, "norm": norm, "weight": weight, "length": shape[axes[-1]]}
        samples.append(([r.normal(size=half) + 1j * r.normal(size=half)], params))
    return samples


@op(**_LINEAR_ALONG_AXES, dtypes=dt.COMPLEX, samples=_irfftn_samples)
def _irfftn(xp, x, *, axes, norm, weight, length):
    """The real signal, `length` long on the last of `axes`, of the half spectrum `x`."""
    if 0 in x.shape:
        shape = [length if i == axes[-1] else size for i, size in enumerate(x.shape)]
        return xp.zeros(shape, x.real.dtype)
    return xp.fft_hermitian(_weighted(xp, x, axes[-1], length, weight), axes, norm, length)


@_irfftn.vjp("x")
def _irfftn_vjp(g, *, axes, norm, weight):
    return _rfftn(g, axes=axes, norm=_ADJOINT[norm], weight=weight * 2)


def _halved(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """The shape of half a spectrum; of no points there is none."""
    return tuple([n // 2 + 1 if i == axis and n else n for i, n in enumerate(shape)])


def _weighted(xp: Any, x: Any, axis: int, length: int, weight: float) -> Any:
    """`x` times `weight`, except at frequency zero and at the highest of an even `length`."""
    if weight == 1:
        return x
    weights = np.full(x.shape[axis], weight, x.real.dtype)
    weights[0] = 1
    if length % 2 == 0:
        weights[-1] = 1
    return x * xp.asarray(weights.reshape(-1, *(1,) * (x.ndim - axis - 1)))


# TensorFlow's functions


def _converted(value: Any, wanted: frozenset[Any], usual: Any, op_name: str, name: str) -> Tensor:
    """`value` as a tensor of a wanted dtype; plain numbers of another kind become `usual`."""
    plain = not (isinstance(value, Tensor) or hasattr(value, "_as_tensor") or holds_tensor(value))
    x = as_tensor(value, op=op_name)
    if x._array.dtype in wanted:
        return x
    if plain and x.dtype.is_numeric and np.can_cast(x._array.dtype, usual, "same_kind"):
        return Tensor(x._array.astype(usual))
    names = " or ".join(sorted(dtype.name for dtype in wanted))
    raise DTypeError(
        f"{op_name}: `{name}` must be {names}, and is {x.dtype.name}. Convert it with tf.cast."
    )


def _last_axes(x: Tensor, count: int, op_name: str, name: str) -> tuple[int, ...]:
    if x.ndim < count:
        raise ShapeError(
            f"{op_name}: `{name}` must have rank {count} or more, and has shape {tuple(x.shape)}."
        )
    return tuple(range(x.ndim - count, x.ndim))


def _chosen_axes(x: Tensor, axes: Any, op_name: str) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(x.ndim))
    chosen = tuple(
        [static_axis(a, x.ndim, op_name, "axes") for a in static_ints(axes, op_name, "axes")]
    )
    if len(set(chosen)) != len(chosen) or not chosen:
        raise InvalidArgumentError(
            f"{op_name}: `axes`={axes!r} must name at least one axis, and none of them twice."
        )
    return chosen


def _checked_lengths(fft_length: Any, axes: tuple[int, ...], op_name: str) -> tuple[int, ...]:
    lengths = static_ints(fft_length, op_name, "fft_length")
    if len(lengths) != len(axes) or any(n < 1 for n in lengths):
        raise InvalidArgumentError(
            f"{op_name}: `fft_length` must be a list of {len(axes)} positive integers, one for "
            f"each transformed axis. Received: {list(lengths)}."
        )
    return lengths


def _cut_or_pad(x: Tensor, axes: tuple[int, ...], sizes: tuple[int, ...]) -> Tensor:
    """`x` with `sizes` along `axes`: its end cut off, or zeros added."""
    shape = x._array.shape
    wanted = dict(zip(axes, sizes, strict=True))
    if any(wanted.get(i, n) < n for i, n in enumerate(shape)):
        x = _getitem(x, key=tuple([slice(min(wanted.get(i, n), n)) for i, n in enumerate(shape)]))
    if any(wanted.get(i, n) > n for i, n in enumerate(shape)):
        pairs = tuple([(0, max(wanted.get(i, n) - n, 0)) for i, n in enumerate(shape)])
        x = _pad(x, Tensor(np.zeros((), x._array.dtype)), paddings=pairs)
    return x


def _checked_norm(norm: Any, op_name: str) -> str:
    if norm is None:
        return "backward"
    if norm not in _ADJOINT:
        raise InvalidArgumentError(
            f'{op_name}: `norm` must be "backward", "ortho", "forward" or None, not {norm!r}.'
        )
    return norm


def _complex_last(input: Any, count: int, transform: Callable[..., Any], op_name: str) -> Tensor:
    x = _converted(input, dt.COMPLEX, np.complex64, op_name, "input")
    axes = _last_axes(x, count, op_name, "input")
    return transform(x, axes=axes, norm="backward")


def fft(input: Any, name: str | None = None) -> Tensor:
    """The discrete Fourier transform of the complex `input` along its last axis.

    >>> fft([1.0, 0.0])
    <tf.Tensor: shape=(2,), dtype=complex64, numpy=array([1.+0.j, 1.+0.j], dtype=complex64)>
    """
    return _complex_last(input, 1, _fftn, "fft")


def ifft(input: Any, name: str | None = None) -> Tensor:
    """The inverse of `fft`."""
    return _complex_last(input, 1, _ifftn, "ifft")


def fft2d(input: Any, name: str | None = None) -> Tensor:
    """The discrete Fourier transform of the complex `input` along its last two axes."""
    return _complex_last(input, 2, _fftn, "fft2d")


def ifft2d(input: Any, name: str | None = None) -> Tensor:
    """The inverse of `fft2d`."""
    return _complex_last(input, 2, _ifftn, "ifft2d")


def fft3d(input: Any, name: str | None = None) -> Tensor:
    """The discrete Fourier transform of the complex `input` along its last three axes."""
    return _complex_last(input, 3, _fftn, "fft3d")


def ifft3d(input: Any, name: str | None = None) -> Tensor:
    """The inverse of `fft3d`."""
    return _complex_last(input, 3, _ifftn, "ifft3d")


def _forward_real(
    x: Tensor, axes: tuple[int, ...], fft_length: Any, norm: str, op_name: str
) -> Tensor:
    if fft_length is not None:
        x = _cut_or_pad(x, axes, _checked_lengths(fft_length, axes, op_name))
    return _rfftn(x, axes=axes, norm=norm, weight=1.0)


def _backward_real(
    x: Tensor, axes: tuple[int, ...], fft_length: Any, norm: str, op_name: str
) -> Tensor:
    shape = x._array.shape
    if fft_length is None:
        length = max(0, 2 * (shape[axes[-1]] - 1))
        if not length and math.prod(shape):
            raise InvalidArgumentError(
                f"{op_name}: one frequency alone does not tell the length of the signal; say "
                "fft_length=[..., 1]."
            )
    else:
        lengths = _checked_lengths(fft_length, axes, op_name)
        length = lengths[-1]
        x = _cut_or_pad(x, axes, (*lengths[:-1], length // 2 + 1))
    return _irfftn(x, axes=axes, norm=norm, weight=1.0, length=length)


def _rfft_last(input_tensor: Any, fft_length: Any, count: int, op_name: str) -> Tensor:
    x = _converted(input_tensor, _REAL, np.float32, op_name, "input_tensor")
    axes = _last_axes(x, count, op_name, "input_tensor")
    return _forward_real(x, axes, fft_length, "backward", op_name)


def _irfft_last(input_tensor: Any, fft_length: Any, count: int, op_name: str) -> Tensor:
    x = _converted(input_tensor, dt.COMPLEX, np.complex64, op_name, "input_tensor")
    axes = _last_axes(x, count, op_name, "input_tensor")
    return _backward_real(x, axes, fft_length, "backward", op_name)


def rfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The n // 2 + 1 lower frequencies of a real signal along the last axis.

    `fft_length=[n]` cuts the signal off or adds zeros first. The gradient is right also where it
    cuts (TensorFlow has none there).
    """
    return _rfft_last(input_tensor, fft_length, 1, "rfft")


def irfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The real signal that has the spectrum `input_tensor`: the inverse of `rfft`.

    Its length is `fft_length=[n]`, by default the even one: twice the number of frequencies less 2.
    """
    return _irfft_last(input_tensor, fft_length, 1, "irfft")


def rfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """`rfft` over the last two axes: the last keeps its lower frequencies, the other all."""
    return _rfft_last(input_tensor, fft_length, 2, "rfft2d")


def irfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `rfft2d`."""
    return _irfft_last(input_tensor, fft_length, 2, "irfft2d")


def rfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """`rfft` over the last three axes; with a gradient, that TensorFlow lacks."""
    return _rfft_last(input_tensor, fft_length, 3, "rfft3d")


def irfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `rfft3d`; with a gradient, that TensorFlow lacks."""
    return _irfft_last(input_tensor, fft_length, 3, "irfft3d")


def _complex_over(
    input_tensor: Any, fft_length: Any, axes: Any, norm: Any, transform: Any, op_name: str
) -> Tensor:
    x = _converted(input_tensor, dt.COMPLEX, np.complex64, op_name, "input_tensor")
    chosen = _chosen_axes(x, axes, op_name)
    if fft_length is not None:
        x = _cut_or_pad(x, chosen, _checked_lengths(fft_length, chosen, op_name))
    return transform(x, axes=chosen, norm=_checked_norm(norm, op_name))


def fftnd(
    input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: Any = None, name: Any = None
) -> Tensor:
    """The discrete Fourier transform along `axes` (None: all), cut or padded to `fft_length`.

    `norm`: "backward" (None) leaves the sums as they are, "ortho" divides by the square root of
    the number of points, "forward" by that number.
    """
    return _complex_over(input_tensor, fft_length, axes, norm, _fftn, "fftnd")


def ifftnd(
    input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: Any = None, name: Any = None
) -> Tensor:
    """The inverse of `fftnd` with the same `axes` and `norm`."""
    return _complex_over(input_tensor, fft_length, axes, norm, _ifftn, "ifftnd")


def rfftnd(
    input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: Any = None, name: Any = None
) -> Tensor:
    """`rfft` along `axes` (None: all): the last one keeps its lower frequencies, the others all."""
    x = _converted(input_tensor, _REAL, np.float32, "rfftnd", "input_tensor")
    chosen = _chosen_axes(x, axes, "rfftnd")
    return _forward_real(x, chosen, fft_length, _checked_norm(norm, "rfftnd"), "rfftnd")


def irfftnd(
    input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: Any = None, name: Any = None
) -> Tensor:
    """The inverse of `rfftnd` with the same `axes` and `norm`."""
    x = _converted(input_tensor, dt.COMPLEX, np.complex64, "irfftnd", "input_tensor")
    chosen = _chosen_axes(x, axes, "irfftnd")
    return _backward_real(x, chosen, fft_length, _checked_norm(norm, "irfftnd"), "irfftnd")


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """`x` with frequency zero moved to the middle of each of `axes` (None: all)."""
    return _shifted(x, axes, 1, "fftshift")


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `fftshift`: by one element another shift where the size is odd."""
    return _shifted(x, axes, -1, "ifftshift")


def _shifted(x: Any, axes: Any, sign: int, op_name: str) -> Tensor:
    x = as_tensor(x, op=op_name)
    chosen = range(x.ndim) if axes is None else static_ints(axes, op_name, "axes")
    places = [static_axis(a, x.ndim, op_name, "axes") for a in chosen]
    return roll(x, [sign * (x._array.shape[a] // 2) for a in places], places)
