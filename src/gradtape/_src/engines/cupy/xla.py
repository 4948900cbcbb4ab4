"""One array in both worlds: what XLA has computed is CuPy's too, in the same memory, by DLPack.

Each library computes on a stream of its own. The protocol makes one wait for the other on the card
itself, so nothing here waits on the host. XLA takes memory as it needs it, not three quarters of
the card at once as it would, or CuPy had none: `share_memory` is called before XLA looks at it.
"""

from __future__ import annotations

import os
import weakref
from functools import cache
from typing import Any

import cupy
import numpy as np

from .transfers import transfers


def share_memory() -> None:
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


@cache
def has_card() -> bool:
    """Whether XLA compiles for the card that CuPy has."""
    try:
        import jax
    except ImportError:
        return False
    try:
        return jax.default_backend() == "gpu"
    except RuntimeError:  # a plug-in that does not find its driver
        return False


_twins: dict[int, tuple[Any, Any]] = {}
"""By the id of an array of CuPy: a weak reference to it, and the array of JAX with its values."""


def to_xla(array: Any) -> Any:
    """An array of CuPy as one of JAX; the one that it came from, or was copied to before.

    The first time it is copied, on the card: XLA replays its programs as graphs of CUDA, in which a
    copy from memory that another library has allocated is refused (JAX 0.11). Both import and copy
    take 0.1 ms, so the copy is kept as long as the array lives.
    """
    known = _twins.get(id(array))
    if known is not None and known[0]() is array:
        return known[1]
    import jax

    with jax.enable_x64(True):
        if not has_card():
            transfers.count_to_host(array.nbytes, silent=True)
            twin = jax.device_put(array.get())
        else:
            if not array.flags.c_contiguous or array.data.ptr % 16:
                array = cupy.array(array, order="C")  # XLA takes neither strides nor odd addresses
            twin = jax.numpy.array(jax.dlpack.from_dlpack(array), copy=True)
    _remember(array, twin)
    return twin


def from_xla(array: Any) -> Any:
    """An array of JAX as one of CuPy: the same memory, or a copy if XLA computes on the host."""
    if not has_card():
        values = np.asarray(array)
        transfers.count_to_card(values.nbytes, silent=True)
        result = cupy.asarray(values)
    else:
        result = cupy.from_dlpack(array)
    _remember(result, array)
    return result


def _remember(array: Any, twin: Any) -> None:
    number = id(array)
    _twins[number] = weakref.ref(array, lambda _: _twins.pop(number, None)), twin


def forget(array: Any) -> None:
    """Know no other array of these values: it is going to be written to."""
    _twins.pop(id(array), None)


def empty(shape: Any, dtype: Any) -> Any:
    """An array of XLA on its device, for a program to write into."""
    import jax

    with jax.enable_x64(True):
        return jax.numpy.zeros(shape, dtype)


@cache
def _jitted(member: str, params: Any) -> Any:
    import jax

    from ..xla.engine import engine

    return jax.jit(lambda *arrays: getattr(engine, member)(*arrays, **dict(params)))


def run(member: str, *arrays: Any, **params: Any) -> Any:
    """A member of XLA's engine, on arrays of CuPy; compiled once for each shape."""
    import jax

    fixed = tuple((name, _hashable(value)) for name, value in params.items())
    with jax.enable_x64(True):
        return from_xla(_jitted(member, fixed)(*map(to_xla, arrays)))


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, (list, tuple)) else value
