"""`op`: the declarator of any op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.dispatch import nary
from ...core.op import Op, Parameters
from ...core.tensor import zeros_of


def op(kernel: Callable[..., Any] | None = None, **properties: Any) -> Any:
    """Declare an op: the decorated function is its kernel, its rules follow with `@name.vjp("x")`.

    The properties are those in the table of `core.op.Op`.
    """
    if kernel is None:
        return lambda function: op(function, **properties)
    declared = Op(kernel, **properties)
    for argument in declared.zero:
        declared.vjp(argument)(_zeros_like(argument))
    return public(declared, nary(declared))


def _zeros_like(argument: str) -> Any:
    """The rule of an argument whose gradient is zero: it keeps the shape and dtype alone."""

    def rule(g, like):
        return zeros_of(like, beside=g)

    rule.parameters = Parameters(("g", argument), None, (), frozenset([argument]))
    return rule


def public(declared: Op, call: Any) -> Any:
    """The function that is called: it carries its declaration."""
    call.__name__ = call.__qualname__ = declared.kernel.__name__
    call.__module__ = declared.kernel.__module__
    call.__doc__ = declared.kernel.__doc__
    call.op = declared
    call.vjp, call.batch, call.spec = declared.vjp, declared.batch, declared.spec
    declared.call = call
    return call
