"""Summaries: numbers, histograms, images, texts and sounds of a run, for TensorBoard to show.

A summary goes to the default writer, if there is one and if it is to record; otherwise it costs
next to nothing. Each is an array with the name of the plugin that shows it, as TensorFlow 2
writes them. Inside `@function` a summary is written whenever the function runs.
"""

from __future__ import annotations

import io
import struct
import wave
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.convert import as_tensor
from ...core.dtypes import float32, float64, int64, string, uint8
from ...core.errors import DTypeError, ShapeError
from ...core.tensor import Tensor
from ...core.tracing import current_graph
from ...ops.array.cast import cast
from ...ops.effects.bookkeeping import is_symbolic_tensor
from ...ops.image.color import convert_image_dtype
from .event_file import plugin_metadata, summary_value
from .writer import settings_in_force, should_record_summaries, summary_scope

_WAV = b"\x10\x0b"  # AudioPluginData { encoding: WAV }
_COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # of PNG, by the number of channels


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Write one number, as float32. Returns whether it was recorded."""
    number = cast(as_tensor(data, op="scalar"), float32)
    if number.ndim:
        raise ShapeError(
            f"scalar: `data` must be one number, and has shape {number.shape}. Reduce it, e.g. "
            "with tf.reduce_mean."
        )
    with summary_scope(name, "scalar_summary") as (tag, _):
        return _record(tag, step, plugin_metadata("scalars", description), lambda: [number])


def histogram(
    name: str,
    data: Any,
    step: Any = None,
    buckets: int | None = None,
    description: str | None = None,
) -> Tensor:
    """Write how the values of `data` are spread, in `buckets` (30) of equal width.

    NaN and infinities, which would leave no width to speak of, are not counted.
    """
    buckets = 30 if buckets is None else buckets
    if not isinstance(buckets, (int, np.integer)):
        raise TypeError(f"histogram: `buckets` must be an integer, not {buckets!r}.")
    with summary_scope(name, "histogram_summary") as (tag, _):
        return _record(
            tag,
            step,
            plugin_metadata("histograms", description),
            lambda: [cast(as_tensor(data, op="histogram"), float64)],
            lambda values: _buckets(values, max(0, int(buckets))),
        )


def image(
    name: str, data: Any, step: Any = None, max_outputs: int = 3, description: str | None = None
) -> Tensor:
    """Write the first `max_outputs` images of `data`, of shape (images, height, width, channels).

    Floats are from 0 to 1, other values are clipped; integers from 0 to the largest of their
    dtype. With 1 to 4 channels: grey, grey and alpha, RGB, RGBA.
    """

    def images() -> list[Tensor]:
        tensor = as_tensor(data, op="image")
        if tensor.ndim != 4 or int(tensor.shape[3]) not in _COLOR_TYPES:
            raise ShapeError(
                "image: `data` must have shape (images, height, width, channels) with 1 to 4 "
                f"channels, and has shape {tensor.shape}. Add an axis with x[None] or x[..., None]."
            )
        return [convert_image_dtype(tensor[: max(0, max_outputs)], uint8, saturate=True)]

    with summary_scope(name, "image_summary") as (tag, _):
        return _record(tag, step, plugin_metadata("images", description), images, _encode_images)


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Write a string, or a tensor of strings, which is shown as a table; Markdown."""

    def strings() -> list[Tensor]:
        if as_tensor(data, op="text").dtype is not string:
            raise DTypeError(f"text: `data` must be strings, not {data!r:.100}. Use str(data).")
        return []

    with summary_scope(name, "text_summary") as (tag, _):
        metadata = plugin_metadata("text", description)
        return _record(tag, step, metadata, strings, lambda: np.asarray(as_tensor(data)))


