"""`elementwise`: the declarator of ops that act on each element by itself, with broadcasting.

A family supplies what it implies. From one partial derivative for each argument come the gradient
rules (conjugated for complex numbers, summed back over broadcast axes), the batching rule, the spec
rule and the test samples; an op states only what is its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core import dtypes as dt
from ...core.dispatch import binary, nary, unary
from ...core.op import Keep, Op, Rule, parameters_of
from ...core.pattern import ELEMENTWISE
from ...core.spec import Spec, broadcast_shapes
from ...core.tensor import Tensor, zeros_of
from ..array.shape import insert_axes, unbroadcast
from ..math.conjugate import conj
from .op import public

if TYPE_CHECKING:
    from ...core.annotations import Elementwise

_FLOAT32 = np.dtype(np.float32)


def elementwise(*, dtypes: frozenset[Any] = dt.INEXACT, **declarations: Any) -> Elementwise:
    """Declare an elementwise op, with a rule for each argument under the argument's name:

    - a function without `g`: the partial derivative, from `out` and the arguments that it names;
    - a function of `g` and of what else it names: the cotangent itself, for where multiplying by
      the partial would be slower or less exact (such a rule conjugates by itself);
    - a number: a constant partial; 0 says "defined and zero";
    - nothing, or None: the gradient has no meaning.

    The properties are those in the table of `core.op.Op`, but `nondiff`, `zero` and `linear`, which
    the rules say. Where no argument has a gradient (a comparison), all are alike.
    """
    return lambda kernel: _declared(kernel, dtypes, declarations)


def _declared(
    kernel: Callable[..., Any], dtypes: frozenset[Any], declarations: dict[str, Any]
) -> Any:
    tensors = [name for name in parameters_of(kernel).positional if name != "xp"]
    rules = {name: declarations.pop(name, None) for name in tensors}
    nondiff = [name for name in tensors if rules[name] is None]
    declarations = {"pattern": ELEMENTWISE, "in_blocks": True, **declarations}
    if len(tensors) == 1:
        declarations["batch_axes"] = ()
    if len(nondiff) == len(tensors):
        declarations.setdefault("alike", "all")
    declared = Op(kernel, nondiff=nondiff, dtypes=dtypes, **declarations)
    for name, rule in rules.items():
        if rule is not None:
            declared.set_rule(name, _rule(declared, name, rule))
    if len(tensors) > 1:
        declared.batch(_batch(declared))
    declared.spec(_spec(declared))
    if declared.static or len(tensors) > 2 or 0 < len(nondiff) < len(tensors):
        return public(declared, nary(declared))
    return public(declared, unary(declared) if len(tensors) == 1 else binary(declared))


def _rule(declared: Op, name: str, rule: Any) -> Rule:
    """The Rule of one argument, from its partial, with broadcasting undone."""
    rule_of = None  # a rule of `g` and tensors alone
    if isinstance(rule, (int, float)):
        base = Rule(_CONSTANT.get(rule) or (lambda g, saved, params: g * rule), {})
    elif "g" in parameters_of(rule).positional:
        base = declared.make_rule(rule)
        rule_of = None if set(parameters_of(rule).names) & set(declared.static) else rule
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

    elif rule_of is not None and len(keeps) == 1:  # a product, say: spares a call, 5 % of a pull
        (needed,) = keeps

        def summed_back(g: Any, saved: Any, params: Any) -> Any:
            own = saved[slot]
            cotangent = rule_of(g, saved[needed])
            return cotangent if own is None else sum_back(cotangent, own)

    elif isinstance(rule, (int, float)):  # of what is summed there is less

        def summed_back(g: Any, saved: Any, params: Any) -> Any:
            own = saved[slot]
            return pull(g if own is None else sum_back(g, own), saved, params)

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
    0: lambda g, saved, params: zeros_of(g),
}


def _with_g(partial: Callable[..., Any]) -> Callable[..., Any]:
    """`partial` as a rule: with `g` as its first parameter, unused."""

    def rule(g, *values, **params):
        return partial(*values, **params)

    named = parameters_of(partial)
    rule.parameters = named._replace(positional=("g", *named.positional))
    return rule


def _spec(declared: Op) -> Callable[..., Spec]:
    def spec(*specs: Spec, **params: Any) -> Spec:
        shapes = {name: s.shape for name, s in zip(declared.arguments, specs, strict=True)}
        dtype = np.dtype(declared.result(specs[-1].dtype))
        return Spec(broadcast_shapes(declared.name, **shapes), dtype)

    return spec


def _batch(declared: Op) -> Callable[..., Any]:
    def batch(batched: set[str], *tensors: Any, **params: Any) -> Any:
        """Line the ranks up behind the batch axis; broadcasting does the rest."""
        named = list(zip(declared.arguments, tensors, strict=True))
        rank = max(x.ndim - (name in batched) for name, x in named)
        aligned = [
            insert_axes(x, rank - (x.ndim - 1), at=1) if name in batched else x for name, x in named
        ]
        return declared.call(*aligned, **params)

    return batch
