"""A stand-in for CuPy, for machines without a GPU: NumPy's arrays in boxes, under CuPy's names.

It has what the engine of CuPy uses, and refuses what CuPy refuses (arrays of NumPy in an operation,
`ufunc.reduce`, `stable=`, most of `ufunc.at`): so the placement of values, the copies between host
and card and the paths of the engine are run here. What a card computes, its kernels (they are
translated to NumPy here), its memory and its streams are tested by tests/gpu alone.
"""

import contextlib
import ctypes
import functools
import re
import shutil
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import numpy as np
import pytest
import scipy.fft
import scipy.linalg
import scipy.special

from .boxes import Box, Namespace, Ufunc, boxed, lifted, opened


class Device:
    id = 0


class Pointer:
    def __init__(self, ptr):
        self.ptr = ptr


class ndarray(Box):
    """An array of the card."""

    device = Device()

    def __getattr__(self, name):
        if name.startswith("__") or name in ("_trace", "_as_tensor"):
            raise AttributeError(name)
        value = getattr(self._values, name)
        return as_card(boxed(value)) if not callable(value) else on_card(value)

    def get(self):
        return self._values.copy()

    def set(self, array, stream=None):
        self._values[...] = array

    @property
    def data(self):
        return Pointer(self._values.ctypes.data)

    @property
    def strides(self):
        return self._values.strides

    @property
    def _c_contiguous(self):
        return self._values.flags.c_contiguous

    def astype(self, dtype, copy=True):
        return ndarray(self._values.astype(dtype, copy=copy))

    def max(self, axis=None, out=None, keepdims=False):
        return ndarray(np.asarray(self._values.max(axis, out, keepdims)))

    def __getitem__(self, key):
        return as_card(super().__getitem__(key))

    def __iter__(self):
        return map(as_card, super().__iter__())

    def __dlpack__(self, **options):
        return self._values.__dlpack__()

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()


ndarray.__module__ = "cupy"


def _operator_of(function):
    return lambda *args: as_card(function(*map(without_numpy, args)))


_OTHERS = {"init", "array", "getattr", "len", "bool", "int", "float", "format", "str", "setitem"}
for _name, _member in list(vars(Box).items()):
    if _name.strip("_") not in _OTHERS and callable(_member) and _name not in vars(ndarray):
        setattr(ndarray, _name, _operator_of(_member))
ndarray.real = property(lambda self: as_card(Box.real.fget(self)), Box.real.fset)
ndarray.imag = property(lambda self: as_card(Box.imag.fget(self)), Box.imag.fset)


