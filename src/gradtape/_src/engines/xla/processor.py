"""Where programs run if there is no GPU: a client of XLA of our own, its options and its memory."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from threading import RLock
from typing import Any

import jax
from jaxlib.xla_client import make_cpu_client

from ...core.placement import placement


def processor() -> Any:
    """The device of XLA for programs that run here; None if they run on a GPU.

    Its client computes in the thread that calls. JAX's own hands each program to another thread,
    and we would wait for that one at once: two changes of threads in each call.
    """
    return _own_device() if is_here() else None


def is_here() -> bool:
    """Whether programs run on the processor."""
    if placement.card is not None:
        return False
    chosen: Any = jax.config.jax_default_device
    return (getattr(chosen, "platform", chosen) or jax.default_backend()) == "cpu"


_lock = RLock()


def _own_device() -> Any:
    """The one device, whichever threads ask first: arrays of one client are nothing to another."""
    with _lock:
        return _make_device()


@cache
def _make_device() -> Any:
    return make_cpu_client(asynchronous=False).local_devices()[0]


def is_own(client: Any) -> bool:
    """Whether a client of XLA is ours, which only programs of gradtape run on."""
    return bool(_make_device.cache_info().currsize) and client is _own_device().client


def options() -> dict[str, Any] | None:
    """How XLA compiles programs that run here: with Eigen's convolutions.

    By default it takes those of YNNPACK where nothing is padded. The gradient by 64 filters of a
    (128, 13, 13, 32) then takes 5.8 ms, and 2.8 with Eigen; the convolution itself 3.3 and 2.5.
    """
    name = "xla_cpu_experimental_ynn_fusion_type"
    if not is_here() or name in os.environ.get("XLA_FLAGS", ""):
        return None
    return {name: "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_REDUCE"}


# Memory

_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1  # of mallopt
_MOST = 2**30  # twice this, less one, is the largest number that it takes
_kept = 2**25  # the most that glibc keeps by itself


def keep_free_memory(size: int) -> None:
    """Let free memory of `size` bytes stay with the process, for the next call of a program.

    The temporary arrays of a program are one piece of memory, allocated in each call. Pieces of up
    to 32 MB glibc learns to keep. Larger ones it gives back, and the next call gets every page from
    the system anew: this took 15 of the 44 ms of a step of a CNN, and 31 of the 106 of a
    transformer. Who has chosen a threshold in the environment keeps it.
    """
    global _kept
    if size <= _kept or not sys.platform.startswith("linux") or _is_chosen():
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc's own
    if mallopt is not None:
        _kept = min(size + size // 8, _MOST - 1)
        mallopt(_MMAP_THRESHOLD, _kept)
        mallopt(_TRIM_THRESHOLD, 2 * _kept)


def _is_chosen() -> bool:
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    names = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_")
    return "malloc.mmap_threshold" in tunables or any([name in os.environ for name in names])
