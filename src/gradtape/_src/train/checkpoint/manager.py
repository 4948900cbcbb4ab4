"""CheckpointManager: the last few checkpoints of a run, and the way back to the latest."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ...core.files import remove_leftovers
from .checkpoint import Checkpoint, write_numbered
from .folder_state import STATE_FILE, CheckpointState, file_of, get_checkpoint_state, record_state


class CheckpointManager:
    """Saves write_numbered checkpoints in `directory` and deletes the oldest beyond `max_to_keep`.

    A process killed at any moment leaves the folder with a latest checkpoint that is whole: an old
    one is deleted when the new one, and the record of it, are on the disk.

        manager = tf.train.CheckpointManager(checkpoint, "run", max_to_keep=3)
        manager.restore_or_initialize()
        ...
        manager.save()

    With `max_to_keep=None` nothing is deleted. Of what is to be deleted, one in every
    `keep_checkpoint_every_n_hours` stays, though not in `checkpoints`. With `checkpoint_interval`,
    `save` does something only when the variable `step_counter` has moved on by so much since the
    last save, or since `last_checkpoint_step`.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                "CheckpointManager: `max_to_keep` must be a positive integer, or None to keep all, "
                f"not {max_to_keep!r}."
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError(
                "CheckpointManager: `checkpoint_interval` needs `step_counter`, the variable that "
                "counts the steps."
            )
        self._checkpoint = checkpoint
        self._directory: str = os.fspath(directory)
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._max_to_keep = max_to_keep
        self._keep_every = keep_checkpoint_every_n_hours and keep_checkpoint_every_n_hours * 3600.0
        self._step_counter = step_counter
        self._checkpoint_interval = checkpoint_interval
        self._last_step = last_checkpoint_step
        self._init_fn = init_fn
        self._latest: str | None = None
        self._checkpoints: dict[str, float] = {}  # path and time, oldest first
        now = time.time()
        self._last_preserved = now
        state = get_checkpoint_state(self._directory)
        if state is not None:
            # A clock that was put back must not make what is on the disk look newer than new ones.
            self._last_preserved = min(state.last_preserved_timestamp, now)
            self._latest = state.model_checkpoint_path
            paths, times = state.all_model_checkpoint_paths, state.all_model_checkpoint_timestamps
            self._checkpoints = {
                path: min(saved, now)
                for path, saved in zip(paths, times, strict=False)
                if os.path.isfile(file_of(path))  # deleted by one that was killed right after
            }

    @property
    def directory(self) -> str:
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int | None:
        return self._checkpoint_interval

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the checkpoint saved last, by this manager or one before it."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The paths of the checkpoints that are kept, oldest first."""
        return list(self._checkpoints)

    def save(
        self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None
    ) -> str | None:
        """Save a checkpoint and delete what is too much. Returns the path.

        The number is `checkpoint_number`, or counts up. Returns None, without saving, if
        `checkpoint_interval` has not passed; check_interval=False saves in any case.
        """
        if self._checkpoint_interval is not None:
            step = int(self._step_counter)
            if (
                check_interval
                and self._last_step is not None
                and step - self._last_step < self._checkpoint_interval
            ):
                return None
        path = write_numbered(self._checkpoint, self._prefix, checkpoint_number)
        if self._checkpoint_interval is not None:
            self._last_step = step
        self._checkpoints.pop(path, None)  # one that was overwritten is the newest now
        self._checkpoints[path] = time.time()
        self._latest = path
        # Recorded before anything is deleted, so that the latest is there at any moment; and once
        # more after it. A process killed in between leaves a record that names what is gone,
        # which the next save puts in order.
        self._record(path)
        if self._sweep():
            self._record(path)
        remove_leftovers(self._prefix)
        remove_leftovers(os.path.join(self._directory, STATE_FILE))
        return path

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint and return its path; without one, call `init_fn`."""
        if self._latest is None:
            if self._init_fn is not None:
                self._init_fn()
            return None
        self._checkpoint.restore(self._latest)
        if self._checkpoint_interval is not None:
            self._last_step = int(self._step_counter)
        return self._latest

    def _record(self, latest: str) -> None:
        paths, times = list(self._checkpoints), list(self._checkpoints.values())
        record_state(self._directory, CheckpointState(latest, paths, times, self._last_preserved))

    def _sweep(self) -> bool:
        """Delete the oldest checkpoints beyond `max_to_keep`; whether there were any."""
        excess = 0 if self._max_to_keep is None else len(self._checkpoints) - self._max_to_keep
        for path, saved in list(self._checkpoints.items())[: max(excess, 0)]:
            if self._keep_every and saved - self._last_preserved >= self._keep_every:
                self._last_preserved = saved
            else:
                with suppress(FileNotFoundError):
                    os.remove(file_of(path))
            del self._checkpoints[path]  # last: an interrupt must not leave a file that none knows
        return excess > 0