def without_numpy(value):
    if isinstance(value, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    return value


def as_card(value):
    if type(value) is Box:
        return ndarray(value._values)
    if type(value) is tuple:
        return tuple(map(as_card, value))
    return value


def on_card(function, host=False):
    run = lifted(function, host)
    return lambda *args, **kwargs: as_card(run(*args, **kwargs))


class CardUfunc(Ufunc):
    _scatters = ("add",)

    def __call__(self, *args, **kwargs):
        return as_card(super().__call__(*args, **kwargs))

    def at(self, a, indices, b):
        if self._ufunc.__name__ not in self._scatters:
            raise NotImplementedError(f"`{self._ufunc.__name__}.at` is not supported yet")
        self._ufunc.at(opened(a), opened(indices, host=True), opened(b))

    def __getattr__(self, name):
        if name == "reduce" and self._ufunc is np.add:
            return on_card(np.add.reduce)
        raise NotImplementedError(f"`{self._ufunc.__name__}.{name}` is not supported yet")


class CardNamespace(Namespace):
    """A part of NumPy's namespace or SciPy's, as CuPy has it."""

    _missing = ("vecdot", "dawsn", "fresnel", "spence")

    def __getattr__(self, name):
        if name in self._missing:
            raise AttributeError(name)
        value = getattr(self._module, name)
        if isinstance(value, types.ModuleType):
            return CardNamespace(value)
        if isinstance(value, np.ufunc):
            return CardUfunc(value)
        if not callable(value) or isinstance(value, type):
            return value
        return on_card(value, host=name in ("array", "asarray"))


class ElementwiseKernel:
    """CUDA C++ of the simplest kind, as NumPy."""

    def __init__(self, inputs, outputs, body, name):
        self._name = name
        self._inputs = [part.split()[-1] for part in inputs.split(",")]
        self._outputs = [part.split()[-1] for part in outputs.split(",")]
        text = re.sub(r"\b(T|float)\(", "(", body)
        text = re.sub(r"\b(const )?(T|float) (?=\w+ =)", "", text)
        text = re.sub(
            r"\((\w+) > \(0\) \? \(1\) : \(\1 < \(0\) \? \(-1\) : \1\)\)", r"sign(\1)", text
        )
        text = re.sub(r"= ([^;?]+) \? ([^:;]+) : ([^;]+)", r"= where(\1, \2, \3)", text)
        self._body = text.replace(";", "\n").replace("\n ", "\n")

    def __call__(self, *args, **kwargs):
        given = [opened(without_numpy(a)) for a in args]
        if "_scatter_" in self._name:
            how = self._name.split("_")[2]
            ufunc = getattr(np, {"max": "maximum", "min": "minimum"}.get(how, how))
            ufunc.at(given[2].reshape(-1), given[0].reshape(-1), given[1].reshape(-1))
            return None
        if self._name.endswith("loss_at_label"):
            logits, largest, log_sum, labels, _ = given
            return ndarray(log_sum - (logits[np.arange(len(labels)), labels] - largest))
        names = {name: getattr(np, name) for name in (
            "exp", "expm1", "log1p", "where", "sqrt", "log", "sign", "power", "square",
            "tanh")}  # fmt: skip
        names["erfc"] = scipy.special.erfc
        names |= {"pow": np.power, "max": np.maximum, "min": np.minimum, "fabs": np.abs}
        names |= dict(zip(self._inputs, given, strict=False))
        with np.errstate(all="ignore"):
            exec("\n".join(line.strip() for line in self._body.splitlines()), names)
        dtype = next(g.dtype for g in given if isinstance(g, np.ndarray))
        results = [np.asarray(names[name], dtype) for name in self._outputs]
        written = args[len(self._inputs) :]
        for array, result in zip(written, results, strict=False):
            array._values[...] = result
        results = tuple(written) or tuple(map(ndarray, results))
        return results[0] if len(results) == 1 else results


class RandomKernel:
    """One of those of random numbers, as C++ that the host's compiler has taken; by threads."""

    def __init__(self, code, name):
        self._code, self._name = code, name

    def __call__(self, blocks, threads, args):
        if shutil.which("g++") is None:
            pytest.skip("no g++ here to compile the kernels of random numbers with")
        library = compiled_for_host(self._code)
        call = getattr(library, self._name)
        given = [_as_c(a) for a in args]
        for i in range(blocks[0] * threads[0]):
            library.set_thread(ctypes.c_longlong(i))
            call(*given)


def _as_c(value):
    if isinstance(value, ndarray):
        return ctypes.c_void_p(value._values.ctypes.data)
    kinds = {np.uint64: ctypes.c_uint64, np.int64: ctypes.c_int64, np.int32: ctypes.c_int32}
    return kinds[type(value)](int(value))


_AS_CPP = """
#include <cmath>
using namespace std;
#define __device__ static
#define __global__
#define __umul64hi(a, b) ((unsigned long long)(((unsigned __int128)(a) * (b)) >> 64))
struct Place { long long x; };
static Place blockIdx = {0}, blockDim = {1}, threadIdx = {0};
extern "C" void set_thread(long long i) { threadIdx.x = i; }
"""


@functools.cache
def compiled_for_host(code):
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "kernels.cpp"), Path(folder, "kernels.so")
        source.write_text(_AS_CPP + code)
        options = ["-O1", "-w", "-ffp-contract=off", "-shared", "-fPIC"]
        subprocess.run(["g++", *options, "-o", library, source], check=True)
        return ctypes.CDLL(str(library))


