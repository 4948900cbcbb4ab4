"""A stand-in for CuPy, for machines without a GPU: NumPy's arrays in boxes, under CuPy's names.

It has what the engine of CuPy uses, and refuses what CuPy refuses (arrays of NumPy in an operation,
`ufunc.reduce`, `stable=`, most of `ufunc.at`): so the placement of values, the copies between host
and card and the paths of the engine are run here. What a card computes, its kernels (they are
translated to NumPy here), its memory and its streams are tested by tests/gpu alone.
"""

import contextlib
import re
import sys
import types

import numpy as np
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
        text = re.sub(r"\b(T|float) (?=\w+ =)", "", text)
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
            "exp", "log1p", "where", "sqrt", "log", "sign", "power", "square")}  # fmt: skip
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
    def __init__(self, non_blocking=False):
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
        pool = Pool()
        self.get_default_memory_pool = lambda: pool
        runtime = module(
            "cupy.cuda.runtime",
            getDeviceCount=lambda: 1,
            memGetInfo=lambda: (2**30, 2**31),
            getDeviceProperties=lambda i: {"name": b"stand-in", "major": 9, "minor": 0},
        )
        memory = module("cupy.cuda.memory", OutOfMemoryError=OutOfMemoryError)
        self.cuda = module(
            "cupy.cuda",
            runtime=runtime,
            memory=memory,
            Stream=Stream,
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
