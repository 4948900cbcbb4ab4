"""Python functions called as ops."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ...core import nest
from ...core.convert import as_tensor
from ...core.dtypes import DType, as_dtype, string
from ...core.errors import DynamicSizeError, InvalidArgumentError, TextError
from ...core.tensor import Tensor
from ...core.tracing import current_graph
from ..array.creation import constant
from ..array.undifferentiated import undifferentiated
from .run_time import at_run_time
from .summarize import summarized


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,
    stateful: bool = True,
    name: Any = None,
) -> Tensor | Any:
    """`func` of the NumPy arrays of `inp`, as tensors of `Tout`; without a gradient.

    Without `func` it is a decorator, as `py_function` is.

    Inside `@function` it is called each time that the program comes to it. `Tout` must then give
    the shapes of the results, by a tf.TensorSpec for each.
    """
    if func is None or Tout is None:
        return _decorator(numpy_function, inp, Tout)
    tensors = [as_tensor(x) for x in inp or []]
    if current_graph() is not None:
        return _when_run("numpy_function", func, tensors, Tout)
    return _outputs(func(*map(np.asarray, tensors)), Tout, _converted)


def py_function(
    func: Callable[..., Any] | None = None, inp: Any = None, Tout: Any = None, name: Any = None
) -> Tensor | Any:
    """`func` applied to the tensors of `inp`, its results as tensors of `Tout`; differentiable.

    Without `func` it is a decorator, whose function is then called with tensors by position:

    >>> @py_function(Tout=tf.float32)
    ... def halved(x):
    ...     return x / 2
    >>> halved(tf.constant(3.0))
    <tf.Tensor: shape=(), dtype=float32, numpy=1.5>

    Inside `@function` it is called each time that the program comes to it. `Tout` must then give
    the shapes of the results, by a tf.TensorSpec for each, and there is no gradient.
    """
    if func is None or Tout is None:
        return _decorator(py_function, inp, Tout)
    tensors = [as_tensor(x) for x in inp or []]
    if current_graph() is None:
        return _outputs(func(*tensors), Tout, as_tensor)
    results = _when_run("py_function", lambda *a: func(*map(Tensor, a)), tensors, Tout)
    return nest.map_structure(lambda y: _without_gradient(y, tensors), results)


def _decorator(call: Any, inp: Any, Tout: Any) -> Callable[[Callable[..., Any]], Any]:
    """`call` with `Tout`, as the decorator of a function whose arguments become its `inp`."""
    name = call.__name__
    if Tout is None:
        raise TypeError(
            f"{name}: `Tout`, the dtypes of the results, is missing. As a decorator: "
            f"@tf.{name}(Tout=tf.float32)."
        )
    if inp is not None:
        raise TypeError(f"{name}: `func` is missing. (A decorator, without it, takes no `inp`.)")

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        return wraps(func)(lambda *args: call(func, args, Tout))

    return decorate


def _converted(value: Any, dtype: Any) -> Tensor:
    array = np.asarray(value)
    if dtype.numpy_dtype.kind in _LOSSY.get(array.dtype.kind, ""):
        raise InvalidArgumentError(
            f"The Python function returned {array.dtype} values, and `Tout` says {dtype.name}, "
            "which would lose a part of them. Let it round, or cast them."
        )
    return constant(array, dtype)


_LOSSY = {"f": "biu", "V": "biu", "c": "biufV"}
"""The kinds of dtypes to which numbers of a kind cannot be converted whole. (V: bfloat16)"""


def _outputs(results: Any, Tout: Any, convert: Callable[[Any, Any], Tensor]) -> Any:
    if not isinstance(Tout, (list, tuple)):
        return convert(results, _dtype(Tout))
    if not isinstance(results, (list, tuple)):
        results = [] if results is None and not Tout else [results]  # called for its effects alone
    if len(results) != len(Tout):
        raise InvalidArgumentError(
            f"The Python function returned {len(results)} values, and `Tout` has {len(Tout)} "
            "dtypes."
        )
    return [convert(y, _dtype(each)) for y, each in zip(results, Tout, strict=True)]


def _is_spec(wanted: Any) -> bool:
    return hasattr(wanted, "is_compatible_with") and hasattr(wanted, "shape")


def _dtype(wanted: Any) -> DType:
    return as_dtype(wanted.dtype if _is_spec(wanted) else wanted)


def _when_run(op: str, func: Callable[..., Any], tensors: list[Tensor], Tout: Any) -> Any:
    """The results of `func`, of the arrays of `tensors`, in the function being traced."""
    from ...engines.xla.engine import engine

    specs = list(Tout) if isinstance(Tout, (list, tuple)) else [Tout]
    if not all(_is_spec(spec) and spec.shape.is_fully_defined() for spec in specs):
        raise DynamicSizeError(
            f"{op}: the shapes of the results are not known while the function is traced, because "
            f"`Tout`={Tout!r} does not say them. Give a tf.TensorSpec(shape, dtype) in place of "
            f"each dtype, or call {op} outside of the function."
        )

    if any(_dtype(spec) is string for spec in specs):
        raise TextError(f"{op}: `Tout` is text, which is no part of a program.")

    def call(*arrays: Any) -> list[Any]:
        results = [y._array for y in nest.flatten(_outputs(func(*arrays), Tout, _converted))]
        for spec, y in zip(specs, results, strict=True):
            if not spec.shape.is_compatible_with(y.shape):
                raise InvalidArgumentError(
                    f"{op}: the Python function returned an array of shape {y.shape}, and `Tout` "
                    f"says {spec.shape}."
                )
        return results

    likes = [np.broadcast_to(np.zeros((), _dtype(s).numpy_dtype), tuple(s.shape)) for s in specs]
    results = [Tensor(y) for y in engine.call_python(call, likes, [x._array for x in tensors])]
    return results if isinstance(Tout, (list, tuple)) else results[0]


def _without_gradient(y: Tensor, tensors: list[Tensor]) -> Tensor:
    for x in tensors:
        y = undifferentiated(x, y, name="py_function inside @function")
    return y


def print(
    *inputs: Any,
    output_stream: Any = sys.stderr,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: Any = None,
) -> None:
    """Write `inputs`; of a long axis, the first and last `summarize` elements.

    Inside `@function` at each call, with the values that tensors then have.
    """
    if len(inputs) == 1 and _is_text(inputs[0]):  # it alone is not quoted, as in TensorFlow
        inputs = (inputs[0].numpy().decode(errors="replace"),)
    if current_graph() is None:
        _write(sep.join(_printed(each, summarize) for each in inputs) + end, output_stream)
        return
    leaves = [_as_read(leaf) for leaf in nest.flatten(inputs)]

    def write(*arrays: Any) -> None:
        given = iter(arrays)
        known = [Tensor(next(given)) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        values = nest.pack_sequence_as(inputs, known)
        _write(sep.join(_printed(each, summarize) for each in values) + end, output_stream)

    at_run_time(write, *(leaf._array for leaf in leaves if isinstance(leaf, Tensor)))


def _is_text(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype is string and not value.ndim


def _as_read(leaf: Any) -> Any:
    """A variable or the like as the tensor that it holds at this line; anything else as it is."""
    return as_tensor(leaf) if hasattr(leaf, "_as_tensor") else leaf


def _write(text: str, output_stream: Any) -> None:
    if isinstance(output_stream, str) and output_stream.startswith("file://"):
        with open(output_stream.removeprefix("file://"), "a") as stream:
            stream.write(text)
    else:
        output_stream.write(text)


def _printed(value: Any, summarize: int) -> str:
    if not nest.is_nested(value):
        if not isinstance(value, Tensor) and not hasattr(value, "_as_tensor"):
            return str(value)
        text = summarized(np.asarray(as_tensor(value)), summarize)
        return text.encode(errors="surrogateescape").decode(errors="replace")
    return str(nest.map_structure(lambda leaf: _Text(_printed(leaf, summarize)), value))


class _Text(str):
    def __repr__(self) -> str:
        return str(self)
