"""`op`: the declarator of any op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.dispatch import nary
from ..core.op import Op, Rule


def op(kernel: Callable[..., Any] | None = None, **properties: Any) -> Any:
    """Declare an op: the decorated function is its kernel, its rules follow with `@name.vjp("x")`.

    Properties: `nondiff` (names of arguments whose gradient has no meaning: None; or "all"), `zero`
    (arguments whose gradient is defined and zero), `dtypes` (that the op takes), `samples` (a
    function of a random generator giving the `(tensors, params)` pairs on which `check_op` tests
    the op), `reference` (a function on NumPy arrays that must give the same), `pattern` (which
    outputs depend on which inputs, for sparse Jacobians: see `core/pattern.py`; without it, all on
    all).
    """
    if kernel is None:
        return lambda function: op(function, **properties)
    declared = Op(kernel, **properties)
    for argument in declared.zero:
        declared.set_rule(argument, Rule(lambda g, saved, params: g * 0, {}))
    return public(declared, nary(declared))


def public(declared: Op, call: Any) -> Any:
    """The function that is called: it carries its declaration."""
    call.__name__ = call.__qualname__ = declared.kernel.__name__
    call.__module__ = declared.kernel.__module__
    call.__doc__ = declared.kernel.__doc__
    call.op = declared
    call.vjp, call.batch, call.spec = declared.vjp, declared.batch, declared.spec
    declared.call = call
    return call
