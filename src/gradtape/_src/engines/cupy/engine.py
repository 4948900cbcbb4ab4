"""The engine on CuPy: NumPy's functions on a GPU, and what CuPy does its own way.

An op that CuPy has no kernel for is run on the host, as TensorFlow's soft placement does, and its
copies are counted; convolutions are run by cuDNN, which JAX brings along (CuPy has none).
"""

from __future__ import annotations

import logging
import math
from functools import cached_property
from typing import Any
from weakref import ref

import cupy
import numpy as np

from ...core import dtypes as dt
from ...core.errors import InvalidArgumentError, ResourceExhaustedError
from ...core.placement import enter_card, placement
from ..contract import Contract
from . import cudnn, kernels, products, random, reductions, xla
from .transfers import transfers, upload

_BFLOAT16 = dt.bfloat16.numpy_dtype
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_HOST_ONLY = {d.numpy_dtype for d in dt.ALL if d.name.startswith("float8")}
_NO_KERNEL = (TypeError, NotImplementedError)
"""What CuPy raises for a dtype or an option that it does not have."""


def _of_each(name: str) -> Any:
    """CuPy's function of this name; of large arrays by a kernel with wide reads."""
    plain = getattr(cupy, name)

    def run(self: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        result = kernels.floats(name)(x) if kernels.is_wide(x) else None
        return plain(x, *args, **kwargs) if result is None else result

    return run


class CupyEngine(Contract):
    """The contract on arrays of a GPU."""

    name = "cupy"
    device_type = "GPU"

    def __init__(self, namespace: Any) -> None:
        super().__init__(namespace)
        self._in_range: dict[int, tuple[Any, int]] = {}  # arrays of indices that were looked at
        self._told: set[str] = set()  # the ops of which the log says that the host runs them

    # Between the host and the card

    def adopt(self, array: Any) -> Any:
        if not isinstance(array, (np.ndarray, np.generic)):
            return array
        if array.dtype == object:
            raise TypeError("Text is held on the host, and meets an array of the GPU.")
        if array.ndim and array.nbytes and not any(array.strides):  # one number, many times
            return cupy.broadcast_to(cupy.asarray(array[(0,) * array.ndim]), array.shape)
        transfers.count_to_card(array.nbytes, silent=True)
        return cupy.asarray(array)

    def adopt_all(self, op: Any, arrays: Any) -> Any:
        """A number of the host beside arrays of the card goes along with the launch of a kernel."""
        if op.diagonal or op.builtin is not None:
            return [
                array[()] if type(array) is np.ndarray and not array.ndim else self.adopt(array)
                for array in arrays
            ]
        return [self.adopt(array) for array in arrays]

    def to_numpy(self, x: Any) -> Any:
        if not isinstance(x, cupy.ndarray):
            return np.asarray(x)
        transfers.count_to_host(x.nbytes)
        return x.get()

    def on_host(self, function: Any, *arrays: Any, **params: Any) -> Any:
        for array in arrays:
            if isinstance(array, cupy.ndarray):
                transfers.count_to_host(array.nbytes, silent=True)
        given = [a.get() if isinstance(a, cupy.ndarray) else a for a in arrays]
        result = function(*given, **params)
        return tuple(map(self._returned, result)) if type(result) is tuple else (
            self._returned(result)
        )  # fmt: skip

    def _returned(self, array: Any) -> Any:
        array = np.asarray(array)
        if array.dtype in _HOST_ONLY:
            return array
        transfers.count_to_card(array.nbytes, silent=True)
        return cupy.asarray(array)

    def upload(self, array: Any) -> Any:
        """Through pinned memory, on a stream of its own: it runs while the card computes."""
        if not isinstance(array, np.ndarray) or not array.nbytes:
            return self.asarray(array)
        transfers.count_to_card(array.nbytes)
        return upload(array)

    def device_of(self, array: Any) -> str:
        return f"GPU:{array.device.id}"

    def to_xla(self, array: Any) -> Any:
        return xla.to_xla(array)

    def from_xla(self, array: Any) -> Any:
        return xla.from_xla(array)

    def wait(self) -> None:
        """Until all that was begun is computed."""
        cupy.cuda.get_current_stream().synchronize()

    def begun(self, array: Any) -> bool:
        return xla.begun(array)

    def forget_xla(self, array: Any) -> None:
        xla.forget(array)

    def empty_for_xla(self, shape: Any, dtype: Any) -> Any:
        return xla.empty(shape, dtype)

    # Ops that CuPy has no kernel for

    def explain(self, op: str, tensors: Any, error: Exception) -> None:
        if isinstance(error, cupy.cuda.memory.OutOfMemoryError):
            raise ResourceExhaustedError(f"{op}: {out_of_memory(error)}") from None

    def builtin(self, function: Any) -> Any:
        return kernels.arithmetic(function) or function

    def bound(self, op: Any, kernel: Any) -> Any:
        """The kernel; for arrays of bfloat16 in float32, or on the host, where CuPy has none."""

        def run(*arrays: Any, **params: Any) -> Any:
            try:
                result = kernel(*arrays, **params)
                for a in arrays:
                    if a.dtype == _BFLOAT16 and "dtype" not in params:
                        return self._narrow(result)  # CuPy computes some things in float32
                return result
            except _NO_KERNEL as error:
                if not all([isinstance(a, (cupy.ndarray, np.generic)) for a in arrays]):
                    raise  # an array of the host among them: the op is run again on adopted ones
                if any([a.dtype == _BFLOAT16 for a in arrays]):
                    return self._in_float32(run, arrays, params)
                return self._by_the_host(op, arrays, params, error)
            except ValueError as error:
                if "Unsupported dtype" not in str(error):  # floats of 8 bits: held on the host
                    raise
                return self._by_the_host(op, arrays, params, error)

        return run

    def _in_float32(self, run: Any, arrays: Any, params: Any) -> Any:
        wide = [a.astype(np.float32) if a.dtype == _BFLOAT16 else a for a in arrays]
        return self._narrow(run(*wide, **params))

    def _narrow(self, result: Any) -> Any:
        if type(result) is tuple:
            return tuple(map(self._narrow, result))
        return result.astype(_BFLOAT16) if result.dtype == np.float32 else result

    def _by_the_host(self, op: Any, arrays: Any, params: Any, error: Exception) -> Any:
        if not placement.soft:
            raise InvalidArgumentError(
                f"{op.name}: there is no kernel for the GPU ({error}), and soft placement is off. "
                "tf.config.set_soft_device_placement(True) lets the CPU run it."
            ) from None
        with np.errstate(all="ignore"):
            result = self.on_host(op.on(self.host), *arrays, **params)
        if op.name not in self._told:
            self._told.add(op.name)
            logging.getLogger("gradtape").info("%s is run by the CPU: %s", op.name, error)
        return result

    # Arrays

    def asarray(self, x: Any, dtype: Any = None) -> Any:
        if isinstance(x, cupy.ndarray):
            return x if dtype is None or x.dtype == dtype else x.astype(dtype)
        array = np.asarray(x, dtype)
        transfers.count_to_card(array.nbytes)
        return cupy.asarray(array)

    def to_integers(self, x: Any, dtype: Any) -> Any:
        """As on NumPy: the card's own conversion takes the nearest number that there is."""
        if x.dtype.kind in "iub":
            return x.astype(dtype)
        wide = np.int32 if dtype.itemsize < 4 or dtype == np.int32 else np.int64
        x = x.astype(np.float32) if x.dtype.itemsize == 2 else x
        x = x.real if x.dtype.kind == "c" else x
        lowest = np.iinfo(wide).min
        inside = (x >= float(lowest)) & (x < -float(lowest))
        return cupy.where(inside, x.astype(wide), wide(lowest)).astype(dtype)

    # Reading and writing at places

    def getitem(self, x: Any, key: Any) -> Any:
        return x[key]

    def valid_indices(self, indices: Any, size: int, op: str) -> Any:
        """Those of the host are looked at there; those of the card by one kernel, waited for."""
        if not isinstance(indices, cupy.ndarray):
            return cupy.asarray(self.host.valid_indices(indices, size, op))
        if not self._seen_in_range(indices, size):
            if indices.size and kernels.outside()(indices, size):
                self.host.valid_indices(self.to_numpy(indices), size, op)  # raises
            self._in_range[id(indices)] = ref(indices), size
        return indices.astype(np.intp, copy=False)

    def _seen_in_range(self, indices: Any, size: int) -> bool:
        """Whether these very indices were looked at before: to do so waits for the card."""
        known, checked = self._in_range.get(id(indices), (None, 0))
        if known is not None and known() is indices and checked <= size:
            return True
        if len(self._in_range) > 256:
            self._in_range.clear()
        return False

    def segment_places(self, ids: Any, count: int, op: str) -> Any:
        if not isinstance(ids, cupy.ndarray):
            return cupy.asarray(self.host.segment_places(ids, count, op))
        return super().segment_places(ids, count, op)

    def write_at(self, array: Any, key: Any, updates: Any, how: str = "set") -> Any:
        array, updates = self.adopt(array), self.adopt(updates)
        if how == "subtract":
            how, updates = "add", -updates
        narrow = array.dtype
        if narrow.itemsize <= 2 and how != "set":  # the card's atomic operations are on 32 bits
            wide = np.float32 if narrow.kind in "fV" else np.int32
            array, updates = array.astype(wide), updates.astype(wide)
        result = array.copy()
        places = tuple(map(self.adopt, key)) if type(key) is tuple else self.adopt(key)
        if how == "set":
            result[places] = updates
        elif how == "add":
            cupy.add.at(result, places, updates)
        elif array.dtype.kind == "c":
            raise NotImplementedError(f"{how} of complex numbers at places")
        else:
            flat = cupy.arange(array.size).reshape(array.shape)[places]
            kernel = kernels.scatter(how, array.dtype.itemsize)
            kernel(flat, cupy.broadcast_to(updates, flat.shape), result)
        return result if result.dtype == narrow else result.astype(narrow)

    def index_add(self, shape: Any, key: Any, updates: Any, unique: bool = False) -> Any:
        if unique or not any(np.ndim(entry) for entry in key if not isinstance(entry, slice)):
            result = cupy.zeros(shape, updates.dtype)
            result[key] = updates
            return result
        return super().index_add(shape, key, updates, unique)

    # Random numbers

    def drawn(self, what: str, key: Any, counter: Any, count: int, dtype: Any) -> Any:
        if not random.worth_it(what, count):
            return None
        if what == "uniform":
            return random.uniforms(key, counter, count, dtype)
        wide = dtype if dtype in _FLOATS else np.dtype(np.float32)
        if what == "normal":
            drawn = random.normals(key, counter, count, wide)
        else:
            drawn = random.truncated_normals(key, counter, count, wide, dtype)
        return drawn.astype(dtype, copy=False)

    # Order: CuPy's are stable

    def argsort(self, a: Any, axis: int = -1, stable: Any = None) -> Any:
        return cupy.argsort(a.astype(np.float32) if a.dtype == _BFLOAT16 else a, axis)

    def sort(self, a: Any, axis: int = -1) -> Any:
        if a.dtype == _BFLOAT16:
            return cupy.sort(a.astype(np.float32), axis).astype(_BFLOAT16)
        return cupy.sort(a, axis)

    def searchsorted(self, a: Any, v: Any, side: str = "left") -> Any:
        return cupy.searchsorted(a, self.adopt(v), side)

    # Functions of each element

    def special_function(self, name: str) -> Any:
        from cupyx.scipy import special

        found = getattr(special, name, None)
        return super().special_function(name) if found is None else found

    def sigmoid(self, x: Any) -> Any:
        result = kernels.floats("sigmoid")(x)
        return super().sigmoid(x) if result is None else result

    def relu(self, x: Any) -> Any:
        result = kernels.floats("relu")(x)
        return super().relu(x) if result is None else result

    def relu_grad(self, dy: Any, y: Any) -> Any:
        if isinstance(dy, cupy.ndarray) and isinstance(y, cupy.ndarray):
            result = kernels.floats("relu_grad")(dy, y)
            if result is not None:
                return result
        return super().relu_grad(dy, y)

    exp, expm1, log, log1p = map(_of_each, ("exp", "expm1", "log", "log1p"))
    sqrt, square, tanh, negative = map(_of_each, ("sqrt", "square", "tanh", "negative"))

    def gelu(self, x: Any, approximate: bool) -> Any:
        return kernels.floats("gelu_tanh" if approximate else "gelu")(x)

    def gelu_slope(self, x: Any) -> Any:
        return kernels.floats("gelu_tanh_slope")(x)

    def log1p_exp(self, x: Any) -> Any:
        result = kernels.floats("log1p_exp")(x)
        return super().log1p_exp(x) if result is None else result

    def floor_divide(self, x1: Any, x2: Any) -> Any:
        self._refuse_zero(x1, x2)
        return cupy.floor_divide(x1, x2)

    def remainder(self, x1: Any, x2: Any) -> Any:
        self._refuse_zero(x1, x2)
        return cupy.remainder(x1, x2)

    def fmod(self, x1: Any, x2: Any) -> Any:
        self._refuse_zero(x1, x2)
        return cupy.fmod(x1, x2)

    def _refuse_zero(self, x: Any, y: Any) -> None:
        if x.dtype.kind in "iu" and not bool((y != 0).all()):
            raise ZeroDivisionError("an integer is divided by zero")

    def max(self, a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return a.max(axis, None, keepdims)

    def sum(self, a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        if axis is not None and dtype is None and not keepdims:
            count = reductions.first_axes(axis, a.ndim) if a.ndim else 0
            result = reductions.column_sums(a, count) if count else None
            if result is not None:
                return result
        return a.sum(axis, dtype, None, keepdims)

    def sum_of_first(self, a: Any, count: int) -> Any:
        result = reductions.column_sums(a, count) if count < a.ndim else None
        return super().sum_of_first(a, count) if result is None else result

    def moments(self, x: Any, axis: Any) -> Any:
        count = reductions.first_axes(axis, x.ndim) if axis else 0
        if count:
            return reductions.column_moments(x, count)
        return reductions.row_moments(x) if axis and reductions.is_last(axis, x.ndim) else None

    def dot_along(self, x: Any, y: Any, axis: int) -> Any:
        return reductions.row_sums_of_products(x, y) if reductions.is_last(axis, x.ndim) else None

    def softmax(self, x: Any, axis: int) -> Any:
        return reductions.softmax(x) if reductions.is_last(axis, x.ndim) else None

    def reshape(self, a: Any, shape: Any) -> Any:
        return a.reshape(shape)

    def transpose(self, a: Any, axes: Any = None) -> Any:
        return a.transpose(axes)

    def cumlogsumexp(self, x: Any, axis: int) -> Any:
        """By doubling: log2(n) steps on the whole array, where one for each element would be n."""
        result = cupy.moveaxis(x, axis, 0).copy()
        step = 1
        while step < len(result):
            later = cupy.logaddexp(result[step:], result[:-step])
            result[step:] = later
            step *= 2
        return cupy.moveaxis(result, 0, axis)

    def fused(self, program: Any, dtype: Any) -> Any:
        """One kernel; by CuPy's own, one for each step, if a step is none that is known here."""
        return kernels.fused(program, dtype.itemsize == 2) or super().fused(program, dtype)

    # Losses

    def sparse_cross_entropy(self, logits: Any, labels: Any) -> Any:
        """Four launches, where the common one takes ten."""
        if logits.dtype not in _FLOATS or not logits.size:
            return super().sparse_cross_entropy(logits, labels)
        op = "sparse_softmax_cross_entropy_with_logits"
        classes = logits.shape[1]
        labels = self.valid_indices(labels, classes, op)
        largest = logits.max(1, None, True)
        log_sum = kernels.log_sum()(logits, largest, axis=1, keepdims=True)
        loss = kernels.elementwise("loss_at_label")(
            cupy.ascontiguousarray(logits), largest[:, 0], log_sum[:, 0], labels, classes
        )
        return loss, kernels.elementwise("softmax_of")(logits, largest, log_sum)

    def sparse_cross_entropy_grad(self, dy: Any, probabilities: Any, labels: Any) -> Any:
        if probabilities.dtype not in _FLOATS:
            return super().sparse_cross_entropy_grad(dy, probabilities, self.adopt(labels))
        columns = cupy.arange(probabilities.shape[1])
        labels = self.adopt(labels).astype(np.int64, copy=False)
        kernel = kernels.elementwise("cross_entropy_grad")
        return kernel(dy[:, None], probabilities, labels[:, None], columns)

    # Products

    def vecdot(self, x1: Any, x2: Any, axis: int = -1) -> Any:
        result = self.dot_along(x1, x2, axis)
        if result is not None:
            return result
        return (cupy.conj(x1) * x2).sum(axis)

    def matrix_product(self, a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
        if a.ndim > 2 and b.ndim > 2 and type(a) is type(b) is cupy.ndarray:
            result = products.batched(a, b, transpose_a, transpose_b)
            if result is not None:
                return result
        if transpose_a:
            a = a.swapaxes(-1, -2)
        if transpose_b:
            b = b.swapaxes(-1, -2)
        if b.ndim == 2 and a.ndim > 2 and not transpose_a:
            # One product of all rows in place of one for each matrix.
            rows = cupy.matmul(a.reshape(math.prod(a.shape[:-1]), a.shape[-1]), b)
            return rows.reshape(*a.shape[:-1], b.shape[-1])
        return cupy.matmul(a, b)

    def use_tf32(self, enabled: bool) -> None:
        """Whether products of float32 round their factors to 10 bits, as tensor cores take them."""
        core = cupy._core
        kind = core._routines_linalg.COMPUTE_TYPE_TF32 if enabled else (
            core._routines_linalg.COMPUTE_TYPE_DEFAULT
        )  # fmt: skip
        for dtype in (np.float32, np.complex64):
            core.set_compute_type(np.dtype(dtype), kind)

    @cached_property
    def matrices(self) -> Any:
        from .linalg import CupyLinearAlgebra

        return CupyLinearAlgebra(self)

    # Convolution: cuDNN's; what that refuses is XLA's, or without it by products of all windows

    @property
    def convolves_halves(self) -> bool:
        return cudnn.library() is not None

    def convolution(self, x: Any, filters: Any, *, groups: int, **geometry: Any) -> Any:
        result = cudnn.convolution(x, filters, groups=groups, **geometry)
        if result is not None:
            return result
        if not xla.has_card():
            return super().convolution(x, filters, groups=groups, **geometry)
        return xla.run("convolution", x, filters, groups=groups, **geometry)

    def convolution_input_gradient(
        self, y: Any, filters: Any, *, size: Any, groups: int, **geometry: Any
    ) -> Any:
        given = {"size": tuple(size), "groups": groups, **geometry}
        result = cudnn.input_gradient(y, filters, **given)
        if result is not None:
            return result
        if not xla.has_card():
            return super().convolution_input_gradient(y, filters, **given)
        return xla.run("convolution_input_gradient", y, filters, **given)

    def convolution_filter_gradient(
        self, x: Any, y: Any, *, kernel: Any, groups: int, **geometry: Any
    ) -> Any:
        given = {"kernel": tuple(kernel), "groups": groups, **geometry}
        result = cudnn.filter_gradient(x, y, **given)
        if result is not None:
            return result
        if not xla.has_card():
            return super().convolution_filter_gradient(x, y, **given)
        return xla.run("convolution_filter_gradient", x, y, **given)

    # Signals

    def dct(self, x: Any, type: int, norm: str | None) -> Any:
        from cupyx.scipy import fft

        if type in (2, 3):
            return fft.dct(x, type, norm=norm)
        return super().dct(x, type, norm)


def out_of_memory(error: Exception) -> str:
    """What to say of CuPy's error."""
    free, total = cupy.cuda.runtime.memGetInfo()
    pool = cupy.get_default_memory_pool()
    return (
        f"out of memory on the GPU: {error} Free on the card: {free:,} of {total:,} bytes; held by "
        f"eager tensors: {pool.used_bytes():,}. The variables are whole. Smaller batches take less."
    )


engine = CupyEngine(cupy)
"""The GPU, by CuPy."""
enter_card(cupy.ndarray, engine)
