"""Steps on elements that CuPy would make as several kernels, as one; compiled when first used.

A launch takes about 10 µs, whatever the size: for small arrays their number is the time.
The bodies are CUDA C++ for `T` = float or double; what else comes goes by the contract's defaults.
(`Floats` also takes those of 16 bits, as float.)
"""

from __future__ import annotations

import operator
import re
from functools import cache
from typing import Any

import cupy
import numpy as np

from ...core.dtypes import bfloat16

_WIDE = 2**16
"""Elements from which it pays to ask whether arrays can be read 16 bytes at a time."""
_THREADS = 256
HALVES = {np.dtype(np.float16).char: "f16", bfloat16.numpy_dtype.char: "bf16"}


class Floats:
    """A step on elements of floats: arrays of shapes that broadcast, and numbers.

    CuPy's kernels read one element at a time: the product of 16 M numbers takes 83 µs, and 49 if
    contiguous arrays are read 16 bytes at a time (4.1 TB/s of the 4.3 that a copy has there).
    So are those of 16 bits, whatever their size: they are computed in float32, and rounded once.
    """

    def __init__(self, name: str, inputs: str, body: str) -> None:
        self._name, self._inputs, self._body = f"gradtape_{name}", inputs.split(), body
        arguments = ", ".join(f"T {x}" for x in self._inputs)
        self._any = cupy.ElementwiseKernel(arguments, "T out", body, self._name)
        self._wide: dict[Any, Any] = {}

    def __call__(self, *arrays: Any) -> Any:
        """The result; None for arrays that CuPy has to read, in its own way."""
        char = arrays[0].dtype.char
        if char in "fd":
            if arrays[0].size < _WIDE and arrays[-1].size < _WIDE:
                return self._any(*arrays)
            result = self._by_vectors(arrays)
            return self._any(*arrays) if result is None else result
        return self._by_vectors(arrays) if char in HALVES else None

    def _by_vectors(self, arrays: tuple[Any, ...]) -> Any:
        largest = None
        for a in arrays:
            if type(a) is cupy.ndarray and (largest is None or a.size > largest.size):
                largest = a
        if largest is None or not largest.size:
            return None
        per = 16 // largest.itemsize
        shape, dtype = largest.shape, largest.dtype
        kinds, given = "", []
        for a in arrays:
            kind, period = _kind_of(a, shape, dtype, per)
            if kind is None:
                return None
            kinds += kind
            given.append(np.float32(a) if kind == "n" and dtype.itemsize == 2 else a)
            if kind in "cr":
                given.append(period)
        out = cupy.empty(shape, dtype)
        size = largest.size
        kernel = self._wide.get((dtype.char, kinds)) or self._wide_kernel(dtype, kinds)
        threads = -(-size // per)
        kernel((-(-threads // _THREADS),), (_THREADS,), (*given, out, size))
        return out

    def _wide_kernel(self, dtype: Any, kinds: str) -> Any:
        parameters, wide, each, alone = "", "", "", ""
        for x, kind in zip(self._inputs, kinds, strict=True):
            if kind == "n":
                parameters += f"const T {x}, "
            elif kind == "w":
                parameters += f"const Wide* __restrict__ p_{x}, "
                wide += f"const Wide w_{x} = p_{x}[i]; "
                each += f"const T {x} = load(w_{x}.v[k]); "
                alone += f"const T {x} = load(((const S*)p_{x})[k]); "
            elif kind == "c":
                parameters += f"const Wide* __restrict__ p_{x}, const long long n_{x}, "
                wide += f"const Wide w_{x} = p_{x}[remainder_of(i, n_{x})]; "
                each += f"const T {x} = load(w_{x}.v[k]); "
            else:
                parameters += f"const S* __restrict__ p_{x}, const long long n_{x}, "
                wide += f"const T {x} = load(p_{x}[quotient_of(i, n_{x})]); "
        if "c" in kinds or "r" in kinds:
            alone = ""  # their arrays consist of whole vectors
        code = _WIDE_KERNEL.format(
            types=TYPES[HALVES.get(dtype.char, dtype.char)],
            per=16 // dtype.itemsize,
            name=self._name,
            given=parameters,
            read=wide,
            each=each,
            body=self._body,
            tail=_TAIL.format(each=alone, body=self._body) if alone else "return;",
        )
        kernel = self._wide[dtype.char, kinds] = cupy.RawKernel(code, self._name)
        return kernel


def _kind_of(a: Any, shape: Any, dtype: Any, per: int) -> Any:
    """How a vector of the result finds its part of an operand, and the period of that in vectors.

    "w": the whole array has the shape of the result; "n": it is a number; "c": it comes again and
    again, as a bias does; "r": one element serves a whole row. None if it is none of these.
    """
    if type(a) is not cupy.ndarray:
        return ("n", 0) if isinstance(a, np.generic) else (None, 0)
    if not a._c_contiguous or a.data.ptr % 16 or a.dtype != dtype:
        return None, 0
    own = a.shape
    if own == shape:
        return "w", 0
    row = shape[-1]
    if len(own) == len(shape) and own[-1] == 1 and own[:-1] == shape[:-1] and not row % per:
        return "r", row // per
    while own and own[0] == 1:
        own = own[1:]
    if own and own == shape[len(shape) - len(own) :] and not a.size % per:
        return "c", a.size // per
    return None, 0


_LOADS = """
__device__ __forceinline__ T load(const S x) {{ {load} }}
__device__ __forceinline__ S store(const T x) {{ {store} }}
"""
_SAME = _LOADS.format(load="return x;", store="return x;")
TYPES = {
    "f": "typedef float S; typedef float T;" + _SAME,
    "d": "typedef double S; typedef double T;" + _SAME,
    "f16": "typedef unsigned short S; typedef float T;" + _LOADS.format(
        load='float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x)); return y;',
        store='S y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x)); return y;',
    ),
    "bf16": "typedef unsigned short S; typedef float T;" + _LOADS.format(
        load="return __uint_as_float((unsigned int)x << 16);",
        store="const unsigned int b = __float_as_uint(x); "
        "return x != x ? 0x7fc0 : (S)((b + 0x7fff + ((b >> 16) & 1)) >> 16);",
    ),
}  # fmt: skip
"""By the name of a dtype: how an element is stored (`S`), and in what it is computed (`T`)."""

_WIDE_KERNEL = """
{types}
struct alignas(16) Wide {{ S v[{per}]; }};
__device__ __forceinline__ long long quotient_of(const long long i, const long long n) {{
    return (i >> 31) ? i / n : (long long)((unsigned int)i / (unsigned int)n);
}}
__device__ __forceinline__ long long remainder_of(const long long i, const long long n) {{
    return i - quotient_of(i, n) * n;
}}
extern "C" __global__ void {name}({given}Wide* __restrict__ result, const long long size) {{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= size / {per}) {{
        {tail}
    }}
    {read}
    Wide w;
    #pragma unroll
    for (int k = 0; k < {per}; ++k) {{
        {each}
        T out;
        {body};
        w.v[k] = store(out);
    }}
    result[i] = w;
}}
"""
_TAIL = """for (long long k = i * (long long)(sizeof(Wide) / sizeof(S)); k < size; ++k) {{
            {each}
            T out;
            {body};
            ((S*)result)[k] = store(out);
        }}
        return;"""

_OPERATORS = {operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/"}


@cache
def arithmetic(function: Any) -> Any:
    """One of Python's operators on two arrays, or an array and a number; None for any other.

    On 16 numbers it takes 7 µs where CuPy's own takes 8, and 7.5 where one is of the host, not 10.
    """
    if function not in _OPERATORS:
        return None
    of_floats = Floats(function.__name__, "x y", f"out = x {_OPERATORS[function]} y")

    def run(x: Any, y: Any) -> Any:
        result = of_floats(x, y)
        return function(x, y) if result is None else result

    return run


def is_wide(x: Any) -> bool:
    """Whether an array is large, or of 16 bits: CuPy's own kernels are slower then."""
    return type(x) is cupy.ndarray and (x.size >= _WIDE or x.dtype.char in HALVES)


@cache
def floats(name: str) -> Any:
    return Floats(name, *_FLOATS[name])


# name: inputs, body
_FLOATS = {
    "sigmoid": ("x", "out = T(1) / (T(1) + exp(-x))"),
    "relu": ("x", "out = x <= T(0) ? T(0) : x"),
    "relu_grad": ("dy x", "out = x > T(0) ? dy : T(0)"),
    "log1p_exp": ("x", "out = log1p(exp(x))"),
    "exp": ("x", "out = exp(x)"),
    "expm1": ("x", "out = expm1(x)"),
    "log": ("x", "out = log(x)"),
    "log1p": ("x", "out = log1p(x)"),
    "sqrt": ("x", "out = sqrt(x)"),
    "square": ("x", "out = x * x"),
    "tanh": ("x", "out = tanh(x)"),
    "negative": ("x", "out = -x"),
    "erfc": ("x", "out = erfc(x)"),
    "gelu": ("x", "out = T(0.5) * x * erfc(-x * T(0.7071067811865476))"),
    "gelu_tanh": (
        "x",
        "out = T(0.5) * x * (T(1) + tanh(T(0.7978845608028654) * (x + T(0.044715) * x * x * x)))",
    ),
    "gelu_tanh_slope": (
        "x",
        "const T t = tanh(x * (x * x * T(0.044715) + T(1)) * T(0.7978845608028654)); "
        "const T inner = (x * x * T(0.134145) + T(1)) * T(0.7978845608028654); "
        "out = ((t + T(1)) + x * (T(1) - t * t) * inner) * T(0.5)",
    ),
}

# name: inputs, outputs, body
_ELEMENTWISE = {
    "softmax_of": ("T x, T largest, T log_sum", "T y", "y = exp((x - largest) - log_sum)"),
    "loss_at_label": (
        "raw T logits, T largest, T log_sum, int64 label, int64 classes",
        "T y",
        "y = log_sum - (logits[i * classes + label] - largest)",
    ),
    "cross_entropy_grad": (
        "T dy, T p, int64 label, int64 column",
        "T y",
        "T hot = column == label ? T(1) : T(0); y = dy * (p - hot)",
    ),
}


@cache
def elementwise(name: str) -> Any:
    inputs, outputs, body = _ELEMENTWISE[name]
    return cupy.ElementwiseKernel(inputs, outputs, body, f"gradtape_{name}")


@cache
def log_sum() -> Any:
    """The logarithm of the sum of exponentials, the largest exponent taken out."""
    return cupy.ReductionKernel(
        "T x, T largest",
        "T y",
        "exp(x - largest)",
        "a + b",
        "y = log(a)",
        "0",
        "gradtape_log_sum",
    )


@cache
def outside() -> Any:
    """Whether an integer is not in [0, size): one launch for the two comparisons and the sum."""
    return cupy.ReductionKernel(
        "T x, int64 size",
        "bool y",
        "(long long)x < 0 || (long long)x >= size",
        "a || b",
        "y = a",
        "false",
        "gradtape_outside",
    )


_COMBINED = {
    "multiply": "current * update",
    "divide": "current / update",
    "max": "(current != current || current > update) ? current : update",
    "min": "(current != current || current < update) ? current : update",
}
_SCATTER = """
    Bits* address = (Bits*)&out[place];
    Bits old = *address, assumed;
    do {
        assumed = old;
        T current = *(T*)&assumed;
        T next = COMBINED;
        old = atomicCAS(address, assumed, *(Bits*)&next);
    } while (old != assumed);
"""


@cache
def scatter(how: str, itemsize: int) -> Any:
    """`kernel(places, updates, out)`: each update combined with the element at its flat place.

    (CuPy has no such product; its maximum of float64 rounds to float32, and passes NaN over.)
    """
    bits = {4: "unsigned int", 8: "unsigned long long"}[itemsize]
    body = _SCATTER.replace("Bits", bits).replace("COMBINED", _COMBINED[how])
    name = f"gradtape_scatter_{how}_{itemsize}"
    return cupy.ElementwiseKernel("int64 place, T update", "raw T out", body, name)


_IN_C = {
    "add": "{} + {}", "subtract": "{} - {}", "multiply": "{} * {}", "divide": "{} / {}",
    "negative": "-{}", "positive": "{}", "sqrt": "sqrt({})", "square": "{0} * {0}",
    "power": "pow({}, {})",
    # A NaN on either side stays, as NumPy has it.
    "maximum": "({0} != {0} || {0} > {1}) ? {0} : {1}",
    "minimum": "({0} != {0} || {0} < {1}) ? {0} : {1}",
    "exp": "exp({})", "log": "log({})", "absolute": "fabs({})", "abs": "fabs({})",
    "reciprocal": "C(1) / {}",
}  # fmt: skip
_SIGN = "({0} > C(0) ? C(1) : ({0} < C(0) ? C(-1) : {0}))"


@cache
def fused(program: Any, narrow: bool) -> Any:
    """An `ElementProgram` as one kernel; None if a step of it is not known here.

    16-bit floats (`narrow`) are computed in float32.
    """
    if not all([name in _IN_C or name == "sign" for name, _ in program.steps]):
        return None
    lines = [f"C v{i} = x{i}" for i in range(program.inputs)]
    for i, (name, operands) in enumerate(program.steps, program.inputs):
        term = _SIGN if name == "sign" else _IN_C[name]
        lines.append(f"C v{i} = " + term.format(*[f"v{n}" for n in operands]))
    lines += [f"y{i} = T(v{n})" for i, n in enumerate(program.results)]
    return cupy.ElementwiseKernel(
        ", ".join(f"T x{i}" for i in range(program.inputs)),
        ", ".join(f"T y{i}" for i in range(len(program.results))),
        re.sub(r"\bC\b", "float" if narrow else "T", "; ".join(lines)),
        "gradtape_fused",
    )
