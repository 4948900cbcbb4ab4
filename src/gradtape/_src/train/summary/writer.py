"""Writers: where summaries go, at which step, and whether at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...core.convert import as_tensor
from ...core.dtypes import bool_
from ...core.errors import UnimplementedError
from ...core.tensor import Tensor
from ...tape.scopes import get_current_name_scope, name_scope
from .event_file import EventFile, event


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
        settings = settings_in_force.get()
        settings_in_force.set(
            replace(settings, writer=self, step=settings.step if step is None else step)
        )

    @contextmanager
    def as_default(self, step: Any = None) -> Iterator[SummaryWriter]:
        before = settings_in_force.get()
        self.set_as_default(step)
        try:
            yield self
        finally:
            after = replace(settings_in_force.get(), writer=before.writer)
            settings_in_force.set(after if step is None else replace(after, step=before.step))
            self.flush()

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()

    def _add(self, step: int, summary: bytes) -> None:
        self._check_open()
        self._file.add(event(step, summary))

    def _add_graph(self, graph_def: bytes) -> None:
        self._check_open()
        self._file.add(event(0, graph_def=graph_def))

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
    experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:
    """A writer of a new event file in the folder `logdir`, which is made if needed.

    Summaries wait in memory until there are more than `max_queue` (10), or `flush_millis` (two
    minutes) have passed at the next one, or `flush` is called.

        writer = tf.summary.create_file_writer("logs/first")
        with writer.as_default():
            for step in range(100):
                tf.summary.scalar("loss", 1.0 / (1 + step), step=step)
    """
    if experimental_mesh is not None:
        raise UnimplementedError("create_file_writer: there are no meshes of devices here.")
    if logdir is None:
        raise ValueError("create_file_writer: `logdir` must be the path of a folder, not None.")
    seconds = 120.0 if flush_millis is None else flush_millis / 1000
    suffix = ".v2" if filename_suffix is None else filename_suffix
    if isinstance(logdir, Tensor):
        logdir = bytes(logdir.numpy()).decode()
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
        writer = settings_in_force.get().writer
    elif not isinstance(writer, SummaryWriter):
        raise ValueError(f"flush: `writer` must be a SummaryWriter, not {writer!r}.")
    if writer is not None:
        writer.flush()


# What is in force


@dataclass(frozen=True)
class SummarySettings:
    """Where summaries go, at which step, and whether at all."""

    writer: _FileWriter | None = None
    step: Any = None
    condition: Any = True


_NO_WRITER = SummarySettings()
settings_in_force: ContextVar[SummarySettings] = ContextVar("summaries", default=_NO_WRITER)


def get_step() -> Any:
    """The step of the summaries that give none, or None."""
    return settings_in_force.get().step


def set_step(step: Any) -> None:
    """Let `step`, an int or an int64 variable, be that of the summaries that give none."""
    settings_in_force.set(replace(settings_in_force.get(), step=step))


@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """A block that records if `condition` is true: a bool, a tensor, or a function of either.

    with tf.summary.record_if(lambda: step % 100 == 0):
        train()
    """
    before = settings_in_force.get().condition
    settings_in_force.set(replace(settings_in_force.get(), condition=condition))
    try:
        yield
    finally:
        settings_in_force.set(replace(settings_in_force.get(), condition=before))


def should_record_summaries() -> Tensor:
    """Whether a summary would be written here: there is a writer, and the condition holds."""
    settings = settings_in_force.get()
    if settings.writer is None:
        return Tensor(np.False_)
    return as_tensor(
        settings.condition() if callable(settings.condition) else settings.condition,
        bool_,
        "record_if",
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
