"""`function.verify`: does a compiled function compute what its Python computes?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..core import dtypes, nest
from ..core.convert import as_tensor
from ..core.cotangent import IndexedSlices
from ..core.dispatch import heard_by
from ..core.op import Op
from ..core.tensor import Tensor
from ..tape.gradient_tape import GradientTape, key_of
from ..tape.variable import Variable
from .api import Function, Method, function
from .signature import tensor_of_array


class Verification:
    """What `function.verify` found: true if there is no difference; its text says what differs."""

    def __init__(self, name: str, compared: int, difference: str | None) -> None:
        self.name = name
        self.compared = compared
        self.difference = difference

    def __bool__(self) -> bool:
        return self.difference is None

    def __repr__(self) -> str:
        if self.difference is None:
            return f"{self.name}: compiled and eager agree in {self.compared} tensors."
        return f"{self.name}: compiled and eager differ. {self.difference}"


def verify(
    fn: Callable[..., Any],
    *args: Any,
    rtol: float | None = None,
    atol: float | None = None,
    **kwargs: Any,
) -> Verification:
    """Run `fn` eagerly and compiled, and compare results, gradients and what it assigns.

    >>> print(tf.function.verify(lambda x: tf.exp(x) * x, tf.constant([1.0, 2.0])))
    <lambda>: compiled and eager agree in 2 tensors.

    Where they differ, the result names the first op that gives another value, and its line in your
    code. The tolerances are those of the dtype, unless given. The variables are left as they were.
    Random draws differ by nature: pass them in.
    """
    compiled = fn if isinstance(fn, (Function, Method)) else function(fn)
    python = compiled.python_function
    args = nest.map_structure(tensor_of_array, args)
    concrete = compiled.get_concrete_function(*args, **kwargs)
    runs = []
    for run in (python, compiled):
        with _unchanged(concrete.variables):
            runs.append(_outcome(run, args, kwargs, list(concrete.variables)))
    eager, other = runs
    compared = 0
    for (what, expected), (_, found) in zip(eager, other, strict=True):
        compared += 1
        difference = _difference(what, expected, found, rtol, atol)
        if difference is not None:
            first = _first_op(concrete, python, args, kwargs, rtol, atol)
            return Verification(compiled.name, compared, f"{difference}{first}")
    return Verification(compiled.name, compared, None)


@contextmanager
def _unchanged(variables: Any) -> Iterator[None]:
    """A block after which the variables have the values that they had before it."""
    before = [v.numpy() for v in variables]
    try:
        yield
    finally:
        for v, value in zip(variables, before, strict=True):
            v.assign(value)


def _outcome(
    run: Callable[..., Any], args: Any, kwargs: Any, variables: list[Variable]
) -> list[tuple[str, Any]]:
    """Everything that can be seen of a call: results, gradients, variables."""
    tensors = [x for x in nest.flatten([args, kwargs]) if isinstance(x, Tensor)]
    sources: list[Any] = [x for x in tensors if x._array.dtype in dtypes.INEXACT]
    sources += [v for v in variables if v.dtype.numpy_dtype in dtypes.INEXACT]
    with GradientTape() as tape:
        tape.watch(sources)
        results = [y for y in nest.flatten(run(*args, **kwargs)) if y is not None]
        results = [_dense(y) for y in results]
    found = [(f"result {i}", y) for i, y in enumerate(results)]
    found += [(f"the value of {v.name!r}", v.value()) for v in variables]
    smooth = [y for y in results if y._array.dtype in dtypes.INEXACT]
    if smooth and sources:
        gradients = tape.gradient(smooth, sources, unconnected_gradients="zero")
        for i, (x, g) in enumerate(zip(sources, gradients, strict=True)):
            name = repr(x.name) if isinstance(x, Variable) else f"argument {i}"
            found.append((f"the gradient by {name}", _dense(g)))
    return found


def _dense(y: Any) -> Tensor:
    return y._as_tensor() if isinstance(y, IndexedSlices) else as_tensor(y)


def _difference(
    what: str, expected: Tensor, found: Tensor, rtol: float | None, atol: float | None
) -> str | None:
    if expected.dtype != found.dtype or expected.shape != found.shape:
        return (
            f"{what} is {expected.dtype.name} {expected.shape} eagerly, and {found.dtype.name} "
            f"{found.shape} compiled. "
        )
    a, b = np.asarray(expected), np.asarray(found)
    if a.dtype == object or a.dtype.kind in "biu":
        return None if np.array_equal(a, b) else f"{what} differs. "
    epsilon = float(expected.dtype.real_dtype._limits().eps)
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    scale = float(np.max(np.abs(a), initial=0.0, where=np.isfinite(a)))
    relative = 100 * epsilon if rtol is None else rtol
    absolute = 100 * epsilon * max(scale, 1.0) if atol is None else atol
    if np.allclose(a, b, rtol=relative, atol=absolute, equal_nan=True):
        return None
    with np.errstate(invalid="ignore"):
        worst = np.nanmax(np.abs(a - b)) if a.size else 0.0
    return f"{what} differs by up to {worst:.3g} (largest value {scale:.3g}). "


class _Witness:
    """A recorder that notes what each op on the arguments and variables gave."""

    records = None
    watches_variables = True

    def __init__(self, sources: list[Tensor]) -> None:
        self.tracked: set[int | None] = {key_of(x) for x in sources}
        self.seen: list[tuple[str, list[Tensor]]] = []

    def watch_variable(self, variable: Variable) -> None:
        self.tracked.add(variable._key)

    def observe(self, op: Op, inputs: Any, outputs: Any, params: dict[str, Any]) -> None:
        self.seen.append((op.name, list(outputs if type(outputs) is tuple else (outputs,))))


def _first_op(
    concrete: Any, python: Callable[..., Any], args: Any, kwargs: Any, rtol: Any, atol: Any
) -> str:
    """Which op gives another value first, if both ways run the same ops."""
    from .graph import user_line

    tensors = [x for x in nest.flatten([args, kwargs]) if isinstance(x, Tensor)]
    witness = _Witness([x for x in tensors if x._array.dtype in dtypes.INEXACT])
    with _unchanged(concrete.variables), heard_by([witness]):
        python(*args, **kwargs)
    inside = [(name, outputs) for name, outputs in concrete.steps() if name is not None]
    if [name for name, _ in inside] != [name for name, _ in witness.seen]:
        return "The two ways run different ops, so the first one that differs cannot be named."
    values = iter(concrete.values_of([y for _, outputs in inside for y in outputs], tensors))
    for i, ((name, outputs), (_, expected)) in enumerate(zip(inside, witness.seen, strict=True)):
        for tracer, y in zip(outputs, expected, strict=True):
            if _difference("", y, Tensor(next(values)), rtol, atol) is not None:
                return f"The first op that differs is {name} (op {i}), at {user_line(tracer)}."
    return "No single op differs by more than the tolerance."
