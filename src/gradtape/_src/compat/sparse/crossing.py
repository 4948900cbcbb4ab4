"""Crosses of features: every combination of what the columns of an example hold."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from ...core.errors import InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ...ops.array.conversion import as_string
from ...ops.declare.static import known, static_int
from ..strings.hashing import fingerprint64
from .sparse_tensor import SparseTensor, known_indices, sizes_of

_DEFAULT_HASH_KEY = 0xDECAFCAFFE


def cross(inputs: Any, name: str | None = None, separator: Any = None) -> SparseTensor:
    """All combinations of the entries of each example, as text joined by `separator` ("_X_").

    `inputs` are matrices with a row for each example: sparse ones, then dense ones.

    >>> cross([tf.constant([["a", "b"]]), tf.constant([[1, 2]])]).values.numpy().tolist()
    [b'a_X_1', b'a_X_2', b'b_X_1', b'b_X_2']
    """
    between = b"_X_" if separator is None else separator
    if not isinstance(between, bytes):
        between = between.encode() if isinstance(between, str) else np.asarray(between).item()

    def text(column: Any) -> list[Any]:
        array = column if column.dtype == object else as_string(Tensor(column)).numpy()
        return list(array)

    combined, counts = _combined("sparse.cross", inputs, text)
    values = np.empty(len(combined), object)
    values[:] = [between.join(each) for each in combined]
    return _by_example(values, counts)


def cross_hashed(
    inputs: Any, num_buckets: Any = 0, hash_key: Any = None, name: str | None = None
) -> SparseTensor:
    """All combinations of the entries of each example, each as the number of one of `num_buckets`.

    Without `num_buckets` the hash itself, not negative, is given. `inputs` are as for `cross`.
    """
    op = "sparse.cross_hashed"
    buckets = static_int(num_buckets, op, "num_buckets")
    if buckets < 0:
        raise InvalidArgumentError(f"{op}: `num_buckets` must not be negative, and is {buckets}.")
    key = static_int(hash_key, op, "hash_key") if hash_key else _DEFAULT_HASH_KEY

    def numbers(column: Any) -> list[Any]:
        hashes = fingerprint64(list(column)) if column.dtype == object else column
        return [int(n) for n in np.asarray(hashes).astype(np.int64).view(np.uint64)]

    combined, counts = _combined(op, inputs, numbers)
    hashes = np.full(len(combined), key, np.uint64)
    for column in np.array(combined, np.uint64).reshape(len(combined), len(inputs)).T:
        hashes = _joined(hashes, column)
    values = hashes % np.uint64(buckets or 2**63 - 1)
    return _by_example(values.astype(np.int64), counts)


def _joined(fingerprint: Any, other: Any) -> Any:
    """The fingerprint of two in a row: TensorFlow's FingerprintCat64."""
    multiplier = np.uint64(0xC6A4A7935BD1E995)

    def mixed(value: Any) -> Any:
        return value ^ (value >> np.uint64(47))

    result = (fingerprint ^ multiplier) ^ (mixed(other * multiplier) * multiplier)
    return mixed(mixed(result * multiplier) * multiplier)


def _combined(
    op: str, inputs: Any, prepare: Callable[[Any], list[Any]]
) -> tuple[list[tuple[Any, ...]], list[int]]:
    """The combinations of all examples in a row, and the number of them for each."""
    examples = _columns(op, inputs)
    prepared = [prepare(np.concatenate(rows)) if len(rows) else [] for rows in examples]
    starts = [np.cumsum([0, *map(len, rows)]) for rows in examples]
    found: list[tuple[Any, ...]] = []
    counts = []
    for number in range(len(examples[0])):
        parts = [
            values[start[number] : start[number + 1]]
            for values, start in zip(prepared, starts, strict=True)
        ]
        before = len(found)
        found += product(*parts)
        counts.append(len(found) - before)
    return found, counts


def _columns(op: str, inputs: Any) -> list[list[Any]]:
    """For each input the entries of each example: sparse inputs first, as TensorFlow has them."""
    if not isinstance(inputs, (list, tuple)) or not all(
        isinstance(each, (SparseTensor, Tensor)) for each in inputs
    ):
        raise TypeError(
            f"{op}: `inputs` must be a list of Tensors and SparseTensors, not {inputs!r:.100}."
        )
    ordered = sorted(inputs, key=lambda each: not isinstance(each, SparseTensor))
    rows = [
        _sparse_rows(each, op) if isinstance(each, SparseTensor) else _dense_rows(each, op)
        for each in ordered
    ]
    if not rows or len(set(map(len, rows))) > 1:
        raise ShapeError(
            f"{op}: the inputs must have as many examples, and have {list(map(len, rows))}."
        )
    return rows


def _integers_or_text(array: Any) -> Any:
    return array if array.dtype == object else array.astype(np.int64)


def _sparse_rows(sparse: SparseTensor, op: str) -> list[Any]:
    sizes, places = sizes_of(sparse, op), known_indices(sparse, op)
    if len(sizes) != 2:
        raise ShapeError(f"{op}: the inputs must be matrices, and one has shape {list(sizes)}.")
    values = _integers_or_text(known(sparse.values, op, "inputs"))
    ends = np.searchsorted(places[:, 0], np.arange(1, sizes[0] + 1))
    return [values[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def _dense_rows(dense: Tensor, op: str) -> list[Any]:
    array = _integers_or_text(known(dense, op, "inputs"))
    if array.ndim != 2:
        raise ShapeError(f"{op}: the inputs must be matrices, and one has shape {dense.shape}.")
    return list(array)


def _by_example(values: Any, counts: list[int]) -> SparseTensor:
    """The combinations of each example in a row of a sparse matrix."""
    rows = np.repeat(np.arange(len(counts)), counts)
    numbers = np.arange(len(values)) - np.repeat(np.cumsum([0, *counts])[:-1], counts)
    sizes = [len(counts), max(counts, default=0)]
    return SparseTensor(np.stack([rows, numbers], 1).astype(np.int64), values, sizes)
