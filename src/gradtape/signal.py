"""TensorFlow's `tf.signal`."""

from ._missing import missing_name
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


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
