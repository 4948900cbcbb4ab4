"""Programs that XLA has compiled, on the disk, for the processes that come later.

See docs/decisions/0031.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, wraps
from typing import Any

import jax
import numpy as np
from jax._src import cache_key

from ...core.store import Store, cache_folder
from ...version import __version__
from .processor import is_own

_LIMIT = 2**29  # bytes: some thousand programs of usual size


@cache
def _programs() -> Store | None:
    """Where programs are kept: the folder GRADTAPE_CACHE, if it is set; nowhere, if it is `off`."""
    chosen = os.environ.get("GRADTAPE_CACHE", "")
    if chosen.lower() == "off":
        return None
    folder = chosen or cache_folder()
    return folder and Store(os.path.join(folder, "gradtape", "programs"), _LIMIT)


class _State:
    anew = 0  # blocks, in any thread, in which nothing is read


_state = _State()


@contextmanager
def compiled_anew() -> Iterator[None]:
    """A block in which programs are compiled, though they may be on the disk."""
    _state.anew += 1
    try:
        yield
    finally:
        _state.anew -= 1


def kept_on_disk(compile_program: Callable[..., Any]) -> Callable[..., Any]:
    """The same for programs of our own client; what was compiled before is read.

    But not for those that call Python: what they call is there in this process only.
    """

    @wraps(compile_program)
    def compiled(
        client: Any, module: Any, devices: Any, options: Any, callbacks: Any, **others: Any
    ) -> Any:
        own = is_own(client) and not (callbacks or others or _state.anew)
        store = _programs() if own else None
        if store is None:
            return compile_program(client, module, devices, options, callbacks, **others)
        key = _key(client, module, devices, options)
        known = store.get(key)
        if known is not None:
            with suppress(Exception):  # whatever XLA has against it, it can be compiled
                return client.deserialize_executable(known, devices, options)
        program = compile_program(client, module, devices, options, callbacks)
        with suppress(Exception):  # there may be programs that XLA cannot write down
            store.put(key, program.serialize())
        return program

    return compiled


def _key(client: Any, module: Any, devices: Any, options: Any) -> str:
    """All that a compiled program depends on.

    JAX's key has the StableHLO without the lines that it came from, the options, the flags of XLA,
    the versions of jaxlib and of the platform, and what XLA uses of this processor.
    """
    key = cache_key.get(module, np.array(list(devices)), options, client)
    return "\n".join([key, __version__, jax.__version__, *_threads()])


def _threads() -> list[str]:
    """What decides into how many parts XLA cuts the work of a program."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    chosen = [os.environ.get(name) for name in ("NPROC", "PJRT_NPROC")]
    return list(map(str, [os.cpu_count(), usable, *chosen]))
