"""smart_cond: a branch that is chosen at once if its condition is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor, is_symbolic
from ...tape.control import cond
from ...tape.variable import Variable


def smart_cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """`true_fn()` or `false_fn()`: by `tf.cond`, unless the value of `pred` is known while tracing.

    A `pred` that is no tensor must be a bool, 0 or 1.
    """
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("smart_cond: `true_fn` and `false_fn` must be callable.")
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, true_fn, false_fn)
    return true_fn() if known else false_fn()


def smart_constant_value(pred: Any) -> bool | None:
    """The value of a condition, if it is known; None for a symbolic one, and for a variable."""
    if isinstance(pred, Variable):
        return None
    if isinstance(pred, Tensor):
        return None if is_symbolic(pred._array) else bool(pred)
    if isinstance(pred, bool) or pred in (0, 1):
        return bool(pred)
    raise TypeError(
        f"smart_cond: `pred` must be a tensor, a variable, a bool, 0 or 1, and is {pred!r:.100}."
    )
