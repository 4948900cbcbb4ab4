"""Ragged tensors from Python lists and from ranges."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.convert import as_tensor
from ...core.dtypes import as_dtype
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ...ops.array.creation import constant as dense_constant
from ...ops.array.shape import reshape
from ...ops.declare.static import known
from ..sparse import crossing
from ..sparse.sparse_tensor import SparseTensor
from .ragged_tensor import RaggedTensor
from .row_partition import RowPartition


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dt.int64,
) -> Any:
    """The ragged tensor of nested lists, whose lists may differ in length.

    All axes but the first are ragged, unless `ragged_rank` says how many are, or `inner_shape` the
    sizes of those at the end that are not. Without a ragged one it is a Tensor.

    >>> constant([[1, 2], [], [3]])
    <tf.RaggedTensor [[1, 2], [], [3]]>
    """
    flat, nested_splits, inner = taken_apart(pylist, ragged_rank, inner_shape)
    values: Any = _values(flat, dtype, inner)
    splits_dtype = as_dtype(row_splits_dtype)
    for splits in reversed(nested_splits):
        encoded = Tensor(np.asarray(splits, splits_dtype.numpy_dtype))
        values = RaggedTensor._like(values, RowPartition.from_row_splits(encoded, validate=False))
    return values


def _values(flat: Any, dtype: Any, inner: tuple[int, ...]) -> Tensor:
    if not isinstance(flat, (list, tuple)):
        return dense_constant(flat, dtype)
    if not flat:
        shape = (0, *inner)
        return dense_constant(np.zeros(shape, _numpy_dtype(dtype)), dtype)
    found = dense_constant(flat, dtype)
    wanted = (len(flat), *inner)
    if tuple(found._array.shape) != wanted:
        try:
            return reshape(found, wanted)
        except ValueError:
            raise ValueError(
                f"ragged.constant: the values do not have the inner shape {inner}: {flat!r:.200}."
            ) from None
    return found


def _numpy_dtype(dtype: Any) -> Any:
    return np.float32 if dtype is None else as_dtype(dtype).numpy_dtype


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or np.ndim(value) > 0


def _depths(pylist: Any) -> tuple[int | None, int]:
    """How deep the scalars lie (None: there are none), and how deep the lists are nested."""
    if not _is_list(pylist):
        return 0, 0
    found: int | None = None
    deepest = 1
    for item in pylist:
        scalars, depth = _depths(item)
        if scalars is not None:
            if found is not None and found != scalars + 1:
                raise ValueError("all scalar values must have the same nesting depth")
            found = scalars + 1
        deepest = max(deepest, depth + 1)
    return found, deepest


def taken_apart(
    pylist: Any, ragged_rank: int | None, inner_shape: Any
) -> tuple[Any, list[list[int]], tuple[int, ...]]:
    """The values below all ragged axes in one list, the splits of these axes, a value's shape."""
    scalars, deepest = _depths(pylist)
    if scalars is not None and deepest > scalars:
        raise ValueError(
            f"Invalid pylist={pylist!r:.200}: empty list nesting is greater than scalar value "
            "nesting"
        )
    if scalars == 0:
        if ragged_rank or inner_shape:
            raise ValueError(
                f"Invalid pylist={pylist!r:.200}: a scalar has no axes; `ragged_rank` must be 0, "
                "and `inner_shape` ()."
            )
        return pylist, [], ()
    if inner_shape is not None:
        expected = len(inner_shape) + 1
        if ragged_rank is None:
            ragged_rank = deepest - expected
        if scalars is not None and ragged_rank + expected != scalars:
            raise ValueError(
                f"Invalid pylist={pylist!r:.200}: incompatible with ragged_rank={ragged_rank} and "
                f"dim(inner_shape)={len(inner_shape)}"
            )
    rank = deepest - 1 if ragged_rank is None else ragged_rank
    if not 0 <= rank < deepest and not (scalars is None and rank >= 0):
        raise ValueError(
            f"Invalid pylist={pylist!r:.200}: incompatible with ragged_rank={ragged_rank}: the "
            f"lists are nested {deepest} deep"
        )
    nested: list[list[int]] = []
    values = pylist
    for _ in builtins.range(rank):
        splits = [0]
        for item in values:
            splits.append(splits[-1] + len(item))
        values = [entry for item in values for entry in item]
        nested.append(splits)
    return values, nested, _inner_shape(values, ragged_rank, inner_shape)


