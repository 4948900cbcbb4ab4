"""Sparse tensors as texts: the TensorProtos of their indices, values and shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import as_dtype, int64, string
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ...train.summary.event_file import tensor_message
from ..sparse.sparse_tensor import SparseTensor
from ..strings.text import as_text, text_array, text_tensor, values_of
from .encodings import parse_tensor


def _parts(value: Any, op: str) -> tuple[Any, Any, Any]:
    if not isinstance(value, SparseTensor):
        raise TypeError(f"{op}: `sp_input` must be a SparseTensor, not {value!r:.100}.")
    indices, values, shape = value.indices, value.values, value.dense_shape
    return values_of(indices, op), values_of(values, op), values_of(shape, op)


def _texts(*arrays: Any) -> list[bytes]:
    return [tensor_message(np.ascontiguousarray(array)) for array in arrays]


def _check_type(out_type: Any, op: str) -> None:
    if as_dtype(out_type) is not string:
        raise InvalidArgumentError(f"{op}: `out_type` must be tf.string, not {out_type!r}.")


def serialize_sparse(sp_input: Any, out_type: Any = string, name: str | None = None) -> Tensor:
    """A sparse tensor as three texts."""
    _check_type(out_type, "serialize_sparse")
    return text_tensor(_texts(*_parts(sp_input, "serialize_sparse")), (3,))


def serialize_many_sparse(sp_input: Any, out_type: Any = string, name: str | None = None) -> Tensor:
    """Each row (along axis 0) of a sparse tensor as three texts: a matrix of texts."""
    op = "serialize_many_sparse"
    _check_type(out_type, op)
    indices, values, shape = _parts(sp_input, op)
    if len(shape) < 2:
        raise ShapeError(f"{op}: `sp_input` must have two axes at least, and has {len(shape)}.")
    texts: list[bytes] = []
    for row in range(shape[0]):
        inside = indices[:, 0] == row
        texts += _texts(indices[inside, 1:], values[inside], shape[1:])
    return Tensor(text_array(texts, (int(shape[0]), 3)))


def deserialize_many_sparse(
    serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """The sparse tensor whose rows are those of a matrix of texts, three for each."""
    op = "deserialize_many_sparse"
    rows = as_text(serialized_sparse, op, "serialized_sparse")
    if rows.ndim != 2 or rows.shape[1] != 3 or not len(rows):
        raise ShapeError(
            f"{op}: `serialized_sparse` must have shape (rows, 3), and has {rows.shape}."
        )
    parsed = [
        [
            parse_tensor(text, kind).numpy()
            for text, kind in zip(row, (int64, dtype, int64), strict=True)
        ]
        for row in rows
    ]
    sizes = {len(shape) for _, _, shape in parsed}
    if len(sizes) > 1 or (rank is not None and sizes != {rank}):
        raise InvalidArgumentError(
            f"{op}: the rows must have {'one rank' if rank is None else f'rank {rank}'}, and have "
            f"{sorted(sizes)}."
        )
    indices = [np.insert(places, 0, i, axis=1) for i, (places, _, _) in enumerate(parsed)]
    shape = np.max([shape for _, _, shape in parsed], axis=0)
    return SparseTensor(
        Tensor(np.concatenate(indices)),
        Tensor(np.concatenate([values for _, values, _ in parsed])),
        np.array([len(rows), *shape], np.int64),
    )
