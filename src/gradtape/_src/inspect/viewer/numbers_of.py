"""Values described: extent, mean, norm, zeros, NaN, and how they are spread."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_BINS = 16
_MOST = 2**20
"""Values that a histogram counts. Of a larger array it takes every second, third, ... one."""


def numbers_of(array: Any) -> dict[str, Any] | None:
    """What describes the values of an array; None if it has none. Complex ones by their size."""
    try:
        values: Any = np.asarray(array)
        if values.dtype.kind in "OSU":
            return None
        values = np.abs(values) if values.dtype.kind == "c" else values
        values = values.astype(np.float64, copy=False).reshape(-1)
    except Exception:  # a symbol, or text
        return None
    found: dict[str, Any] = {"count": values.size}
    if not values.size:
        return found
    largest, smallest = float(values.max()), float(values.min())
    if not (math.isfinite(largest) and math.isfinite(smallest)):
        found["nan"] = int(np.isnan(values).sum())
        found["inf"] = int(np.isinf(values).sum())
        values = values[np.isfinite(values)]
        if not values.size:
            return found
        largest, smallest = float(values.max()), float(values.min())
    with np.errstate(over="ignore"):
        squares = float(values @ values)
        mean = float(values.sum()) / values.size
    found["min"], found["max"], found["mean"] = smallest, largest, mean
    found["norm"] = math.sqrt(squares)
    if values.size > 1:
        found["zeros"] = values.size - int(np.count_nonzero(values))
        counted = values[:: -(-values.size // _MOST)]
        if largest > smallest and math.isfinite(largest - smallest):
            scaled = (counted - smallest) * (_BINS * (1 - 1e-12) / (largest - smallest))
            found["bins"] = np.bincount(scaled.astype(np.int64), minlength=_BINS).tolist()
    return found
