"""Convolution on NumPy: windows side by side in chunks, and a matrix product of each chunk.

The chunks are shared between the threads, and a chunk's product is made by the thread that has
laid out its windows, while they are in its cache.

Arrays are (batch, *space, channels), filters (*kernel, channels of a group, output channels).
Milliseconds, OpenBLAS with AVX512, float32, forward | gradient by the input | by the filters:

                                            one thread         two                PyTorch 2.13, two
    32 x 32x32x16 -> 32, 3x3                2.9 | 3.8 | 3.8    1.9 | 2.6 | 2.3    3.4 (all three)
    32 x 64x64x3 -> 64, 7x7, stride 2       5.6 | 10 | 6.7     3.1 | 6.8 | 3.8    17

What was tried for the first, with one thread, and is slower: all windows at once (8 | 14 | 7: the
copy leaves the cache), a product for each position of the kernel on shifted views (9 | 7.5 | 6).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from . import blocks
from .blas import alone
from .memory import empty

Ints = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]

# Elements of the matrix of windows: 2 MB of float32. With half of it, threads wait more often for
# each other (for the GIL, between the calls); twice as much is 5 to 15 % slower (out of the cache).
_CHUNK = 2**19

# A product is cut to pieces of so many rows, if they need no more multiplications: OpenBLAS then
# takes the matrices where they lie (with AVX512), and does not copy them first. On the first case
# 2.2 | 3.0 | 2.6 ms in whole products, 1.9 | 2.6 | 2.3 in pieces.
_PIECE, _SMALL = 128, 10**6

# Sums over places are made in so many parts, whatever the number of threads; of large filters in
# fewer, so that all together have no more elements, but in four at least.
_SUMS, _SUMMED = 16, 2**22


def convolution(
    x: Any, filters: Any, strides: Ints, dilations: Ints, padding: Pairs, groups: int
) -> Any:
    """Sums of products of `filters` with the windows of `x`."""
    *kernel, depth, outputs = filters.shape
    x = _padded(x, padding)
    space = _places(x.shape[1:-1], kernel, strides, dilations)
    out = empty((len(x), *space, outputs), x.dtype)
    if not out.size or not filters.size:
        out[...] = 0
        return out
    if depth == 1 and groups > 1:
        x = _repeated(x, outputs // groups)
        return _depthwise(x, filters.reshape(*kernel, outputs), strides, dilations, out)
    matrix = filters.reshape(math.prod(kernel) * depth, groups, outputs // groups)
    matrix = matrix.transpose(1, 0, 2)
    windows = _windows(x, kernel, space, strides, dilations, groups)

    def work(chunks: Any) -> None:
        for where, columns in _columns(windows, chunks):
            rows = out[where].reshape(-1, groups, outputs // groups)  # contiguous
            if groups == 1:
                _product(columns[0], matrix[0], rows[:, 0])
            else:
                np.matmul(columns, matrix, out=rows.transpose(1, 0, 2))

    _on_threads(_chunks(windows), work)
    return out


def input_gradient(
    y: Any, filters: Any, size: Ints, strides: Ints, dilations: Ints, padding: Pairs, groups: int
) -> Any:
    """The adjoint of `convolution` in `x`, whose space has the sizes `size`."""
    *kernel, depth, outputs = filters.shape
    if not y.size or not filters.size or 0 in size:
        return np.zeros((len(y), *size, depth * groups), y.dtype)
    share = outputs // groups
    if depth == 1 and groups > 1 and share > 1:  # each output channel for itself, then summed
        each = input_gradient(y, filters, size, strides, dilations, padding, outputs)
        return each.reshape(*each.shape[:-1], groups, share).sum(-1)
    # With stride 1 it is a convolution with the mirrored filters. Its windows have `outputs`
    # numbers for each position of the kernel where the columns have `depth`, so it is faster as
    # long as there are not many more of them: equal at 4 times as many for 3x3 and 5x5.
    if set(strides) <= {1} and (outputs <= 4 * depth * groups or set(kernel) <= {1}):
        mirrored = filters[tuple(slice(None, None, -1) for _ in kernel)]
        mirrored = mirrored.reshape(*kernel, depth, groups, share)
        mirrored = mirrored.swapaxes(-1, -3).reshape(*kernel, share, groups * depth)
        ends = []
        for k, d, (low, _), mine, given in zip(
            kernel, dilations, padding, size, y.shape[1:-1], strict=True
        ):
            reach = (k - 1) * d
            ends.append((reach - low, mine - given + low))
        return convolution(y, mirrored, strides, dilations, tuple(ends), groups)
    if depth == 1 and groups > 1:
        flat = filters.reshape(*kernel, outputs)
        return _depthwise_adjoint(y, flat, size, strides, dilations, padding)
    return _overlaid_columns(y, filters, size, strides, dilations, padding, groups)


def filter_gradient(
    x: Any, y: Any, kernel: Ints, strides: Ints, dilations: Ints, padding: Pairs, groups: int
) -> Any:
    """The adjoint of `convolution` in `filters`, whose kernel has the sizes `kernel`."""
    x = _padded(x, padding)
    depth, outputs = x.shape[-1] // groups, y.shape[-1]
    share = outputs // groups
    if not x.size or not y.size:
        return np.zeros((*kernel, depth, outputs), x.dtype)
    if depth == 1 and groups > 1:
        result = _depthwise_filters(_repeated(x, share), y, kernel, strides, dilations)
        return result.reshape(*kernel, 1, outputs)
    windows = _windows(x, kernel, y.shape[1:-1], strides, dilations, groups)
    chunks = _chunks(windows)
    shape = groups, math.prod(kernel) * depth, share
    count = min(_SUMS, max(4, _SUMMED // math.prod(shape)), len(chunks))
    sums = [chunks[i::count] for i in range(count)]
    totals = np.zeros((count, *shape), x.dtype)

    def work(parts: Any) -> None:
        for i in parts:
            for where, columns in _columns(windows, sums[i]):
                rows = y[where].reshape(-1, groups, share)
                if groups == 1:
                    _add_product(columns[0], rows[:, 0], totals[i, 0])
                else:
                    totals[i] += np.matmul(columns.transpose(0, 2, 1), rows.transpose(1, 0, 2))

    _on_threads(range(len(sums)), work)
    return totals.sum(0).transpose(1, 0, 2).reshape(*kernel, depth, outputs)


def _on_threads(parts: Sequence[Any], work: Callable[[Iterator[Any]], None]) -> None:
    """Share the parts between the threads; each product in them then takes one."""
    if len(parts) > 1:
        alone(blocks.share, parts, work)
    else:
        work(iter(parts))


def _windows(x: Any, kernel: Any, space: Any, strides: Ints, dilations: Ints, groups: int) -> Any:
    """A view of shape (group, batch, *space, *kernel, channels of a group)."""
    first, *steps, last = x.strides
    depth = x.shape[-1] // groups
    moves = [step * s for step, s in zip(steps, strides, strict=True)]
    offsets = [step * d for step, d in zip(steps, dilations, strict=True)]
    shape = (groups, len(x), *space, *kernel, depth)
    return as_strided(x, shape, (last * depth, first, *moves, *offsets, last), writeable=False)


def _chunks(windows: Any) -> list[tuple[slice, slice]]:
    """Keys of batch and first axis of space: some images, or some rows of one."""
    groups, batch, high = windows.shape[:3]
    row = groups * windows[0, 0, 0].size
    images, rows = max(1, _CHUNK // (row * high)), high
    if row * high > 4 * _CHUNK:
        rows = max(1, _CHUNK // row)
    return [
        (slice(i, i + images), slice(j, j + rows))
        for i in range(0, batch, images)
        for j in range(0, high, rows)
    ]


def _columns(windows: Any, chunks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Of each chunk its key, and its windows as matrices: (group, place, element of the window)."""
    groups, rank = windows.shape[0], windows.ndim // 2 - 1
    matrix = groups, -1, math.prod(windows.shape[rank + 2 :])
    one_place = math.prod(windows.shape[rank + 2 : -1]) == 1 and windows.flags.c_contiguous
    buffer = None
    for where in chunks:
        part = windows[(slice(None), *where)]
        if one_place:
            yield where, part.reshape(matrix)
            continue
        if buffer is None or buffer.size < part.size:
            buffer = empty((part.size,), part.dtype)
        columns = buffer[: part.size].reshape(part.shape)
        columns[...] = part
        yield where, columns.reshape(matrix)


