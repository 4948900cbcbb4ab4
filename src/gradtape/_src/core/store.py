"""Store: results that took long to compute, in files, for the processes that come later.

Whatever is wrong with a file or with the folder, the result is computed as if there were no store.
"""

from __future__ import annotations

import os
import sys
import zlib
from contextlib import suppress
from hashlib import sha256

from .files import is_left_over, replacing

_FORMAT = b"gradtape 1\n"
_DIGEST = 32  # bytes
_ROOM = 0.75  # what is kept of the limit when it is exceeded, so that this is not at every write


def cache_folder() -> str | None:
    """Where programs of this user keep what they can compute again; None if there is no place."""
    if os.name == "nt":
        return os.environ.get("LOCALAPPDATA")
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        chosen, usual = "", os.path.join(home, "Library", "Caches")
    else:
        chosen, usual = os.environ.get("XDG_CACHE_HOME", ""), os.path.join(home, ".cache")
    if os.path.isabs(chosen):
        return chosen
    return usual if os.path.isabs(home) else None


class Store:
    """Contents by key, in a folder that only this user can write to, of `limit` bytes at most.

    Those that were used least recently go first. Several processes may use it at once.
    """

    def __init__(self, folder: str, limit: int) -> None:
        self._folder = folder
        self._limit = limit

    def get(self, key: str) -> bytes | None:
        """What was put under `key`, if it is there and whole."""
        path = self._path(key)
        try:
            if not self._is_private():
                return None
            with open(path, "rb") as file:
                written = file.read()
        except OSError:
            return None
        start = len(_FORMAT) + _DIGEST
        packed = written[start:]
        if written[:start] != _FORMAT + _digest(key, packed):
            return None
        with suppress(OSError):
            os.utime(path)
        return zlib.decompress(packed)

    def put(self, key: str, content: bytes) -> None:
        """Keep `content`, if there is a place for it."""
        packed = zlib.compress(content, 1)
        if len(packed) > self._limit // 4:  # it would drive out too much else
            return
        with suppress(OSError):
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            if not self._is_private():
                return
            # Not to outlast a loss of power: a file that is not whole is found out.
            with replacing(self._path(key), durable=False) as file:
                file.write(_FORMAT + _digest(key, packed))
                file.write(packed)
            self._make_room()

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, sha256(key.encode()).hexdigest())

    def _is_private(self) -> bool:
        """Whether nobody else can have written here: what is read may be run."""
        if os.name == "nt":  # the folder of a user is
            return True
        status = os.stat(self._folder)
        return status.st_uid == os.geteuid() and not status.st_mode & 0o022

    def _make_room(self) -> None:
        files = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(OSError):  # another process has removed it
                    status = entry.stat()
                    if is_left_over(entry):
                        os.remove(entry.path)
                    else:
                        files.append((status.st_mtime_ns, status.st_size, entry.path))
        total = sum([size for _, size, _ in files])
        if total <= self._limit:
            return
        for _, size, path in sorted(files):
            if total <= self._limit * _ROOM:
                return
            with suppress(OSError):
                os.remove(path)
            total -= size


def _digest(key: str, packed: bytes) -> bytes:
    return sha256(key.encode() + packed).digest()