def _inner_shape(flat: Any, ragged_rank: int | None, inner_shape: Any) -> tuple[int, ...]:
    """The shape of each of the flat values."""
    if inner_shape is not None:
        return tuple(int(n) for n in inner_shape)
    if ragged_rank is None or not isinstance(flat, (list, tuple)):
        return ()
    shape: list[int] = []
    inner = flat[0] if flat else None
    while inner is not None and _is_list(inner):
        shape.append(len(inner))
        inner = inner[0] if len(inner) else None
    return tuple(shape)


def range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dt.int64,
) -> RaggedTensor:
    """The rows `range(starts[i], limits[i], deltas[i])`; numbers stand for all rows.

    With one bound the rows begin at 0.

    >>> range([3, 1])
    <tf.RaggedTensor [[0, 1, 2], [0]]>
    """
    if limits is None:
        starts, limits = 0, starts
    tensors = [as_tensor(v, op="ragged.range") for v in (starts, limits, deltas)]
    bounds = [known(x, "ragged.range", "starts, limits, deltas") for x in tensors]
    wanted: Any = (
        np.result_type(*[b.dtype for b in bounds]) if dtype is None else _numpy_dtype(dtype)
    )
    if dtype is None and any(t.dtype.is_floating for t in tensors):
        wanted = max([b.dtype for b in bounds if b.dtype.kind == "f"], key=lambda d: d.itemsize)
    if any(b.ndim > 1 for b in bounds):
        raise ShapeError("ragged.range: `starts`, `limits` and `deltas` are numbers or vectors.")
    try:
        first, last, step = np.broadcast_arrays(*[np.atleast_1d(b.astype(wanted)) for b in bounds])
    except ValueError:
        raise ShapeError(
            "ragged.range: `starts`, `limits` and `deltas` must have one length, and have "
            f"{[b.shape for b in bounds]}."
        ) from None
    if (step == 0).any():
        raise InvalidArgumentError("ragged.range: Requires delta != 0.")
    each = zip(first.tolist(), last.tolist(), step.tolist(), strict=True)
    rows = [np.arange(a, b, s).astype(wanted) for a, b, s in each]
    lengths = np.asarray([len(row) for row in rows], as_dtype(row_splits_dtype).numpy_dtype)
    values = np.concatenate([np.zeros(0, wanted), *rows])
    partition = RowPartition.from_row_lengths(Tensor(lengths), validate=False)
    return RaggedTensor._like(Tensor(values), partition)


def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """The row of each value: segment ids, for the ops on segments.

    >>> row_splits_to_segment_ids([0, 2, 2, 3]).numpy()
    array([0, 0, 2])
    """
    partition = RowPartition.from_row_splits(splits, dtype_hint=out_type or dt.int64)
    return partition.with_dtype(out_type or partition.dtype).value_rowids()


def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Tensor:
    """Where each segment begins and ends, of ids that do not decrease.

    >>> segment_ids_to_row_splits([0, 0, 2]).numpy()
    array([0, 2, 2, 3])
    """
    partition = RowPartition.from_value_rowids(
        segment_ids, num_segments, dtype_hint=out_type or dt.int64
    )
    return partition.with_dtype(out_type or partition.dtype).row_splits()


def cross(inputs: Any, name: str | None = None) -> RaggedTensor:
    """For each row, all combinations of a value of each of `inputs`, as text joined by "_X_".

    >>> cross([tf.ragged.constant([["a", "b"], ["c"]]), tf.constant([["x"], ["y"]])])
    <tf.RaggedTensor [[b'a_X_x', b'b_X_x'], [b'c_X_y']]>
    """
    return RaggedTensor.from_sparse(crossing.cross(_as_sparse(inputs)))


def cross_hashed(
    inputs: Any, num_buckets: Any = 0, hash_key: Any = None, name: str | None = None
) -> RaggedTensor:
    """For each row, all combinations of a value of each of `inputs`, each as a number.

    It is that of one of `num_buckets`; without these, the hash itself, which is not negative.
    """
    hashed = crossing.cross_hashed(_as_sparse(inputs), num_buckets, hash_key)
    return RaggedTensor.from_sparse(hashed)


def _as_sparse(inputs: Any) -> list[Any]:
    found = []
    for each in inputs:
        if not isinstance(each, SparseTensor):
            rt = each
            if not isinstance(each, RaggedTensor):
                rt = RaggedTensor.from_tensor(as_tensor(each, op="ragged.cross"))
            each = rt.to_sparse()
        found.append(each)
    return found
