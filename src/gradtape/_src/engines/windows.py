"""Windows along one axis, as `xp.windows`: what an engine must do, and how if it does not say.

The part of a window beyond the ends of the axis does not count: it is never the largest, and 0 in
a sum.
Windows over several axes go one axis after the other, the last one first, which takes `h + w` steps
where a window of h x w would take `h * w`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np


class Window(NamedTuple):
    """`count` windows of `size` elements `dilation` apart; window i at `i * stride - low`."""

    size: int
    stride: int
    low: int
    count: int
    dilation: int = 1


Part = tuple[int, slice, slice]


@lru_cache(maxsize=1024)
def parts(length: int, window: Window) -> list[Part]:
    """For each position in a window: the windows where it exists, and the elements that it is."""
    size, stride, low, count, dilation = window
    found = []
    for position in range(size):
        offset = position * dilation - low
        first = max(0, -(offset // stride))
        stop = min(count, (length - 1 - offset) // stride + 1)
        if first < stop:
            begin = first * stride + offset
            elements = slice(begin, (stop - 1) * stride + offset + 1, stride)
            found.append((position, slice(first, stop), elements))
    return found


def lowest(dtype: Any) -> Any:
    """The number that is no larger than any other."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


class Windows:
    """The functions, in terms of the namespace."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp

    def window_max(self, x: Any, axis: int, window: Window) -> Any:
        """The largest element of each window, NaN if one is; the lowest number of an empty one."""
        xp = self._xp
        before = (slice(None),) * axis
        shape = (*x.shape[:axis], window.count, *x.shape[axis + 1 :])
        everywhere = slice(0, window.count)
        steps = parts(x.shape[axis], window)
        whole = [x[(*before, elements)] for _, windows, elements in steps if windows == everywhere]
        rest = [step for step in steps if step[1] != everywhere]
        if len(whole) > 1:
            out = xp.maximum(whole[0], whole[1])
        elif whole:
            out = whole[0].copy()
        else:
            out = xp.full(shape, lowest(x.dtype), dtype=x.dtype)
        for values in whole[2:]:
            xp.maximum(out, values, out=out)
        for _, windows, elements in rest:
            target = out[(*before, windows)]
            xp.maximum(target, x[(*before, elements)], out=target)
        return out

    def window_max_adjoint(self, y: Any, x: Any, axis: int, window: Window) -> Any:
        """`y`, one for each window of `x`, added at the first largest element of that window."""
        xp = self._xp
        before = (slice(None),) * axis
        overlap = window.stride < (window.size - 1) * window.dilation + 1
        # On the bits: np.where takes four times as long on a random mask.
        bits = np.dtype(f"i{y.dtype.itemsize}")
        result = xp.zeros(x.shape, dtype=bits)
        steps = parts(x.shape[axis], window)
        if (
            len(steps) == 2
            and not overlap
            and steps[0][1] == steps[1][1] == slice(0, y.shape[axis])
        ):
            one, two = ((*before, elements) for _, _, elements in steps)
            given = xp.asarray(y).view(bits) if y.flags.c_contiguous else xp.array(y).view(bits)
            # -1, all bits, where the second is the larger one; 0 elsewhere.
            second = xp.negative((x[one] < x[two]).view(np.int8), dtype=bits)
            xp.bitwise_and(given, second, out=result[two])
            xp.bitwise_and(given, xp.invert(second, out=second), out=result[one])
            return result.view(y.dtype)
        out = self.window_max(x, axis, window)
        left = xp.array(y).view(bits)  # what no element has claimed yet
        total = result.view(y.dtype)
        for _, windows, elements in steps:
            here, there = (*before, windows), (*before, elements)
            largest = xp.negative((x[there] == out[here]).view(np.int8), dtype=bits)
            waiting = left[here]
            claimed = waiting & largest
            waiting ^= claimed
            if overlap:
                total[there] += claimed.view(y.dtype)
            else:
                result[there] = claimed
        return total

    def window_pick(self, values: Any, x: Any, axis: int, window: Window) -> Any:
        """What `values`, of any dtype, has at the first largest element of each window of `x`."""
        xp = self._xp
        before = (slice(None),) * axis
        out = self.window_max(x, axis, window)
        result = xp.zeros(out.shape, dtype=values.dtype)
        found = xp.zeros(out.shape, dtype=bool)
        for _, windows, elements in parts(x.shape[axis], window):
            here, there = (*before, windows), (*before, elements)
            equal = x[there] == out[here]
            equal &= ~found[here]
            xp.copyto(result[here], values[there], where=equal)
            found[here] |= equal
        return result

    def window_sum(self, x: Any, axis: int, window: Window) -> Any:
        """The sum of each window."""
        xp = self._xp
        before = (slice(None),) * axis
        out = xp.zeros((*x.shape[:axis], window.count, *x.shape[axis + 1 :]), dtype=x.dtype)
        for _, windows, elements in parts(x.shape[axis], window):
            out[(*before, windows)] += x[(*before, elements)]
        return out

    def window_sum_adjoint(self, y: Any, axis: int, length: int, window: Window) -> Any:
        """Each element of `y` added to all elements of its window, in an axis of `length`."""
        xp = self._xp
        before = (slice(None),) * axis
        result = xp.zeros((*y.shape[:axis], length, *y.shape[axis + 1 :]), dtype=y.dtype)
        for _, windows, elements in parts(length, window):
            result[(*before, elements)] += y[(*before, windows)]
        return result

    def unfold(self, x: Any, axis: int, window: Window) -> Any:
        """The elements of the windows, in an axis of their own after that of the windows."""
        xp = self._xp
        before = (slice(None),) * axis
        shape = (*x.shape[:axis], window.count, window.size, *x.shape[axis + 1 :])
        out = xp.zeros(shape, dtype=x.dtype)
        for position, windows, elements in parts(x.shape[axis], window):
            out[(*before, windows, position)] = x[(*before, elements)]
        return out

    def fold(self, y: Any, axis: int, length: int, window: Window) -> Any:
        """The elements of windows added up where they belong: the adjoint of `unfold`."""
        xp = self._xp
        before = (slice(None),) * axis
        result = xp.zeros((*y.shape[:axis], length, *y.shape[axis + 2 :]), dtype=y.dtype)
        for position, windows, elements in parts(length, window):
            result[(*before, elements)] += y[(*before, windows, position)]
        return result

    # Convolution, for `xp.convolution` and its adjoints: all windows side by side, in one product.

    def convolution(self, x: Any, filters: Any, *, groups: int, **geometry: Any) -> Any:
        *kernel, _, outputs = filters.shape
        axes = zip(x.shape[1:-1], kernel, *_by_axis(geometry), strict=True)
        places = [max(0, (n + sum(pad) - (k - 1) * d - 1) // s + 1) for n, k, s, d, pad in axes]
        matrix = filters.reshape(-1, groups, outputs // groups).transpose(1, 0, 2)
        product = self._xp.matmul(self._columns(x, kernel, places, groups, geometry), matrix)
        return product.transpose(1, 0, 2).reshape(x.shape[0], *places, outputs)

    def input_gradient(
        self, y: Any, filters: Any, size: Any, *, groups: int, **geometry: Any
    ) -> Any:
        *kernel, depth, outputs = filters.shape
        batch, *places = y.shape[:-1]
        rows = y.reshape(-1, groups, outputs // groups).transpose(1, 0, 2)
        matrix = filters.reshape(-1, groups, outputs // groups).transpose(1, 2, 0)
        columns = self._xp.matmul(rows, matrix)
        columns = columns.reshape(groups, batch, *places, *kernel, depth)
        x = columns.transpose(np.argsort(_columns_order(len(kernel))).tolist())
        x = x.reshape(*x.shape[:-2], groups * depth)
        windows = _along_each(kernel, places, geometry)
        for axis, (length, window) in enumerate(zip(size, windows, strict=True), 1):
            x = self.fold(x, axis, length, window)
        return x

    def filter_gradient(self, x: Any, y: Any, kernel: Any, *, groups: int, **geometry: Any) -> Any:
        depth, outputs = x.shape[-1] // groups, y.shape[-1]
        columns = self._columns(x, kernel, y.shape[1:-1], groups, geometry)
        rows = y.reshape(-1, groups, outputs // groups).transpose(1, 0, 2)
        total = self._xp.matmul(columns.transpose(0, 2, 1), rows)
        return total.transpose(1, 0, 2).reshape(*kernel, depth, outputs)

    def _columns(self, x: Any, kernel: Any, places: Any, groups: int, geometry: Any) -> Any:
        """The windows as matrices: (groups, batch and places, kernel and channels of a group)."""
        windows = _along_each(kernel, places, geometry)
        for axis in range(len(kernel), 0, -1):
            x = self.unfold(x, axis, windows[axis - 1])
        depth = x.shape[-1] // groups
        x = x.reshape(*x.shape[:-1], groups, depth).transpose(_columns_order(len(kernel)))
        return x.reshape(groups, x.shape[1] * math.prod(places), math.prod(kernel) * depth)


def _by_axis(geometry: Any) -> tuple[Any, Any, Any]:
    return geometry["strides"], geometry["dilations"], geometry["padding"]


def _along_each(kernel: Any, places: Any, geometry: Any) -> list[Window]:
    """The windows of a convolution along each axis of its space."""
    return [
        Window(k, s, low, n, d)
        for k, n, s, d, (low, _) in zip(kernel, places, *_by_axis(geometry), strict=True)
    ]


def _columns_order(rank: int) -> list[int]:
    """(group, batch, *place, *kernel, channel) from (batch, place, kernel, ..., group, channel)."""
    end = 2 * rank + 1
    return [end, 0, *range(1, end, 2), *range(2, end, 2), end + 1]
