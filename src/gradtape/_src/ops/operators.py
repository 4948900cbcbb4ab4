"""Python's operators on tensors and variables; `gradtape._src.heart` makes them methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .linalg.matmul import matmul
from .math import logic
from .math.arithmetic import (
    abs,
    add,
    divide,
    floordiv,
    floormod,
    multiply,
    negative,
    round,
    subtract,
)
from .math.power import pow


def _reflected(op: Any) -> Any:
    return lambda x, y: op(y, x)


_BINARY = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "truediv": divide,
    "floordiv": floordiv,
    "mod": floormod,
    "pow": pow,
    "matmul": matmul,
    "and": logic.and_operator,
    "or": logic.or_operator,
    "xor": logic.xor_operator,
}

OPERATORS: dict[str, Callable[..., Any]] = {
    **{f"__{name}__": op for name, op in _BINARY.items()},
    **{f"__r{name}__": _reflected(op) for name, op in _BINARY.items()},
    "__neg__": negative,
    "__pos__": lambda x: x,
    "__abs__": abs,
    "__round__": lambda x: round(x),
    "__invert__": logic.invert_operator,
    "__eq__": logic.equals_operator,
    "__ne__": logic.not_equals_operator,
    "__lt__": logic.less,
    "__le__": logic.less_equal,
    "__gt__": logic.greater,
    "__ge__": logic.greater_equal,
}
"""The methods of Tensor and Variable. (Indexing is not among them: a variable has its own.)"""
