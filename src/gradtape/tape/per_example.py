"""Per-example gradients: what each example contributes to the gradient of a parameter, in one pass.

Going back through the tape, a tensor with a row for each example has an ordinary cotangent, whose
row i belongs to example i. Where a parameter meets such a tensor, the op's rule would sum over the
examples; there it is run for each example by itself, on its row, through the batching rules.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.backward import complete
from ..core.cotangent import add, dense
from ..core.spec import Spec
from ..core.tensor import Tensor
from ..ops.shape import reshape
from .batching import Batch


def pull_examples(records: list[Any], losses: Tensor, sources: list[int]) -> list[Tensor | None]:
    """For each source the gradients of the losses, along a new axis 0; None if unconnected."""
    count = losses._array.shape[0]
    by_example = _tensors_with_examples(records, count, set(sources))
    cotangents: dict[int, Any] = {losses._key: Tensor(np.ones(count, losses._array.dtype))}  # type: ignore[dict-item]
    wanted = set(sources)
    with Batch(count) as batch:
        for op, inputs, outputs, saved, params in reversed(records):
            keys = (outputs,) if type(outputs) is int else outputs
            gs = [cotangents.get(y) if y in wanted else cotangents.pop(y, None) for y in keys]
            if all(g is None for g in gs):
                continue
            g = dense(gs[0]) if type(outputs) is int else complete(op, gs, saved[-1])
            split = keys[0] in by_example
            for i, key in inputs:
                if split and key not in by_example:
                    row_g, row_saved = _rows(batch, g, count), list(saved)
                    for slot, value in enumerate(saved):
                        row_saved[slot] = value if slot == i else _rows(batch, value, count)
                    cotangent = op.pulls[i](row_g, tuple(row_saved), params)
                else:
                    cotangent = op.pulls[i](g, saved, params)
                if cotangent is not None:
                    earlier = cotangents.get(key)
                    cotangents[key] = cotangent if earlier is None else add(earlier, cotangent)
        found = [cotangents.get(source) for source in sources]
        return [None if g is None else batch.joined(dense(g)) for g in found]


def _tensors_with_examples(records: list[Any], count: int, sources: set[int]) -> set[int]:
    """The keys of the tensors that have a row for each example.

    What is computed from sources alone has none. What else is computed from a tensor of `count`
    rows, recorded or constant, has.
    """
    found: set[int] = set()
    for _, inputs, outputs, saved, _ in records:
        tracked = [key for _, key in inputs]
        places = {i for i, _ in inputs}
        constants = [s for slot, s in enumerate(saved[:-1]) if slot not in places]
        if any(key in found for key in tracked) or any(_has_rows(s, count) for s in constants):
            found.update((outputs,) if type(outputs) is int else outputs)
    return found - sources


def _has_rows(value: Any, count: int) -> bool:
    if isinstance(value, Tensor):
        return bool(value._array.shape) and value._array.shape[0] == count
    return (
        isinstance(value, tuple)
        and not isinstance(value, Spec)
        and any(_has_rows(v, count) for v in value)
    )


def _rows(batch: Batch, value: Any, count: int) -> Any:
    """`value` as an example sees it: its row of a tensor of `count` rows, all of others."""
    if isinstance(value, Spec):
        return Spec((1, *value.shape[1:]), value.dtype) if value.shape[:1] == (count,) else value
    if isinstance(value, tuple):
        return tuple(_rows(batch, v, count) for v in value)
    if _has_rows(value, count):
        shape = value._array.shape
        return batch.of(reshape(value, (count, 1, *shape[1:])))
    return value
