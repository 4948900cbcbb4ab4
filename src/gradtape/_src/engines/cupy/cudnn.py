"""Convolutions by cuDNN, called as it is: JAX brings the library along, and CuPy has none.

Through XLA a convolution of fresh arrays takes 0.95 ms on the host (the arrays change hands, and a
program is called), and here some 30 µs. What cuDNN does not take (double precision, padding that
cuts) is left to XLA: then the functions give None.
"""

from __future__ import annotations

import ctypes
import importlib.util
from ctypes import byref, c_float, c_int, c_size_t, c_void_p
from functools import cache
from pathlib import Path
from threading import local
from typing import Any

import cupy
import numpy as np

from ...core.dtypes import bfloat16
from ...core.placement import placement

_TYPES = {np.dtype(np.float32): 0, np.dtype(np.float16): 2, bfloat16.numpy_dtype: 9}
_ROWS_OF_CHANNELS = 1  # CUDNN_TENSOR_NHWC
_DEFAULT, _TENSOR_CORES, _ALL_BITS = 0, 1, 3  # cudnnMathType_t
_WORKSPACE = 2**31  # bytes
_CHOICES = 8
_ONE, _ZERO = c_float(1.0), c_float(0.0)


class _Choice(ctypes.Structure):
    """cudnnConvolution*AlgoPerf_t: an algorithm, and what it needs."""

    _fields_ = (
        ("algorithm", c_int), ("status", c_int), ("time", c_float), ("memory", c_size_t),
        ("determinism", c_int), ("math", c_int), ("reserved", c_int * 3),
    )  # fmt: skip


@cache
def library() -> Any:
    """The library; None if it is not there."""
    found = importlib.util.find_spec("nvidia")
    folders = list(found.submodule_search_locations or []) if found is not None else []
    names = [str(Path(folder, "cudnn", "lib", "libcudnn.so.9")) for folder in folders]
    for name in [*names, "libcudnn.so.9"]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


class _Handle(local):
    """cuDNN's state, of each thread."""

    def __init__(self) -> None:
        self.value = c_void_p()
        _check(library().cudnnCreate(byref(self.value)))
        self._stream = 0

    def on_stream(self) -> Any:
        """The handle, told of the stream of this thread if it is another."""
        stream = cupy.cuda.get_current_stream().ptr
        if stream != self._stream:
            _check(library().cudnnSetStream(self.value, c_void_p(stream)))
            self._stream = stream
        return self.value


class Refused(Exception):
    """cuDNN has no such convolution."""


def _check(status: int) -> None:
    if status:
        raise Refused(status)


@cache
def _handle() -> _Handle:
    return _Handle()


