"""How many threads LAPACK takes.

NumPy and SciPy bring an OpenBLAS each, with a pool of threads of its own. A pool goes on waiting,
busily, for a while after its work, so two pools that run in turns wait for each other: on 2 cores,
`solve` of 120 equations between products took 224 ms in place of 0.2. And a factorisation of
moderate size is many short steps, which wait for their slowest thread. (docs/decisions/0018)

So LAPACK runs on one thread: all of SciPy's, and NumPy's where the matrices are not large. What was
set before is put back after the call: by environment variables, by threadpoolctl, by default.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any

# Rows or columns. Up to the first number OpenBLAS takes one thread by itself.
_SMALL, _LARGE = 16, 256


class Pool:
    """The threads of one OpenBLAS, by the functions that read and set how many they are."""

    def __init__(self, get: Callable[[], int], set: Callable[[int], None]) -> None:
        self._get, self._set = get, set
        self._lock = Lock()
        self._calls = 0  # that run on one thread now
        self._found = 1

    def set(self, count: int) -> None:
        """Take this many threads from now on."""
        with self._lock:
            self._found = count
            if not self._calls:
                self._set(count)

    def alone(self, function: Callable[..., Any], *args: Any, **params: Any) -> Any:
        """`function(*args, **params)` on one thread."""
        with self._lock:
            if not self._calls:
                self._found = self._get()
                if self._found > 1:
                    self._set(1)
            self._calls += 1
        try:
            return function(*args, **params)
        finally:
            with self._lock:
                self._calls -= 1
                if not self._calls and self._found > 1:
                    self._set(self._found)


def set_threads(count: int) -> None:
    """Let NumPy's products take this many threads; no more than there are cores."""
    pool = _pool_of_numpy()
    if pool is not None:
        pool.set(count)


def alone(function: Callable[..., Any], *args: Any) -> Any:
    """`function(*args)`, with one thread for each of NumPy's products in it."""
    pool = _pool_of_numpy()
    return function(*args) if pool is None else pool.alone(function, *args)


def by_numpy(function: Callable[..., Any], a: Any, *args: Any, **params: Any) -> Any:
    """`function(a, ...)` of numpy.linalg: on one thread unless the matrices `a` are large."""
    if _SMALL < max(a.shape[-2:], default=0) <= _LARGE and (pool := _pool_of_numpy()):
        return pool.alone(function, a, *args, **params)
    return function(a, *args, **params)


def by_scipy(function: Callable[..., Any], a: Any, *args: Any, **params: Any) -> Any:
    """`function(a, ...)` of scipy.linalg, on one thread."""
    if max(a.shape[-2:], default=0) > _SMALL and (pool := _pool_of_scipy()):
        return pool.alone(function, a, *args, **params)
    return function(a, *args, **params)


@cache
def _pool_of_numpy() -> Pool | None:
    from numpy.linalg import _umath_linalg

    return _find_pool(_umath_linalg.__file__)


@cache
def _pool_of_scipy() -> Pool | None:
    from scipy.linalg import _fblas

    return _find_pool(_fblas.__file__)


def _find_pool(extension: str | None) -> Pool | None:
    """The pool of the OpenBLAS that an extension module is linked with, if it is one.

    The wheels of NumPy and SciPy have it under names of their own, with 64 for integers of 64 bits.
    """
    try:
        library = ctypes.PyDLL(extension)  # a third of the time of CDLL, which releases the GIL
    except OSError:
        return None
    for form in ("scipy_openblas_{}_num_threads{}", "openblas_{}_num_threads{}"):
        for ending in ("64_", ""):
            found = [getattr(library, form.format(verb, ending), None) for verb in ("get", "set")]
            if None not in found:
                return Pool(*found)
    return None
