"""Engine: an array library, and the functions that it does its own way.

A kernel is written once, against `xp`: the engine of its arrays. `xp.sin` is the library's own
`sin` unless the engine defines one. Here stands what the core asks of an engine; what the ops ask
is declared in `gradtape._src.engines.contract`, beside the engines themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

LARGE = 2**18
"""Elements from which an array of the host is large: see `Engine.on_large`."""


class ElementProgram(NamedTuple):
    """Steps on elements, all of one shape: each a function of NumPy's of earlier values.

    Values are numbered: first the inputs, then the result of each step.
    """

    inputs: int
    steps: tuple[tuple[str, tuple[int, ...]], ...]
    results: tuple[int, ...]


class Engine:
    """The namespace that kernels are written against: the library's, with what is defined here."""

    name: str
    """How errors and `repr` call it. No code asks for it: what differs is a property."""

    is_host: bool = False
    """Whether these are NumPy's arrays. An op that meets them beside arrays of another engine runs
    on the other one."""

    is_compiled: bool = False
    """Whether arrays may be placeholders in a program that is being written. Then kernels neither
    ask for values nor make shapes that depend on them, and need not save memory: steps on elements
    are fused."""

    device_type: str = "CPU"
    """What tensors say that they are on."""

    def __init__(self, namespace: Any) -> None:
        self._namespace = namespace

    def adopt(self, array: Any) -> Any:
        """An array of the host engine as the functions of this engine take it.

        One of this engine, or what is no array, is returned as it is.
        """
        return array

    def adopt_all(self, op: Any, arrays: Any) -> list[Any]:
        """The arrays of a call of `op`, some of them the host's, as its kernel takes them here."""
        return [self.adopt(array) for array in arrays]

    def to_numpy(self, x: Any) -> Any:
        """The values as a NumPy array, which may share memory with `x` and is not written to."""
        return np.asarray(x)

    def bound(self, op: Any, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """The kernel of an op, as it is called with arrays of this engine."""
        return kernel

    def on_large(self, op: Any, arrays: Any, params: dict[str, Any]) -> Any:
        """What the kernel of an op that may run in blocks gives for large arrays."""
        return op.on(self)(*arrays, **params)

    def builtin(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """What does on arrays of this engine what the built-in function of an op does."""
        return function

    def explain(self, op: str, tensors: Any, error: Exception) -> None:
        """Raise what an error of the library means to the user, where it means something else."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._namespace, name)
        setattr(self, name, value)  # found once, an ordinary attribute ever after
        return value

    def __repr__(self) -> str:
        return f"<engine {self.name}>"


_claims: list[tuple[Callable[[type], bool], Callable[[], Engine]]] = []
_engines: dict[type, Engine] = {}


def register_engine(claims: Callable[[type], bool], load: Callable[[], Engine]) -> None:
    """Let `load()` supply the engine for the array types that `claims` accepts."""
    _claims.append((claims, load))


def engine_of(array_type: type) -> Engine:
    """The engine that owns arrays of this type."""
    engine = _engines.get(array_type)
    if engine is None:
        for claims, load in _claims:
            if claims(array_type):
                engine = _engines[array_type] = load()
                break
        else:
            raise TypeError(f"No engine of gradtape holds arrays of type {array_type.__name__}.")
    return engine


def common_engine(arrays: Any) -> Engine:
    """The engine that runs an op on `arrays`: a compiled one, else one that is not the host's."""
    found: Engine | None = None
    for array in arrays:
        engine = engine_of(type(array))
        if engine.is_compiled:
            return engine
        if found is None or found.is_host:
            found = engine
    return found if found is not None else _default_engine()


def _default_engine() -> Engine:
    return _claims[0][1]()
