"""Sounds: WAV files."""

import io
import wave

import numpy as np
import pytest

SAMPLES = np.array([[0.5, -0.5], [1.0, -1.0], [2.0, 0.1]], np.float32)
FILE = (
    b"RIFF0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0@\x1f\0\0\0}\0\0\x04\0\x10\0data\x0c\0\0\0"
    b"\0@\0\xc0\xff\x7f\0\x80\xff\x7f\xcd\x0c"
)


def test_encode(tf):
    assert tf.audio.encode_wav(SAMPLES, 8000).numpy() == FILE


def test_decode(tf):
    audio, rate = tf.audio.decode_wav(FILE)
    assert rate.numpy() == 8000 and rate.dtype == tf.int32 and audio.dtype == tf.float32
    expected = np.array([[16384, -16384], [32767, -32768], [32767, 3277]]) / 32768
    assert np.array_equal(audio.numpy(), expected.astype(np.float32))
    named = tf.audio.decode_wav(FILE, desired_channels=1)
    assert named.audio.numpy()[:, 0].tolist() == audio.numpy()[:, 0].tolist()
    assert named.sample_rate.numpy() == 8000


def test_other_lengths_and_channels(tf):
    longer = tf.audio.decode_wav(FILE, desired_samples=5).audio.numpy()
    assert longer.shape == (5, 2) and longer[3:].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert tf.audio.decode_wav(FILE, desired_samples=2).audio.shape == [2, 2]
    mono = tf.audio.encode_wav(np.array([[0.5]], np.float32), 8000)
    assert tf.audio.decode_wav(mono, desired_channels=2).audio.numpy().tolist() == [[0.5, 0.5]]


def file_of(width):
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setparams((1, width, 8000, 0, "NONE", ""))
        sound.writeframes(bytes(range(24)))
    return file.getvalue()


def test_wrong_files(tf):
    for wrong in (b"junk", FILE[:20], file_of(1), file_of(3), file_of(4)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.audio.decode_wav(wrong)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.audio.encode_wav(np.zeros(3, np.float32), 8000)


def test_through_a_dataset(tf, tmp_path):
    path = str(tmp_path / "sound.wav")
    tf.io.write_file(path, FILE)
    data = tf.data.Dataset.from_tensor_slices([path]).map(
        lambda path: tf.audio.decode_wav(
            tf.io.read_file(path), desired_channels=1, desired_samples=4
        )
    )
    ((audio, rate),) = data
    assert audio.shape == [4, 1] and rate.numpy() == 8000
