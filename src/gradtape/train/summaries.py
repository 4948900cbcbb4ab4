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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.convert import as_tensor
from ..core.dtypes import bool_, float32, float64, int64, string, uint8
from ..core.errors import DTypeError, ShapeError
from ..core.tensor import Tensor
from ..core.tracing import current_graph
from ..ops.bookkeeping import is_symbolic_tensor
from ..ops.creation import cast
from ..ops.image_color import convert_image_dtype
from ..tape.scopes import get_current_name_scope, name_scope
from .events import EventFile, event, plugin_metadata, summary_value

_WAV = b"\x10\x0b"  # AudioPluginData { encoding: WAV }
_COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # of PNG, by the number of channels


# Writers


class SummaryWriter:
    """Where summaries go. Of this class itself, nowhere: `create_file_writer` gives others."""

    def set_as_default(self, step: Any = None) -> None:
        """Let the summaries of this thread go here from now on, at `step` where that is given."""

    @contextmanager
    def as_default(self, step: Any = None) -> Iterator[SummaryWriter]:
        """A block whose summaries go here, at `step` where that is given; flushed at its end."""
        yield self

    def init(self) -> None:
        """Nothing: a writer is ready when it is made."""

    def flush(self) -> None:
        """Hand what waits to the operating system, where it outlives this process."""

    def close(self) -> None:
        """Write what waits, and end."""


class _FileWriter(SummaryWriter):
    def __init__(self, file: EventFile) -> None:
        self._file = file

    def set_as_default(self, step: Any = None) -> None:
        self._check_open()
        state = _state.get()
        _state.set(replace(state, writer=self, step=state.step if step is None else step))

    @contextmanager
    def as_default(self, step: Any = None) -> Iterator[SummaryWriter]:
        before = _state.get()
        self.set_as_default(step)
        try:
            yield self
        finally:
            after = replace(_state.get(), writer=before.writer)
            _state.set(after if step is None else replace(after, step=before.step))
            self.flush()

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()

    def _add(self, step: int, summary: bytes) -> None:
        self._check_open()
        self._file.add(event(step, summary))

    def _check_open(self) -> None:
        if self._file.closed:
            raise RuntimeError(f"{self!r} is closed. Make a new one with create_file_writer.")

    def __repr__(self) -> str:
        return f"<SummaryWriter {str(self._file.path)!r}>"


