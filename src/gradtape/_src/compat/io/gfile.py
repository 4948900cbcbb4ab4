"""Files by TensorFlow's functions: those of this machine, with TensorFlow's errors."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

from ...core.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    UnimplementedError,
    UnknownError,
)
from ...train.data.files import matching

P = ParamSpec("P")
R = TypeVar("R")

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_ERRORS: dict[int, type[OpError]] = {
    errno.ENOENT: NotFoundError, errno.ENOTDIR: FailedPreconditionError,
    errno.EEXIST: AlreadyExistsError, errno.EACCES: PermissionDeniedError,
    errno.EPERM: PermissionDeniedError, errno.EISDIR: FailedPreconditionError,
    errno.ENOTEMPTY: FailedPreconditionError,
}  # fmt: skip


def path_of(path: Any, op: str) -> str:
    """The path on this machine that a user gave, as text, bytes, a Path or a tensor."""
    text = path.numpy() if hasattr(path, "numpy") else path
    text = os.fspath(text)
    text = text.decode() if isinstance(text, bytes) else str(text)
    scheme = _SCHEME.match(text)
    if scheme is None:
        return text
    if scheme[1] != "file":
        raise UnimplementedError(
            f"{op}: file system scheme {scheme[1]!r} not implemented (file: {text!r}). Only files "
            "of this machine are there: copy it, or mount the file system."
        )
    return text[scheme.end() :]


@contextmanager
def tensorflow_errors(op: str) -> Iterator[None]:
    """A block in which what the operating system refuses becomes one of TensorFlow's errors."""
    try:
        yield
    except OSError as error:
        if isinstance(error, OpError):
            raise
        kind = _ERRORS.get(error.errno or 0, UnknownError)
        raise kind(f"{op}: {error.filename}; {error.strerror}") from error


def _speaking(function: Callable[P, R]) -> Callable[P, R]:
    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with tensorflow_errors(function.__name__):
            return function(*args, **kwargs)

    return call


def exists(path: Any) -> bool:
    """Whether there is such a file or folder."""
    return os.path.exists(path_of(path, "exists"))


def isdir(path: Any) -> bool:
    """Whether there is such a folder."""
    return os.path.isdir(path_of(path, "isdir"))


@_speaking
def listdir(path: Any) -> list[str]:
    """The names in a folder."""
    folder = path_of(path, "listdir")
    if not os.path.isdir(folder):
        raise NotFoundError(f"listdir: could not find the folder {folder}.")
    return os.listdir(folder)


def glob(pattern: Any) -> list[str]:
    """The paths that match a pattern, or one of several. `*` and `?` do not match a slash."""
    if isinstance(pattern, (list, tuple)):
        return [path for each in pattern for path in glob(each)]
    return matching(path_of(pattern, "glob"))


@_speaking
def mkdir(path: Any) -> None:
    """Make a folder; the one that is to hold it must be there."""
    folder = path_of(path, "mkdir")
    if not os.path.isdir(folder):
        os.mkdir(folder)


@_speaking
def makedirs(path: Any) -> None:
    """Make a folder, and those that are to hold it."""
    os.makedirs(path_of(path, "makedirs"), exist_ok=True)


@_speaking
def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file; one that is there is replaced only with `overwrite`."""
    source, target = path_of(src, "copy"), path_of(dst, "copy")
    _check_free(target, overwrite, "copy")
    shutil.copyfile(source, target)


@_speaking
def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Give a file or folder another path; a file that is there is replaced with `overwrite`."""
    source, target = path_of(src, "rename"), path_of(dst, "rename")
    _check_free(target, overwrite, "rename")
    os.replace(source, target)


def _check_free(path: str, overwrite: bool, op: str) -> None:
    if os.path.exists(path) and not overwrite:
        raise AlreadyExistsError(f"{op}: {path} already exists. Pass overwrite=True to replace it.")


@_speaking
def remove(path: Any) -> None:
    """Delete a file."""
    file = path_of(path, "remove")
    if os.path.isdir(file):
        raise FailedPreconditionError(f"remove: {file} is a folder. rmtree deletes folders.")
    os.remove(file)


