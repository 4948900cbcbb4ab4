"""Jacobians: the backward pass over a batch of cotangents at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.backward import backward
from ..core.cotangent import dense
from ..core.tensor import Tensor
from ..ops.joining import concat
from ..ops.shape import reshape, transpose
from .batching import Batch

MEMORY_LIMIT = 256 * 2**20
"""Bytes that the largest cotangent of a chunk of rows may take."""


def pull_rows(
    records: list[Any], target: Tensor, rows: Any, sources: list[int], chunk: int | None
) -> list[Any]:
    """For each source the cotangents from `rows`, an array of cotangents of `target`, along axis 0.

    None for a source that the target does not depend on. The rows go through the batching rules of
    the ops together, as many at a time as the memory limit (or `chunk`) allows.
    """
    count = rows.shape[0]
    size = max(1, min(count, chunk or count, _rows_at_once(records, target)))
    passes = [
        _pull_chunk(records, target, rows[start : start + size], sources)
        for start in range(0, max(count, 1), size)
    ]
    columns = zip(*passes, strict=True)
    return [None if parts[0] is None else _joined(list(parts)) for parts in columns]


def _pull_chunk(records: list[Any], target: Tensor, rows: Any, sources: list[int]) -> list[Any]:
    with Batch(rows.shape[0]) as batch:
        seed = batch.of(Tensor(rows))
        found = backward(reversed(records), [(target._key, seed)], sources)
        return [None if g is None else batch.joined(dense(g)) for g in found]


def _joined(parts: list[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else concat(parts, 0)


def _rows_at_once(records: list[Any], target: Tensor) -> int:
    """How many rows fit into the memory limit, by the largest tensor that a rule will look at."""
    largest: int = max(1, target._array.nbytes)
    for record in records:
        for saved in record[3]:
            if isinstance(saved, Tensor):
                largest = max(largest, saved._array.nbytes)
    return MEMORY_LIMIT // largest


def jacobian_rows(target: Tensor) -> Any:
    """A cotangent for each element of `target`: 1 there, 0 elsewhere."""
    shape, size = target._array.shape, target._array.size
    return np.eye(size, dtype=target._array.dtype).reshape(size, *shape)


def shape_jacobian(rows: Tensor, target: Tensor, source: Any) -> Tensor:
    """The pulled rows in the shape of the Jacobian: that of the target, then that of the source."""
    return reshape(rows, (*target._array.shape, *source.shape))


def batch_jacobian_rows(target: Tensor) -> Any:
    """A cotangent for each place in an example: 1 at this place of every example, 0 elsewhere."""
    batch, *shape = target._array.shape
    size = math.prod(shape)
    one = np.eye(size, dtype=target._array.dtype).reshape(size, 1, *shape)
    return np.broadcast_to(one, (size, batch, *shape))


def shape_batch_jacobian(rows: Tensor, target: Tensor, source: Any) -> Tensor:
    """The pulled rows, [place in target, example, ...], as [example, target, source]."""
    order = (1, 0, *range(2, rows.ndim))
    return reshape(transpose(rows, order), (*target._array.shape, *source.shape[1:]))
