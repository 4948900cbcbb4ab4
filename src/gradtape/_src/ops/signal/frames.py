"""Signals in pieces: frames and their sum, cosine transforms, spectrograms and their inverses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.dtypes import as_dtype
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError, UnimplementedError
from ...core.pattern import MOVES, leading
from ...core.spec import Spec
from ...core.tensor import Tensor
from ..array.joining import concat, split, tile
from ..array.pad import _pad
from ..array.reverse import reverse
from ..array.shape import _reshape
from ..declare.op import op
from ..declare.static import static_axis, static_int, to_tensor
from ..math.arithmetic import multiply, square
from ..math.logic import where
from ..math.reduction import reduce_sum
from .fft import _REAL, _cut_or_pad, irfft, rfft
from .windows import hann_window, vorbis_window

# Frames. (The windows of convolutions, in `windows`, go element by element: frames are long.)


def _frame_cases() -> list[Any]:
    return [
        ((7,), {"axis": 0, "length": 3, "step": 2, "count": 3}),
        ((2, 8), {"axis": 1, "length": 2, "step": 3, "count": 2}),
        ((5, 2), {"axis": 0, "length": 4, "step": 1, "count": 2}),
        ((2, 3), {"axis": 1, "length": 4, "step": 1, "count": 0}),
        ((2, 0, 2), {"axis": 1, "length": 2, "step": 1, "count": 0}),
    ]


@op(
    batch_axes="axis",
    pattern=MOVES,
    linear="x",
    samples=lambda r: [([r.normal(size=shape)], params) for shape, params in _frame_cases()],
)
def _frame(xp, x, *, axis, length, step, count):
    """`count` pieces of `x`: an axis that numbers them and one of `length` in place of `axis`."""
    return xp.frames(x, axis, length, step, count)


@_frame.vjp("x")
def _frame_vjp(g, x: Spec, *, axis, step):
    return _overlap_add(g, axis=axis, step=step, size=x.shape[axis])


def _overlap_samples(r: np.random.Generator) -> list[Any]:
    samples = []
    for shape, params in _frame_cases():
        axis = params["axis"]
        pieces = (*shape[:axis], params["count"], params["length"], *shape[axis + 1 :])
        adjoint_params = {"axis": axis, "step": params["step"], "size": shape[axis]}
        samples.append(([r.normal(size=pieces)], adjoint_params))
    return samples


@op(batch_axes="axis", pattern=MOVES, linear="x", dtypes=dt.NUMERIC, samples=_overlap_samples)
def _overlap_add(xp, x, *, axis, step, size):
    """A signal of `size` elements along `axis`: the sum of the pieces, the adjoint of `frame`."""
    return xp.overlap_add(x, axis, step, size)


@_overlap_add.vjp("x")
def _overlap_add_vjp(g, x: Spec, *, axis, step):
    count, length = x.shape[axis : axis + 2]
    return _frame(g, axis=axis, length=length, step=step, count=count)


def _positive(value: Any, op_name: str, name: str) -> int:
    number = static_int(value, op_name, name)
    if number < 1:
        raise InvalidArgumentError(f"{op_name}: `{name}` must be positive, and is {number}.")
    return number


def _with_rank(value: Any, rank: int, op_name: str, name: str) -> Tensor:
    x = to_tensor(value, op_name)
    if x.ndim < rank:
        raise ShapeError(
            f"{op_name}: `{name}` must have rank {rank} or more, and has shape {tuple(x.shape)}."
        )
    return x


def frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: Any = -1,
    name: str | None = None,
) -> Tensor:
    """Pieces of `signal` along `axis`, `frame_length` long, one every `frame_step` elements.

    What is left at the end is dropped; with `pad_end` it is filled up with `pad_value`, which gets
    no gradient.

    >>> frame([1.0, 2.0, 3.0, 4.0, 5.0], frame_length=3, frame_step=2)
    <tf.Tensor: shape=(2, 3), dtype=float32, numpy=
    array([[1., 2., 3.],
           [3., 4., 5.]], dtype=float32)>
    """
    x = _with_rank(signal, 1, "frame", "signal")
    length = _positive(frame_length, "frame", "frame_length")
    step = _positive(frame_step, "frame", "frame_step")
    place = static_axis(axis, x.ndim, "frame")
    size = x._array.shape[place]
    if pad_end:
        count = -(-size // step)
        missing = max(0, length + step * (count - 1) - size) if count else 0
        if missing:
            pairs = tuple([(0, missing if i == place else 0) for i in range(x.ndim)])
            x = _pad(x, Tensor(np.asarray(pad_value, x._array.dtype)), paddings=pairs)
    else:
        count = max(0, 1 + (size - length) // step)
    return _frame(x, axis=place, length=length, step=step, count=count)


def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Tensor:
    """The signal whose frames, `frame_step` apart, are summed: `signal[..., i, :]` is frame i."""
    x = _with_rank(signal, 2, "overlap_and_add", "signal")
    step = _positive(frame_step, "overlap_and_add", "frame_step")
    count, length = x._array.shape[-2:]
    if step == length:
        return _reshape(x, shape=(*x._array.shape[:-2], count * length))
    size = max(0, length + step * (count - 1))
    return _overlap_add(x, axis=x.ndim - 2, step=step, size=size)


# Cosine transforms


def _dct_samples(r: np.random.Generator) -> list[Any]:
    plain = [([r.normal(size=(2, 4))], {"type": type, "norm": None}) for type in (1, 2, 3, 4)]
    scaled = [([r.normal(size=3)], {"type": type, "norm": "ortho"}) for type in (2, 3, 4)]
    return [*plain, *scaled, ([r.normal(size=(2, 1))], {"type": 2, "norm": None})]


@op(batch_axes=(), pattern=leading(1), linear="x", dtypes=_REAL, samples=_dct_samples)
def _dct(xp, x, *, type, norm):
    return xp.dct(x, type, norm)


@_dct.vjp("x")
def _dct_vjp(g, *, type, norm):
    """The transposed transform: of type 3 for type 2 and the reverse; 1 and 4 are symmetric.

    Without "ortho" that holds up to factors of two: type 1 counts the elements at both ends once
    and the others twice, type 3 the first one once.
    """
    transposed = {1: 1, 2: 3, 3: 2, 4: 4}[type]
    if norm or type == 4:
        return _dct(g, type=transposed, norm=norm)
    weights = np.full(g._array.shape[-1], 2 if type == 1 else 1, g._array.dtype)
    weights[0] = {1: 1, 2: 2, 3: 0.5}[type]
    if type == 1:
        weights[-1] = 1
        return _dct(g / weights, type=1, norm=None) * weights
    if type == 2:
        return _dct(g * weights, type=3, norm=None)
    return _dct(g, type=2, norm=None) * weights


def _cosine_transform(
    input: Any, type: Any, inverse: bool, n: Any, axis: Any, norm: Any, op_name: str
) -> Tensor:
    x = _with_rank(input, 1, op_name, "input")
    if x._array.dtype not in _REAL:
        raise DTypeError(f"{op_name}: `input` must be float32 or float64, and is {x.dtype.name}.")
    if axis != -1:
        raise UnimplementedError(
            f"{op_name}: `axis` must be -1, not {axis!r}; transpose the input."
        )
    if type not in (1, 2, 3, 4):
        raise InvalidArgumentError(f"{op_name}: `type` must be 1, 2, 3 or 4, not {type!r}.")
    if norm not in (None, "ortho"):
        raise InvalidArgumentError(f'{op_name}: `norm` must be None or "ortho", not {norm!r}.')
    if type == 1 and norm:
        raise InvalidArgumentError(f'{op_name}: there is no `norm`="ortho" for type 1.')
    if n is not None:
        x = _cut_or_pad(x, (x.ndim - 1,), (_positive(n, op_name, "n"),))
    size = x._array.shape[-1]
    if size < (2 if type == 1 else 1):
        raise ShapeError(
            f"{op_name}: type {type} needs {2 if type == 1 else 1} or more elements along the last "
            f"axis, and there are {size}."
        )
    chosen = {1: 1, 2: 3, 3: 2, 4: 4}[type] if inverse else type
    return _dct(x, type=chosen, norm=norm)


def dct(
    input: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The discrete cosine transform of `type` 1 to 4 along the last axis, as SciPy defines it.

    `n` cuts the input off or adds zeros; `norm="ortho"` makes types 2 to 4 orthogonal.
    """
    return _cosine_transform(input, type, False, n, axis, norm, "dct")