def create_file_writer(
    logdir: Any,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer of a new event file in the folder `logdir`, which is made if needed.

    Summaries wait in memory until there are more than `max_queue` (10), or `flush_millis` (two
    minutes) have passed at the next one, or `flush` is called.

        writer = tf.summary.create_file_writer("logs/first")
        with writer.as_default():
            for step in range(100):
                tf.summary.scalar("loss", 1.0 / (1 + step), step=step)
    """
    if logdir is None:
        raise ValueError("create_file_writer: `logdir` must be a folder, not None.")
    seconds = 120.0 if flush_millis is None else flush_millis / 1000
    suffix = ".v2" if filename_suffix is None else filename_suffix
    if isinstance(logdir, Tensor):
        logdir = logdir.numpy().decode()
    try:
        file = EventFile(logdir, 10 if max_queue is None else max_queue, seconds, suffix)
    except OSError as error:
        raise type(error)(
            error.errno, f"create_file_writer: cannot write to the folder: {error.strerror}", logdir
        ) from None
    return _FileWriter(file)


def create_noop_writer() -> SummaryWriter:
    """A writer that does nothing, as a placeholder; another default writer stays in force."""
    return SummaryWriter()


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> None:
    """Flush `writer`, or the default one."""
    if writer is None:
        writer = _state.get().writer
    elif not isinstance(writer, SummaryWriter):
        raise ValueError(f"flush: `writer` must be a SummaryWriter, not {writer!r}.")
    if writer is not None:
        writer.flush()


# What is in force


@dataclass(frozen=True)
class _State:
    writer: _FileWriter | None = None
    step: Any = None
    condition: Any = True


_NONE = _State()
_state: ContextVar[_State] = ContextVar("summaries", default=_NONE)


def get_step() -> Any:
    """The step of the summaries that give none, or None."""
    return _state.get().step


def set_step(step: Any) -> None:
    """Let `step`, an int or an int64 variable, be that of the summaries that give none."""
    _state.set(replace(_state.get(), step=step))


@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """A block that records if `condition` is true: a bool, a tensor, or a function of either.

    with tf.summary.record_if(lambda: step % 100 == 0):
        train()
    """
    before = _state.get().condition
    _state.set(replace(_state.get(), condition=condition))
    try:
        yield
    finally:
        _state.set(replace(_state.get(), condition=before))


def should_record_summaries() -> Tensor:
    """Whether a summary would be written here: there is a writer, and the condition holds."""
    state = _state.get()
    if state.writer is None:
        return Tensor(np.False_)
    return as_tensor(
        state.condition() if callable(state.condition) else state.condition, bool_, "record_if"
    )


@contextmanager
def summary_scope(
    name: str | None, default_name: str = "summary", values: Any = None
) -> Iterator[tuple[str, str]]:
    """A block for one summary: its tag, which begins with the name scopes around, and its scope."""
    if not isinstance(name or "", str):
        raise TypeError(f"summary: `name` must be a string, not {name!r}.")
    name = name or default_name
    scope = get_current_name_scope()
    with name_scope(name) as inner:
        yield (f"{scope}/{name}" if scope else name), inner


# Summaries


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Write one number, as float32. Returns whether it was recorded."""
    number = cast(as_tensor(data, op="scalar"), float32)
    if number.ndim:
        raise ShapeError(
            f"scalar: `data` must be one number, and has shape {number.shape}. Reduce it, e.g. with "
            "tf.reduce_mean."
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
            lambda values: _bucketed(values, max(0, int(buckets))),
        )


def image(
    name: str,
    data: Any,
    step: Any = None,
    max_outputs: int = 3,
    description: str | None = None,
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
        return _record(tag, step, plugin_metadata("images", description), images, _encoded_images)


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
            lambda values: _encoded_sounds(values, int(sample_rate)),
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
    encoded: Callable[..., Any] = lambda array: array,
) -> Tensor:
    """Write `encoded` of the arrays of `inputs()`, which is asked for if it is to be recorded.

    In `@function` the writer, and a step that is a Python number, are those of the trace; values,
    and a step that is a tensor or a variable, those of the run.
    """
    state, recording = _state.get(), should_record_summaries()
    writer, step = state.writer, state.step if step is None else step
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
            writer._add(int(step), summary_value(tag, encoded(*arrays), metadata))

    tensors = [recording, as_tensor(step, int64, "summary"), *inputs()]
    graph = current_graph()
    if graph is None:
        add(*map(np.asarray, tensors))
    else:
        graph.at_run_time(add, *[tensor._array for tensor in tensors])
    return recording


# Encodings


def _bucketed(values: Any, buckets: int) -> Any:
    """Rows of left edge, right edge and count; the last bucket has its right edge inside."""
    values = values[np.isfinite(values)]
    if not values.size or not buckets:
        return np.zeros((buckets, 3))
    low, high = values.min(), values.max()
    if low == high:
        counts = np.zeros(buckets)
        counts[-1] = values.size
    else:
        places = ((values - low) / ((high - low) / buckets)).astype(np.int64)
        counts = np.bincount(np.minimum(places, buckets - 1), minlength=buckets)
    edges = np.linspace(low, high, buckets + 1)
    return np.stack([edges[:-1], edges[1:], counts], axis=1)


def _encoded_images(images: Any) -> Any:
    """Width, height, and the images as PNG, all as strings."""
    height, width = images.shape[1:3]
    sizes = [str(width).encode(), str(height).encode()]
    return np.array([*sizes, *map(png, images)], dtype=object)


def png(pixels: Any) -> bytes:
    """The uint8 array `pixels`, of shape (height, width, channels), as a PNG file."""
    height, width, channels = pixels.shape
    unfiltered = np.zeros((height, 1), np.uint8)  # each row begins with the number of its filter
    rows = np.concatenate([unfiltered, pixels.reshape(height, -1)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOR_TYPES[channels], 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def _encoded_sounds(sounds: Any, sample_rate: int) -> Any:
    """A row for each sound: the WAV file, and a label, which is empty."""
    encoded = np.empty((len(sounds), 2), dtype=object)
    for row, samples in zip(encoded, sounds, strict=True):
        row[:] = _wav(samples, sample_rate), b""
    return encoded


def _wav(samples: Any, sample_rate: int) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setparams((samples.shape[1], 2, sample_rate, 0, "NONE", ""))
        sound.writeframes(np.clip(np.rint(samples * 32768), -32768, 32767).astype("<i2").tobytes())
    return file.getvalue()
