"""A tensor with other values at some coordinates: tensor_scatter_nd_update and its kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.convert import operand
from ...core.pattern import MOVES
from ...core.spec import Spec
from ...core.tensor import Tensor
from ..declare.op import op
from ..declare.static import to_tensor
from .indexing import _both_batched, _check_updates, _flat, _gather_nd, _indices, _scatter_nd


def _scattered(
    tensor: Any, indices: Any, updates: Any, op_name: str, bad_indices_policy: str = ""
) -> tuple[Tensor, Tensor, Tensor]:
    tensor = to_tensor(tensor, op_name)
    indices = _indices(indices, op_name, bad_indices_policy)
    if not isinstance(updates, Tensor):
        updates = operand(updates, tensor._array.dtype, op_name)
    _check_updates(op_name, tensor._array.shape, indices, updates)
    return tensor, indices, updates


def tensor_scatter_nd_add(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """`tensor` with `updates` added at the coordinates `indices`; repeats add up."""
    tensor, indices, updates = _scattered(
        tensor, indices, updates, "tensor_scatter_nd_add", bad_indices_policy
    )
    return tensor + _scatter_nd(updates, indices, shape=tuple(tensor._array.shape), batch_dims=0)


def tensor_scatter_nd_sub(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """`tensor` with `updates` subtracted at the coordinates `indices`; repeats add up."""
    tensor, indices, updates = _scattered(
        tensor, indices, updates, "tensor_scatter_nd_sub", bad_indices_policy
    )
    return tensor - _scatter_nd(updates, indices, shape=tuple(tensor._array.shape), batch_dims=0)


def _update_samples(r):
    return [
        ([r.normal(size=(2, 3)), np.array([[0, 1], [1, 2]]), r.normal(size=2)], {"batch_dims": 0}),
        ([r.normal(size=(3, 2)), np.array([[2], [0]]), r.normal(size=(2, 2))], {"batch_dims": 0}),
        (
            [r.normal(size=(2, 3)), np.array([[[1]], [[0]]]), r.normal(size=(2, 1))],
            {"batch_dims": 1},
        ),
    ]


@op(pattern=MOVES, nondiff="indices", samples=_update_samples)
def _tensor_scatter_nd_update(xp, tensor, indices, updates, *, batch_dims):
    flat, rows, width = _flat(xp, indices, tensor.shape, batch_dims, "tensor_scatter_nd_update")
    parts = updates.reshape(flat.shape[0], width)
    return xp.write_at(tensor.reshape(rows, width), (flat,), parts).reshape(tensor.shape)


@_tensor_scatter_nd_update.vjp("tensor")
def _tensor_scatter_nd_update_vjp_tensor(g, indices, updates: Spec, *, batch_dims):
    nothing = Tensor(np.zeros(tuple(updates.shape), g._array.dtype))
    return _tensor_scatter_nd_update(g, indices, nothing, batch_dims=batch_dims)


@_tensor_scatter_nd_update.vjp("updates")
def _tensor_scatter_nd_update_vjp_updates(g, indices, *, batch_dims):
    return _gather_nd(g, indices, batch_dims=batch_dims)


@_tensor_scatter_nd_update.batch
def _tensor_scatter_nd_update_batch(batched, tensor, indices, updates, *, batch_dims):
    all_batched = _both_batched(batched, tensor=tensor, indices=indices, updates=updates)
    return _tensor_scatter_nd_update(*all_batched, batch_dims=batch_dims + 1)


def tensor_scatter_nd_update(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Tensor:
    """`tensor` with `updates` in place of what stands at the coordinates `indices`.

    Of updates with the same coordinates the last wins, and each receives the gradient of the place.
    """
    parts = _scattered(tensor, indices, updates, "tensor_scatter_nd_update")
    return _tensor_scatter_nd_update(*parts, batch_dims=0)


def _extreme_samples(r):
    return [([2 * x, indices, u], params | {"largest": n % 2 == 0})
            for n, ((x, indices, u), params) in enumerate(_update_samples(r))]  # fmt: skip


@op(nondiff="indices", dtypes=dt.REAL, samples=_extreme_samples)
def _tensor_scatter_nd_extreme(xp, tensor, indices, updates, *, batch_dims, largest):
    """`tensor` with the larger (or smaller) of itself and of `updates` at `indices`."""
    flat, rows, width = _flat(xp, indices, tensor.shape, batch_dims, "tensor_scatter_nd_max")
    parts = updates.reshape(flat.shape[0], width)
    result = xp.write_at(tensor.reshape(rows, width), flat, parts, "max" if largest else "min")
    return result.reshape(tensor.shape)


def _shares(out, tensor, indices, updates, batch_dims):
    """Which of `tensor` and `updates` made the result (1, else 0), and how many at each place."""
    dtype = out._array.dtype
    winners = _agreement(tensor, out)
    update_winners = _agreement(updates, _gather_nd(out, indices, batch_dims=batch_dims))
    both = winners + _scatter_nd(
        update_winners, indices, shape=tuple(out._array.shape), batch_dims=batch_dims
    )
    assert both._array.dtype == dtype
    return winners, update_winners, both


@op(nondiff="all", samples=lambda r: [([np.array([1.0, 2.0]), np.array([1.0, 3.0])], {})])
def _agreement(xp, x, y):
    """1 where the elements are equal, else 0, in the dtype of the arguments."""
    return (x == y).astype(x.dtype)


@_agreement.batch
def _agreement_batch(batched, x, y):
    return _agreement(*_both_batched(batched, x=x, y=y))


@_tensor_scatter_nd_extreme.vjp("tensor")
def _extreme_vjp_tensor(g, out, tensor, indices, updates, *, batch_dims):
    winners, _, shares = _shares(out, tensor, indices, updates, batch_dims)
    return g / shares * winners


@_tensor_scatter_nd_extreme.vjp("updates")
def _extreme_vjp_updates(g, out, tensor, indices, updates, *, batch_dims):
    _, winners, shares = _shares(out, tensor, indices, updates, batch_dims)
    return _gather_nd(g / shares, indices, batch_dims=batch_dims) * winners


@_tensor_scatter_nd_extreme.batch
def _extreme_batch(batched, tensor, indices, updates, *, batch_dims, largest):
    all_batched = _both_batched(batched, tensor=tensor, indices=indices, updates=updates)
    return _tensor_scatter_nd_extreme(*all_batched, batch_dims=batch_dims + 1, largest=largest)


def tensor_scatter_nd_max(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """`tensor` with the largest of itself and `updates` at `indices`; ties share the gradient."""
    parts = _scattered(tensor, indices, updates, "tensor_scatter_nd_max", bad_indices_policy)
    return _tensor_scatter_nd_extreme(*parts, batch_dims=0, largest=True)


def tensor_scatter_nd_min(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """`tensor` with the smallest of itself and `updates` at `indices`; ties share the gradient."""
    parts = _scattered(tensor, indices, updates, "tensor_scatter_nd_min", bad_indices_policy)
    return _tensor_scatter_nd_extreme(*parts, batch_dims=0, largest=False)
