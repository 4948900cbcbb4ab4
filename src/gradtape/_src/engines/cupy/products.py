"""Products of many matrices, by cuBLAS: as they lie in memory, and with tensor cores.

`cupy.matmul` copies transposed matrices first, multiplies many of float32 without tensor cores,
and none of bfloat16.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import cupy
import numpy as np

from ...core.dtypes import bfloat16
from ...core.placement import placement

# dtype: cuBLAS' names for it, and for sums of it
_KINDS = {
    np.dtype(np.float32): (0, 68), np.dtype(np.float64): (1, 70),
    np.dtype(np.float16): (2, 68), bfloat16.numpy_dtype: (14, 68),
}  # fmt: skip
_TF32 = 77
_NUMBERS = {wide: np.array([1, 0], wide) for wide in (np.float32, np.float64)}


def batched(a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
    """The products; None for other dtypes, or where matrices serve several times."""
    if a.dtype not in _KINDS or a.dtype != b.dtype or a.shape[:-2] != b.shape[:-2]:
        return None
    m, k = a.shape[-2:] if not transpose_a else a.shape[:-3:-1]
    other, n = b.shape[-2:] if not transpose_b else b.shape[:-3:-1]
    batch = a.shape[:-2]
    if k != other or not (m and n and k and math.prod(batch)) or max(m, n, k) >= 2**31:
        return None
    a, lead_a, step_a, flipped_a = _as_it_lies(a)
    b, lead_b, step_b, flipped_b = _as_it_lies(b)
    kind, sums = _KINDS[a.dtype]
    if kind == 0 and placement.tf32:
        sums = _TF32
    out = cupy.empty((*batch, m, n), a.dtype)
    numbers = _NUMBERS[np.float64 if kind == 1 else np.float32]
    one = numbers.ctypes.data
    # cuBLAS counts down columns: to it, rows of ours are columns, and the product is transposed.
    cupy.cuda.cublas.gemmStridedBatchedEx(
        cupy.cuda.device.get_cublas_handle(), int(transpose_b != flipped_b),
        int(transpose_a != flipped_a), n, m, k, one, b.data.ptr, kind, lead_b, step_b,
        a.data.ptr, kind, lead_a, step_a, one + numbers.itemsize, out.data.ptr, kind, n, m * n,
        math.prod(batch), sums, -1,
    )  # fmt: skip
    return out


def _as_it_lies(x: Any) -> Any:
    """The array, or a copy; the steps between rows, and between matrices; whether columns lie
    in a piece, not rows."""
    rows, columns = x.shape[-2:]
    size = x.itemsize
    down, along = (step // size for step in x.strides[-2:])
    step = _one_step(x.shape[:-2], x.strides[:-2])
    if step is not None and not step % size:
        if along == 1 and down >= columns:
            return x, down, step // size, False
        if down == 1 and along >= rows:
            return x, along, step // size, True
    return cupy.ascontiguousarray(x), columns, rows * columns, False


def _one_step(shape: Any, strides: Any) -> int | None:
    """The bytes from one matrix to the next, if they are always the same."""
    axes = [(n, step) for n, step in zip(shape, strides, strict=True) if n != 1]
    if not axes:
        return 0
    for (_, outer), (n, inner) in pairwise(axes):
        if outer != n * inner:
            return None
    return int(axes[-1][1])
