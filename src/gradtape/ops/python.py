"""Python functions called as ops."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import nest
from ..core.convert import as_tensor
from ..core.dtypes import as_dtype
from ..core.tensor import Tensor
from .creation import constant


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,
    stateful: bool = True,
    name: Any = None,
) -> Any:
    """`func` of the NumPy arrays of `inp`, as tensors of `Tout`; without a gradient."""
    if func is None or Tout is None:
        raise ValueError("numpy_function: `func` and `Tout` are needed.")
    results = func(*(np.asarray(as_tensor(x)) for x in inp or []))
    return _outputs(results, Tout, lambda y, dtype: constant(np.asarray(y), dtype))


def py_function(
    func: Callable[..., Any] | None = None, inp: Any = None, Tout: Any = None, name: Any = None
) -> Any:
    """`func` applied to the tensors of `inp`, its results as tensors of `Tout`; differentiable."""
    if func is None or Tout is None:
        raise ValueError("py_function: `func` and `Tout` are needed.")
    return _outputs(func(*(as_tensor(x) for x in inp or [])), Tout, as_tensor)


def _outputs(results: Any, Tout: Any, convert: Callable[[Any, Any], Tensor]) -> Any:
    if not isinstance(Tout, (list, tuple)):
        return convert(results, as_dtype(Tout))
    results = results if isinstance(results, (list, tuple)) else [results]
    return [convert(y, as_dtype(dtype)) for y, dtype in zip(results, Tout, strict=True)]


def print(
    *inputs: Any,
    output_stream: Any = sys.stderr,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: Any = None,
) -> None:
    """Write `inputs`; of a long axis, the first and last `summarize` elements."""
    text = sep.join(_printed(each, summarize) for each in inputs) + end
    if isinstance(output_stream, str) and output_stream.startswith("file://"):
        with open(output_stream.removeprefix("file://"), "a") as stream:
            stream.write(text)
    else:
        output_stream.write(text)


def _printed(value: Any, summarize: int) -> str:
    if not nest.is_nested(value):
        if not isinstance(value, Tensor) and not hasattr(value, "_as_tensor"):
            return str(value)
        array = np.asarray(as_tensor(value))
        if summarize < 0:
            return np.array2string(array, threshold=sys.maxsize)
        return np.array2string(array, threshold=0, edgeitems=summarize)
    return str(nest.map_structure(lambda leaf: _Text(_printed(leaf, summarize)), value))


class _Text(str):
    def __repr__(self) -> str:
        return str(self)
