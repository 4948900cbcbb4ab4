"""`elementwise`: the declarator of ops that act on each element by itself, with broadcasting.

A family supplies what it implies. From one partial derivative for each argument come the gradient
rules (conjugated for complex numbers, summed back over broadcast axes), the batching rule, the spec
rule and the test samples; an op states only what is its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes as dt
from ..core.dispatch import binary, nary, unary
from ..core.op import Keep, Op, Rule, parameters_of
from ..core.pattern import ELEMENTWISE
from ..core.spec import Spec, broadcast_shapes
from ..core.tensor import Tensor
from ._declare import op, public
from ._static import to_tensor
from .shape import insert_axes, unbroadcast

_FLOAT32 = np.dtype(np.float32)


def elementwise(
    kernel: Callable[..., Any] | None = None,
    *,
    dtypes: frozenset[Any] = dt.INEXACT,
    **declarations: Any,
) -> Any:
    """Declare an elementwise op, with a rule for each argument under the argument's name:

    - a function without `g`: the partial derivative, from `out` and the arguments that it names;
    - a function of `g` and of what else it names: the cotangent itself, for where multiplying by
      the partial would be slower or less exact (such a rule conjugates by itself);
    - a number: a constant partial; 0 says "defined and zero";
    - nothing, or None: the gradient has no meaning.

    `domain` says from which interval the test inputs of an argument come. `builtin` is a built-in
    function that does what the kernel does on every engine: it saves the ops behind `+ - * /` the
    0.1 µs of a Python call. The other properties are those of `op`.
    """
    if kernel is None:
        return lambda function: elementwise(function, dtypes=dtypes, **declarations)
    tensors = [name for name in parameters_of(kernel).positional if name != "xp"]
    rules = {name: declarations.pop(name, None) for name in tensors}
    nondiff = [name for name in tensors if rules[name] is None]
    declarations.setdefault("pattern", ELEMENTWISE)
    declared = Op(kernel, nondiff=nondiff, dtypes=dtypes, **declarations)
    if len(nondiff) == len(tensors):
        declared.alike = tuple(range(len(tensors)))  # comparisons: no gradient, but one dtype
    for name, rule in rules.items():
        if rule is not None:
            declared.set_rule(name, _rule(declared, name, rule))
    declared.batch_rule = _batch(declared)
    declared.spec_rule = _spec(declared)
    if declared.static or len(tensors) > 2 or 0 < len(nondiff) < len(tensors):
        return public(declared, nary(declared))
    return public(declared, unary(declared) if len(tensors) == 1 else binary(declared))


@op(
    pattern=ELEMENTWISE,
    linear="x",
    samples=lambda r: [([r.normal(size=3) + 1j * r.normal(size=3)], {})],
)
def _conj(xp, x):
    """The complex conjugate of each element."""
    return xp.conj(x)


@_conj.vjp("x")
def _conj_vjp(g):
    return conj(g)


@_conj.batch
def _conj_batch(batched, x):
    return _conj(x)


def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugate of `x`; `x` itself if it is real."""
    if type(x) is not Tensor:
        x = to_tensor(x, "conj")
    dtype = x._array.dtype
    return x if dtype is _FLOAT32 or dtype not in dt.COMPLEX else _conj(x)


def _rule(declared: Op, name: str, rule: Any) -> Rule:
    """The Rule of one argument, from its partial, with broadcasting undone."""
    if isinstance(rule, (int, float)):
        base = Rule(_CONSTANT.get(rule) or (lambda g, saved, params: g * rule), {})
    elif "g" in parameters_of(rule).positional:
        base = declared.make_rule(rule)
    else:
        partial, keeps = declared.make_rule(_with_g(rule))
        base = Rule(lambda g, saved, params: g * conj(partial(g, saved, params)), keeps)
    declared.diagonal[name] = base.pull
    if len(declared.arguments) == 1:
        return base
    slot = declared.arguments.index(name)
    pull, keeps = base
    if rule == 1:  # `add` and its like: worth a rule without the inner call

        def summed_back(g: Any, saved: Any, params: Any) -> Any:
            own = saved[slot]
            return g if own is None else sum_back(g, own)

    else:

        def summed_back(g: Any, saved: Any, params: Any) -> Any:
            own = saved[slot]
            cotangent = pull(g, saved, params)
            return cotangent if own is None else sum_back(cotangent, own)

    return Rule(summed_back, {slot: Keep.SPEC_IF_BROADCAST} | keeps)


def sum_back(cotangent: Tensor, own: Tensor | Spec) -> Tensor:
    """`cotangent` summed over the axes along which `own` was broadcast."""
    shape = own._array.shape if type(own) is Tensor else own.shape
    return (
        cotangent if cotangent._array.shape == shape else unbroadcast(cotangent, shape=tuple(shape))
    )


_CONSTANT: dict[Any, Callable[..., Any]] = {
    1: lambda g, saved, params: g,
    -1: lambda g, saved, params: -g,
    0: lambda g, saved, params: Tensor(np.zeros(g._array.shape, g._array.dtype)),
}


def _with_g(partial: Callable[..., Any]) -> Callable[..., Any]:
    """`partial` as a rule: with `g` as its first parameter, unused."""

    def rule(g, *values, **params):  # type: ignore[no-untyped-def]
        return partial(*values, **params)

    named = parameters_of(partial)
    rule.parameters = named._replace(positional=("g", *named.positional))  # type: ignore[attr-defined]
    return rule


def _spec(declared: Op) -> Callable[..., Spec]:
    def spec(*specs: Spec, **params: Any) -> Spec:
        shapes = {name: s.shape for name, s in zip(declared.arguments, specs, strict=True)}
        dtype = np.dtype(declared.result(specs[-1].dtype))
        return Spec(broadcast_shapes(declared.name, **shapes), dtype)

    return spec


def _batch(declared: Op) -> Callable[..., Any]:
    if len(declared.arguments) == 1:
        return lambda batched, x, **params: declared.call(x, **params)

    def batch(batched: set[str], *tensors: Any, **params: Any) -> Any:
        """Line the ranks up behind the batch axis; broadcasting does the rest."""
        named = list(zip(declared.arguments, tensors, strict=True))
        rank = max(x.ndim - (name in batched) for name, x in named)
        aligned = [
            insert_axes(x, rank - (x.ndim - 1), at=1) if name in batched else x for name, x in named
        ]
        return declared.call(*aligned, **params)

    return batch
