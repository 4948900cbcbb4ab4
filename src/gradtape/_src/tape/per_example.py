"""Per-example gradients: what each example contributes to the gradient of a parameter, in one pass.

Going back through the tape, a tensor with a row for each example has an ordinary cotangent, whose
row i belongs to example i. Where a parameter meets such a tensor, the op's rule would sum over the
examples; there it is run for each example by itself, on its row, through the batching rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from ..core.backward import Rules, backward
from ..core.cotangent import dense
from ..core.op import Op
from ..core.recorder import named
from ..core.spec import Spec
from ..core.tensor import Tensor
from ..ops.array.shape import reshape
from .batching import Batch
from .derivative import Derivative, ones_of, single_target


def per_example_gradient(losses: Any) -> Derivative:
    """The gradients of each of the losses, along a new axis 0."""
    tensor = single_target(losses, "per_example_gradient", "losses")
    if tensor is None or tensor.ndim != 1:
        raise ValueError(
            "per_example_gradient: `losses` must be a floating tensor of rank 1, a loss for "
            "each example."
        )
    seeds, count = [(tensor._key, ones_of(tensor))], len(tensor)

    def pull(records: Iterable[Any], keys: list[int]) -> list[Any]:
        records = [*records]
        with Batch(count) as batch:
            rules = _rules_by_example(batch, _tensors_with_examples(records, count, set(keys)))
            found = backward(records, seeds, keys, rules)
            return [None if g is None else batch.joined(dense(g)) for g in found]

    return pull


def _rules_by_example(batch: Batch, with_examples: set[int]) -> Rules:
    """The op's own rules, except from a tensor with a row per example to one without.

    There, example by example.
    """

    def rules(op: Op, inputs: Any, outputs: Any) -> Any:
        pulls = op.pulls
        if (outputs if type(outputs) is int else outputs[0]) not in with_examples:
            return pulls
        return {
            i: pulls[i] if key in with_examples else partial(_pull_each, batch, op.pulls[i], i)
            for i, key in inputs
        }

    return rules


def _pull_each(batch: Batch, pull: Any, position: int, g: Any, saved: Any, params: Any) -> Any:
    """What each example's row of `g` gives for an input that has no rows."""
    rows = [s if i == position else _rows(batch, s) for i, s in enumerate(saved)]
    return pull(_rows(batch, dense(g)), tuple(rows), params)


def _tensors_with_examples(records: list[Any], count: int, sources: set[int]) -> set[int]:
    """The keys of the tensors that have a row for each example.

    What is computed from sources alone has none. What else is computed from a tensor of `count`
    rows, recorded or constant, has.
    """
    found: set[int] = set()
    for record in named(reversed(records)):
        keys = dict(record.inputs)
        if not found.isdisjoint(keys.values()) or any(
            _has_rows(s, count) for i, s in enumerate(record.saved[:-1]) if i not in keys
        ):
            found.update(record.output_keys)
    return found - sources


def _has_rows(value: Any, count: int) -> bool:
    if isinstance(value, Tensor):
        return bool(value._array.shape[:1] == (count,))
    several = isinstance(value, tuple) and not isinstance(value, Spec)
    return several and any(_has_rows(v, count) for v in value)


def _rows(batch: Batch, value: Any) -> Any:
    """What an example sees of `value`: its row, or all of it if there is no row for each."""
    count = batch.size
    if isinstance(value, Spec):
        return Spec((1, *value.shape[1:]), value.dtype) if value.shape[:1] == (count,) else value
    if isinstance(value, tuple):
        return tuple([_rows(batch, v) for v in value])
    if _has_rows(value, count):
        shape = value._array.shape
        return batch.of(reshape(value, (count, 1, *shape[1:])))
    return value
