"""Files that are replaced whole: a reader meets the old content or the new, never a part of it."""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

_TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.tmp")
_ABANDONED_AFTER = 3600.0  # seconds since the last write: a writer that is alive pauses less


@contextmanager
def replacing(path: str, durable: bool = True) -> Iterator[BinaryIO]:
    """A new file that takes the place of `path` at the end of the block, if the block succeeds.

    When the block is left, content and name are on the disk and, if `durable`, outlast a loss of
    power. Until then, and after any error, `path` is as it was.
    """
    folder = os.path.dirname(path) or os.curdir
    temporary = f"{path}.{secrets.token_hex(8)}.tmp"
    try:
        _make_folder(folder)
        with open(temporary, "xb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
        if durable:
            _sync_folder(folder)
    except BaseException as error:
        with suppress(OSError):
            os.remove(temporary)
        if not isinstance(error, OSError):
            raise
        problem = f"{error.strerror}: cannot write this file; a former one is as it was"
        raise OSError(error.errno, problem, path) from error


def remove_leftovers(path: str) -> None:
    """Delete the leftovers of killed processes, of files whose paths begin with `path`."""
    folder, start = os.path.split(path)
    with os.scandir(folder or os.curdir) as entries:
        for entry in entries:
            if entry.name.startswith(start):
                with suppress(OSError):
                    if is_left_over(entry):
                        os.remove(entry.path)


def is_left_over(entry: os.DirEntry[str]) -> bool:
    """Whether a process that was killed inside `replacing` left this file."""
    match = _TEMPORARY.search(entry.name)
    if not match or match.end() != len(entry.name):
        return False
    return time.time() - entry.stat().st_mtime > _ABANDONED_AFTER


def _make_folder(folder: str) -> None:
    if os.path.isdir(folder):
        return
    parent = os.path.dirname(os.path.abspath(folder))
    _make_folder(parent)
    with suppress(FileExistsError):  # another process was quicker; or it is a file, found out later
        os.mkdir(folder)
    _sync_folder(parent)


def _sync_folder(folder: str) -> None:
    if os.name == "nt":  # Windows has no such call, and keeps its directories itself
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
