"""`function.verify`: does a compiled function compute what its Python computes?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..core import dtypes, nest
from ..core.convert import as_tensor
from ..core.errors import Error
from ..core.op import Op, as_tuple
from ..core.recorder import Observer, heard_by
from ..core.tensor import Tensor, is_inexact, key_of
from ..tape.gradient_tape import GradientTape
from ..tape.variable import Variable
from .lines import user_line
from .signature import tensor_of_array
from .trace import lines_of


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
    compiled: Any, args: Any, kwargs: Any, rtol: float | None, atol: float | None
) -> Verification:
    """Compare the compiled function with its Python; see `function.verify`."""
    python = compiled.python_function
    args = nest.map_structure(tensor_of_array, args)
    concrete = compiled.get_concrete_function(*args, **kwargs)
    runs = []
    for run in (python, compiled):
        with _unchanged(concrete.variables):
            runs.append(_outcome(run, args, kwargs, list(concrete.variables)))
    eager, other = runs
    if isinstance(eager, str) or isinstance(other, str):
        return Verification(compiled.name, 0, _of_errors(eager, other))
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
) -> list[tuple[str, Any]] | str:
    """Everything that can be seen of a call: results, gradients, variables; or what it raised."""
    try:
        return _results(run, args, kwargs, variables)
    except Error as error:
        return f"{type(error).__name__}: {error}"


def _of_errors(eager: Any, compiled: Any) -> str | None:
    """How two calls differ of which one at least raised: see `_outcome`."""
    if eager == compiled:
        return None
    said = [run if isinstance(run, str) else "no error" for run in (eager, compiled)]
    return f"Eagerly: {said[0]}\nCompiled: {said[1]}"


def _results(
    run: Callable[..., Any], args: Any, kwargs: Any, variables: list[Variable]
) -> list[tuple[str, Any]]:
    tensors = [x for x in nest.flatten([args, kwargs], True) if isinstance(x, Tensor)]
    sources: list[Any] = [*filter(is_inexact, tensors)]
    sources += [v for v in variables if v.dtype.numpy_dtype in dtypes.INEXACT]
    with GradientTape() as tape:
        tape.watch(sources)
        results = [as_tensor(y) for y in nest.flatten(run(*args, **kwargs), True) if y is not None]
    found = [(f"result {i}", y) for i, y in enumerate(results)]
    found += [(f"the value of {v.name!r}", v.value()) for v in variables]
    smooth = [*filter(is_inexact, results)]
    if smooth and sources:
        gradients = tape.gradient(smooth, sources, unconnected_gradients="zero")
        for i, (x, g) in enumerate(zip(sources, gradients, strict=True)):
            name = repr(x.name) if isinstance(x, Variable) else f"argument {i}"
            found.append((f"the gradient by {name}", as_tensor(g)))
    return found


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


class _Witness(Observer):
    """Notes what each op on the arguments and variables gave."""

    watches_variables = True

    def __init__(self, sources: list[Tensor]) -> None:
        super().__init__()
        self.tracked.update(map(key_of, sources))
        self.seen: list[tuple[str, list[Tensor]]] = []

    def observe(self, op: Op, inputs: Any, outputs: Any, params: dict[str, Any]) -> None:
        self.seen.append((op.name, list(as_tuple(outputs))))


def _first_op(
    concrete: Any, python: Callable[..., Any], args: Any, kwargs: Any, rtol: Any, atol: Any
) -> str:
    """Which op gives another value first, if both ways run the same ops."""
    tensors = [x for x in nest.flatten([args, kwargs], True) if isinstance(x, Tensor)]
    witness = _Witness([*filter(is_inexact, tensors)])
    with _unchanged(concrete.variables), heard_by([witness]):
        python(*args, **kwargs)
    inside = [(name, outputs) for name, outputs in concrete.ops() if name is not None]
    if [name for name, _ in inside] != [name for name, _ in witness.seen]:
        return "The two ways run different ops, so the first one that differs cannot be named."
    values = iter(concrete.values_of([y for _, outputs in inside for y in outputs], tensors))
    for i, ((name, outputs), (_, expected)) in enumerate(zip(inside, witness.seen, strict=True)):
        for tracer, y in zip(outputs, expected, strict=True):
            if _difference("", y, Tensor(next(values)), rtol, atol) is not None:
                where = user_line(lines_of(tracer))
                return f"The first op that differs is {name} (op {i}), at {where}."
    return "No single op differs by more than the tolerance."
