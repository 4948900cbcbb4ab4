"""Functions that a lower layer calls and a higher one defines.

The core knows no op by name, nor how functions are traced; a tape knows nothing of reports about
it. The few functions that they need from above are attributes of `late`, each declared here with
its signature and its supplier. One place fills them all, `gradtape._src.heart`, which every import
of gradtape runs first; it sets the operators of Tensor and Variable too. (Methods that called on
from here would cost each operator 0.06 µs.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .annotations import Places
    from .cotangent import IndexedSlices
    from .tensor import Tensor


class Late:
    """The functions by name. One that is asked for before it is supplied says so."""

    cast: Callable[[Tensor, Any], Tensor]
    """A tensor in another dtype. From ops/array/cast.py."""

    pack: Callable[[Any, Any], Tensor]
    """The tensor of a list that holds tensors, of a dtype or None. From ops/array/joining.py."""

    at: Callable[[Tensor], Places]
    """What `x.at` gives: the places of a tensor. From ops/array/at.py."""

    slices_part: Callable[[Any], Tensor]
    """A part of an IndexedSlices (values, indices) as a tensor. From ops/array/indexing.py."""

    slices_dense: Callable[[IndexedSlices], Tensor]
    """Rows as the dense tensor, those with the same index summed. From ops/array/indexing.py."""

    slices_joined: Callable[[IndexedSlices, IndexedSlices], IndexedSlices]
    """Two sets of rows in one, unsummed. From ops/array/indexing.py."""

    slices_negative: Callable[[IndexedSlices], IndexedSlices]
    """The rows negated. From ops/array/indexing.py."""

    slices_spec: Callable[[IndexedSlices], Any]
    """The IndexedSlicesSpec of rows. From tape/type_specs.py."""

    ragged_rows_spec: Callable[[Any, Any], Any]
    """The spec of rows of a ragged tensor, for tf.data. From compat/ragged/ragged_tensor.py."""

    explain_symbolic: Callable[[Any], str]
    """Where a symbolic array was made, and what to do. From function/explain.py."""

    explain_gradient: Callable[[Any, Any, Any], Any]
    """Why a gradient of a tape is what it is. From inspect/explain.py."""

    explain_tape: Callable[[Any], None]
    """Have all that happens noted, as long as a tape lives. From inspect/asking.py."""

    profile_tape: Callable[[Any], None]
    """Have the ops of a tape timed, as long as it lives. From inspect/profiler.py."""

    new_profiler: Callable[[], Any]
    """A witness that times all op calls, to be started. From inspect/profiler.py."""

    profile_of_tape: Callable[[Any], Any]
    """Where the time of a tape went. From inspect/profiler.py."""

    memory_of_tape: Callable[[Any], Any]
    """What a tape holds. From inspect/memory.py."""

    memory_of_program: Callable[[str, Any], Any]
    """What a program takes of memory, from XLA's account. From inspect/program.py."""

    draw: Callable[..., Any]
    """A tape, or the trace of a function, as a picture. From inspect/viewer/drawing.py."""

    def supply(self, **functions: Callable[..., Any]) -> None:
        """Fill in all functions, by name."""
        if functions.keys() != self.__annotations__.keys():
            wrong = functions.keys() ^ self.__annotations__.keys()
            raise TypeError(f"late.supply: missing, or not declared: {', '.join(sorted(wrong))}.")
        vars(self).update(functions)

    def __getattr__(self, name: str) -> Any:
        if name not in self.__annotations__:
            raise AttributeError(f"{name} is not declared in gradtape/_src/core/late.py.")
        raise RuntimeError(
            f"{name} is called while gradtape is being imported, before gradtape._src.heart has "
            "supplied it. A module must not compute with tensors at its import."
        )


late = Late()
