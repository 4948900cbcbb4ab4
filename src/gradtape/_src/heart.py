"""What `import gradtape` loads at once: tensors, the everyday ops, functions, variables, tapes.

All other modules are imported when a name of theirs is first asked for. Nothing but this module
gives functions to a class or a module that is not its own: what the core calls of the layers above
it (core/late.py), the operators, and the hooks that show uncaught errors (core/tracebacks.py).
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from .core.late import late
from .core.tensor import Tensor
from .core.tracebacks import install_hooks
from .function.api import function as function
from .ops.array import indexing
from .ops.array.cast import cast
from .ops.array.joining import pack
from .ops.operators import OPERATORS
from .tape.gradient_tape import GradientTape as GradientTape
from .tape.scopes import name_scope as name_scope
from .tape.type_specs import IndexedSlicesSpec
from .tape.variable import Variable as Variable


def _later(module: str, name: str) -> Callable[..., Any]:
    """The function of this name, whose module is imported when it is called."""
    return lambda *args, **kwargs: getattr(import_module(module, __package__), name)(
        *args, **kwargs
    )


late.supply(
    cast=cast,
    pack=pack,
    at=_later(".ops.array.at", "At"),
    slices_part=indexing.slices_part,
    slices_dense=indexing.slices_dense,
    slices_joined=indexing.slices_joined,
    slices_negative=indexing.slices_negative,
    slices_spec=IndexedSlicesSpec.from_value,
    ragged_rows_spec=_later(".compat.ragged.ragged_tensor", "ragged_rows_spec"),
    explain_symbolic=_later(".function.explain", "explain_symbolic"),
    explain_gradient=_later(".inspect.explain", "explain"),
    explain_tape=_later(".inspect.asking", "explain_tape"),
    memory_of_program=_later(".inspect.program", "memory_of"),
    new_profiler=_later(".inspect.profiler", "Profiler"),
    profile_of_tape=_later(".inspect.profiler", "profile_of"),
    profile_tape=_later(".inspect.profiler", "profile_tape"),
    memory_of_tape=_later(".inspect.memory", "memory_of"),
    draw=_later(".inspect.viewer.drawing", "draw"),
)
for _class in (Tensor, Variable):
    for _name, _operator in OPERATORS.items():
        setattr(_class, _name, _operator)
Tensor.__getitem__ = indexing.getitem  # type: ignore[method-assign]
install_hooks(_later(".ops.foreign", "advise"))
