"""The chain rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .cotangent import add, dense
from .tensor import Tensor, zeros_of

Rules = Callable[[Any, Any, Any], Any]
"""`rules(op, inputs, outputs)[i](g, saved, params)` is what input `i` of a record gets from `g`."""


def backward(
    records: Iterable[Any], seeds: Any, sources: Any, rules: Rules | None = None
) -> list[Any]:
    """Cotangents of `sources` from `seeds`, pairs (target, its cotangent); tensors given as keys.

    A tape is a list in execution order. Read backwards, it meets every use of a tensor before the
    record that made it, so on reaching a record the cotangents of its outputs are complete: nothing
    to sort, nothing to count. `records` come in that order, last first. Rules are written in our
    own ops, so a tape that listens outside records this very loop: that is every higher derivative.

    What runs back need not be cotangents: `rules` may give others than the op's own pulls.
    """
    cotangents: dict[Any, Any] = {}
    look_up, take = cotangents.get, cotangents.pop
    wanted = set(sources)
    for target, g in seeds:
        cotangents[target] = add(cotangents[target], g) if target in cotangents else g
    for op, inputs, outputs, saved, params in records:
        if type(outputs) is int:
            g = look_up(outputs) if outputs in wanted else take(outputs, None)
            if g is None:
                continue  # the targets do not depend on this record
            if type(g) is not Tensor and not op.passes_slices:
                g = dense(g)
        else:
            g = [look_up(y) if y in wanted else take(y, None) for y in outputs]
            if all([each is None for each in g]):
                continue
            g = complete(op, g, saved[-1])
        pulls = op.pulls if rules is None else rules(op, inputs, outputs)
        for i, key in inputs:
            cotangent = pulls[i](g, saved, params)
            if cotangent is not None:
                earlier = look_up(key)
                cotangents[key] = cotangent if earlier is None else add(earlier, cotangent)
    return [look_up(source) for source in sources]


def complete(op: Any, gs: Iterable[Any], outputs: Any) -> tuple[Any, ...]:
    """The cotangents of several outputs, dense, with zeros for those that were not used."""
    gs = [None if g is None else dense(g) for g in gs]
    if op.fills_missing:
        known = next(g for g in gs if g is not None)
        gs = [
            zeros_of(y, beside=known) if g is None else g for g, y in zip(gs, outputs, strict=True)
        ]
    return tuple(gs)