class _Plan:
    """One of the three steps for arrays of given shapes: its descriptors, and an algorithm.

    `kind` is "Forward", "BackwardData" or "BackwardFilter"; `x`, `filters` and `y` are shapes
    with the channels last, the filters' as (outputs, *kernel, channels).
    """

    def __init__(self, kind: str, x: Any, filters: Any, y: Any, strides: Any, padding: Any,
                 dilations: Any, groups: int, dtype: Any, tf32: bool) -> None:  # fmt: skip
        cudnn, handle = library(), _handle().value
        number = _TYPES[dtype]
        self._x, self._y = _tensor(x, number), _tensor(y, number)
        self._filters = c_void_p()
        _check(cudnn.cudnnCreateFilterDescriptor(byref(self._filters)))
        sizes = _ints([filters[0], filters[-1], *filters[1:-1]])
        _check(cudnn.cudnnSetFilterNdDescriptor(
            self._filters, number, _ROWS_OF_CHANNELS, len(filters), sizes
        ))  # fmt: skip
        self._how = c_void_p()
        _check(cudnn.cudnnCreateConvolutionDescriptor(byref(self._how)))
        _check(cudnn.cudnnSetConvolutionNdDescriptor(
            self._how, len(strides), _ints(padding), _ints(strides), _ints(dilations), 1, 0
        ))  # fmt: skip
        _check(cudnn.cudnnSetConvolutionGroupCount(self._how, groups))
        math = _TENSOR_CORES if dtype.itemsize == 2 else _DEFAULT if tf32 else _ALL_BITS
        _check(cudnn.cudnnSetConvolutionMathType(self._how, math))
        self._kind = kind
        self._run = getattr(cudnn, f"cudnnConvolution{kind}")
        found, choices = c_int(), (_Choice * _CHOICES)()
        ask = getattr(cudnn, f"cudnnGetConvolution{kind}Algorithm_v7")
        _check(ask(handle, *self._order(self._how), _CHOICES, byref(found), choices))
        for choice in choices[: found.value]:
            allowed = tf32 or dtype.itemsize == 2 or choice.math == _ALL_BITS
            if not choice.status and choice.memory <= _WORKSPACE and allowed:
                break
        else:
            raise Refused("no algorithm")
        _check(cudnn.cudnnSetConvolutionMathType(self._how, choice.math))
        self._algorithm, self._memory = choice.algorithm, choice.memory

    def _order(self, how: Any) -> Any:
        x, f, y = self._x, self._filters, self._y
        if self._kind == "Forward":
            return x, f, how, y
        return (f, y, how, x) if self._kind == "BackwardData" else (x, y, how, f)

    def __call__(self, a: Any, b: Any, out: Any) -> None:
        """Write into `out`, for `a` and `b` in the order of cuDNN's arguments."""
        handle = _handle().on_stream()
        work = cupy.empty(self._memory, np.uint8) if self._memory else None
        first, second, how, last = self._order(self._how)
        _check(self._run(
            handle, byref(_ONE), first, _at(a), second, _at(b), how, self._algorithm,
            c_void_p(work.data.ptr) if work is not None else None, c_size_t(self._memory),
            byref(_ZERO), last, _at(out),
        ))  # fmt: skip


_plan = cache(_Plan)


def _at(array: Any) -> Any:
    return c_void_p(array.data.ptr)


def _ints(values: Any) -> Any:
    return (c_int * len(values))(*values)


def _tensor(shape: Any, number: int) -> Any:
    """A descriptor of an array whose channels are last; cuDNN names them second."""
    result = c_void_p()
    _check(library().cudnnCreateTensorDescriptor(byref(result)))
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    order = [0, len(shape) - 1, *range(1, len(shape) - 1)]
    _check(library().cudnnSetTensorNdDescriptor(
        result, number, len(shape), _ints([shape[i] for i in order]),
        _ints([strides[i] for i in order]),
    ))  # fmt: skip
    return result


class Geometry:
    """Strides, dilations and padding as cuDNN takes them: 2 or 3 axes, the same on both sides.

    What is padded more on one side is padded before.
    """

    def __init__(self, strides: Any, dilations: Any, padding: Any) -> None:
        lacking = max(0, 2 - len(strides))
        self.lacking = lacking
        self.strides = (1,) * lacking + tuple(strides)
        self.dilations = (1,) * lacking + tuple(dilations)
        both = [(0, 0)] * lacking + [tuple(p) for p in padding]
        self.padding = tuple([min(p) for p in both])
        self.more = [(a - min(a, b), b - min(a, b)) for a, b in both]

    def widened(self, array: Any, first: int = 1) -> Any:
        """The array with axes of size 1 in the place of those that it lacks."""
        shape = array.shape
        return array.reshape(*shape[:first], *(1,) * self.lacking, *shape[first:])

    def padded(self, x: Any) -> Any:
        """With zeros on one side, as an array of its own."""
        if not any(map(any, self.more)):
            return cupy.ascontiguousarray(x)
        sizes = zip(x.shape[1:-1], self.more, strict=True)
        result = cupy.zeros((len(x), *[n + a + b for n, (a, b) in sizes], x.shape[-1]), x.dtype)
        result[self._inside(x.shape[1:-1])] = x
        return result

    def _inside(self, sizes: Any) -> Any:
        pairs = zip(sizes, self.more, strict=True)
        return (slice(None), *[slice(a, a + n) for n, (a, _) in pairs])

    def cut(self, x: Any, sizes: Any) -> Any:
        """Without the zeros."""
        return cupy.ascontiguousarray(x[self._inside(sizes)]) if any(map(any, self.more)) else x

    def with_zeros(self, sizes: Any) -> Any:
        return [n + a + b for n, (a, b) in zip(sizes, self.more, strict=True)]

    def plan(self, kind: str, x: Any, filters: Any, y: Any, groups: int, dtype: Any) -> Any:
        return _plan(kind, tuple(x), tuple(filters), tuple(y), self.strides, self.padding,
                     self.dilations, groups, dtype, placement.tf32)  # fmt: skip

    def places(self, x: Any, kernel: Any) -> list[int]:
        """The sizes of the result."""
        each = zip(x, kernel, self.padding, self.strides, self.dilations, strict=True)
        return [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, p, s, d in each]


