"""Sounds: WAV files of 16 bits, as tensors of numbers from -1 to 1."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

from ...core.convert import as_tensor
from ...core.dtypes import float32, int32
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ...train.summary.record import wav
from ..strings.text import scalar_text, text_tensor, values_of


class DecodeWav(NamedTuple):
    """What `decode_wav` gives."""

    audio: Tensor
    sample_rate: Tensor


def decode_wav(
    contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> DecodeWav:
    """The samples of a WAV file, float32 of shape (samples, channels), and how many a second.

    `desired_channels` and `desired_samples` cut off what is more, and fill up what is less: with
    copies of the last channel, and with zeros.
    """
    op = "decode_wav"
    samples, rate = _read(scalar_text(contents, op, "contents"), op)
    if desired_channels > 0:
        channels = np.minimum(np.arange(desired_channels), samples.shape[1] - 1)
        samples = samples[:, channels]
    if desired_samples > 0:
        samples = samples[:desired_samples]
        missing = desired_samples - len(samples)
        samples = np.pad(samples, ((0, missing), (0, 0)))
    return DecodeWav(Tensor(samples), Tensor(np.asarray(rate, np.int32)))


def _read(data: bytes, op: str) -> tuple[Any, int]:
    """The samples and the rate. (Python's `wave` refuses files that TensorFlow takes.)"""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise InvalidArgumentError(f"{op}: `contents` is no WAV file: it begins with {data[:4]!r}.")
    at, form = 12, None
    while at + 8 <= len(data):
        kind, size = data[at : at + 4], struct.unpack("<I", data[at + 4 : at + 8])[0]
        body = data[at + 8 : at + 8 + size]
        if kind == b"fmt " and len(body) >= 16:
            form = struct.unpack("<HHIIHH", body[:16])
        elif kind == b"data" and form is not None:
            encoding, channels, rate, _, _, bits = form
            if bits != 16 or encoding not in (1, 0xFFFE) or not channels:
                raise InvalidArgumentError(f"{op}: only 16-bit PCM is read, and this has {bits}.")
            whole = len(body) // (2 * channels) * 2 * channels
            numbers = np.frombuffer(body[:whole], "<i2").astype(np.float32) / np.float32(32768)
            return numbers.reshape(-1, channels), rate
        at += 8 + size + size % 2
    raise InvalidArgumentError(f"{op}: the WAV file ends before its samples.")


def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Tensor:
    """Samples from -1 to 1, of shape (samples, channels), as a WAV file of 16 bits."""
    op = "encode_wav"
    samples = values_of(as_tensor(audio, float32, op), op, "audio")
    if samples.ndim != 2:
        raise ShapeError(
            f"{op}: `audio` must have shape (samples, channels), and has shape {samples.shape}."
        )
    rate = values_of(as_tensor(sample_rate, int32, op), op, "sample_rate")
    return text_tensor([wav(samples, int(rate))], ())
