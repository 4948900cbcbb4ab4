"""Graph mode: `@function` and what belongs to it. JAX is imported at the first call."""

from typing import Any

from .api import Function as Function
from .api import function as function
from .api import functions_run_eagerly as functions_run_eagerly
from .api import run_functions_eagerly as run_functions_eagerly


def _verify(fn: Any, *args: Any, **kwargs: Any) -> Any:
    from .verify import verify

    return verify(fn, *args, **kwargs)


def _load(path: Any) -> Any:
    from .export import load

    return load(path)


function.verify = _verify  # type: ignore[attr-defined]
function.load = _load  # type: ignore[attr-defined]
