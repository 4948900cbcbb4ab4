"""Whether functions compile at all, and who looks on while they run."""

from __future__ import annotations

from collections.abc import Callable
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
    functions.compile = compiles and functions.looks_on is None
    return compiles