def multiply(handle, flip_b, flip_a, n, m, k, one, b, kind, lead_b, step_b, a, _, lead_a, step_a,
             zero, out, __, lead, step, count, sums, algorithm):  # fmt: skip
    """cuBLAS' product of many matrices, which lie by columns."""
    dtype = np.dtype([np.float32, np.float64, np.float16][kind] if kind < 3 else "bfloat16")

    def at(address, rows, columns, lead, step):
        size = (count - 1) * step + (columns - 1) * lead + rows
        kept = (ctypes.c_char * (size * dtype.itemsize)).from_address(address)
        steps = [dtype.itemsize * each for each in (step, 1, lead)]
        flat = np.frombuffer(kept, dtype)
        return np.lib.stride_tricks.as_strided(flat, (count, rows, columns), steps)

    left = at(b, *((k, n) if flip_b else (n, k)), lead_b, step_b)
    right = at(a, *((m, k) if flip_a else (k, m)), lead_a, step_a)
    wide = np.promote_types(dtype, np.float32)
    left = (left.swapaxes(1, 2) if flip_b else left).astype(wide)
    right = (right.swapaxes(1, 2) if flip_a else right).astype(wide)
    at(out, n, m, lead, step)[...] = left @ right


def sum_columns(code, blocks, threads, args):
    x, *mean, out, rows, columns, each = args
    values = opened(x).reshape(rows, columns).astype(out.dtype)
    if mean:
        values = (values - opened(mean[0])) ** 2
    for i in range(len(out._values)):
        out._values[i] = values[i * each : (i + 1) * each].sum(0)


def sum_products(code, blocks, threads, args):
    x, y, out, _, _ = map(opened, args)
    wide = np.promote_types(x.dtype, np.float32)
    out[...] = (x.astype(wide) * y.astype(wide)).sum(-1)


def moments_of_rows(code, blocks, threads, args):
    x, mean, variance, _, _ = map(opened, args)
    wide = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        mean[...], variance[...] = wide.mean(-1), wide.var(-1)


def softmax_of_rows(code, blocks, threads, args):
    x, out, _, _ = map(opened, args)
    wide = x.astype(np.promote_types(x.dtype, np.float32))
    with np.errstate(invalid="ignore"):
        powers = np.exp(wide - wide.max(-1, keepdims=True))
        out[...] = powers / np.fmax(powers.sum(-1, keepdims=True), 1)


REDUCTIONS = {
    "gradtape_columns": sum_columns, "gradtape_dot": sum_products,
    "gradtape_moments": moments_of_rows, "gradtape_softmax": softmax_of_rows,
}  # fmt: skip


class RawKernel:
    """The one of steps on elements: arrays as a whole, with the body of the loop as NumPy."""

    def __new__(cls, code, name, options=()):
        if "philox" in code:
            return RandomKernel(code, name)
        known = REDUCTIONS.get(name)
        return functools.partial(known, code) if known else super().__new__(cls)

    def __init__(self, code, name):
        start = code.index(f"void {name}(") + len(f"void {name}(")
        given = code[start : code.index("result", start)]
        names = [part.split()[-1] for part in given.split(",")[:-1]]
        self._taken = [not n.startswith("n_") for n in names]  # a period: NumPy broadcasts
        names = [n.removeprefix("p_") for n in names if not n.startswith("n_")]
        body = re.search(r"T out;\n\s*(.*);\n", code)[1]
        self._run = ElementwiseKernel(", ".join(f"T {n}" for n in names), "T out", body, name)

    def __call__(self, blocks, threads, args):
        *given, out, _ = args
        given = [a for a, taken in zip(given, self._taken, strict=True) if taken]
        if out.dtype.itemsize > 2:
            self._run(*given, out)
        else:  # in float32
            wide = [a.astype(np.float32) for a in given]
            out._values[...] = self._run(*wide)._values