def audio(
    name: str,
    data: Any,
    sample_rate: Any,
    step: Any = None,
    max_outputs: int = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Tensor:
    """Write the first `max_outputs` sounds of `data`, of shape (sounds, frames, channels).

    Values from -1 to 1 become 16-bit WAV at `sample_rate` frames a second.
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"audio: `encoding` must be 'wav', not {encoding!r}.")

    def sounds() -> list[Tensor]:
        tensor = as_tensor(data, op="audio")
        if tensor.ndim != 3:
            raise ShapeError(
                "audio: `data` must have shape (sounds, frames, channels), and has shape "
                f"{tensor.shape}. Add an axis with x[None] or x[..., None]."
            )
        if tensor.dtype is not float32:
            raise DTypeError(f"audio: `data` must be float32, and is {tensor.dtype.name}.")
        return [tensor[: max(0, max_outputs)]]

    with summary_scope(name, "audio_summary") as (tag, _):
        return _record(
            tag,
            step,
            plugin_metadata("audio", description, _WAV),
            sounds,
            lambda values: _encode_sounds(values, int(sample_rate)),
        )


def write(
    tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None
) -> Tensor:
    """Write any tensor, or what a function without arguments gives, under `tag` as it is.

    `metadata` says which plugin shows it: a SummaryMetadata of the `tensorboard` package, or its
    bytes. Returns whether it was recorded.
    """
    if not isinstance(tag, str):
        raise TypeError(f"write: `tag` must be a string, not {tag!r}.")
    if hasattr(metadata, "SerializeToString"):
        metadata = metadata.SerializeToString()
    if not isinstance(metadata, (bytes, type(None))):
        raise TypeError(f"write: `metadata` must be a SummaryMetadata or bytes, not {metadata!r}.")
    return _record(
        tag,
        step,
        metadata,
        lambda: [as_tensor(tensor() if callable(tensor) else tensor, op="write")],
    )


def _record(
    tag: str,
    step: Any,
    metadata: bytes | None,
    inputs: Callable[[], list[Tensor]],
    encode: Callable[..., Any] = lambda array: array,
) -> Tensor:
    """Write `encode` of the arrays of `inputs()`, which is called if they are to be recorded.

    In `@function` the writer, and a step that is a Python number, are those of the trace; values,
    and a step that is a tensor or a variable, those of the run.
    """
    settings, recording = settings_in_force.get(), should_record_summaries()
    writer, step = settings.writer, settings.step if step is None else step
    if writer is None:
        return recording
    if step is None:
        raise ValueError(
            f"summary: no step is set for {tag!r}. Pass step=..., or set it for several summaries "
            "with writer.as_default(step=...) or summary.experimental.set_step(...)."
        )
    if not is_symbolic_tensor(recording) and not recording:
        return recording

    def add(recording: Any, step: Any, *arrays: Any) -> None:
        if recording:
            writer._add(int(step), summary_value(tag, encode(*arrays), metadata))

    tensors = [recording, as_tensor(step, int64, "summary"), *inputs()]
    graph = current_graph()
    if graph is None:
        add(*map(np.asarray, tensors))
    else:
        graph.at_run_time(add, *[tensor._array for tensor in tensors])
    return recording


# Encodings


def _buckets(values: Any, buckets: int) -> Any:
    """Rows of left edge, right edge and count; the last bucket has its right edge inside."""
    values = values[np.isfinite(values)]
    if not values.size or not buckets:
        return np.zeros((buckets, 3))
    low, high = values.min(), values.max()
    if low == high:
        places = np.full(values.size, buckets - 1)
    else:
        places = ((values - low) / ((high - low) / buckets)).astype(np.int64)
    counts = np.bincount(np.minimum(places, buckets - 1), minlength=buckets)
    edges = np.linspace(low, high, buckets + 1)
    return np.stack([edges[:-1], edges[1:], counts], axis=1)


def _encode_images(images: Any) -> Any:
    """Width, height, and the images as PNG, all as strings."""
    height, width = images.shape[1:3]
    sizes = [str(width).encode(), str(height).encode()]
    return np.array([*sizes, *map(png, images)], dtype=object)


def png(pixels: Any, level: int = -1) -> bytes:
    """The array `pixels`, uint8 or uint16 of shape (height, width, channels), as a PNG file."""
    height, width, channels = pixels.shape
    samples = np.ascontiguousarray(pixels, pixels.dtype.newbyteorder(">")).view(np.uint8)
    unfiltered = np.zeros((height, 1), np.uint8)  # each row begins with the number of its filter
    rows = np.concatenate([unfiltered, samples.reshape(height, -1)], axis=1)
    depth = 8 * pixels.itemsize
    header = struct.pack(">IIBBBBB", width, height, depth, _COLOR_TYPES[channels], 0, 0, 0)
    data = zlib.compress(rows.tobytes(), level)
    chunks = (b"IHDR", header), (b"IDAT", data), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def _encode_sounds(sounds: Any, sample_rate: int) -> Any:
    """A row for each sound: the WAV file, and a label, which is empty."""
    encoded = np.empty((len(sounds), 2), dtype=object)
    for row, samples in zip(encoded, sounds, strict=True):
        row[:] = wav(samples, sample_rate), b""
    return encoded


def wav(samples: Any, sample_rate: int) -> bytes:
    """The float array `samples`, of shape (frames, channels), as a WAV file of 16 bits."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setparams((samples.shape[1], 2, sample_rate, 0, "NONE", ""))
        sound.writeframes(np.clip(np.rint(samples * 32768), -32768, 32767).astype("<i2").tobytes())
    return file.getvalue()