def _takes(arrays: Any, padding: Any) -> bool:
    return (
        library() is not None
        and all([a.dtype in _TYPES and a.dtype == arrays[0].dtype and a.size for a in arrays])
        and all([n >= 0 for pair in padding for n in pair])
    )


def _outputs_first(filters: Any) -> Any:
    return cupy.ascontiguousarray(cupy.moveaxis(filters, -1, 0))


def convolution(x: Any, filters: Any, *, groups: int, strides: Any, padding: Any,
                dilations: Any) -> Any:  # fmt: skip
    if not _takes((x, filters), padding):
        return None
    geometry = Geometry(strides, dilations, padding)
    x, f = geometry.padded(geometry.widened(x)), _outputs_first(geometry.widened(filters, 0))
    y = cupy.empty((len(x), *geometry.places(x.shape[1:-1], f.shape[1:-1]), len(f)), x.dtype)
    if not y.size:
        return None
    try:
        geometry.plan("Forward", x.shape, f.shape, y.shape, groups, x.dtype)(x, f, y)
    except Refused:
        return None
    return y.reshape(len(y), *y.shape[1 + geometry.lacking :])


def input_gradient(y: Any, filters: Any, *, size: Any, groups: int, strides: Any, padding: Any,
                   dilations: Any) -> Any:  # fmt: skip
    if not _takes((y, filters), padding):
        return None
    geometry = Geometry(strides, dilations, padding)
    f = _outputs_first(geometry.widened(filters, 0))
    y = cupy.ascontiguousarray(geometry.widened(y))
    sizes = (1,) * geometry.lacking + tuple(size)
    x = cupy.empty((len(y), *geometry.with_zeros(sizes), f.shape[-1] * groups), y.dtype)
    if not x.size:
        return None
    try:
        geometry.plan("BackwardData", x.shape, f.shape, y.shape, groups, y.dtype)(f, y, x)
    except Refused:
        return None
    x = geometry.cut(x, sizes)
    return x.reshape(len(x), *size, x.shape[-1])


def filter_gradient(x: Any, y: Any, *, kernel: Any, groups: int, strides: Any, padding: Any,
                    dilations: Any) -> Any:  # fmt: skip
    if not _takes((x, y), padding):
        return None
    geometry = Geometry(strides, dilations, padding)
    x, y = geometry.padded(geometry.widened(x)), cupy.ascontiguousarray(geometry.widened(y))
    sizes = (1,) * geometry.lacking + tuple(kernel)
    f = cupy.empty((y.shape[-1], *sizes, x.shape[-1] // groups), x.dtype)
    try:
        geometry.plan("BackwardFilter", x.shape, f.shape, y.shape, groups, x.dtype)(x, y, f)
    except Refused:
        return None
    result = cupy.ascontiguousarray(cupy.moveaxis(f, 0, -1))
    return result.reshape(*kernel, *result.shape[-2:])
