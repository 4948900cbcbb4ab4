"""One array in both worlds: what XLA has computed is CuPy's too, in the same memory, by DLPack.

Each library computes on a stream of its own. The protocol makes one wait for the other on the card
itself, so nothing here waits on the host. XLA takes memory as it needs it, not three quarters of
the card at once as it would, or CuPy had none: `share_memory` is called before XLA looks at it.
"""

from __future__ import annotations

import os
import weakref
from collections import deque
from functools import cache
from typing import Any

import cupy
import numpy as np

from ...core.errors import ResourceExhaustedError
from ...core.interrupts import put_back_after_error
from ...core.placement import placement
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
    twin = put_back_after_error(_copied, array)
    _remember(array, twin)
    return twin


def _copied(array: Any) -> Any:
    import jax

    with jax.enable_x64(True):
        if not has_card():
            transfers.count_to_host(array.nbytes, silent=True)
            return jax.device_put(array.get())
        if not array.flags.c_contiguous or array.data.ptr % 16:
            array = cupy.array(array, order="C")  # XLA takes neither strides nor odd addresses
        return jax.numpy.array(jax.dlpack.from_dlpack(array), copy=True)


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
    _twins[number] = weakref.ref(array, lambda _: _retire(number)), twin


_retired: deque[tuple[Any, Any]] = deque()
"""Arrays of JAX whose twins are gone, each with an event after the last kernel that may read it."""


def _retire(number: int) -> None:
    """Let go of a twin when eager kernels have read it.

    XLA takes memory that is free for its next program, on its own stream: it does not know of them.
    """
    known = _twins.pop(number, None)
    if known is not None:
        event = cupy.cuda.Event(disable_timing=True)
        event.record()
        _retired.append((event, known[1]))
        while _retired and _retired[0][0].done:
            _retired.popleft()


def begun(array: Any) -> bool:
    """Whether a program that gives this array runs on the card by now; raise if it cannot.

    A call of a program without enough memory returns arrays all the same: they raise when they are
    waited for, or asked for their memory. This asks for it, and waits for nothing: 9 µs.
    (`is_ready` takes up to 30, and the address of the memory is there even so.)
    """
    if not has_card():
        return False
    import jax

    try:
        array.__dlpack__(stream=1)  # CuPy's: its next kernel waits for the program, on the card
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        free, total = cupy.cuda.runtime.memGetInfo()
        raise ResourceExhaustedError(
            f"A compiled function is out of memory on the GPU: {str(error).splitlines()[0]} Free "
            f"on the card: {free:,} of {total:,} bytes. The variables are whole. Smaller batches "
            "take less."
        ) from None
    return True


def forget(array: Any) -> None:
    """Know no other array of these values: it is going to be written to."""
    _twins.pop(id(array), None)


def empty(shape: Any, dtype: Any) -> Any:
    """An array of XLA on its device, for a program to write into."""
    return put_back_after_error(_zeros, shape, dtype)  # (an interrupt may come while JAX traces)


def _zeros(shape: Any, dtype: Any) -> Any:
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
    return put_back_after_error(_run, member, arrays, params)


def _run(member: str, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
    import jax

    fixed = tuple((name, _hashable(value)) for name, value in params.items())
    products = jax.default_matmul_precision.value if placement.tf32 else "float32"
    with jax.enable_x64(True), jax.default_matmul_precision(products):
        return from_xla(_jitted(member, fixed)(*map(to_xla, arrays)))


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, (list, tuple)) else value
