"""Whether functions compile at all, and who looks on while they run."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any

from ..core.tracing import functions
from ..tape.scopes import get_logger


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Let functions run as plain Python from here on: for debugging, with values to look at."""
    functions.eagerly = bool(run_eagerly)
    functions.compile = False  # the next call looks again


def functions_run_eagerly() -> bool:
    """Whether functions run as plain Python."""
    return functions.eagerly


def let_look_on(note: Callable[[Any], None] | None) -> None:
    """Call `note` with the trace of each function that is called from here on; None: no longer."""
    functions.looks_on = note
    functions.compile = False


def may_compile() -> bool:
    """Whether a function that is called may compile; to be asked if `functions.compile` is not."""
    if functions.jax is None:
        functions.jax = find_spec("jax") is not None
        if not functions.jax:
            get_logger().warning(
                "@function runs as plain Python, because JAX is not installed. To compile: "
                "pip install 'gradtape[xla]'."
            )
    compiles = functions.jax and not functions.eagerly
    if compiles:
        _import_compiler()
    functions.compile = compiles and functions.looks_on is None
    return compiles


@cache
def _import_compiler() -> None:
    """Import all that compiles, JAX with it."""
    with _making_what_stays():
        from . import concrete, control  # noqa: F401


@contextmanager
def _making_what_stays() -> Iterator[None]:
    """A block after which all there is counts as old to the collector of garbage.

    It would go through what JAX makes when it is imported again and again: 0.1 of the 0.5 s that
    the first call of a small function takes.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():  # else somebody has frozen what must stay so
            gc.freeze()
            gc.unfreeze()
        if collects:
            gc.enable()