@_speaking
def rmtree(path: Any) -> None:
    """Delete a folder with all that is in it."""
    folder = path_of(path, "rmtree")
    if os.path.isdir(folder):
        shutil.rmtree(folder)
    else:
        os.remove(folder)


def walk(
    top: Any, topdown: bool = True, onerror: Callable[[Any], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """The folders below `top`, each with the names of folders and of files in it."""
    yield from os.walk(path_of(top, "walk"), topdown, onerror)


class FileStatistics(NamedTuple):
    """What is known of a file."""

    length: int
    mtime_nsec: int
    is_directory: bool


@_speaking
def stat(path: Any) -> FileStatistics:
    """Length, time of the last change, and whether it is a folder."""
    file = path_of(path, "stat")
    found = os.stat(file)
    return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(file))


def join(path: Any, *paths: Any) -> str:
    """Parts of a path joined; an absolute one begins anew."""
    parts = [os.fspath(p) for p in (path, *paths)]
    first, *rest = [p.decode() if isinstance(p, bytes) else str(p) for p in parts]
    if _SCHEME.match(first) is None:
        return os.path.join(first, *rest)
    for part in rest:
        absolute = part.startswith("/")
        first = part if absolute else f"{first.rstrip('/')}/{part}"
    return first


def get_registered_schemes() -> list[str]:
    """The beginnings of paths that are known: none, and `file://`."""
    return ["", "file"]


class GFile:
    """A file. Opened when it is first read or written, `with` or without; see Python's `open`.

    In a text mode positions and sizes count bytes, as in TensorFlow.
    """

    _MODES = ("r", "w", "a", "r+", "w+", "a+")

    def __init__(self, name: Any, mode: str = "r") -> None:
        self._name = name
        self._mode = mode
        self._plain = mode.replace("b", "")
        if self._plain not in self._MODES:
            raise InvalidArgumentError(
                f"GFile: `mode` must be one of {', '.join(self._MODES)}, or with a b, not {mode!r}."
            )
        self._file: Any = None

    @property
    def name(self) -> Any:
        return self._name

    @property
    def mode(self) -> str:
        return self._mode

    def _opened(self, op: str) -> Any:
        if self._file is None:
            with tensorflow_errors(op):
                path = path_of(self._name, op)
                self._file = open(path, f"{self._plain}b")  # noqa: SIM115 - `close` closes it
        return self._file

    def _reading(self, op: str) -> Any:
        if self._plain in ("w", "a"):
            raise PermissionDeniedError(f"{op}: {self._name} is not open for reading.")
        return self._opened(op)

    def _as_read(self, data: bytes) -> Any:
        return data if "b" in self._mode else data.decode()

    def read(self, n: int = -1) -> Any:
        """The next `n` bytes, or all that follow."""
        file = self._reading("read")
        with tensorflow_errors("read"):
            return self._as_read(file.read(n))

    def readline(self) -> Any:
        """The next line with its end; empty at the end of the file."""
        return self._as_read(self._reading("readline").readline())

    def readlines(self) -> list[Any]:
        """The lines that follow."""
        return list(self)

    def write(self, file_content: Any) -> None:
        """Write text or bytes."""
        if self._plain == "r":
            raise PermissionDeniedError(f"write: {self._name} is not open for writing.")
        data = file_content.encode() if isinstance(file_content, str) else bytes(file_content)
        file = self._opened("write")
        with tensorflow_errors("write"):
            file.write(data)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Go to a place: from the start, from here (1) or from the end (2)."""
        place = position if offset is None else offset
        if place is None:
            raise TypeError("seek: `offset` is missing.")
        self._reading("seek").seek(place, whence)

    def tell(self) -> int:
        """The place in the file, in bytes."""
        return int(self._opened("tell").tell())

    def size(self) -> int:
        """The length of the file in bytes."""
        self.flush()
        return stat(self._name).length

    def seekable(self) -> bool:
        return True

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def next(self) -> Any:
        """The next line."""
        return self.__next__()

    def __iter__(self) -> GFile:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __enter__(self) -> GFile:
        if self._plain != "r":
            self._opened("GFile")
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __del__(self) -> None:
        file = getattr(self, "_file", None)
        if file is not None:
            file.close()
