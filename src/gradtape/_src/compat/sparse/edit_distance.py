"""How many changes make one sequence of another."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from ...core.errors import DTypeError, ShapeError
from ...core.tensor import Tensor
from ...ops.declare.static import known
from .sparse_tensor import SparseTensor


def edit_distance(
    hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance"
) -> Tensor:
    """The Levenshtein distances of sequences, the last axis of sparse tensors, to the true ones.

    With `normalize` they are divided by the lengths of the true sequences; where one is empty, the
    distance is infinite, or 0 if the other is empty too.

    >>> of = tf.sparse.from_dense
    >>> edit_distance(of([[1, 2, 3]]), of([[1, 3]]), normalize=False).numpy()
    array([1.], dtype=float32)
    """
    op = "edit_distance"
    for value, which in ((hypothesis, "hypothesis"), (truth, "truth")):
        if not isinstance(value, SparseTensor):
            raise TypeError(f"{op}: `{which}` must be a SparseTensor, not {value!r:.100}.")
    if hypothesis.dtype is not truth.dtype:
        raise DTypeError(
            f"{op}: `hypothesis` is {hypothesis.dtype.name} and `truth` is {truth.dtype.name}."
        )
    shapes = [known(x.dense_shape, op, "dense_shape") for x in (hypothesis, truth)]
    if len(shapes[0]) != len(shapes[1]) or len(shapes[0]) < 2:
        raise ShapeError(
            f"{op}: both must have the same number of axes, two at least. Received shapes "
            f"{shapes[0].tolist()} and {shapes[1].tolist()}."
        )
    result = np.zeros(np.maximum(*shapes)[:-1], np.float32)
    ours, theirs = _sequences(hypothesis, op), _sequences(truth, op)
    for place in {*ours, *theirs}:
        a, b = ours.get(place, []), theirs.get(place, [])
        distance = float(_levenshtein(a, b))
        if normalize:
            distance = distance / len(b) if b else np.inf
        result[place] = distance
    return Tensor(result)


def _sequences(value: Any, op: str) -> dict[tuple[int, ...], list[Any]]:
    """The sequences that are not empty, by their places."""
    found: dict[tuple[int, ...], list[Any]] = defaultdict(list)
    indices, values = known(value.indices, op, "indices"), known(value.values, op, "values")
    for place, element in zip(indices[:, :-1].tolist(), values.tolist(), strict=True):
        found[tuple(place)].append(element)
    return found


def _levenshtein(a: list[Any], b: list[Any]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        corner, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (x != y))
    return row[-1]
