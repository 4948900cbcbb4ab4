"""Jacobians: the backward pass over a batch of cotangents at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..core.backward import backward
from ..core.cotangent import dense
from ..core.recorder import named
from ..core.tensor import Tensor, zeros_of
from ..core.tracing import current_graph
from ..ops.array.joining import concat
from ..ops.array.shape import reshape, transpose
from .batching import Batch
from .derivative import Derivative, require_single, single_target, wants_zeros

MEMORY_LIMIT = 256 * 2**20
"""Bytes that the largest cotangent of a chunk of rows may take."""


def jacobian(
    target: Any, unconnected_gradients: Any, *at_once: Any
) -> tuple[Derivative, Callable[[Any], Tensor] | None]:
    """The Jacobian of `target`, and zeros for unconnected sources; `at_once`: see rows_together."""
    zeros = wants_zeros(unconnected_gradients)
    chunk = rows_together("jacobian", *at_once)
    tensor = single_target(target, "jacobian")
    shape = () if tensor is None else tensor._array.shape

    def pull(records: Iterable[Any], keys: list[int]) -> list[Any]:
        if tensor is None:
            return [None] * len(keys)
        found = pull_rows([*records], tensor, jacobian_rows(tensor), keys, chunk)
        return [None if rows is None else shape_jacobian(rows, tensor) for rows in found]

    return pull, (lambda source: zeros_of(source, (*shape, *source.shape))) if zeros else None


def batch_jacobian(
    target: Any, source: Any, unconnected_gradients: Any, *at_once: Any
) -> tuple[Derivative, Callable[[Any], Tensor]]:
    """The Jacobian of each example, and zeros for an unconnected source."""
    wants_zeros(unconnected_gradients)  # an unconnected source gets them in any case
    chunk = rows_together("batch_jacobian", *at_once)
    tensor = single_target(target, "batch_jacobian")
    source = require_single(source, "source", "batch_jacobian")
    if tensor is None:
        raise TypeError("batch_jacobian: `target` must be floating or complex.")
    if tensor.ndim < 2 or source.ndim < 2:
        raise ValueError(
            "batch_jacobian: target and source need rank 2 or more, the first axis being the "
            f"examples. Received shapes {tensor.shape} and {source.shape}."
        )
    if tensor.shape[0] != source.shape[0]:
        raise ValueError(
            "batch_jacobian: target and source must have the same first dimension, the number of "
            f"examples. Received shapes {tensor.shape} and {source.shape}."
        )

    def pull(records: Iterable[Any], keys: list[int]) -> list[Any]:
        found = pull_rows([*records], tensor, batch_jacobian_rows(tensor), keys, chunk)
        return [None if rows is None else shape_batch_jacobian(rows, tensor) for rows in found]

    return pull, lambda source: zeros_of(source, (*tensor._array.shape, *source.shape[1:]))


def rows_together(
    name: str, persistent: bool, parallel_iterations: int | None, vectorised: bool
) -> int | None:
    """How many rows of a Jacobian to compute at once; None for as many as fit."""
    if not vectorised:
        if not persistent and current_graph() is None:
            raise RuntimeError(
                f"{name}: experimental_use_pfor=False asks the tape once for each row, which "
                "takes a persistent one: tf.GradientTape(persistent=True)."
            )
        return 1
    if parallel_iterations is None:
        return None
    if not persistent or parallel_iterations < 2:
        kind = RuntimeError if name == "batch_jacobian" and not persistent else ValueError
        raise kind(
            f"{name}: `parallel_iterations` limits how many rows are computed at once: it must "
            f"be 2 or more, on a persistent tape, and is {parallel_iterations}."
        )
    return parallel_iterations


def pull_rows(
    records: list[Any], target: Tensor, rows: Any, sources: list[int], chunk: int | None
) -> list[Any]:
    """For each source the cotangents from `rows`, an array of cotangents of `target`, along axis 0.

    None for a source that the target does not depend on. `records` come last first, as the chain
    rule reads them. The rows go through the batching rules of the ops together, as many at a time
    as the memory limit (or `chunk`) allows.
    """
    count = rows.shape[0]
    size = max(1, min(count, chunk or count, _rows_at_once(records, target)))
    passes = [
        _pull_chunk(records, target, rows[start : start + size], sources)
        for start in range(0, max(count, 1), size)
    ]
    if len(passes) == 1:
        return passes[0]
    return [None if rows[0] is None else concat(rows, 0) for rows in zip(*passes, strict=True)]


def _pull_chunk(records: list[Any], target: Tensor, rows: Any, sources: list[int]) -> list[Any]:
    with Batch(rows.shape[0]) as batch:
        seed = batch.of(Tensor(rows))
        found = backward(records, [(target._key, seed)], sources)
        return [None if g is None else batch.joined(dense(g)) for g in found]


def _rows_at_once(records: list[Any], target: Tensor) -> int:
    """How many rows fit into the memory limit, by the largest tensor that a rule will look at."""
    largest: int = max(1, target._array.nbytes)
    for record in named(records):
        for saved in record.saved:
            if isinstance(saved, Tensor):
                largest = max(largest, saved._array.nbytes)
    return MEMORY_LIMIT // largest


def jacobian_rows(target: Tensor) -> Any:
    """A cotangent for each element of `target`: 1 there, 0 elsewhere."""
    shape, size = target._array.shape, target._array.size
    return np.eye(size, dtype=target._array.dtype).reshape(size, *shape)


def shape_jacobian(rows: Tensor, target: Tensor) -> Tensor:
    """The pulled rows in the shape of the Jacobian: that of the target, then that of the source."""
    return reshape(rows, (*target._array.shape, *rows._array.shape[1:]))


def batch_jacobian_rows(target: Tensor) -> Any:
    """A cotangent for each place in an example: 1 at this place of every example, 0 elsewhere."""
    batch, *shape = target._array.shape
    size = math.prod(shape)
    one = np.eye(size, dtype=target._array.dtype).reshape(size, 1, *shape)
    return np.broadcast_to(one, (size, batch, *shape))


def shape_batch_jacobian(rows: Tensor, target: Tensor) -> Tensor:
    """The pulled rows, [place in target, example, ...], as [example, target, source]."""
    order = (1, 0, *range(2, rows.ndim))
    return reshape(transpose(rows, order), (*target._array.shape, *rows._array.shape[2:]))
