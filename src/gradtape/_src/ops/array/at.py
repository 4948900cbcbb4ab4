"""`x.at[i].set(v)`: a tensor with other values in some places, as a recorded functional update."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.convert import operand
from ...core.errors import ShapeError
from ...core.shape import broadcasts_to
from ...core.spec import Spec
from ...core.tensor import Tensor
from ..declare.op import op
from ..math.logic import select
from ..math.segment import _segment_prod, _segment_sum
from .indexing import _both_batched, _gather
from .scatter import _tensor_scatter_nd_extreme
from .shape import _broadcast_to, _reshape, _transpose
from .slicing import _BASIC, ALL, TENSOR, _getitem, _getitem_adjoint, _select, getitem


class At:
    """Places of a tensor: `x.at[key]`, with any key that `x[key]` takes. Nothing is changed in `x`.

    >>> x = tf.constant([1.0, 2.0, 3.0])
    >>> x.at[1].set(9.0)
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([1., 9., 3.], dtype=float32)>
    >>> x.at[tf.constant([0, 0])].add(1.0)
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([3., 2., 3.], dtype=float32)>
    """

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    def __getitem__(self, key: Any) -> Place:
        return Place(self._tensor, key)

    def __repr__(self) -> str:
        return f"<the places of {self._tensor!r}: index them>"


class Place:
    """`x.at[key]`: each method gives a new tensor, `x` with an update, differentiable by both.

    Values are broadcast to the shape of `x[key]`, and plain numbers take the dtype of `x`.
    """

    __slots__ = ("_basic", "_key", "_tensor")

    def __init__(self, tensor: Tensor, key: Any) -> None:
        self._tensor = tensor
        self._key = tuple(key) if type(key) in (tuple, list) else (key,)
        self._basic = all(type(entry) in _BASIC for entry in self._key)

    def get(self) -> Tensor:
        """`x[key]`."""
        return getitem(self._tensor, self._key)

    def set(self, values: Any) -> Tensor:
        """`x` with `values` at `[key]`. Of repeated indices the last counts, for gradients too."""
        x = self._tensor
        if self._basic:
            return _item_set(x, self._values(values, "set", self.get()), key=self._key)
        places, updates = self._flat(values, "set")
        last = _last_writer(places, size=x._array.size)
        nobody = last < 0
        if not updates._array.size:
            return x
        wanted = select(nobody, Tensor(np.zeros((), last._array.dtype)), last)
        written = _select(updates, wanted, key=(TENSOR,), unique=False)
        flat = select(nobody, _reshape(x, shape=(x._array.size,)), written)
        return _reshape(flat, shape=x._array.shape)

    def add(self, values: Any) -> Tensor:
        """`x` with `values` added at `[key]`; where an index repeats, all of them."""
        x = self._tensor
        if self._basic:
            updates = self._values(values, "add", self.get())
            return x + _getitem_adjoint(updates, key=self._key, shape=tuple(x._array.shape))
        places, updates = self._flat(values, "add")
        return x + self._shaped(_segment_sum(updates, places, count=x._array.size))

    def subtract(self, values: Any) -> Tensor:
        """`x` with `values` subtracted at `[key]`; where an index repeats, all of them."""
        return self.add(-self._operand(values, "subtract"))

    def multiply(self, values: Any) -> Tensor:
        """`x` multiplied by `values` at `[key]`; where an index repeats, by all of them."""
        x = self._tensor
        if self._basic:
            part = self.get()
            return _item_set(x, part * self._values(values, "multiply", part), key=self._key)
        places, updates = self._flat(values, "multiply")
        return x * self._shaped(_segment_prod(updates, places, count=x._array.size))

    mul = multiply

    def divide(self, values: Any) -> Tensor:
        """`x` divided by `values` at `[key]`; where an index repeats, by all of them."""
        x = self._tensor
        if self._basic:
            part = self.get()
            return _item_set(x, part / self._values(values, "divide", part), key=self._key)
        places, updates = self._flat(values, "divide")
        return x / self._shaped(_segment_prod(updates, places, count=x._array.size))

    def max(self, values: Any) -> Tensor:
        """The larger of `x` and `values` at `[key]`. Those that tie share the gradient."""
        return self._extreme(values, "max", largest=True)

    def min(self, values: Any) -> Tensor:
        """The smaller of `x` and `values` at `[key]`. Those that tie share the gradient."""
        return self._extreme(values, "min", largest=False)

    def _extreme(self, values: Any, method: str, *, largest: bool) -> Tensor:
        x = self._tensor
        places, updates = self._flat(values, method)
        flat = _reshape(x, shape=(x._array.size,))
        column = _reshape(places, shape=(updates._array.size, 1))
        found = _tensor_scatter_nd_extreme(flat, column, updates, batch_dims=0, largest=largest)
        return self._shaped(found)

    def _operand(self, values: Any, method: str) -> Tensor:
        if isinstance(values, Tensor):
            return values
        return operand(values, self._tensor._array.dtype, f"at[...].{method}")

    def _values(self, values: Any, method: str, part: Tensor) -> Tensor:
        """`values` as a tensor of the shape of `part`."""
        updates = self._operand(values, method)
        shape, wanted = updates._array.shape, part._array.shape
        if shape == wanted:
            return updates
        if not broadcasts_to(shape, wanted):
            raise ShapeError(
                f"at[...].{method}: `values` of shape {tuple(shape)} cannot be broadcast to the "
                f"shape of x[...], {tuple(wanted)} (x.shape={tuple(self._tensor.shape)})."
            )
        return _broadcast_to(updates, shape=tuple(wanted))

    def _flat(self, values: Any, method: str) -> tuple[Tensor, Tensor]:
        """The flat positions that the key selects, and the update for each of them."""
        x = self._tensor._array
        places = getitem(Tensor(np.arange(x.size).reshape(x.shape)), self._key)
        updates = self._values(values, method, places)
        size = (updates._array.size,)
        return _reshape(places, shape=size), _reshape(updates, shape=size)

    def _shaped(self, flat: Tensor) -> Tensor:
        return _reshape(flat, shape=self._tensor._array.shape)

    def __repr__(self) -> str:
        return f"<places {self._key} of {self._tensor!r}: set, add, multiply, min, max, get>"


def _set_samples(r):
    x = r.normal(size=(3, 4))
    keys = [(1,), (slice(2, 0, -1), None, Ellipsis, -1), (slice(1, 1),), ()]
    return [([x, r.normal(size=x[key].shape)], {"key": key}) for key in keys]


@op(samples=_set_samples)
def _item_set(xp, x, values, *, key):
    """`x` with `values` at `[key]`, a key of integers, slices, None and `...`."""
    return xp.write_at(x, key, values)


@_item_set.vjp("x")
def _item_set_vjp_x(g, values: Spec, *, key):
    return _item_set(g, Tensor(np.zeros(values.shape, g._array.dtype)), key=key)


@_item_set.vjp("values")
def _item_set_vjp_values(g, *, key):
    return _getitem(g, key=key)


@_item_set.batch
def _item_set_batch(batched, x, values, *, key):
    return _item_set(*_both_batched(batched, x=x, values=values), key=(ALL, *key))


def _row_set_samples(r):
    return [
        ([r.normal(size=(3, 2)), r.normal(size=2), np.array(1)], {}),
        ([r.normal(size=4), r.normal(size=()), np.array(3)], {}),
    ]


@op(nondiff="place", samples=_row_set_samples)
def row_set(xp, x, row, place):
    """`x` with `row` at `place` along axis 0, where the place is known at run time only."""
    return xp.write_at(x, (xp.valid_indices(place, x.shape[0], "row_set"),), row)


@row_set.vjp("x")
def _row_set_vjp_x(g, row: Spec, place):
    return row_set(g, Tensor(np.zeros(row.shape, g._array.dtype)), place)


@row_set.vjp("row")
def _row_set_vjp_row(g, place):
    return _gather(g, place, axis=0, batch_dims=0)


@row_set.batch
def _row_set_batch(batched, x, row, place):
    if "place" in batched:
        return NotImplemented
    x, row = _both_batched(batched & {"x", "row"}, x=x, row=row)
    swapped = (1, 0, *range(2, x.ndim))
    return _transpose(row_set(_transpose(x, perm=swapped), row, place), perm=swapped)


@op(
    nondiff="all",
    dtypes=dt.INTEGER,
    samples=lambda r: [([np.array([[2, 0], [2, 3]])], {"size": 5})],
)
def _last_writer(xp, places, *, size):
    """For each of `size` places the number of the last of `places` that is this one, or -1."""
    flat = places.reshape(-1)
    return xp.rows_reduce("max", -1, size, flat, xp.arange(flat.shape[0]))


@_last_writer.batch
def _last_writer_batch(batched, places, *, size):
    return NotImplemented
