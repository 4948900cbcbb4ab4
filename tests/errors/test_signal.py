"""What tf.signal says about arguments that it cannot take."""

import numpy as np
import pytest

REFUSED = [
    ("fft", lambda tf: tf.signal.fft(tf.zeros([3])), "fft: `input` must be complex"),
    (
        "fft rank",
        lambda tf: tf.signal.fft2d(tf.zeros([3], tf.complex64)),
        "`input` must have rank 2",
    ),
    ("rfft", lambda tf: tf.signal.rfft(tf.zeros([3], tf.complex64)), "must be float32 or float64"),
    ("rfft half", lambda tf: tf.signal.rfft(tf.zeros([3], tf.float16)), "and is float16"),
    ("irfft", lambda tf: tf.signal.irfft(tf.zeros([3])), "irfft: `input_tensor` must be complex"),
    (
        "length",
        lambda tf: tf.signal.rfft(tf.zeros([3]), [-1]),
        "1 positive integers.*Received: \\[-1\\]",
    ),
    (
        "lengths",
        lambda tf: tf.signal.rfft2d(tf.zeros([3, 3]), [2]),
        "a list of 2 positive integers",
    ),
    ("one bin", lambda tf: tf.signal.irfft(tf.zeros([1], tf.complex64)), "say fft_length"),
    (
        "axes",
        lambda tf: tf.signal.fftnd(tf.zeros([2, 2], tf.complex64), axes=[0, 0]),
        "none of them twice",
    ),
    (
        "no axes",
        lambda tf: tf.signal.fftnd(tf.zeros([2], tf.complex64), axes=[]),
        "at least one axis",
    ),
    ("axis", lambda tf: tf.signal.rfftnd(tf.zeros([2, 2]), axes=[2]), "`axes`=2 is out of range"),
    (
        "norm",
        lambda tf: tf.signal.ifftnd(tf.zeros([2], tf.complex64), norm="x"),
        '`norm` must be "backward"',
    ),
    (
        "shift",
        lambda tf: tf.signal.fftshift(tf.zeros([3]), axes=1),
        "fftshift: `axes`=1 is out of range",
    ),
    (
        "frame",
        lambda tf: tf.signal.frame(tf.zeros([5]), 0, 1),
        "`frame_length` must be positive, and is 0",
    ),
    (
        "step",
        lambda tf: tf.signal.frame(tf.zeros([5]), 2, -1),
        "`frame_step` must be positive, and is -1",
    ),
    (
        "frame axis",
        lambda tf: tf.signal.frame(tf.zeros([5]), 2, 1, axis=1),
        "frame: `axis`=1 is out of range",
    ),
    (
        "scalar",
        lambda tf: tf.signal.frame(tf.constant(1.0), 2, 1),
        "`signal` must have rank 1 or more",
    ),
    (
        "overlap",
        lambda tf: tf.signal.overlap_and_add(tf.zeros([5]), 1),
        "`signal` must have rank 2 or more",
    ),
    (
        "float step",
        lambda tf: tf.signal.overlap_and_add(tf.zeros([5, 2]), 1.5),
        "must be an integer, not 1.5",
    ),
    ("dct type", lambda tf: tf.signal.dct(tf.zeros([3]), 5), "`type` must be 1, 2, 3 or 4, not 5"),
    (
        "dct norm",
        lambda tf: tf.signal.idct(tf.zeros([3]), norm="x"),
        'idct: `norm` must be None or "ortho"',
    ),
    (
        "dct-1 norm",
        lambda tf: tf.signal.dct(tf.zeros([3]), 1, norm="ortho"),
        'no `norm`="ortho" for type 1',
    ),
    (
        "dct-1 size",
        lambda tf: tf.signal.dct(tf.zeros([2, 1]), 1),
        "type 1 needs 2 or more elements",
    ),
    ("dct n", lambda tf: tf.signal.dct(tf.zeros([3]), n=0), "`n` must be positive, and is 0"),
    (
        "dct dtype",
        lambda tf: tf.signal.dct(tf.zeros([3], tf.int32)),
        "`input` must be float32 or float64",
    ),
    (
        "mdct",
        lambda tf: tf.signal.mdct(tf.zeros([16]), 6),
        "`frame_length` must be a multiple of 4",
    ),
    ("imdct", lambda tf: tf.signal.inverse_mdct(tf.zeros([3, 5])), "must be even, and has size 5"),
    (
        "istft",
        lambda tf: tf.signal.inverse_stft(tf.zeros([3], tf.complex64), 4, 2),
        "`stfts` must have rank 2",
    ),
    (
        "window",
        lambda tf: tf.signal.hann_window(4, dtype=tf.int32),
        "`dtype` must be floating, and is int32",
    ),
    (
        "window length",
        lambda tf: tf.signal.vorbis_window(-1),
        "`window_length` must be >= 0, and is -1",
    ),
    ("mel", lambda tf: tf.signal.linear_to_mel_weight_matrix(0), "`num_mel_bins` must be positive"),
    (
        "mel range",
        lambda tf: tf.signal.linear_to_mel_weight_matrix(upper_edge_hertz=9000.0),
        "upper_edge_hertz=9000.0, sample_rate=8000.0",
    ),
    (
        "mfcc",
        lambda tf: tf.signal.mfccs_from_log_mel_spectrograms(tf.zeros([2, 0])),
        "the mel bins, is empty",
    ),
]


@pytest.mark.gradtape_only
@pytest.mark.parametrize(
    ("run", "text"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_refused(tf, run, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        run(tf)


@pytest.mark.gradtape_only
def test_dct_along_another_axis(tf):
    with pytest.raises(NotImplementedError, match="dct: `axis` must be -1, not 0"):
        tf.signal.dct(np.zeros((2, 2)), axis=0)
