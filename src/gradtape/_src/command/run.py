"""Run a program as `python` would, with gradtape in the place of TensorFlow."""

from __future__ import annotations

import builtins
import linecache
import os
import runpy
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.machinery import BuiltinImporter, SourceFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any

from ..names.alias import install_as_tensorflow

# The frames between this module and the user's first line, by the names of their modules.
OURS = {__name__, "runpy", "importlib._bootstrap", "importlib._bootstrap_external"}


class NoScript(SystemExit):
    """There is no such script."""


def runner(kind: str | None) -> Callable[[str, Sequence[str]], None]:
    """What runs a program that is given with -c, with -m, or by its path."""
    return {"-c": run_code, "-m": run_module}.get(kind or "", run_script)


def run_script(script: str, args: Sequence[str]) -> None:
    """As `python script args`; the script `-` is read from standard input."""
    if script == "-":
        _prepare(["-", *args], "")
        code = compile(sys.stdin.buffer.read(), "<stdin>", "exec")
        return _run_main(code, __file__="<stdin>", __loader__=BuiltinImporter)
    path = os.path.abspath(script)
    loader = SourceFileLoader("__main__", path)
    try:
        source = loader.get_data(path)
    except OSError as error:
        reason = f"[Errno {error.errno}] {error.strerror}"
        print(f"gradtape: can't open file {path!r}: {reason}", file=sys.stderr)
        raise NoScript(2) from None
    _prepare([script, *args], os.path.dirname(os.path.realpath(script)))
    _run_main(loader.source_to_code(source, path), __file__=path, __loader__=loader)


def run_code(code: str, args: Sequence[str]) -> None:
    """As `python -c code args`."""
    _prepare(["-c", *args], "")
    if sys.version_info >= (3, 13):  # there tracebacks show the lines of such a program
        linecache.cache["<string>"] = (len(code), None, code.splitlines(keepends=True), "<string>")
    _run_main(compile(code, "<string>", "exec"), __loader__=BuiltinImporter)


def run_module(module: str, args: Sequence[str]) -> None:
    """As `python -m module args`."""
    _prepare(["-m", *args], os.getcwd())
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _run_main(code: CodeType, **attributes: Any) -> None:
    # Not runpy.run_path: it takes the module away at the end, and what is left to do at exit (a
    # thread, an atexit function that pickles) would not find it.
    main = sys.modules["__main__"] = ModuleType("__main__")
    vars(main).update(attributes, __builtins__=builtins)
    exec(code, vars(main))


def _prepare(argv: list[str], directory: str) -> None:
    sys.argv[:] = argv
    if not sys.flags.safe_path:
        sys.path[0] = directory
    sys.excepthook = partial(_show, sys.excepthook)
    install_as_tensorflow()


def _show(
    hook: Callable[..., Any],
    kind: type[BaseException],
    error: BaseException,
    traceback: TracebackType | None,
) -> None:
    """Print the traceback from the user's first line on, as if Python had run the script."""
    traceback = _below_this_module(traceback)
    hook(kind, error.with_traceback(traceback), traceback)


def _below_this_module(traceback: TracebackType | None) -> TracebackType | None:
    def module(t: TracebackType) -> str:
        return str(t.tb_frame.f_globals.get("__name__"))

    while traceback and module(traceback) != __name__:
        traceback = traceback.tb_next
    while traceback and module(traceback) in OURS:
        traceback = traceback.tb_next
    return traceback