class ReductionKernel:
    def __init__(self, inputs, outputs, mapped, reduced, end, start, name):
        self._name = name

    def __call__(self, x, size, **options):
        values = opened(x)
        if self._name.endswith("log_sum"):
            return ndarray(np.log(np.exp(values - opened(size)).sum(**options)))
        return ndarray(np.asarray(((values < 0) | (values >= size)).any()))


class OutOfMemoryError(MemoryError):
    pass


class Stream:
    ptr = 1

    def __init__(self, non_blocking=False):
        pass

    def synchronize(self):
        pass

    def wait_event(self, event):
        pass


class Event:
    done = True

    def __init__(self, disable_timing=False):
        pass

    def record(self, stream=None):
        pass

    def synchronize(self):
        pass


class Pool:
    used = 0

    def used_bytes(self):
        return self.used

    def total_bytes(self):
        return self.used

    def free_all_blocks(self):
        pass

    def set_limit(self, size=None):
        pass


def module(name, **members):
    made = types.ModuleType(name)
    vars(made).update(members)
    return made


class Cupy(types.ModuleType):
    """The module `cupy`."""

    def __init__(self):
        super().__init__("cupy")
        self._numpy = CardNamespace(np)
        self.ndarray = ndarray
        self.ElementwiseKernel, self.ReductionKernel = ElementwiseKernel, ReductionKernel
        self.bool_ = np.bool_
        self.RawKernel = RawKernel
        pool = Pool()
        self.get_default_memory_pool = lambda: pool
        runtime = module(
            "cupy.cuda.runtime",
            getDeviceCount=lambda: 1,
            memcpyAsync=lambda to, source, size, kind, stream: ctypes.memmove(to, source, size),
            hostRegister=lambda address, size, flags: None,
            hostUnregister=lambda address: None,
            CUDARuntimeError=RuntimeError,
            memGetInfo=lambda: (2**30, 2**31),
            getDeviceProperties=lambda i: {"name": b"stand-in", "major": 9, "minor": 0},
        )
        memory = module("cupy.cuda.memory", OutOfMemoryError=OutOfMemoryError)
        self.cuda = module(
            "cupy.cuda",
            runtime=runtime,
            memory=memory,
            Stream=Stream,
            Event=Event,
            cublas=module("cupy.cuda.cublas", gemmStridedBatchedEx=multiply),
            device=module("cupy.cuda.device", get_cublas_handle=lambda: 0),
            alloc_pinned_memory=bytearray,
        )
        routines = module("routines", COMPUTE_TYPE_TF32=7, COMPUTE_TYPE_DEFAULT=1)
        self._core = module(
            "core", _routines_linalg=routines, set_compute_type=lambda dtype, kind: None
        )

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._numpy, name)

    def argsort(self, a, axis=-1, kind=None):
        return ndarray(np.argsort(opened(a), axis, kind="stable"))

    def array(self, x, dtype=None, copy=True, order="K"):
        return ndarray(np.array(opened(x, host=True), dtype=dtype, order=order))

    def asarray(self, x, dtype=None):
        if isinstance(x, ndarray) and (dtype is None or x.dtype == dtype):
            return x
        return self.array(x, dtype)

    def from_dlpack(self, x):
        return ndarray(np.from_dlpack(x))


def install():
    """Let `import cupy` find the stand-in, from here on."""
    cupy = Cupy()
    special, fft = CardNamespace(scipy.special), CardNamespace(scipy.fft)
    linalg = CardNamespace(scipy.linalg)
    scipy_part = module("cupyx.scipy", special=special, fft=fft, linalg=linalg)
    cupyx = module("cupyx", scipy=scipy_part, errstate=lambda **kw: contextlib.nullcontext())
    cupy.__spec__ = types.SimpleNamespace(name="cupy", origin="a stand-in")
    sys.modules |= {
        "cupy": cupy,
        "cupyx": cupyx,
        "cupyx.scipy": scipy_part,
        "cupyx.scipy.linalg": linalg,
    }
    return cupy
