"""Transforms that TensorFlow has no kernel for, against NumPy; and what inverts what."""

import numpy as np
import pytest

RANDOM = np.random.default_rng(0)
SPECTRUM = RANDOM.normal(size=(3, 4, 5)) + 1j * RANDOM.normal(size=(3, 4, 5))


@pytest.mark.gradtape_only
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize(
    ("lengths", "axes"), [(None, None), (None, [1]), ([2, 7], [2, 0]), ([6, 2], [-2, -1])]
)
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_over_any_axes(tf, name, lengths, axes, norm):
    x = SPECTRUM.real if name == "rfft" else SPECTRUM
    found = getattr(tf.signal, f"{name}nd")(x, fft_length=lengths, axes=axes, norm=norm)
    every = range(x.ndim) if axes is None else axes
    sizes = lengths or [x.shape[a] for a in every]
    if name == "irfft" and lengths is None:
        sizes[-1] = 2 * sizes[-1] - 2
    expected = getattr(np.fft, f"{name}n")(x, s=sizes, axes=every, norm=norm)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.gradtape_only
def test_single_precision_stays(tf):
    assert tf.signal.fftnd(SPECTRUM.astype(np.complex64)).dtype == tf.complex64
    assert tf.signal.irfftnd(SPECTRUM.astype(np.complex64)).dtype == tf.float32


def test_spectrogram_back_to_signal(tf):
    signal = tf.constant(RANDOM.normal(size=40))
    window = tf.signal.inverse_stft_window_fn(4)
    back = tf.signal.inverse_stft(tf.signal.stft(signal, 8, 4), 8, 4, window_fn=window)
    np.testing.assert_allclose(back[8:-8], signal[8:-8], rtol=1e-9, atol=1e-9)


def test_cosines_back_to_signal(tf):
    signal = tf.constant(RANDOM.normal(size=40))
    back = tf.signal.inverse_mdct(tf.signal.mdct(signal, 8))
    np.testing.assert_allclose(back[4:-4], signal[4:-4], rtol=1e-9, atol=1e-9)
