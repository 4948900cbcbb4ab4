"""Method: a traced function as a method, with its instance."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from ..core.tracebacks import border, shorten

if TYPE_CHECKING:
    from .api import Function
    from .concrete import BoundTrace
    from .export import ExportedFunction
    from .memory import ProgramMemory

P = ParamSpec("P")
R = TypeVar("R")


class Method(Generic[P, R]):
    """A function as the method of an instance."""

    def __init__(self, of_function: Function[..., R], instance: Any) -> None:
        self._function = of_function
        self._instance = (instance,)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return self._function._call(self._instance, args, kwargs)  # type: ignore[no-any-return]
        except Exception as error:
            shorten(error)
            raise

    @border
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> BoundTrace:
        """The trace for these arguments (tensors, or TensorSpecs in their place), as a callable."""
        return self._function._concrete(self._instance, args, kwargs)

    def _list_all_concrete_functions(self) -> list[Any]:
        return self._function._known_traces(self._instance)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {f"trace_{i}": trace for i, trace in enumerate(self._list_all_concrete_functions())}

    def export(self, *args: Any, **kwargs: Any) -> ExportedFunction:
        """The trace for these arguments without its Python: StableHLO, to save and serve."""
        return self._function._concrete(self._instance, args, kwargs).export()

    @border
    def memory(self, *args: Any, **kwargs: Any) -> ProgramMemory:
        """What the program for these arguments takes of memory, and which lines hold its peak."""
        return self._function._concrete(self._instance, args, kwargs).memory()

    @property
    def python_function(self) -> Callable[..., Any]:
        return functools.partial(self._function.python_function, *self._instance)

    @property
    def __signature__(self) -> inspect.Signature | None:
        """What `inspect` says of it: without the instance."""
        return self._function._parameters.signature

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def __repr__(self) -> str:
        return f"{self._function!r} of {self._instance[0]!r:.100}"
