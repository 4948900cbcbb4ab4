"""Windows along one axis on NumPy: their maximum, their sum, their elements; and the adjoints.

The windows have `size` elements, `dilation` apart; window i of `count` begins at
`i * stride - low`. What of a window lies outside of the axis does not exist: nothing is padded.
Windows over several axes go one axis after the other, the last one first, which takes `h + w` steps
where a window of h x w would take `h * w`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

Part = tuple[int, slice, slice]


@lru_cache(maxsize=1024)
def parts(length: int, size: int, stride: int, dilation: int, low: int, count: int) -> list[Part]:
    """For each position in a window: the windows where it exists, and the elements that it is."""
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


def window_max(x: Any, axis: int, **geometry: int) -> Any:
    before = (slice(None),) * axis
    count = geometry["count"]
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    everywhere = slice(0, count)
    steps = parts(x.shape[axis], **geometry)
    whole = [x[(*before, elements)] for _, windows, elements in steps if windows == everywhere]
    rest = [step for step in steps if step[1] != everywhere]
    if len(whole) > 1:
        out = np.maximum(whole[0], whole[1])
    elif whole:
        out = whole[0].copy()
    else:
        out = np.full(shape, lowest(x.dtype), x.dtype)
    for values in whole[2:]:
        np.maximum(out, values, out=out)
    for _, windows, elements in rest:
        target = out[(*before, windows)]
        np.maximum(target, x[(*before, elements)], out=target)
    return out


def window_max_adjoint(y: Any, x: Any, axis: int, **geometry: int) -> Any:
    """`y` at the first largest element of each window of `x`."""
    before = (slice(None),) * axis
    overlap = geometry["stride"] < (geometry["size"] - 1) * geometry["dilation"] + 1
    # On the bits, as `masked`: np.where takes four times as long on a random mask.
    bits = np.dtype(f"i{y.dtype.itemsize}")
    result = np.zeros(x.shape, bits)
    steps = parts(x.shape[axis], **geometry)
    if len(steps) == 2 and not overlap and steps[0][1] == steps[1][1] == slice(0, y.shape[axis]):
        one, two = ((*before, elements) for _, _, elements in steps)
        given = np.asarray(y).view(bits) if y.flags.c_contiguous else np.array(y).view(bits)
        # -1, all bits, where the second is the larger one; 0 elsewhere.
        second = np.negative((x[one] < x[two]).view(np.int8), dtype=bits)
        np.bitwise_and(given, second, out=result[two])
        np.bitwise_and(given, np.invert(second, out=second), out=result[one])
        return result.view(y.dtype)
    out = window_max(x, axis, **geometry)
    left = np.array(y).view(bits)  # what no element has taken yet
    total = result.view(y.dtype)
    for _, windows, elements in steps:
        here, there = (*before, windows), (*before, elements)
        largest = np.negative((x[there] == out[here]).view(np.int8), dtype=bits)
        waiting = left[here]
        taken = waiting & largest
        waiting ^= taken
        if overlap:
            total[there] += taken.view(y.dtype)
        else:
            result[there] = taken
    return total


def window_pick(values: Any, x: Any, axis: int, **geometry: int) -> Any:
    """What `values` has at the first largest element of each window of `x`: the adjoint."""
    before = (slice(None),) * axis
    out = window_max(x, axis, **geometry)
    result = np.zeros(out.shape, values.dtype)
    found = np.zeros(out.shape, bool)
    for _, windows, elements in parts(x.shape[axis], **geometry):
        here, there = (*before, windows), (*before, elements)
        equal = x[there] == out[here]
        equal &= ~found[here]
        np.copyto(result[here], values[there], where=equal)
        found[here] |= equal
    return result


def window_sum(x: Any, axis: int, **geometry: int) -> Any:
    before = (slice(None),) * axis
    count = geometry["count"]
    out = np.zeros((*x.shape[:axis], count, *x.shape[axis + 1 :]), x.dtype)
    for _, windows, elements in parts(x.shape[axis], **geometry):
        out[(*before, windows)] += x[(*before, elements)]
    return out


def window_sum_adjoint(y: Any, axis: int, length: int, **geometry: int) -> Any:
    """Each element of `y` added to all elements of its window."""
    before = (slice(None),) * axis
    result = np.zeros((*y.shape[:axis], length, *y.shape[axis + 1 :]), y.dtype)
    for _, windows, elements in parts(length, **geometry):
        result[(*before, elements)] += y[(*before, windows)]
    return result


def unfold(x: Any, axis: int, **geometry: int) -> Any:
    """The elements of the windows, in an axis of their own after that of the windows."""
    before = (slice(None),) * axis
    shape = (*x.shape[:axis], geometry["count"], geometry["size"], *x.shape[axis + 1 :])
    out = np.zeros(shape, x.dtype)
    for position, windows, elements in parts(x.shape[axis], **geometry):
        out[(*before, windows, position)] = x[(*before, elements)]
    return out


def fold(y: Any, axis: int, length: int, **geometry: int) -> Any:
    """The elements of windows added up where they belong: the adjoint of `unfold`."""
    before = (slice(None),) * axis
    result = np.zeros((*y.shape[:axis], length, *y.shape[axis + 2 :]), y.dtype)
    for position, windows, elements in parts(length, **geometry):
        result[(*before, elements)] += y[(*before, windows, position)]
    return result