def _product(a: Any, b: Any, out: Any) -> None:
    """`a @ b`, with many rows in `a`."""
    whole = _in_pieces(a, b.shape[1])
    if whole:
        np.matmul(_cut(a, whole), b, out=_cut(out, whole))
    if whole < len(a):
        np.matmul(a[whole:], b, out=out[whole:])


def _add_product(a: Any, b: Any, total: Any) -> None:
    """Add `a.T @ b`, with many rows in both."""
    whole = _in_pieces(a, b.shape[1])
    if whole:
        total += np.matmul(_cut(a, whole).transpose(0, 2, 1), _cut(b, whole)).sum(0)
    if whole < len(a):
        total += np.matmul(a[whole:].T, b[whole:])


def _in_pieces(a: Any, outputs: int) -> int:
    """How many rows of `a` are cut to pieces of `_PIECE`."""
    return 0 if _PIECE * a.shape[1] * outputs > _SMALL else len(a) // _PIECE * _PIECE


def _cut(a: Any, rows: int) -> Any:
    return a[:rows].reshape(-1, _PIECE, a.shape[1])


def _overlaid_columns(
    y: Any, filters: Any, size: Ints, strides: Ints, dilations: Ints, padding: Pairs, groups: int
) -> Any:
    """The gradient by the input as one product, and its rows added where the windows lie.

    Everything is laid out so that each of these additions is one over contiguous memory: channels
    first, the places that are equal modulo the strides together (as "phases"), and `y` with so many
    zeros after each row that a shift by a position of the kernel is a shift of the whole array.
    17 ms on the second case above; adding the columns where they lie took 42.
    """
    *kernel, depth, outputs = filters.shape
    space = y.shape[1:-1]
    reach = [(k - 1) * d // s for k, d, s in zip(kernel, dilations, strides, strict=True)]
    pitch = tuple([n + r for n, r in zip(space, reach, strict=True)])
    steps = [math.prod(pitch[i + 1 :]) for i in range(len(pitch))]
    positions = math.prod(kernel)
    share = outputs // groups
    matrix = filters.reshape(positions, depth, groups, share).transpose(2, 0, 1, 3)
    matrix = matrix.reshape(groups, positions * depth, share)
    images = max(1, _CHUNK // (positions * depth * groups * math.prod(pitch)))
    result = np.zeros((len(y), *size, groups * depth), y.dtype)
    inner = tuple(slice(n) for n in space)
    order = _interleaved(len(pitch))

    def work(parts: Iterator[int]) -> None:
        spaced = np.zeros((min(images, len(y)), *pitch, outputs), y.dtype)
        for i in parts:
            part = spaced[: len(y) - i]
            part[(slice(None), *inner)] = y[i : i + images]
            overlay(i, part)

    def overlay(i: int, spaced: Any) -> None:
        count, rows = len(spaced), spaced.reshape(-1, groups, share)
        columns = np.matmul(matrix, rows.transpose(1, 2, 0))
        columns = columns.reshape(groups, positions, depth, len(rows))
        phases = np.zeros((*strides, groups, depth, len(rows)), y.dtype)
        for p, place in enumerate(itertools.product(*map(range, kernel))):
            ahead = [a * d for a, d in zip(place, dilations, strict=True)]
            phase = tuple([a % s for a, s in zip(ahead, strides, strict=True)])
            shift = sum([a // s * step for a, s, step in zip(ahead, strides, steps, strict=True)])
            phases[phase][..., shift:] += columns[:, p, :, : len(rows) - shift]
        whole = phases.reshape(*strides, groups * depth, count, *pitch).transpose(order)
        lengths = [n * s for n, s in zip(pitch, strides, strict=True)]
        whole = whole.reshape(count, *lengths, groups * depth)
        taken, placed = _crop(padding, size, lengths)
        result[(slice(i, i + count), *placed)] = whole[(slice(None), *taken)]

    _on_threads(range(0, len(y), images), work)
    return result


def _interleaved(rank: int) -> list[int]:
    """(batch, place, phase, ..., place, phase, channel) from (*phase, channel, batch, *place)."""
    order = [rank + 1]
    for axis in range(rank):
        order += [rank + 2 + axis, axis]
    return [*order, rank]


def _crop(padding: Pairs, size: Ints, lengths: list[int]) -> tuple[Any, Any]:
    """What of a padded space of `lengths` lies in the space itself, and where there."""
    taken, placed = [], []
    for (low, _), n, length in zip(padding, size, lengths, strict=True):
        stop = min(length, low + n)
        taken.append(slice(max(low, 0), max(stop, 0)))
        placed.append(slice(max(-low, 0), max(stop - low, 0)))
    return taken, placed


# Depthwise: each channel for itself, so that there is nothing for a matrix product to sum.


def _depthwise(x: Any, filters: Any, strides: Ints, dilations: Ints, out: Any) -> Any:
    def work(images: slice) -> None:
        part = out[images]
        product = np.empty_like(part)
        target = part
        for view, weights in _shifts(x[images], filters, out.shape, strides, dilations):
            np.multiply(view, weights, out=target)
            if target is product:
                part += product
            target = product

    blocks.each_block(_batches(out), work)
    return out


def _depthwise_adjoint(
    y: Any, filters: Any, size: Ints, strides: Ints, dilations: Ints, padding: Pairs
) -> Any:
    kernel = filters.shape[:-1]
    lengths = [
        max(n + low, (places - 1) * s + (k - 1) * d + 1)
        for n, (low, _), places, k, s, d in zip(
            size, padding, y.shape[1:-1], kernel, strides, dilations, strict=True
        )
    ]
    result = np.zeros((len(y), *size, y.shape[-1]), y.dtype)
    taken, placed = _crop(padding, size, lengths)

    def work(images: slice) -> None:
        part = y[images]
        total = np.zeros((len(part), *lengths, y.shape[-1]), y.dtype)
        product = np.empty_like(part)
        for view, weights in _shifts(total, filters, y.shape, strides, dilations):
            np.multiply(part, weights, out=product)
            view += product
        result[(images, *placed)] = total[(slice(None), *taken)]

    blocks.each_block(_batches(y), work)
    return result


def _depthwise_filters(x: Any, y: Any, kernel: Ints, strides: Ints, dilations: Ints) -> Any:
    channels = y.shape[-1]
    batches = _batches(y)
    result = np.zeros((len(batches), math.prod(kernel), channels), y.dtype)

    def work(i: int) -> None:
        images = batches[i]
        part = y[images]
        product = np.empty(part.shape, part.dtype)
        ones = np.ones(product.size // channels, y.dtype)
        views = _shifts(x[images], None, y.shape, strides, dilations, kernel)
        for p, (view, _) in enumerate(views):
            np.multiply(view, part, out=product)
            result[i, p] = ones @ product.reshape(-1, channels)

    blocks.each_block(range(len(batches)), work)
    return result.sum(0).reshape(*kernel, channels)


def _shifts(
    x: Any, filters: Any, places: Any, strides: Ints, dilations: Ints, kernel: Any = None
) -> Iterator[tuple[Any, Any]]:
    """For each position of the kernel, what of `x` it meets at all places, and its weights.

    The weights are repeated along the last axis of space: NumPy then sees one long row.
    """
    _, *space, channels = places
    for position in itertools.product(*map(range, kernel or filters.shape[:-1])):
        key = tuple(
            slice(a * d, a * d + (n - 1) * s + 1, s)
            for a, d, s, n in zip(position, dilations, strides, space, strict=True)
        )
        weights = None if filters is None else np.empty((space[-1], channels), x.dtype)
        if weights is not None:
            weights[...] = filters[position]
        yield x[(slice(None), *key)], weights


def _batches(like: Any) -> list[slice]:
    """Slices of the batch of which a few arrays fit the cache: 1 MB each.

    A (32, 32, 32, 32) array and 3x3 kernels: 6 | 6 | 4 ms; with 64 kB each 8 | 8 | 6.
    """
    images = max(1, 2**18 // max(1, math.prod(like.shape[1:])))
    return [slice(i, i + images) for i in range(0, len(like), images)]


def _repeated(x: Any, times: int) -> Any:
    return x if times == 1 else np.repeat(x, times, axis=-1)


def _places(size: Any, kernel: Any, strides: Ints, dilations: Ints) -> Ints:
    """How many windows there are along each axis."""
    axes = zip(size, kernel, strides, dilations, strict=True)
    return tuple([max(0, (n - (k - 1) * d - 1 + s) // s) for n, k, s, d in axes])


def _padded(x: Any, padding: Pairs) -> Any:
    """`x` with zeros around its space; a negative amount cuts."""
    if not any(map(any, padding)):
        return x
    batch, *size, channels = x.shape
    shape = [low + n + high for n, (low, high) in zip(size, padding, strict=True)]
    result = empty((batch, *shape, channels), x.dtype)
    axes = list(zip(size, padding, shape, strict=True))
    taken = [slice(max(-low, 0), n - max(-high, 0)) for n, (low, high), _ in axes]
    placed = [slice(max(low, 0), total - max(high, 0)) for _, (low, high), total in axes]
    for axis, inner in enumerate(placed, 1):
        before = (slice(None), *placed[: axis - 1])
        result[(*before, slice(inner.start))] = 0
        result[(*before, slice(inner.stop, None))] = 0
    result[(slice(None), *placed)] = x[(slice(None), *taken)]
    return result
