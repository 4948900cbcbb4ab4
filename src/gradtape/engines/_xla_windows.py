"""Windows along one axis on JAX: what `_windows.py` does on NumPy."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._windows import lowest, parts


def _taken(x: Any, axis: int, elements: slice) -> Any:
    return jax.lax.slice_in_dim(x, elements.start, elements.stop, elements.step or 1, axis)


def _placed(values: Any, axis: int, where: slice, length: int) -> Any:
    """`values` at the elements `where` of an axis of `length`, and zeros elsewhere."""
    step = where.step or 1
    end = where.start + (values.shape[axis] - 1) * step + 1
    config = [(0, 0, 0)] * values.ndim
    config[axis] = (where.start, length - end, step - 1)
    return jax.lax.pad(values, jnp.zeros((), values.dtype), config)


def _reduce(x: Any, axis: int, function: Any, start: Any, geometry: dict[str, int]) -> Any:
    size, stride, dilation, low, count = (
        geometry[name] for name in ("size", "stride", "dilation", "low", "count")
    )
    high = (count - 1) * stride + (size - 1) * dilation + 1 - low - x.shape[axis]
    padding = [(0, 0, 0)] * x.ndim
    padding[axis] = (low, high, 0)
    one = [1] * x.ndim
    at = lambda value: [value if i == axis else 1 for i in range(x.ndim)]  # noqa: E731
    x = jax.lax.pad(x, jnp.asarray(start, x.dtype), padding)
    return jax.lax.reduce_window(
        x, np.asarray(start, x.dtype), function, at(size), at(stride), "VALID", one, at(dilation)
    )


def window_max(x: Any, axis: int, **geometry: int) -> Any:
    return _reduce(x, axis, jax.lax.max, lowest(x.dtype), geometry)


def _first(x: Any, axis: int, geometry: dict[str, int]) -> Any:
    """For each position in a window: its elements, and whether they are the first largest ones."""
    out = window_max(x, axis, **geometry)
    found = jnp.zeros(out.shape, bool)
    for _, windows, elements in parts(x.shape[axis], **geometry):
        here = (slice(None),) * axis + (windows,)
        equal = (_taken(x, axis, elements) == out[here]) & ~found[here]
        found = found.at[here].set(found[here] | equal)
        yield here, elements, equal


def window_max_adjoint(y: Any, x: Any, axis: int, **geometry: int) -> Any:
    total = jnp.zeros(x.shape, y.dtype)
    for here, elements, first in _first(x, axis, geometry):
        part = jnp.where(first, y[here], jnp.zeros((), y.dtype))
        total = total + _placed(part, axis, elements, x.shape[axis])
    return total


def window_pick(values: Any, x: Any, axis: int, **geometry: int) -> Any:
    shape = (*x.shape[:axis], geometry["count"], *x.shape[axis + 1 :])
    result = jnp.zeros(shape, values.dtype)
    for here, elements, first in _first(x, axis, geometry):
        chosen = jnp.where(first, _taken(values, axis, elements), result[here])
        result = result.at[here].set(chosen)
    return result


def window_sum(x: Any, axis: int, **geometry: int) -> Any:
    return _reduce(x, axis, jax.lax.add, 0, geometry)


def window_sum_adjoint(y: Any, axis: int, length: int, **geometry: int) -> Any:
    total = jnp.zeros((*y.shape[:axis], length, *y.shape[axis + 1 :]), y.dtype)
    for _, windows, elements in parts(length, **geometry):
        total = total + _placed(_taken(y, axis, windows), axis, elements, length)
    return total


def unfold(x: Any, axis: int, **geometry: int) -> Any:
    length = x.shape[axis]
    positions = np.arange(geometry["count"])[:, None] * geometry["stride"] - geometry["low"]
    positions = positions + np.arange(geometry["size"]) * geometry["dilation"]
    inside = (positions >= 0) & (positions < length)
    shape = (*inside.shape, *(1,) * (x.ndim - axis - 1))
    taken = jnp.take(x, np.clip(positions, 0, max(length - 1, 0)), axis)
    return jnp.where(inside.reshape(shape), taken, jnp.zeros((), x.dtype))


def fold(y: Any, axis: int, length: int, **geometry: int) -> Any:
    total = jnp.zeros((*y.shape[:axis], length, *y.shape[axis + 2 :]), y.dtype)
    for position, windows, elements in parts(length, **geometry):
        part = jax.lax.index_in_dim(y, position, axis + 1, keepdims=False)
        total = total + _placed(_taken(part, axis, windows), axis, elements, length)
    return total
