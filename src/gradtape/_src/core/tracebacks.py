"""Tracebacks of the user's lines: the frames of gradtape, and of what it stands on, are cut out.

`shorten` cuts them out of an error where it leaves gradtape: in a handler around the whole of a
function that users call. There a bare `raise` has to follow, which takes the traceback as it is
then and adds no frame; and a `try` that nothing is raised in costs nothing. Where an error leaves
by a function without such a handler, the hooks that print an uncaught error do the same.

Frames of the user's code between two of ours stay: the function given to `Dataset.map`, say.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
"""The folder of gradtape: code in it is not the user's."""

_BENEATH = re.compile(
    r"[/\\](site|dist)-packages[/\\]"
    r"(cupy|flatbuffers|jax|jaxlib|malt|ml_dtypes|numpy|opt_einsum|scipy)[/\\]"
)
"""The files of the libraries that gradtape stands on."""

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_INSTALLED = re.compile(r"[/\\](site|dist)-packages[/\\]")
_STANDARD = os.path.join(os.path.dirname(os.__file__), "")
_COMMANDS = os.path.join(os.path.dirname(sys.executable), "")
"""Where the scripts of installed commands are, that of `gradtape run` for one."""
_PYTHONS = (_STANDARD, _COMMANDS, "<frozen ")


class _Settings:
    filtering = True


_settings = _Settings()


def enable_traceback_filtering() -> None:
    """Show the user's own lines in the tracebacks of errors. This is the default."""
    _settings.filtering = True


def disable_traceback_filtering() -> None:
    """Show the frames of gradtape, and of the libraries it calls, in the tracebacks of errors."""
    _settings.filtering = False


def is_traceback_filtering_enabled() -> bool:
    """Whether tracebacks show the user's own lines only."""
    return _settings.filtering


def is_beneath(file: str) -> bool:
    """Whether the code of a file is of the libraries that gradtape stands on, or of Python's."""
    if _INSTALLED.search(file):
        return _BENEATH.search(file) is not None
    return file.startswith(_PYTHONS)


def is_installed(file: str) -> bool:
    """Whether the code of a file is of any library that is installed, or of Python's own."""
    return _INSTALLED.search(file) is not None or file.startswith(_PYTHONS)


def shorten(error: BaseException) -> None:
    """Leave the user's frames in the traceback of `error`, and the user's errors behind it."""
    if not _settings.filtering:
        return
    behind: BaseException | None = error
    seen: set[int] = set()
    while behind is not None and id(behind) not in seen:
        seen.add(id(behind))
        behind.__traceback__ = _users_part(behind.__traceback__)
        behind = _leave_visible_behind(behind)


def border(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """A function that errors leave shortened: for those where 0.1 µs for the wrapper is nothing."""

    @wraps(function)
    def call(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            shorten(error)
            raise

    return call


def _users_part(traceback: TracebackType | None) -> TracebackType | None:
    """The entries of the user's code, and of the libraries that it called itself."""
    kept = []
    users, count = True, 0
    entry = traceback
    while entry is not None:
        file = entry.tb_frame.f_code.co_filename
        users = not file.startswith(PACKAGE) and (users or not is_beneath(file))
        if users:
            kept.append(entry)
        entry = entry.tb_next
        count += 1
    if len(kept) == count:
        return traceback
    result = None
    for entry in reversed(kept):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


def _leave_visible_behind(error: BaseException) -> BaseException | None:
    """The error that is shown before this one, once those that no user's code met are taken out."""
    behind = _shown_before(error)
    if behind is None or not _is_internal(behind):
        return behind
    while behind is not None and _is_internal(behind):
        behind = _shown_before(behind)
    error.__cause__ = None
    error.__context__ = behind
    error.__suppress_context__ = behind is None
    return behind


def _shown_before(error: BaseException) -> BaseException | None:
    if error.__cause__ is not None or error.__suppress_context__:
        return error.__cause__
    return error.__context__


def _is_internal(error: BaseException) -> bool:
    """Whether all frames that an error went through are gradtape's, or beneath it."""
    return error.__traceback__ is not None and _users_part(error.__traceback__) is None


def install_hooks(advise: Callable[[AttributeError], None]) -> None:
    """Let uncaught errors, of the program and of its threads, be shown shortened.

    `advise` is called with those about an attribute.
    """
    show, show_in_thread = sys.excepthook, threading.excepthook

    def shortened(kind: Any, error: Any, traceback: Any) -> None:
        error = error.with_traceback(traceback)
        if isinstance(error, AttributeError):
            advise(error)
        shorten(error)
        show(kind, error, error.__traceback__)

    def shortened_in_thread(args: Any, /) -> None:
        if args.exc_value is not None:
            shorten(args.exc_value)
            values = args.exc_type, args.exc_value, args.exc_value.__traceback__, args.thread
            args = threading.ExceptHookArgs(values)
        show_in_thread(args)

    sys.excepthook = shortened
    threading.excepthook = shortened_in_thread
