"""The default engine: NumPy, with SciPy for what NumPy does not have (imported on first use)."""

from __future__ import annotations

import math
import operator
import warnings
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from ...core.engine import LARGE
from ...core.errors import ResourceExhaustedError
from ..contract import Contract

# Overflow and division by zero give Inf and NaN without a word, as in TensorFlow. The filter costs
# nothing until NumPy warns; np.errstate would cost each op 1.5 µs (docs/decisions/0003).
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradtape\.")


@cache
def _special_function(name: str) -> Any:
    import scipy.special

    return getattr(scipy.special, name)


def _cross_entropy_rows(logits: Any, labels: Any, out: Any = None) -> Any:
    """Losses and, in `out`, probabilities: on (32, 3), 12 µs in place of 24 op by op."""
    out = np.subtract(logits, np.maximum.reduce(logits, 1, None, None, True), out)
    at_label = out[np.arange(labels.size), labels]
    np.exp(out, out)
    total = np.add.reduce(out, 1, None, None, True)
    np.divide(out, total, out)
    loss = np.log(total)[:, 0]
    loss -= at_label
    return loss, out


class NumpyEngine(Contract):
    """The contract where NumPy or SciPy can do better than its defaults."""

    name = "numpy"
    is_host = True

    def on_large(self, op: Any, arrays: Any, params: dict[str, Any]) -> Any:
        from . import blocks  # an import of gradtape does without

        kernel = op.on(self)
        return blocks.elementwise(partial(kernel, **params) if params else kernel, arrays)

    getitem = staticmethod(operator.getitem)

    def index_add(self, shape: Any, key: Any, updates: Any, unique: bool = False) -> Any:
        """Arrays in `key` go by the flat positions that they select.

        `np.add.at` takes 1 ns for an element of a flat array, 18 ns in any other case.
        """
        if unique or not any(np.ndim(entry) for entry in key):
            result = np.zeros(shape, updates.dtype)
            result[key] = updates
            return result
        size = math.prod(shape)
        positions = np.arange(size).reshape(shape)[key]
        return self.rows_add(size, positions.reshape(-1), updates.reshape(-1)).reshape(shape)

    def rows_add(self, count: int, indices: Any, rows: Any) -> Any:
        """On flat elements, or as a sparse product.

        Microseconds on 2 cores, NumPy 2.4, float32, for 16 rows of 8 | 1000 of 64 | 20 000 of 64:
        np.add.at on rows 7 | 1180 | 16 000, sort and reduceat 29 | 710 | 12 500, bincount 18 |
        1190 | 5700, np.add.at on flat elements 12 | 146 | 3460, SciPy's sparse product 111 | 105 |
        610.
        """
        if rows.dtype.itemsize == 2 and rows.dtype.kind not in "iu":  # float16, bfloat16: faster so
            return self.rows_add(count, indices, rows.astype(np.float32)).astype(rows.dtype)
        shape = (count, *rows.shape[1:])
        width = math.prod(rows.shape[1:])
        if rows.size > 2**17 and width > 1 and rows.dtype.char in "fdFD":
            from scipy.sparse import csr_array

            ones, starts = np.ones(len(rows), rows.dtype), np.arange(len(rows) + 1)
            chosen = csr_array((ones, indices, starts), shape=(len(rows), count))
            return (chosen.T @ rows.reshape(len(rows), width)).reshape(shape)
        if width != 1:
            indices = (indices[:, None] * width + np.arange(width)).reshape(-1)
        result = np.zeros(count * width, rows.dtype)
        np.add.at(result, indices, rows.reshape(-1))
        return result.reshape(shape)

    def valid_indices(self, indices: Any, size: int, op: str) -> Any:
        array = np.asarray(indices, np.intp)
        # As unsigned numbers the negative ones are large: one pass for both bounds.
        if not array.size or np.maximum.reduce(array.view(np.uintp), None) < size:
            return array
        return super().valid_indices(array, size, op)

    def matmul(self, a: Any, b: Any) -> Any:
        """NumPy's matmul; half precision through float32, which BLAS has: 50 times faster."""
        if a.ndim > 2 and a.shape[-1] == 1 == b.shape[-2]:
            return a * b  # outer products: 222 µs where matmul takes 748, on (256, 32, 64)
        if a.dtype.itemsize != 2 or a.dtype.kind in "iu":
            return np.matmul(a, b)
        return np.matmul(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)

    def matrix_product(self, a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
        if transpose_a:
            a = a.swapaxes(-1, -2)
        if transpose_b:
            b = b.swapaxes(-1, -2)
        if b.ndim == 2 and a.ndim > 2 and not transpose_a:
            # One product of all rows in place of one for each matrix.
            rows = self.matmul(a.reshape(math.prod(a.shape[:-1]), a.shape[-1]), b)
            return rows.reshape(*a.shape[:-1], b.shape[-1])
        return self.matmul(a, b)

    def explain(self, op: str, tensors: Any, error: Exception) -> None:
        if isinstance(error, MemoryError):
            raise ResourceExhaustedError(f"{op}: {str(error) or 'out of memory'}") from None

    @cached_property
    def einsum(self) -> Any:
        from .einsum import einsum

        return einsum

    def sigmoid(self, x: Any) -> Any:
        denominator = np.exp(-x)  # Inf for very negative x, whose reciprocal 0 is right
        denominator += 1
        return 1 / denominator

    def normal(self, x: Any) -> Any:
        from . import normal

        in_steps = x.dtype.char == "f" and x.size >= normal.WORTH
        return normal.normal(x) if in_steps else super().normal(x)

    def gelu(self, x: Any, approximate: bool) -> Any:
        return None if approximate or x.dtype.itemsize == 2 else x * self.normal(x)[0]

    def floor_divide(self, x: Any, y: Any) -> Any:
        with np.errstate(divide="raise"):  # there is no integer that could stand for 1 // 0
            return np.floor_divide(x, y)

    def remainder(self, x: Any, y: Any) -> Any:
        return self._integer_safe(np.remainder, x, y)

    def fmod(self, x: Any, y: Any) -> Any:
        return self._integer_safe(np.fmod, x, y)

    def _integer_safe(self, function: Any, x: Any, y: Any) -> Any:
        if x.dtype.kind not in "iu":
            return function(x, y)
        with np.errstate(divide="raise"):
            return function(x, y)

    def cumlogsumexp(self, x: Any, axis: int) -> Any:
        return np.logaddexp.accumulate(x, axis=axis)

    def relu(self, x: Any) -> Any:
        # NumPy vectorises clip between two numbers, but not maximum with one: 91 against 262 µs on
        # (512, 1024) floats. Its call costs 2 µs more.
        if x.size > 4096 and x.dtype.kind == "f":
            return x.clip(0, np.inf)
        return np.maximum(x, x.dtype.type(0))

    def relu_grad(self, dy: Any, y: Any) -> Any:
        mask = y > y.dtype.type(0)  # a Python 0 would take 0.9 µs to convert
        return dy * (mask if dy.itemsize > 2 else mask.astype(dy.dtype))

    def keep_where(self, x: Any, mask: Any) -> Any:
        """On the bits: np.where takes four times as long."""
        bits = np.dtype(f"i{x.dtype.itemsize}")
        return (x.view(bits) & -mask.astype(bits)).view(x.dtype)

    def softmax(self, x: Any, axis: int) -> Any:
        if x.size < LARGE or axis != x.ndim - 1 or x.dtype.itemsize == 2:
            return None
        from .blocks import by_rows

        matrix = x.reshape(-1, x.shape[-1])

        def work(rows: slice, out: Any) -> None:
            part = matrix[rows]
            np.subtract(part, np.maximum.reduce(part, 1, None, None, True), out)
            np.exp(out, out)
            total = np.add.reduce(out, 1, None, None, True)
            np.divide(out, np.fmax(total, 1), out)  # at least 1, or NaN: see the op

        return by_rows(matrix, work).reshape(x.shape)

    def sparse_cross_entropy(self, logits: Any, labels: Any) -> Any:
        op = "sparse_softmax_cross_entropy_with_logits"
        labels = self.valid_indices(labels, logits.shape[1], op)
        if logits.size < LARGE:
            return _cross_entropy_rows(logits, labels)
        from .blocks import by_rows

        loss = np.empty(labels.shape, logits.dtype)

        def work(rows: slice, out: Any) -> None:
            loss[rows] = _cross_entropy_rows(logits[rows], labels[rows], out)[0]

        return loss, by_rows(logits, work)

    def sparse_cross_entropy_grad(self, dy: Any, probabilities: Any, labels: Any) -> Any:
        if probabilities.size < LARGE:
            result = probabilities * dy[:, None]
        else:
            from .blocks import by_rows

            def work(rows: slice, out: Any) -> None:
                np.multiply(probabilities[rows], dy[rows, None], out)

            result = by_rows(probabilities, work)
        result[np.arange(labels.size), labels] -= dy
        return result

    # The methods of the same names are Python around these: 0.8 µs more for each call.

    def sum(self, x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        large = (
            x.size > 2**15 and not keepdims and x.dtype.char in "fd" and dtype in (None, x.dtype)
        )
        if large and type(axis) is tuple and 0 < len(axis) < x.ndim and axis[-1] == len(axis) - 1:
            return self._sum_rows(x, len(axis))
        return np.add.reduce(x, axis, dtype, None, keepdims)

    def _sum_rows(self, x: Any, count: int) -> Any:
        """The sum over the first `count` axes of a large array, several short rows taken as one.

        (32, 32, 32, 32) floats to 32: 0.15 against 0.7 ms, and the error is a fourth.
        """
        shape = x.shape[count:]
        width = math.prod(shape)
        several = 1024 // max(width, 1)
        if several < 2 or not x.flags.c_contiguous:
            return np.add.reduce(x, tuple(range(count)))
        flat = x.reshape(-1, width)
        rest = len(flat) % several
        many = flat[: len(flat) - rest].reshape(-1, several * width)
        total = np.add.reduce(np.add.reduce(many, 0).reshape(several, width), 0)
        if rest:
            total += np.add.reduce(flat[-rest:], 0)
        return total.reshape(shape)

    def max(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return np.maximum.reduce(x, axis, None, None, keepdims)

    # NumPy's functions of these names are Python around the methods: 1.0 against 0.2 µs.

    def reshape(self, x: Any, shape: Any) -> Any:
        return x.reshape(shape)

    def transpose(self, x: Any, axes: Any = None) -> Any:
        return x.transpose(axes)

    def broadcast_to(self, x: Any, shape: Any) -> Any:
        if x.ndim > len(shape) or math.prod(shape) > 4096:
            return np.broadcast_to(x, shape)
        result = np.empty(shape, x.dtype)  # 0.6 µs; the view of broadcast_to takes 4
        result[...] = x
        return result

    def log1p_exp(self, x: Any) -> Any:
        """By Kahan's formula for log1p.

        NumPy vectorises log and not log1p: 160 against 560 µs on (128, 256) floats.
        """
        e = np.exp(x)
        u = e + 1
        lost = (u == 1).astype(e.dtype)  # of so small a number the logarithm is the number itself
        return e * ((np.log(u) + lost) / (u - 1 + lost))

    def fft_complex(self, x: Any, axes: Any, norm: str, inverse: bool) -> Any:
        """SciPy's transforms: NumPy's take ten times as long on complex64 (256 x 256: 3.1 ms)."""
        from scipy import fft

        if len(axes) == 1:
            return (fft.ifft if inverse else fft.fft)(x, axis=axes[0], norm=norm)
        return (fft.ifftn if inverse else fft.fftn)(x, axes=axes, norm=norm)

    def fft_real(self, x: Any, axes: Any, norm: str) -> Any:
        from scipy import fft

        return fft.rfftn(x, axes=axes, norm=norm)

    def fft_hermitian(self, x: Any, axes: Any, norm: str, length: int) -> Any:
        from scipy import fft

        if len(axes) > 1:
            x = fft.ifftn(x, axes=axes[:-1], norm=norm)
        return fft.irfft(x, length, axis=axes[-1], norm=norm)

    def dct(self, x: Any, type: int, norm: str | None) -> Any:
        from scipy import fft

        return fft.dct(x, type, norm=norm)

    def frames(self, x: Any, axis: int, length: int, step: int, count: int) -> Any:
        shape = (*x.shape[:axis], count, length, *x.shape[axis + 1 :])
        strides = (*x.strides[:axis], step * x.strides[axis], *x.strides[axis:])
        return np.lib.stride_tricks.as_strided(x, shape, strides, writeable=False)

    # Convolution and linear algebra: files of their own, read when first needed.

    def convolution(self, x: Any, filters: Any, *, groups: int, **geometry: Any) -> Any:
        from .convolution import convolution

        return convolution(x, filters, groups=groups, **geometry)

    def convolution_input_gradient(
        self, y: Any, filters: Any, *, size: Any, groups: int, **geometry: Any
    ) -> Any:
        from .convolution import input_gradient

        return input_gradient(y, filters, size, groups=groups, **geometry)

    def convolution_filter_gradient(
        self, x: Any, y: Any, *, kernel: Any, groups: int, **geometry: Any
    ) -> Any:
        from .convolution import filter_gradient

        return filter_gradient(x, y, kernel, groups=groups, **geometry)

    @cached_property
    def matrices(self) -> Any:
        from .linalg import NumpyLinearAlgebra

        return NumpyLinearAlgebra(self)

    def apply_map(self, x: Any, map: Any, axis: int) -> Any:
        """Products of the blocks along the diagonal of the map.

        Bilinear from 32 x 224 x 224 x 3 to half the size on one core: 11 ms, of which tap by tap
        (np.take, multiply, add) would take 26 and the whole matrix 75.
        """
        if map.is_selection:
            return x.take(map.indices[0], axis)
        before, after = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :])
        shape = (*x.shape[:axis], map.length, *x.shape[axis + 1 :])
        result = np.empty(shape, x.dtype)
        if after < 16:  # few channels: a block for each of them, in one matrix
            rows = x.reshape(before, map.size * after)
            out = result.reshape(before, map.length * after)
            for inputs, outputs, block in map.blocks(after, x.dtype):
                np.matmul(rows[:, inputs], block, out=out[:, outputs])
        else:
            rows = x.reshape(before, map.size, after)
            out = result.reshape(before, map.length, after)
            for inputs, outputs, block in map.blocks(1, x.dtype):
                np.matmul(block.T, rows[:, inputs], out=out[:, outputs])
        return result

    def rows_reduce(self, how: str, start: Any, count: int, indices: Any, rows: Any) -> Any:
        function = {"multiply": np.multiply, "max": np.maximum, "min": np.minimum}[how]
        width = math.prod(rows.shape[1:])
        result = np.full(count * width, start, rows.dtype)
        if width != 1:  # on flat elements 1 ns for each, on rows 18
            indices = (indices[:, None] * width + np.arange(width)).reshape(-1)
        function.at(result, indices, rows.reshape(-1))
        return result.reshape(count, *rows.shape[1:])

    special_function = staticmethod(_special_function)

    def isotonic(self, rows: Any) -> Any:
        """By pooling adjacent violators."""
        from scipy.optimize import isotonic_regression

        fitted = [isotonic_regression(row, increasing=False).x for row in rows if row.size]
        return np.stack(fitted) if fitted else np.zeros(rows.shape, rows.dtype)


engine = NumpyEngine(np)
