"""Run a script or a module as `python` would, with gradtape in the place of TensorFlow."""

from __future__ import annotations

import builtins
import os
import runpy
import sys
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from types import ModuleType, TracebackType

from gradtape.alias import install_as_tensorflow

# The frames between this module and the user's first line, by the names of their modules.
OURS = {__name__, "runpy", "importlib._bootstrap", "importlib._bootstrap_external"}


def run_script(script: str, args: Sequence[str]) -> None:
    """As `python script args`."""
    path = os.path.abspath(script)
    loader = SourceFileLoader("__main__", path)
    try:
        source = loader.get_data(path)
    except OSError as error:
        reason = f"[Errno {error.errno}] {error.strerror}"
        print(f"gradtape: can't open file {path!r}: {reason}", file=sys.stderr)
        raise SystemExit(2) from None
    _prepare([script, *args], os.path.dirname(os.path.realpath(script)))

    main = ModuleType("__main__")
    main.__file__ = path
    main.__loader__ = loader
    vars(main)["__builtins__"] = builtins
    # Not runpy.run_path: it takes the module away at the end, and what is left to do at exit (a
    # thread, an atexit function that pickles) would not find it.
    sys.modules["__main__"] = main
    exec(loader.source_to_code(source, path), vars(main))


def run_module(module: str, args: Sequence[str]) -> None:
    """As `python -m module args`."""
    _prepare(["-m", *args], os.getcwd())
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _prepare(argv: list[str], directory: str) -> None:
    sys.argv[:] = argv
    if not sys.flags.safe_path:
        sys.path[0] = directory
    sys.excepthook = _show
    install_as_tensorflow()


def _show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Print the traceback from the user's first line on, as if Python had run the script."""
    traceback = _below_this_module(traceback)
    sys.__excepthook__(kind, error.with_traceback(traceback), traceback)


def _below_this_module(traceback: TracebackType | None) -> TracebackType | None:
    def module(t: TracebackType) -> str:
        return str(t.tb_frame.f_globals.get("__name__"))

    while traceback and module(traceback) != __name__:
        traceback = traceback.tb_next
    while traceback and module(traceback) in OURS:
        traceback = traceback.tb_next
    return traceback