def idct(
    input: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `dct`; without `norm` up to the factor `2 * n` (type 1: `2 * (n - 1)`)."""
    return _cosine_transform(input, type, True, n, axis, norm, "idct")


# Spectrograms


def _windowed(x: Tensor, window_fn: Any, length: int) -> Tensor:
    if window_fn is None:
        return x
    return multiply(x, window_fn(length, dtype=x.dtype.real_dtype))


def _power_of_two(length: int) -> int:
    return 1 << (length - 1).bit_length()


def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """The short-time Fourier transform: the spectra of windowed frames of `signals`.

    `fft_length` is by default the power of two that holds a frame.
    """
    x = _with_rank(signals, 1, "stft", "signals")
    length = _positive(frame_length, "stft", "frame_length")
    size = (
        _power_of_two(length) if fft_length is None else _positive(fft_length, "stft", "fft_length")
    )
    frames = frame(x, length, frame_step, pad_end)
    return rfft(_windowed(frames, window_fn, length), [size])


def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: Callable[..., Any] = hann_window, name: str | None = None
) -> Callable[..., Tensor]:
    """The `window_fn` with which `inverse_stft` undoes an `stft` made with `forward_window_fn`."""

    def window_fn(frame_length: Any, dtype: Any) -> Tensor:
        step = _positive(frame_step, "inverse_stft_window_fn", "frame_step")
        length = _positive(frame_length, "inverse_stft_window_fn", "frame_length")
        forward = forward_window_fn(length, dtype=dtype)
        overlaps = -(-length // step)
        power = _cut_or_pad(square(forward), (0,), (overlaps * step,))
        power = reduce_sum(_reshape(power, shape=(overlaps, step)), axis=0)
        power = tile(power, [overlaps])[:length]
        return where(power == 0, forward * 0, forward / power)

    return window_fn


def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """The signal of which `stfts` are the spectra of its frames; see `inverse_stft_window_fn`."""
    x = _with_rank(stfts, 2, "inverse_stft", "stfts")
    length = _positive(frame_length, "inverse_stft", "frame_length")
    if fft_length is None:
        size = _power_of_two(length)
    else:
        size = _positive(fft_length, "inverse_stft", "fft_length")
    frames = irfft(x, [size])
    frames = _cut_or_pad(frames, (frames.ndim - 1,), (length,))
    return overlap_and_add(_windowed(frames, window_fn, length), frame_step)


def mdct(
    signals: Any,
    frame_length: Any,
    window_fn: Callable[..., Any] | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The modified discrete cosine transform of frames that overlap by half."""
    x = _with_rank(signals, 1, "mdct", "signals")
    length = _positive(frame_length, "mdct", "frame_length")
    if length % 4:
        raise InvalidArgumentError(
            f"mdct: `frame_length` must be a multiple of 4, and is {length}."
        )
    frames = frame(x, length, length // 2, pad_end)
    frames = _windowed(frames, window_fn, length) if window_fn else frames * math.sqrt(0.5)
    a, b, c, d = split(frames, 4, axis=-1)
    folded = concat([-reverse(c, [-1]) - d, a - reverse(b, [-1])], axis=-1)
    return dct(folded, type=4, norm=norm)


def inverse_mdct(
    mdcts: Any,
    window_fn: Callable[..., Any] | None = vorbis_window,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `mdct` with the same window and `norm`."""
    x = _with_rank(mdcts, 2, "inverse_mdct", "mdcts")
    half = x._array.shape[-1]
    if half % 2 or not half:
        raise ShapeError(
            f"inverse_mdct: the last axis of `mdcts` must be even, and has size {half}."
        )
    folded = dct(x, type=4, norm=norm)
    if norm is None:
        folded = folded * (0.5 / half)
    a, b = split(folded, 2, axis=-1)
    frames = concat([b, -reverse(b, [-1]), -reverse(a, [-1]), -a], axis=-1)
    frames = _windowed(frames, window_fn, 2 * half) if window_fn else frames * math.sqrt(0.5)
    return overlap_and_add(frames, half)


# Mel spectrograms


def _mel(hertz: Any) -> Any:
    return 1127 * np.log1p(np.asarray(hertz) / 700)


def linear_to_mel_weight_matrix(
    num_mel_bins: Any = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: Any = 125.0,
    upper_edge_hertz: Any = 3800.0,
    dtype: Any = dt.float32,
    name: str | None = None,
) -> Tensor:
    """The matrix that sums the bins of a spectrogram, with triangular weights, to mel bins.

    Multiply spectrograms by it: `tensordot(S, A, 1)`.
    """
    op_name = "linear_to_mel_weight_matrix"
    bins = _positive(num_mel_bins, op_name, "num_mel_bins")
    count = _positive(num_spectrogram_bins, op_name, "num_spectrogram_bins")
    rate, low, high = (float(v) for v in (sample_rate, lower_edge_hertz, upper_edge_hertz))
    wanted = as_dtype(dtype)
    if not wanted.is_floating:
        raise DTypeError(f"{op_name}: `dtype` must be floating, and is {wanted.name}.")
    if not 0 <= low < high <= rate / 2:
        raise InvalidArgumentError(
            f"{op_name}: need 0 <= lower_edge_hertz < upper_edge_hertz <= sample_rate / 2. "
            f"Received: lower_edge_hertz={low}, upper_edge_hertz={high}, sample_rate={rate}."
        )
    points = _mel(np.linspace(0, rate / 2, count)[1:, None])  # of frequency zero nothing is kept
    edges = np.linspace(_mel(low), _mel(high), bins + 2)
    rising = (points - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - points) / (edges[2:] - edges[1:-1])
    weights = np.maximum(0, np.minimum(rising, falling))
    return Tensor(np.pad(weights, ((1, 0), (0, 0))).astype(wanted.numpy_dtype))


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Tensor:
    """The mel-frequency cepstral coefficients: a scaled cosine transform over the mel bins."""
    op_name = "mfccs_from_log_mel_spectrograms"
    x = _with_rank(log_mel_spectrograms, 1, op_name, "log_mel_spectrograms")
    bins = x._array.shape[-1]
    if not bins:
        raise ShapeError(
            f"{op_name}: the last axis of `log_mel_spectrograms`, the mel bins, is empty."
        )
    return dct(x, type=2) * (1 / math.sqrt(2 * bins))
