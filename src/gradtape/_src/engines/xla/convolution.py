"""Convolutions on XLA; on a processor, in the form that is fastest there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp

from .processor import is_here

_FEW, _FEW_CHANNELS = 32, 4
_BLOCK = 2**21  # bytes


def convolution(x: Any, filters: Any, *, groups: int, **geometry: Any) -> Any:
    """If a window has few elements, a sum over them, which XLA fuses.

    (32, 28, 28, 1) with 8 filters of 3 x 3: 0.03 ms, and 0.47 by XLA.
    """
    *kernel, depth, _ = filters.shape
    is_sum = _is_known_here(x, filters) and _has_few(kernel, depth, groups, geometry)
    if not is_sum or x.shape[0] == 1:
        return _by_xla(x, filters, groups=groups, **geometry)

    def sum_of_terms(x: Any) -> Any:
        terms = [
            part[..., channel : channel + 1] * filters[(*place, channel)]
            for place, part in _parts(x, kernel, geometry)
            for channel in range(depth)
        ]
        return sum(terms[1:], terms[0])

    # In a loop, of two rounds if the batch can be halved: what is not, XLA computes again wherever
    # it is used.
    batch = x.shape[0]
    count = next(n for n in range(2, batch + 1) if batch % n == 0)
    out = jax.lax.map(sum_of_terms, x.reshape(count, batch // count, *x.shape[1:]))
    return out.reshape(batch, *out.shape[2:])


def input_gradient(y: Any, filters: Any, size: Any, *, groups: int, **geometry: Any) -> Any:
    """If the input is much larger than `y`, all windows by one product, added where they belong.

    XLA multiplies for every element of the input. For 13 x 13 from 11 x 11 that is 1.4 times as
    many: (128, 13, 13, 32) from 64 filters take 2.8 ms, and 3.9 by XLA; (32, 13, 13, 8) from 16
    0.09 and 0.25. With the same number of elements on both sides it is XLA that is faster.
    """
    *kernel, depth, outputs = filters.shape
    if _is_known_here(y, filters, sizes=size) and _is_much_larger(size, y, groups, geometry):
        matrix = filters.reshape(-1, outputs)

        def spread(y: Any) -> Any:
            windows = jax.lax.dot_general(y.reshape(-1, outputs), matrix, (((1,), (1,)), ((), ())))
            windows = jax.lax.optimization_barrier(windows)
            return _added(windows.reshape(*y.shape[:-1], *kernel, depth), size, geometry)

        blocks = _blocks(y, math.prod(kernel) * depth)
        return jax.lax.map(spread, blocks).reshape(-1, *size, depth)
    like = jax.ShapeDtypeStruct((y.shape[0], *size, depth * groups), y.dtype)
    forward = lambda x: _by_xla(x, filters, groups=groups, **geometry)  # noqa: E731
    return jax.linear_transpose(forward, like)(y)[0]


def filter_gradient(x: Any, y: Any, kernel: Any, *, groups: int, **geometry: Any) -> Any:
    """If a window has few elements, one product of all windows and `y`.

    (128, 28, 28, 1) with 32 filters of 3 x 3: 0.36 ms, and 0.80 by XLA.
    """
    depth, outputs = x.shape[-1] // groups, y.shape[-1]
    if _is_known_here(x, y) and _has_few(kernel, depth, groups, geometry):
        channels = jax.lax.optimization_barrier(jnp.moveaxis(x, -1, 0))
        windows = jnp.stack([part for _, part in _parts(channels, kernel, geometry, axis=2)])
        windows = jax.lax.optimization_barrier(windows.reshape(math.prod(kernel) * depth, -1))
        return (windows @ y.reshape(-1, outputs)).reshape(*kernel, depth, outputs)
    like = jax.ShapeDtypeStruct((*kernel, depth, outputs), y.dtype)
    forward = lambda filters: _by_xla(x, filters, groups=groups, **geometry)  # noqa: E731
    return jax.linear_transpose(forward, like)(y)[0]


def _by_xla(x: Any, filters: Any, *, groups: int, **geometry: Any) -> Any:
    space = "DHW"[3 - len(geometry["strides"]) :]
    return jax.lax.conv_general_dilated(
        x,
        filters,
        geometry["strides"],
        geometry["padding"],
        rhs_dilation=geometry["dilations"],
        dimension_numbers=(f"N{space}C", f"{space}IO", f"N{space}C"),
        feature_group_count=groups,
    )


def _has_few(kernel: Any, depth: int, groups: int, geometry: Any) -> bool:
    """Whether windows have few elements. (With larger strides XLA is as fast.)"""
    is_dense = groups == 1 and set(geometry["strides"]) == {1}
    return is_dense and depth <= _FEW_CHANNELS and math.prod(kernel) * depth <= _FEW


def _is_much_larger(size: Any, y: Any, groups: int, geometry: Any) -> bool:
    is_dense = groups == 1 and set(geometry["strides"]) == {1}
    return is_dense and 3 * math.prod(size) >= 4 * math.prod(y.shape[1:-1])


def _is_known_here(*arrays: Any, sizes: Any = ()) -> bool:
    """Whether all sizes are known, there is something to do, and XLA does it on a processor."""
    every = [*sizes, *[n for x in arrays for n in x.shape]]
    known = all([isinstance(n, int) and n > 0 for n in every])
    return known and arrays[0].dtype.kind == "f" and is_here()


def _parts(x: Any, kernel: Any, geometry: Any, axis: int = 1) -> Iterator[tuple[Any, Any]]:
    """For each place in a window what the windows have there; space begins at `axis`."""
    around = [(0, 0, 0)] * x.ndim
    around[axis : axis + len(kernel)] = [(low, high, 0) for low, high in geometry["padding"]]
    x = jax.lax.pad(x, jnp.zeros((), x.dtype), around)
    steps, rates = geometry["strides"], geometry["dilations"]
    for place in product(*map(range, kernel)):
        key = [slice(None)] * x.ndim
        for i, (at, k, step, rate) in enumerate(zip(place, kernel, steps, rates, strict=True)):
            length = x.shape[axis + i] - (k - 1) * rate
            key[axis + i] = slice(at * rate, at * rate + length, step)
        yield place, x[tuple(key)]


def _added(windows: Any, size: Any, geometry: Any) -> Any:
    """The elements of windows [batch, *places, *kernel, depth] added up in a space of `size`."""
    rank = len(size)
    kernel = windows.shape[1 + rank : 1 + 2 * rank]
    total = None
    for place in product(*map(range, kernel)):
        part = windows[(slice(None),) * (1 + rank) + place]
        around = [(0, 0, 0)]
        for i, at in enumerate(place):
            step, rate = geometry["strides"][i], geometry["dilations"][i]
            low = at * rate - geometry["padding"][i][0]
            end = low + (part.shape[1 + i] - 1) * step + 1
            around.append((low, size[i] - end, step - 1))
        part = jax.lax.pad(part, jnp.zeros((), part.dtype), [*around, (0, 0, 0)])
        total = part if total is None else total + part
    return total


def _blocks(y: Any, window: int) -> Any:
    """The batch of `y` in blocks, whose windows stay in the cache of a processor."""
    batch, *rest = y.shape
    bytes_each = math.prod(rest[:-1]) * window * y.dtype.itemsize
    most = max(1, _BLOCK // bytes_each)
    count = next(n for n in range(min(most, batch), 0, -1) if batch % n == 0)
    return y.reshape(batch // count, count, *rest)
