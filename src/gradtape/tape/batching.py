"""An op on batched arguments: by its batching rule, or else by a loop and a stack."""

from __future__ import annotations

from typing import Any

from ..core.op import Op
from ..core.tensor import Tensor
from ..ops.joining import stack


def apply_batched(op: Op, batched: set[str], tensors: list[Tensor], params: dict[str, Any]) -> Any:
    """`op` applied to each element along axis 0 of the arguments named in `batched`, stacked along axis 0."""
    if op.batch_rule is not None:
        result = op.batch_rule(batched, *tensors, **params)
        if result is not NotImplemented:
            return result
    names = op.names_of(tensors)
    size = next(x.shape[0] for name, x in zip(names, tensors, strict=True) if name in batched)
    results = [
        op.call(
            *(x[i] if name in batched else x for name, x in zip(names, tensors, strict=True)), **params
        )
        for i in range(size)
    ]
    if isinstance(results[0], tuple):
        return tuple(stack(column) for column in zip(*results, strict=True))
    return stack(results)
