"""Reading a checkpoint without objects: the values in its file, by name."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.dtypes import DType, as_dtype
from ...core.errors import NotFoundError, UnimplementedError
from .folder_state import file_of, latest_checkpoint, of_tensorflow
from .safetensors import SafetensorsFile, dtype_name

if TYPE_CHECKING:
    from ...core.annotations import Array


class CheckpointReader:
    """The values in a checkpoint, by name. TensorFlow's form of a name is understood too."""

    def __init__(self, file: SafetensorsFile) -> None:
        self._file = file

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        return {name: list(entry.shape) for name, entry in sorted(self._file.entries.items())}

    def get_variable_to_dtype_map(self) -> dict[str, DType | np.dtype[Any]]:
        return {name: as_dtype(entry.dtype) for name, entry in sorted(self._file.entries.items())}

    def has_tensor(self, tensor_str: str) -> bool:
        return _own_name(tensor_str) in self._file.entries

    def get_tensor(self, tensor_str: str) -> Array:
        """The value as a NumPy array, or as a NumPy scalar if it has rank 0."""
        if not self.has_tensor(tensor_str):
            raise NotFoundError(
                f"get_tensor: {self._file.path} has no value {tensor_str!r}. It holds "
                f"{list_some(sorted(self._file.entries))}."
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


def _own_name(name: str) -> str:
    return name.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE")


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """A reader of the checkpoint with this path, or of the latest one in this folder."""
    path = os.fspath(ckpt_dir_or_file)
    if os.path.isdir(path):
        latest = latest_checkpoint(path)
        if latest is None:
            raise NotFoundError(
                f"load_checkpoint: the folder {path!r} has no latest checkpoint. Give the path of "
                "one, as save() returned it."
            )
        path = latest
    return CheckpointReader(open_checkpoint(path, "load_checkpoint"))


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """The names and shapes of the values in a checkpoint, sorted by name."""
    reader = load_checkpoint(ckpt_dir_or_file)
    with closing(reader._file):
        return list(reader.get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: Any, name: str) -> Array:
    """The value called `name` in a checkpoint, as a NumPy array."""
    reader = load_checkpoint(ckpt_dir_or_file)
    with closing(reader._file):
        return reader.get_tensor(name)


def open_checkpoint(path: Any, op: str) -> SafetensorsFile:
    name = os.fspath(path)
    try:
        file = open(file_of(name), "rb")  # noqa: SIM115 - who is given it closes it
    except (FileNotFoundError, NotADirectoryError):
        foreign = of_tensorflow(name)
        if foreign is not None:
            raise UnimplementedError(f"{op}: {foreign}") from None
        raise NotFoundError(
            f"{op}: there is no checkpoint {name!r}: no file {file_of(name)!r}. A path that save() "
            "returned ends with a number, such as 'ckpt-1'; latest_checkpoint(folder) gives the "
            "last one."
        ) from None
    try:
        return SafetensorsFile(file)
    except BaseException:
        file.close()
        raise


def list_some(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:10]))
    return shown if len(names) <= 10 else f"{shown} and {len(names) - 10} more"
