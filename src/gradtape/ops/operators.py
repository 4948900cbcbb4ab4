"""Python's operators on tensors, and the few ops that the core itself is written in."""

from __future__ import annotations

from typing import Any

from ..core import convert, dispatch
from ..core.cotangent import IndexedSlices
from ..core.tensor import Tensor
from . import indexing, joining, logic
from .arithmetic import (
    abs,
    add,
    divide,
    floordiv,
    floormod,
    multiply,
    negative,
    pow,
    round,
    subtract,
)
from .contraction import matmul
from .creation import cast


def _at(x: Tensor) -> Any:
    """The places of the tensor: `x.at[i].set(v)` is a new tensor, `x` with another value there."""
    from .at import At

    return At(x)


def _reflected(op: Any) -> Any:
    return lambda x, y: op(y, x)


for _name, _op in {
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
}.items():
    setattr(Tensor, f"__{_name}__", _op)
    setattr(Tensor, f"__r{_name}__", _reflected(_op))

for _name, _op in {
    "neg": negative,
    "pos": lambda x: x,
    "abs": abs,
    "round": lambda x: round(x),
    "invert": logic.invert_operator,
    "eq": logic.equals_operator,
    "ne": logic.not_equals_operator,
    "lt": logic.less,
    "le": logic.less_equal,
    "gt": logic.greater,
    "ge": logic.greater_equal,
    "getitem": indexing.getitem,
}.items():
    setattr(Tensor, f"__{_name}__", _op)

Tensor.at = property(_at)  # type: ignore[attr-defined]

convert.pack = joining.pack
dispatch.cast = cast

IndexedSlices._tensor = staticmethod(indexing.slices_tensor)
IndexedSlices._as_tensor = indexing.slices_dense
IndexedSlices._joined = indexing.slices_joined
IndexedSlices.__neg__ = indexing.slices_negative
