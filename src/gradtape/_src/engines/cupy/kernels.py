"""Steps on elements that CuPy would make as several kernels, as one; compiled when first used.

A launch takes about 10 µs, whatever the size: for small arrays their number is the time.
The bodies are CUDA C++ for `T` = float or double; what else comes goes by the contract's defaults.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import cupy

# name: inputs, outputs, body
_ELEMENTWISE = {
    "sigmoid": ("T x", "T y", "y = T(1) / (T(1) + exp(-x))"),
    "relu_grad": ("T dy, T x", "T y", "y = x > T(0) ? dy : T(0)"),
    "log1p_exp": ("T x", "T y", "y = log1p(exp(x))"),
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
