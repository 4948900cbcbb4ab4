"""TensorFlow's `tf.signal`."""

from typing import TYPE_CHECKING

from ._later import later


if TYPE_CHECKING:
    from .ops.fft import fft as fft
    from .ops.fft import fft2d as fft2d
    from .ops.fft import fft3d as fft3d
    from .ops.fft import fftnd as fftnd
    from .ops.fft import fftshift as fftshift
    from .ops.fft import ifft as ifft
    from .ops.fft import ifft2d as ifft2d
    from .ops.fft import ifft3d as ifft3d
    from .ops.fft import ifftnd as ifftnd
    from .ops.fft import ifftshift as ifftshift
    from .ops.fft import irfft as irfft
    from .ops.fft import irfft2d as irfft2d
    from .ops.fft import irfft3d as irfft3d
    from .ops.fft import irfftnd as irfftnd
    from .ops.fft import rfft as rfft
    from .ops.fft import rfft2d as rfft2d
    from .ops.fft import rfft3d as rfft3d
    from .ops.fft import rfftnd as rfftnd
    from .ops.signal import dct as dct
    from .ops.signal import frame as frame
    from .ops.signal import idct as idct
    from .ops.signal import inverse_mdct as inverse_mdct
    from .ops.signal import inverse_stft as inverse_stft
    from .ops.signal import inverse_stft_window_fn as inverse_stft_window_fn
    from .ops.signal import linear_to_mel_weight_matrix as linear_to_mel_weight_matrix
    from .ops.signal import mdct as mdct
    from .ops.signal import mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms
    from .ops.signal import overlap_and_add as overlap_and_add
    from .ops.signal import stft as stft
    from .ops.signal_windows import hamming_window as hamming_window
    from .ops.signal_windows import hann_window as hann_window
    from .ops.signal_windows import kaiser_bessel_derived_window as kaiser_bessel_derived_window
    from .ops.signal_windows import kaiser_window as kaiser_window
    from .ops.signal_windows import vorbis_window as vorbis_window

_LATER = {
    "ops.fft": (
        "fft fft2d fft3d fftnd fftshift ifft ifft2d ifft3d ifftnd ifftshift irfft irfft2d "
        "irfft3d irfftnd rfft rfft2d rfft3d rfftnd"
    ),
    "ops.signal": (
        "dct frame idct inverse_mdct inverse_stft inverse_stft_window_fn "
        "linear_to_mel_weight_matrix mdct mfccs_from_log_mel_spectrograms overlap_and_add "
        "stft"
    ),
    "ops.signal_windows": (
        "hamming_window hann_window kaiser_bessel_derived_window kaiser_window vorbis_window"
    ),
}
__getattr__, __dir__ = later(__name__, globals(), _LATER)
