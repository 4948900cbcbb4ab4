"""The file "checkpoint" of a folder says which checkpoints the folder has and which is the latest.

It is JSON, with TensorFlow's names; checkpoints are named without the folder:

    {"model_checkpoint_path": "ckpt-2", "all_model_checkpoint_paths": ["ckpt-1", "ckpt-2"],
     "all_model_checkpoint_timestamps": [1.7e9, 1.7e9], "last_preserved_timestamp": 1.7e9}
"""

from __future__ import annotations

import json
import math
import os
from typing import Any, NamedTuple

from ...core.errors import DataLossError, UnimplementedError
from ...core.files import replacing
from ...tape.scopes import get_logger

STATE_FILE = "checkpoint"
SUFFIX = ".safetensors"


class CheckpointState(NamedTuple):
    """The checkpoints of a folder by path, oldest first; times in seconds since 1970.

    Without timestamps, no manager has them in its care.
    """

    model_checkpoint_path: str
    all_model_checkpoint_paths: list[str]
    all_model_checkpoint_timestamps: list[float]
    last_preserved_timestamp: float


def file_of(path: str) -> str:
    """The file that holds the checkpoint with this path."""
    return path if path.endswith(SUFFIX) else path + SUFFIX


def of_tensorflow(path: str) -> str | None:
    """Why the checkpoint with this path cannot be read, if TensorFlow wrote it."""
    index = f"{path.removesuffix('.index')}.index"
    if not os.path.isfile(index):
        return None
    return f"{index!r} is a checkpoint in TensorFlow's own format. {_CONVERT}"


_CONVERT = (
    "gradtape reads safetensors only. Convert it where TensorFlow is installed: reader = "
    "tf.train.load_checkpoint(path); with safetensors.numpy.save_file write "
    "{name.removesuffix('/.ATTRIBUTES/VARIABLE_VALUE'): reader.get_tensor(name)} for each name of "
    "reader.get_variable_to_shape_map() that does not begin with '_' to path + '.safetensors'. "
    "The model's variables are restored from that; the optimizer's have other names here."
)


def record_state(folder: str, state: CheckpointState) -> None:
    """Write the state of `folder`, the paths in which are in this folder."""
    stored = state._asdict()
    stored["model_checkpoint_path"] = os.path.basename(state.model_checkpoint_path)
    stored["all_model_checkpoint_paths"] = [
        os.path.basename(path) for path in state.all_model_checkpoint_paths
    ]
    with replacing(os.path.join(folder, STATE_FILE)) as file:
        file.write(json.dumps(stored, indent=1).encode())


def get_checkpoint_state(
    checkpoint_dir: Any, latest_filename: str | None = None
) -> CheckpointState | None:
    """The state of a folder, or None where no checkpoint was saved yet."""
    folder = os.fspath(checkpoint_dir)
    path = os.path.join(folder, latest_filename or STATE_FILE)
    try:
        with open(path, "rb") as file:
            text = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if text.startswith(b"model_checkpoint_path:"):
        raise UnimplementedError(
            f"{path}: this folder holds checkpoints in TensorFlow's own format. {_CONVERT} Save "
            "new checkpoints to another folder."
        )
    try:
        stored = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"it is not JSON: {error!s:.200}") from None
    if not isinstance(stored, dict) or stored.keys() != set(CheckpointState._fields):
        raise _damaged(path, f"it must have the keys {', '.join(CheckpointState._fields)}")
    state = CheckpointState(**stored)
    names, times = state.all_model_checkpoint_paths, state.all_model_checkpoint_timestamps
    if (
        not isinstance(names, list)
        or not isinstance(times, list)
        or len(times) not in (0, len(names))
    ):
        raise _damaged(path, "it must list as many timestamps as checkpoints, or none")
    for name in [state.model_checkpoint_path, *names]:
        if not _is_file_name(name):
            raise _damaged(path, f"{name!r:.100} is not the name of a checkpoint in this folder")
    for time in [*times, state.last_preserved_timestamp]:
        if type(time) not in (int, float) or not math.isfinite(time):
            raise _damaged(path, f"{time!r:.100} is not a time")
    return state._replace(
        model_checkpoint_path=os.path.join(folder, state.model_checkpoint_path),
        all_model_checkpoint_paths=[os.path.join(folder, name) for name in names],
    )


def _is_file_name(name: Any) -> bool:
    """Whether it names something in the folder itself: files of these names are deleted, too."""
    return (
        isinstance(name, str)
        and name == os.path.basename(name)
        and name not in ("", os.curdir, os.pardir)
        and "\0" not in name
    )


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The path of the latest checkpoint in a folder, for `restore`; None if there is none."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    path = state.model_checkpoint_path
    if not os.path.isfile(file_of(path)):
        get_logger().error("latest_checkpoint: the file of %s is not there any more.", path)
        return None
    return path


def _damaged(path: str, problem: str) -> DataLossError:
    return DataLossError(
        f"{path}: {problem}. Delete this file, and restore a checkpoint by its own name."
    )
