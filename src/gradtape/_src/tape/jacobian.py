"""Jacobians: the backward pass over a batch of cotangents at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.backward import backward
from ..core.cotangent import dense
from ..core.recorder import named
from ..core.tensor import Tensor, key_of, zeros_of
from ..core.tracing import current_graph
from ..ops.array.joining import concat
from ..ops.array.shape import _reshape, reshape, transpose
from ..ops.linalg.diagonal import _from_diagonals
from .batching import Batch
from .derivative import Derivative, ones_of, require_single, single_target, wants_zeros

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
        found = whole_jacobian([*records], tensor, keys, chunk)
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
        found = pull_rows([*records], key_of(tensor), batch_jacobian_rows(tensor), keys, chunk)
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


def whole_jacobian(
    records: list[Any], target: Tensor, sources: list[int], chunk: int | None
) -> list[Any]:
    """For each source the rows of the Jacobian of `target`, or None.

    Through elementwise ops and those that keep the order of elements, at the end of the
    computation, all rows go as one: row i is zero but for element i. An op that has `rows` makes of
    that one the cotangents of its argument. So of `tanh(v @ a)` nothing is left to pull, and no
    matrix product: for 1000 x 1000 that is 1 ms, not 30.
    """
    key: Any = target._key
    diagonal: Any = None  # that of the rows so far
    rest = records
    for place, record in enumerate(named(records), 1):
        if chunk is not None or key in sources or target._array.dtype in dtypes.COMPLEX:
            break
        if record.outputs != key:
            continue
        op, ((position, argument_key), *others) = record.op, record.inputs
        argument = op.argument_at(position)
        each_to_one = argument in op.diagonal or op.in_order
        pull = op.all_rows.get(argument) or (each_to_one and op.pulls[position])
        if others or not pull:
            break
        g = ones_of(target) if diagonal is None else diagonal
        found = pull(g, record.saved, record.params)
        if argument in op.all_rows and found is not None:
            return pull_rows(records[place:], argument_key, found, sources)
        if not isinstance(found, Tensor) or not _is_diagonal(found, target):
            break
        diagonal, key, rest = found, argument_key, records[place:]
    rows = jacobian_rows(target) if diagonal is None else _rows_of_diagonal(diagonal)
    return pull_rows(rest, key, rows, sources, chunk)


def _is_diagonal(found: Tensor, target: Tensor) -> bool:
    """Whether it has an element for each of the target: no sum went over them, no cast."""
    ours, theirs = found._array, target._array
    return bool(ours.size == theirs.size and ours.dtype == theirs.dtype)


def _rows_of_diagonal(diagonal: Tensor) -> Tensor:
    """For each element of `diagonal` a tensor like it that is zero elsewhere.

    Not by a product with ones: that writes twice as much, and makes NaN of 0 times Inf.
    """
    shape, size = diagonal._array.shape, diagonal._array.size
    flat = _reshape(diagonal, shape=(size,))
    square = _from_diagonals(flat, low=0, high=0, align="RIGHT_LEFT", shape=(size, size))
    rows: Tensor = _reshape(square, shape=(size, *shape))
    return rows


def pull_rows(
    records: list[Any], target: int, rows: Tensor, sources: list[int], chunk: int | None = None
) -> list[Any]:
    """For each source the cotangents from `rows`, cotangents of the tensor `target`, along axis 0.

    None for a source that the target does not depend on. `records` come last first, as the chain
    rule reads them. The rows go through the batching rules of the ops together, as many at a time
    as the memory limit (or `chunk`) allows.
    """
    count = rows._array.shape[0]
    size = max(1, min(count, chunk or count, _rows_at_once(records, rows)))
    if size >= count:
        return _pull_chunk(records, target, rows, sources)
    passes = [
        _pull_chunk(records, target, rows[start : start + size], sources)
        for start in range(0, count, size)
    ]
    return [None if rows[0] is None else concat(rows, 0) for rows in zip(*passes, strict=True)]


def _pull_chunk(records: list[Any], target: int, rows: Tensor, sources: list[int]) -> list[Any]:
    with Batch(rows._array.shape[0]) as batch:
        found = backward(records, [(target, batch.of(rows))], sources)
        return [None if g is None else batch.joined(dense(g)) for g in found]


def _rows_at_once(records: list[Any], rows: Tensor) -> int:
    """How many rows fit into the memory limit, by the largest tensor that a rule will look at."""
    largest: int = max(1, math.prod(rows._array.shape[1:]) * rows._array.dtype.itemsize)
    for record in named(records):
        for saved in record.saved:
            if isinstance(saved, Tensor):
                largest = max(largest, saved._array.nbytes)
    return MEMORY_LIMIT // largest


def jacobian_rows(target: Tensor) -> Tensor:
    """A cotangent for each element of `target`: 1 there, 0 elsewhere."""
    shape, size = target._array.shape, target._array.size
    return Tensor(np.eye(size, dtype=target._array.dtype).reshape(size, *shape))


def shape_jacobian(rows: Tensor, target: Tensor) -> Tensor:
    """The pulled rows in the shape of the Jacobian: that of the target, then that of the source."""
    return reshape(rows, (*target._array.shape, *rows._array.shape[1:]))


def batch_jacobian_rows(target: Tensor) -> Tensor:
    """A cotangent for each place in an example: 1 at this place of every example, 0 elsewhere."""
    batch, *shape = target._array.shape
    size = math.prod(shape)
    one = np.eye(size, dtype=target._array.dtype).reshape(size, 1, *shape)
    return Tensor(np.broadcast_to(one, (size, batch, *shape)))


def shape_batch_jacobian(rows: Tensor, target: Tensor) -> Tensor:
    """The pulled rows, [place in target, example, ...], as [example, target, source]."""
    order = (1, 0, *range(2, rows.ndim))
    return reshape(transpose(rows, order), (*target._array.shape, *rows._array.shape[2:]))
