"""Checkpoint: the variables of a program in a file, and back.

    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    path = checkpoint.save("run/ckpt")          # run/ckpt-1
    checkpoint.restore(path).assert_consumed()

A value has the path that leads to its variable as its name, such as "model/layers/0/kernel". The
file is `path` + ".safetensors", in the format that safetensors.py describes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.dtypes import int64
from ...core.files import replacing
from ...core.tracebacks import border
from ...core.trackable import Trackable, restore_deferred, restored
from ...tape.variable import Variable
from . import safetensors
from .folder_state import CheckpointState, file_of, record_state
from .reader import open_checkpoint
from .restoration import CheckpointLoadStatus, InitializationOnlyStatus, Restoration, Status
from .tracking import Tracked, children, is_leaf, is_trackable, tracked, value_of


class Checkpoint(Trackable):
    """Saves and restores the variables that `root` and the named `objects` lead to.

    Followed are the attributes of modules, optimizers and other objects, lists, tuples and dicts;
    saved are variables and random generators, not plain numbers, tensors and arrays. The objects
    are attributes of the checkpoint, and others may be added: `checkpoint.step = tf.Variable(0)`.
    """

    _root: Any = None
    _save_counter: Variable | None = None
    _restoration: Restoration | None = None

    def __init__(self, root: Any = None, **objects: Any) -> None:
        if root is not None:
            _check_trackable("root", root)
            if is_leaf(root):
                raise ValueError(
                    "Checkpoint: `root` must be an object that holds variables; a variable itself "
                    "needs a name: Checkpoint(v=variable)."
                )
            self._root = root
        of_root = dict(children(root)) if root is not None else {}
        for name, value in objects.items():
            _check_trackable(name, value)
            if of_root.get(name, value) is not value:
                raise ValueError(
                    f"Checkpoint: {name!r} is an attribute of `root` already. Use another name."
                )
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        restore_deferred(self)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return dict(self._tracked_items())

    def _tracked_items(self) -> Iterator[tuple[Any, Any]]:
        if self._root is not None:
            yield from children(self._root)
        yield from [(name, value) for name, value in vars(self).items() if name not in _OWN]
        if self._save_counter is not None:
            yield "save_counter", self._save_counter

    @property
    def save_counter(self) -> Variable:
        """How often `save` was called; the number of the last checkpoint. Saved and restored."""
        if self._save_counter is None:
            self._save_counter = _new_counter()
        return self._save_counter

    @border
    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Write a numbered checkpoint and record it as the latest of its folder.

        Returns `file_prefix` with the number, as `restore` takes it.
        """
        path = write_numbered(self, os.fspath(file_prefix))
        record_state(os.path.dirname(path), CheckpointState(path, [path], [], 0.0))
        return path

    @border
    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Write a checkpoint without a number and without a record. Returns `file_prefix`."""
        prefix: str = os.fspath(file_prefix)
        found = tracked(self)
        arrays = _arrays(found)
        with replacing(file_of(prefix)) as file:
            safetensors.write(file, arrays, found.links)
        return prefix

    @border
    def restore(self, save_path: Any, options: Any = None) -> Status:
        """Restore a checkpoint that `save` wrote. See `read`; this restores `save_counter` too.

        With None, which `latest_checkpoint` gives for an empty folder, nothing happens.
        """
        if save_path is None or self._save_counter is not None:
            return self.read(save_path, options)
        try:
            self._save_counter = _new_counter()
            return self.read(save_path, options)
        except BaseException:
            self._save_counter = None
            raise

    @border
    def read(self, save_path: Any, options: Any = None) -> Status:
        """Give the variables the values that the file has for them.

        It happens whole or not at all: a file that is damaged, or has a value that does not fit its
        variable, changes nothing. Values without a variable and variables without a value are no
        error; the status that is returned can tell.

        As long as the checkpoint lives, values without a variable wait for it: one that a Module or
        an optimizer makes later, or that becomes an attribute of the checkpoint, has the value
        from the file at once. One that comes by another way (appended to a list, say) does not;
        for those, restore again.
        """
        if save_path is None:
            return InitializationOnlyStatus()
        restoration = Restoration(open_checkpoint(save_path, "Checkpoint.restore"))
        try:
            restoration.run(self)
        except BaseException:
            restoration.file.close()
            raise
        restoration.report_at_end()
        self._restoration = restoration
        restored.add(self)
        return CheckpointLoadStatus(self, restoration)

    def _restore_deferred(self, owner: Any) -> None:
        if self._restoration is not None and self._restoration.waits_for(owner):
            self._restoration.run(self)


def _new_counter() -> Variable:
    return Variable(0, trainable=False, name="save_counter", dtype=int64)


_OWN = {"_root", "_save_counter", "_restoration"}


def write_numbered(checkpoint: Checkpoint, prefix: str, number: Any = None) -> str:
    """Write a checkpoint called `prefix`-`number`, by default its count.

    If it cannot be written, it does not count.
    """
    counter = checkpoint.save_counter
    before = int(counter)
    try:
        counter.assign(before + 1)
        return checkpoint.write(f"{prefix}-{before + 1 if number is None else int(number)}")
    except BaseException:
        counter.assign(before)
        raise


def _check_trackable(name: str, value: Any) -> None:
    if not is_trackable(value):
        raise ValueError(
            f"Checkpoint: `{name}` must be a variable or an object that leads to variables, and is "
            f"{value!r:.100}. Make a number a tf.Variable to have it saved."
        )


def _arrays(found: Tracked) -> dict[str, np.ndarray]:
    if found.unnameable:
        raise ValueError(
            f"Checkpoint.write: the key in brackets in {found.unnameable[0]!r} leads to a "
            "variable, and is no string. Use strings or integers as the keys of dicts that hold "
            "variables."
        )
    arrays = {path: value_of(leaf) for path, leaf in found.leaves}
    if len(arrays) < len(found.leaves):
        paths = [path for path, _ in found.leaves]
        raise ValueError(
            f"Checkpoint.write: two variables have the path {max(paths, key=paths.count)!r}. Keys "
            "and names must differ as text."
        )
    return arrays
