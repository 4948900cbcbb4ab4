"""Checkpoint: the variables of a program in a file, and back; and functions that read such files.

    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    path = checkpoint.save("run/ckpt")          # run/ckpt-1
    checkpoint.restore(path).assert_consumed()

A value has the path that leads to its variable as its name, such as "model/layers/0/kernel". The
file is `path` + ".safetensors", in the format that `_safetensors` describes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any
from weakref import finalize, ref

import numpy as np

from ..core.dtypes import DType, as_dtype, int64
from ..core.errors import DTypeError, NotFoundError
from ..tape.scopes import get_logger
from ..tape.variable import Variable
from . import _safetensors
from ._checkpoint_state import CheckpointState, file_of, latest_checkpoint, record_state
from ..core.files import replacing
from ._safetensors import SafetensorsFile, dtype_name
from ._tracking import (
    Tracked,
    check_fit,
    children,
    is_leaf,
    is_trackable,
    store,
    tracked,
    value_of,
)
from ._waiting import attached, waiting


class Checkpoint:
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
        held = dict(children(root)) if root is not None else {}
        for name, value in objects.items():
            _check_trackable(name, value)
            if held.get(name, value) is not value:
                raise ValueError(
                    f"Checkpoint: {name!r} is an attribute of `root` already. Use another name."
                )
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        attached(self)

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

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Write a numbered checkpoint and record it as the latest of its folder.

        Returns `file_prefix` with the number, as `restore` takes it.
        """
        path = numbered(self, os.fspath(file_prefix))
        record_state(os.path.dirname(path), CheckpointState(path, [path], [], 0.0))
        return path

    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Write a checkpoint without a number and without a record. Returns `file_prefix`."""
        prefix = os.fspath(file_prefix)
        found = tracked(self)
        arrays = _arrays(found)
        with replacing(file_of(prefix)) as file:
            _safetensors.write(file, arrays, found.links)
        return prefix

    def restore(self, save_path: Any, options: Any = None) -> _Status:
        """Restore a checkpoint that `save` wrote. See `read`; this restores `save_counter` too.

        With None, which `latest_checkpoint` gives for an empty folder, nothing happens.
        """
        if save_path is None or self._save_counter is not None:
            return self.read(save_path, options)
        self._save_counter = _new_counter()
        try:
            return self.read(save_path, options)
        except BaseException:
            self._save_counter = None
            raise

    def read(self, save_path: Any, options: Any = None) -> _Status:
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
        restoration = Restoration(_opened(save_path, "Checkpoint.restore"))
        restoration.run(self)
        restoration.report_at_end()
        self._restoration = restoration
        waiting.add(self)
        return CheckpointLoadStatus(self, restoration)

    def _attached_to(self, owner: Any) -> None:
        """Called when `owner`, of any checkpoint or of none, has come to hold something new."""
        if self._restoration is not None and self._restoration.waits_for(owner):
            self._restoration.run(self)


def _new_counter() -> Variable:
    return Variable(0, trainable=False, name="save_counter", dtype=int64)


_OWN = {"_root", "_save_counter", "_restoration"}


def numbered(checkpoint: Checkpoint, prefix: str, number: Any = None) -> str:
    """Write a checkpoint called `prefix`-`number`, and count it; by default the count is the number.

    If it cannot be written, it does not count.
    """
    counter = checkpoint.save_counter
    counter.assign_add(1)
    try:
        return checkpoint.write(f"{prefix}-{int(counter if number is None else number)}")
    except BaseException:
        counter.assign_sub(1)
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
            f"Checkpoint.write: the key in brackets in {found.unnameable[0]!r} leads to a variable, "
            "and is no string. Use strings or integers as the keys of dicts that hold variables."
        )
    arrays = {path: value_of(leaf) for path, leaf in found.leaves}
    if len(arrays) < len(found.leaves):
        paths = [path for path, _ in found.leaves]
        raise ValueError(
            f"Checkpoint.write: two variables have the path {max(paths, key=paths.count)!r}. Keys "
            "and names must differ as text."
        )
    return arrays


class Restoration:
    """A file on its way into the variables of a checkpoint: what has arrived, and what waits."""

    def __init__(self, file: SafetensorsFile) -> None:
        self.file = file
        self._left = set(file.entries)
        self._restored: dict[int, ref[Any]] = {}
        self._owners: set[int] = set()

    def run(self, checkpoint: Checkpoint) -> None:
        """Store what waits in the variables that there are now."""
        found = tracked(checkpoint, self.file.links)
        taken = [(path, leaf) for path, leaf in found.leaves if path in self._left]
        for path, leaf in taken:
            entry = self.file.entries[path]
            check_fit(leaf, path, entry.shape, entry.dtype, f"Checkpoint.restore: {self.file.path}")
        arrays = [self.file.read(path) for path, _ in taken]
        for (path, leaf), array in zip(taken, arrays, strict=True):
            store(leaf, array)
            self._restored[id(leaf)] = ref(leaf)
            self._left.discard(path)
        if not self._left:
            self.file.close()
        places = _places(self._left, self.file.links)
        self._owners = {key for key, (path, _) in found.objects.items() if path in places}

    def waits_for(self, owner: Any) -> bool:
        """Whether `owner` is where something that waits may arrive."""
        return id(owner) in self._owners

    def unused(self) -> list[str]:
        """The names of the values that have found no variable."""
        return sorted(self._left)

    def unrestored(self, checkpoint: Checkpoint) -> list[str]:
        """The paths of the variables that have had no value from the file."""
        leaves = tracked(checkpoint, self.file.links).leaves
        return [path for path, leaf in leaves if not self._has_restored(leaf)]

    def _has_restored(self, leaf: Any) -> bool:
        known = self._restored.get(id(leaf))
        return known is not None and known() is leaf

    def report_at_end(self) -> None:
        """Have values that found no variable reported when nobody can want them any more."""
        self._report = finalize(self, _report, self.file.path, self._left)

    def expect_partial(self) -> None:
        self._report.detach()


def _places(names: set[str], links: Mapping[str, str]) -> set[str]:
    """The paths of the objects in which variables with these names may come to be."""
    places = {place for name in names for place in _above(name)}
    linked = [path for path, target in links.items() if target in places or target in names]
    return places | {place for path in linked for place in _above(path)}


def _above(path: str) -> Iterator[str]:
    yield ""
    for i, sign in enumerate(path):
        if sign == "/":
            yield path[:i]


def _report(path: str, unused: set[str]) -> None:
    if unused:
        get_logger().warning(
            "%s: restored in part. No variable was there for %s. If that is as it should be, say "
            "so: status.expect_partial().",
            path,
            _listed(sorted(unused)),
        )


class CheckpointLoadStatus:
    """What became of a restoration."""

    def __init__(self, checkpoint: Checkpoint, restoration: Restoration) -> None:
        self._checkpoint = checkpoint
        self._restoration = restoration

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raise unless each value has found a variable, and each variable a value."""
        unused = self._restoration.unused()
        if unused:
            raise AssertionError(
                f"{self._restoration.file.path}: no variable was there for {_listed(unused)}."
                " (A variable that came to be after the restore may need another restore.)"
            )
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raise unless each variable that there is now has had its value from the file."""
        unrestored = self._restoration.unrestored(self._checkpoint)
        if unrestored:
            raise AssertionError(
                f"{self._restoration.file.path}: not restored from it: {_listed(unrestored)}. "
                "Either the file has no value under this path, or the variable came to be after "
                "the restore; then restore again."
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Raise if nothing at all was restored."""
        if len(self._restoration.unused()) == len(self._restoration.file.entries):
            raise AssertionError(
                f"{self._restoration.file.path}: nothing of it was restored. It holds "
                f"{_listed(self._restoration.unused())}."
            )
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Say that values may be left over, so that no warning tells of them."""
        self._restoration.expect_partial()
        return self


class InitializationOnlyStatus:
    """What came of restoring None: nothing was restored."""

    def assert_consumed(self) -> InitializationOnlyStatus:
        raise AssertionError("Checkpoint.restore: `save_path` was None; nothing was restored.")

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def expect_partial(self) -> InitializationOnlyStatus:
        return self


_Status = CheckpointLoadStatus | InitializationOnlyStatus


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:10]))
    return shown if len(names) <= 10 else f"{shown} and {len(names) - 10} more"


def _opened(path: Any, op: str) -> SafetensorsFile:
    name = os.fspath(path)
    try:
        return SafetensorsFile(open(file_of(name), "rb"))
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(
            f"{op}: there is no checkpoint {name!r}: no file {file_of(name)!r}. A path that save() "
            "returned ends with a number, such as 'ckpt-1'; latest_checkpoint(folder) gives the "
            "last one."
        ) from None


# Reading a file without objects


class CheckpointReader:
    """The values in a checkpoint, by name. TensorFlow's form of a name is understood too."""

    def __init__(self, file: SafetensorsFile) -> None:
        self._file = file

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        return {name: list(entry.shape) for name, entry in sorted(self._file.entries.items())}

    def get_variable_to_dtype_map(self) -> dict[str, DType | np.dtype[Any]]:
        return {name: _known(entry.dtype) for name, entry in sorted(self._file.entries.items())}

    def has_tensor(self, tensor_str: str) -> bool:
        return _own_name(tensor_str) in self._file.entries

    def get_tensor(self, tensor_str: str) -> Any:
        """The value as a NumPy array, or as a NumPy scalar if it has rank 0."""
        if not self.has_tensor(tensor_str):
            raise NotFoundError(
                f"get_tensor: {self._file.path} has no value {tensor_str!r}. It holds "
                f"{_listed(sorted(self._file.entries))}."
            )
        return self._file.read(_own_name(tensor_str))[()]

    def debug_string(self) -> bytes:
        """A line with name, dtype and shape for each value."""
        shapes = self.get_variable_to_shape_map()
        lines = [
            f"{n} ({dtype_name(self._file.entries[n].dtype)}) {shape}"
            for n, shape in shapes.items()
        ]
        return "\n".join(lines).encode()


def _known(dtype: np.dtype[Any]) -> DType | np.dtype[Any]:
    """The DType; float8, which files have and gradtape has not, as NumPy's."""
    try:
        return as_dtype(dtype)
    except DTypeError:
        return dtype


def _own_name(name: str) -> str:
    return name.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE")


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """A reader of the checkpoint with this path, or of the latest one in this folder."""
    path = os.fspath(ckpt_dir_or_file)
    if os.path.isdir(path):
        latest = latest_checkpoint(path)
        if latest is None:
            raise NotFoundError(f"load_checkpoint: the folder {path!r} has no latest checkpoint.")
        path = latest
    return CheckpointReader(_opened(path, "load_checkpoint"))


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """The names and shapes of the values in a checkpoint, sorted by name."""
    return list(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """The value called `name` in a checkpoint, as a NumPy array."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name)
